"""The client gives the reply or the reason of every case that all hosts answer alike (test/cases)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citeward.client import Client
from citeward.errors import BadRequest, Misconfigured, Unscored
from tests.live import LiveTestCase

_CASES = Path(__file__).resolve().parents[3] / "test" / "cases"
#: What no two calls have in common, as in test/cases/cases.ts.
_VARYING = {"judged_at", "latency_ms", "request_id", "cached"}


def _steady(value: Any) -> Any:
    if isinstance(value, list):
        return [_steady(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {name: _steady(member) for name, member in value.items() if name not in _VARYING}


def _cases(route: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((_CASES / f"{route}.json").read_text("utf-8"))["cases"]
    return cases


class Cases(LiveTestCase):
    def test_scores_and_reasons(self) -> None:
        with self.environment(self.up), Client(deadline_s=20) as client:
            for case in _cases("score"):
                with self.subTest(case["name"]):
                    expected = case["reply"]
                    try:
                        reply = client.score(case["body"]).reply
                    except Unscored as unscored:
                        self.assertEqual(unscored.reason, expected["reason"])
                    except (BadRequest, Misconfigured) as refused:
                        self.assertEqual(case["status"], 422)
                        for text in [error["message"] for error in expected.get("errors", [])] or [expected["detail"]]:
                            self.assertIn(text, str(refused))
                    else:
                        self.assertEqual(_steady(reply), expected)
