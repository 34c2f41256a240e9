"""How the red team calls a policy: one JSON object a line on standard input, one line for each answer."""

from __future__ import annotations

import json
import sys
from typing import Any


def answer_calls(policy: Any) -> None:
    """`call` names the method, and the other fields are its arguments. An exception ends the process."""
    calls = {name: getattr(policy, name) for name in ("open", "save", "load", "imitate", "sample", "learn")}
    for line in sys.stdin:
        arguments = json.loads(line)
        print(json.dumps(calls[arguments.pop("call")](**arguments)), flush=True)
