"""A real Worker for the tests, and rows to score there.

``CITEWARD_TEST_URL`` is a deployment whose lexical judge answers, ``CITEWARD_TEST_DOWN_URL`` one whose only judge
cannot be reached. Without them the live tests fail, unless ``CITEWARD_TEST_OFFLINE=1`` says that this is meant.
"""

from __future__ import annotations

import functools
import json
import os
import unittest
import urllib.request
from pathlib import Path
from typing import Any
from unittest import mock

#: The Worker that is down answers after some tries of its own, and asks for 5 s of patience: one attempt, mostly.
DEADLINE_S = "6"
RECIPE = "refiner-gpt54-instance-rubric"
_ROWS = Path(__file__).resolve().parents[3] / "examples" / "rollouts.jsonl"
_LABEL_FIELDS = ("question", "tool_output", "reasoning", "positive_rubrics", "negative_rubrics")
#: With claims, without an answer, cut off at the length limit, in full mode.
_IDS = ("good-answer", "no-answer", "truncated-answer", "full-mode-thinking")


class LiveTestCase(unittest.TestCase):
    """A test against the Workers."""

    def setUp(self) -> None:
        if os.environ.get("CITEWARD_TEST_OFFLINE") == "1":
            self.skipTest("CITEWARD_TEST_OFFLINE=1")
        for variable in ("CITEWARD_TEST_URL", "CITEWARD_TEST_DOWN_URL"):
            if not os.environ.get(variable):
                self.fail(f"{variable} is not set; set CITEWARD_TEST_OFFLINE=1 to leave the live tests out")
        self.up = os.environ["CITEWARD_TEST_URL"]
        self.down = os.environ["CITEWARD_TEST_DOWN_URL"]

    def environment(self, url: str, **more: str) -> Any:
        """The environment of an adapter, for a ``with`` block."""
        variables = {"CITEWARD_URL": url, "CITEWARD_RECIPE": RECIPE, "CITEWARD_DEADLINE_S": DEADLINE_S, **more}
        return citeward_environment(**variables)


def citeward_environment(**variables: str) -> Any:
    """No variable of Citeward but these, for a ``with`` block."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEWARD_")}
    return mock.patch.dict(os.environ, {**kept, **variables}, clear=True)


def rows() -> list[dict[str, Any]]:
    """Some of the examples, as they stand in the file."""
    found = {row["id"]: row for row in map(json.loads, _ROWS.read_text("utf-8").splitlines())}
    return [found[name] for name in _IDS]


def label_of(row: dict[str, Any]) -> dict[str, Any]:
    """What a dataset carries of a row: everything but the response."""
    return {name: row[name] for name in _LABEL_FIELDS}


@functools.cache
def expected_score(url: str, row_id: str) -> dict[str, Any]:
    """The Worker's reply to the row, fetched without this package."""
    row = next(row for row in rows() if row["id"] == row_id)
    body = {**label_of(row), "response": row["response"], "recipe": RECIPE}
    request = urllib.request.Request(f"{url}/v1/score", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def expected_rewards(url: str) -> list[float]:
    """The rewards of ``rows()``."""
    return [expected_score(url, row["id"])["reward"] for row in rows()]
