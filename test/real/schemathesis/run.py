"""Schemathesis on the OpenAPI document that the Worker serves: no generated request ends in a server error."""

import os
import re
import subprocess
import sys
from pathlib import Path

from documented import URL

#: They need a language model, and say so with a 503.
NEED_A_MODEL = "^/v1/(agent|refine|rubrics)$"

program = str(Path(sys.executable).with_name("schemathesis"))
checks = ["--checks", "not_a_server_error", "--max-examples", "3", "--seed", "1", "--no-color"]
checks += ["--exclude-path-regex", NEED_A_MODEL]
environment = {**os.environ, "SCHEMATHESIS_HOOKS": str(Path(__file__).with_name("hooks.py"))}
command = [program, "run", f"{URL}/openapi.json", *checks]
run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
cases = re.search(r"(\d+) generated", run.stdout)
assert cases is not None, run.stdout[-2000:]
print(f"{cases.group(1)} generated requests over all routes, no server error")
