"""A client of the stub server, and a row for it."""

from __future__ import annotations

from typing import Any

from citeward.client import Client

ROW: dict[str, Any] = {"question": "q", "response": "<answer>r</answer>", "sources": [], "positive_rubrics": ["r"]}
SECRET = "cw_SECRETsecret"


def client(url: str, **settings: Any) -> Client:
    return Client(url, **{"recipe": "stub", "deadline_s": 5, **settings})
