"""What the runs with real packages share: the Worker, the documented examples, and their rows."""

from __future__ import annotations

import os
import re
import sys
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))

#: A Worker whose lexical judge answers, and one whose only judge cannot be reached.
URL = os.environ["CITEWARD_URL"]
DOWN_URL = os.environ["CITEWARD_DOWN_URL"]

#: The row of the documented examples, an answer that earns the full reward and one that earns none.
ROW = {
    "question": "How long is the Aare?",
    "tool_output": "<snippet id=S1>The Aare is 288 kilometres long.</snippet>",
    "positive_rubrics": ["Says 288 kilometres"],
}
GOOD = "<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>"
BAD = "<answer>No.</answer>"


def source(page: str, containing: str) -> str:
    """The Python block of a page of docs/ that contains a text."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    [code] = [block for block in blocks if containing in block]
    return code


def documented(page: str, containing: str, url: str = URL, **replaced: str) -> dict[str, Any]:
    """Runs the Python block of a page of docs/ that contains a text, and returns its names.

    The page's Worker (``https://citeward.example.com`` or the one of ``npm run dev``) is replaced by ``url``, and each
    further text by its value: what a reader has to fill in.
    """
    code = source(page, containing)
    workers = dict.fromkeys(("https://citeward.example.com", "http://127.0.0.1:8799"), url)
    for written, value in {**replaced, **workers}.items():
        code = code.replace(written, value)
    # pydantic looks the names of annotations up in the module.
    module = sys.modules["example"] = types.ModuleType("example")
    exec(compile(code, page, "exec"), module.__dict__)
    return module.__dict__
