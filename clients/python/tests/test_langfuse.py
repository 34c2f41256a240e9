"""Rewards of a run in Langfuse, and the messages of ``python3 -m citeward.langfuse``.

``langfuse`` is a stand-in, written from langfuse 5.0.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

import citeward.langfuse
from tests.test_ecosystems import modules

TRACE = "0af7651916cd43dd8448eb211c80319c"


def rollout(sample: str, reward: float | None, attempt: int = 0, step: int | None = 3) -> dict[str, Any]:
    place = {"run": "r", "step": step, "group": "g", "sample": sample, "attempt": attempt}
    components = {"rubric": reward, "citation": None}
    return {"rollout": {**place, "reward": reward, "components": components, "recorded_at": "2026-11-27T00:00:00Z"}}


def run_file(*rollouts: dict[str, Any], end: int | None = None) -> str:
    last = {"end": {"v": 1, "rollouts": len(rollouts) if end is None else end}}
    return "".join(f"{json.dumps(line)}\n" for line in ({"run": {"v": 1, "id": "r"}}, *rollouts, last))


class ApiError(Exception):
    """What langfuse raises for a refused request."""

    status_code, body = 401, {"message": "Invalid credentials"}


class Langfuse(unittest.TestCase):
    def create_trace_id(self, *, seed: str) -> str:
        return f"trace of {seed}"

    def main(self, lines: str, answer: Any = None, installed: bool = True) -> tuple[int, str]:
        """The exit code and the messages; ``self.sent`` has the scores of each request."""
        self.sent: list[list[Any]] = []

        def create(*, request: list[Any]) -> Any:
            self.sent.append(request)
            if isinstance(answer, Exception):
                raise answer
            return answer or SimpleNamespace(message="Accepted")

        def client() -> Any:
            return SimpleNamespace(api=SimpleNamespace(scores=SimpleNamespace(create=create)))

        client.create_trace_id = self.create_trace_id  # type: ignore[attr-defined]
        made = modules(
            langfuse={"Langfuse": client},
            langfuse__api={"CreateScoreRequest": SimpleNamespace},
            langfuse__api__core={"ApiError": ApiError},
        )
        said = io.StringIO()
        with made if installed else mock.patch.dict(sys.modules, langfuse=None):
            with mock.patch("sys.stdin", io.StringIO(lines)), contextlib.redirect_stderr(said):
                return citeward.langfuse.main([]), said.getvalue()

    def test_a_rollout_gives_its_reward_and_components_to_its_trace(self) -> None:
        self.assertEqual(self.main(run_file(rollout(TRACE, 6.5), rollout("1", 0, step=None)))[0], 0)
        [request] = self.sent
        self.assertEqual(
            [(score.id, score.trace_id, score.name, score.value) for score in request],
            [
                (f"r/3/g/{TRACE}/reward", TRACE, "citeward/reward", 6.5),
                (f"r/3/g/{TRACE}/rubric", TRACE, "citeward/rubric", 6.5),
                ("r/null/g/1/reward", "trace of r/null/g/1", "citeward/reward", 0.0),
                ("r/null/g/1/rubric", "trace of r/null/g/1", "citeward/rubric", 0.0),
            ],
        )
        self.assertEqual(request[0].metadata, {"run": "r", "step": 3, "group": "g", "sample": TRACE, "attempt": 0})

    def test_an_unscored_rollout_gives_no_score_and_only_the_latest_attempt_counts(self) -> None:
        code, said = self.main(run_file(rollout("1", 9), rollout("1", None, attempt=1), rollout("2", 4)))
        self.assertEqual((code, [score.value for [*request] in self.sent for score in request]), (0, [4.0, 4.0]))
        self.assertEqual(said, "2 rollouts sent, 1 of them unscored and without a score; 0 scores rejected\n")

    def test_many_scores_are_several_requests(self) -> None:
        self.main(run_file(*(rollout(str(n), 1) for n in range(300))))
        self.assertEqual([len(request) for request in self.sent], [500, 100])

    def test_what_is_not_accepted_is_said(self) -> None:
        rejected = SimpleNamespace(accepted=1, rejected=1, errors=[SimpleNamespace(message="no such config")])
        code, said = self.main(run_file(rollout("1", 1)), rejected)
        self.assertEqual(code, 1)
        self.assertRegex(said, "(?s)no such config.*1 scores rejected")
        code, said = self.main(run_file(rollout("1", 1)), SimpleNamespace(accepted=1, rejected=1, errors=None))
        self.assertEqual((code, said.count("1 scores rejected")), (1, 1))
        self.assertEqual(self.main(run_file(rollout("1", 1)), ApiError())[0], 1)

    def test_a_file_that_is_cut_off_is_said(self) -> None:
        for lines in (run_file(rollout("1", 1), end=2), run_file(rollout("1", 1))[:-60], "[run 'r' is unknown]", "5\n"):
            code, said = self.main(lines)
            self.assertEqual(code, 1)
            self.assertIn("Export it again", said)

    def test_langfuse_has_to_be_installed(self) -> None:
        code, said = self.main("", installed=False)
        self.assertEqual(code, 1)
        self.assertRegex(said, "has no module langfuse. Install it: python3 -m pip install langfuse\n$")


if __name__ == "__main__":
    unittest.main()
