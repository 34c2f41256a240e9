"""dr-tulu's rubric buffer in a run, as its reward_fn calls it (rlresearch/dr-tulu 6188f34c)."""

from __future__ import annotations

import asyncio
import json
import types
import unittest
import uuid
from typing import Any
from unittest import mock

from citeward.client import Client
from citeward.dr_tulu import RubricBuffer, rubric_key
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.open_instruct import CitewardVerifier
from citeward.settings import Settings
from tests.live import LiveTestCase, citeward_environment

QUESTION = "How long is the Aare?"
OWN = {"description": "Says 288 km", "weight": 2.0, "title": "Length"}
ROW = [json.dumps({"query": QUESTION, "rubrics": [OWN]})]


def arguments(**changed: Any) -> Any:
    return types.SimpleNamespace(
        **{
            "max_active_rubrics": 2,
            "use_static_rubrics_as_persistent_rubrics": True,
            "add_static_rubrics_to_active_rubrics_every_n_steps": 10,
            **changed,
        }
    )


def made(**criteria: str) -> dict[str, Any]:
    """A reply of ``POST /v1/rubrics``: description to polarity."""
    listed = [{"polarity": polarity, "description": text, "weight": 1} for text, polarity in criteria.items()]
    return {"criteria": listed, "judgment": "a" * 64, "responses": ["b" * 64]}


def rewards(**scores: float) -> dict[str, list[float]]:
    """What dr-tulu logs of a response: scores times the weight, divided by the sum of the positive weights."""
    titles = {OWN["description"]: OWN["title"]}
    return {rubric_key(QUESTION, text, titles.get(text, "")): [value] for text, value in scores.items()}


def types_of(ground_truth: Any) -> list[tuple[str, str]]:
    fields = json.loads(ground_truth[0])
    return [(one["description"], label) for one, label in zip(fields["rubrics"], fields["rubrics_types"])]


class Live(LiveTestCase):
    def setUp(self) -> None:
        super().setUp()
        environment = self.environment(self.up, CITEWARD_RUN=f"dr-tulu-{uuid.uuid4().hex[:8]}")
        environment.start()
        self.addCleanup(environment.stop)

    def evolve(self, buffer: RubricBuffer, step: int, answer: Any) -> tuple[list[Any], dict[str, Any]]:
        self.asked: list[Any] = []

        def generate(_: Client, fields: Any) -> Any:
            self.asked.append(fields)
            if isinstance(answer, Exception):
                raise answer
            return answer

        with mock.patch.object(Client, "make_rubrics", generate):
            return asyncio.run(buffer.evolve(["r0", "r1", "r2"], [ROW, ROW, ROW], step))

    def observe(self, buffer: RubricBuffer, step: int, rows: Any, *of: Any) -> dict[str, Any]:
        return asyncio.run(buffer.observe(rows, of, step))

    def test_a_group_is_scored_under_criteria_made_from_it_and_equal_scores_retire(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        rows, metrics = self.evolve(buffer, 0, made(A="positive", B="negative", C="positive"))
        self.assertEqual(metrics["evolving_rubrics/num_new"], 3)
        self.assertEqual(self.asked[0]["responses"], ["r0", "r1", "r2"])
        own = [("Says 288 km", "persistent")]
        self.assertEqual(types_of(rows[0]), [*own, ("A", "adaptive"), ("B", "adaptive"), ("C", "adaptive")])
        self.assertEqual(rows[0], rows[2])
        self.assertEqual(json.loads(rows[0][0])["rubrics"][2], {"description": "B", "weight": -1.0, "title": ""})
        # The weights of the positive ones are 2, 1 and 1. A tells the responses apart, B most, C not at all.
        scored = [
            rewards(**{"Says 288 km": 0.5, "A": 0.25, "B": 0.0, "C": 0.25}),
            rewards(**{"Says 288 km": 0.5, "A": 0.125, "B": -0.25, "C": 0.25}),
            rewards(**{"Says 288 km": 0.5, "A": 0.25, "C": 0.25}),
        ]
        counted = self.observe(buffer, 0, rows, *scored)
        self.assertEqual(counted["evolving_rubrics/num_retired"], 1)
        # A repeated step counts once, and proposes nothing new.
        self.assertEqual(self.observe(buffer, 0, rows, *scored)["evolving_rubrics/num_retired"], 0)
        rows, _ = self.evolve(buffer, 1, made(D="positive"))
        self.assertEqual(types_of(rows[0]), [*own, ("A", "adaptive"), ("B", "adaptive"), ("D", "adaptive")])
        self.assertEqual(self.asked[0]["existing"]["inactive"], [{"polarity": "positive", "description": "C"}])
        # The cap keeps the two whose scores differ most; a missing score is no 0.
        counted = self.observe(
            buffer,
            1,
            rows,
            rewards(A=0.25, B=-0.25, D=0.0),
            rewards(A=0.125, B=0.0, D=0.25),
            rewards(B=0.0),
        )
        self.assertEqual(counted["evolving_rubrics/num_capped"], 1)
        rows, _ = self.evolve(buffer, 2, made())
        self.assertEqual(types_of(rows[0]), [*own, ("B", "adaptive"), ("D", "adaptive")])

    def test_the_scores_of_citewards_verifier_retire_what_all_responses_meet(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        rows, _ = self.evolve(buffer, 0, made(**{"Names the Rhine": "positive", "Says 288 km exactly": "positive"}))
        verifier = CitewardVerifier(settings=Settings.of(recipe="dr-tulu-no-citation"))

        async def logged() -> list[Any]:
            answers = ["It is 288 km exactly, and joins the Rhine.", "It joins the Rhine.", "It joins the Rhine."]
            calls = [
                verifier.async_call([1], f"<answer>{text}</answer>", row[0], "query")
                for text, row in zip(answers, rows)
            ]
            return [result.log_values["per_rubric_rewards"] for result in await asyncio.gather(*calls)]

        found = asyncio.run(logged())
        self.assertEqual([set(map(len, one.values())) for one in found], [{1}, {1}, {1}])
        self.assertEqual(self.observe(buffer, 0, rows, *found)["evolving_rubrics/num_retired"], 1)
        rows, _ = self.evolve(buffer, 1, made())
        self.assertEqual(types_of(rows[0])[1:], [("Says 288 km exactly", "adaptive")])

    def test_a_failed_generation_leaves_the_set_of_the_run_and_says_why(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        before, _ = self.evolve(buffer, 0, made(A="positive"))
        with self.assertLogs("citeward", "WARNING") as logged:
            rows, metrics = self.evolve(buffer, 1, Unscored("judge_timeout", "late", True))
        self.assertEqual(rows, before)
        self.assertEqual(metrics["evolving_rubrics/valid_rate"], 0)
        self.assertEqual(metrics["evolving_rubrics/generation_failed/judge_timeout"], 1)
        self.assertRegex(logged.output[0], "step 1: judge_timeout: late; the prompt keeps set [0-9a-f]{64}")

    def test_a_generation_reads_up_to_64_responses(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        asked: list[Any] = []
        with mock.patch.object(Client, "make_rubrics", lambda _, fields: asked.append(fields) or made()):
            responses = [f"r{number}" for number in range(66)]
            _, metrics = asyncio.run(buffer.evolve(responses, [ROW] * 66, 0))
        self.assertEqual(asked[0]["responses"], responses[:64])
        self.assertEqual(metrics["evolving_rubrics/responses_left_out"], 2)

    def test_a_group_that_earned_nothing_is_not_recorded(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        rows, _ = self.evolve(buffer, 0, made(A="positive"))
        counted = self.observe(buffer, 0, rows, *([rewards(**{"Says 288 km": 0.0, "A": 0.0})] * 3))
        self.assertEqual(counted["evolving_rubrics/without_verdicts"], 1)
        self.assertEqual(counted["evolving_rubrics/num_retired"], 0)

    def test_own_criteria_that_may_retire_are_adaptive(self) -> None:
        buffer = RubricBuffer(arguments(use_static_rubrics_as_persistent_rubrics=False), [ROW])
        rows, _ = self.evolve(buffer, 1, made(A="positive"))
        self.assertEqual(types_of(rows[0]), [("Says 288 km", "adaptive"), ("A", "adaptive")])

    def test_a_worker_without_a_model_is_an_error(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        with self.assertLogs("citeward"), self.assertRaisesRegex(Unscored, "judge_request_refused"):
            asyncio.run(buffer.evolve(["r"], [ROW], 0))

    def test_wrong_calls(self) -> None:
        buffer = RubricBuffer(arguments(), [ROW])
        with self.assertRaisesRegex(BadRequest, "a row that evolve"):
            self.observe(buffer, 0, [ROW], {})
        rows, _ = self.evolve(buffer, 0, made(A="positive"))
        with self.assertRaisesRegex(BadRequest, "one entry for each of 3 responses"):
            self.observe(buffer, 0, rows, {})
        with self.assertRaisesRegex(BadRequest, "expected finite numbers"):
            self.observe(buffer, 0, rows, rewards(A=float("nan")), {}, {})


class Offline(unittest.TestCase):
    def test_the_key_is_that_of_dr_tulu(self) -> None:
        # hashlib.md5(b"q||d||t").hexdigest()[:12]
        self.assertEqual(rubric_key("q", "d", "t"), "d16bd9de36cd")

    def test_a_run_is_needed(self) -> None:
        with citeward_environment(CITEWARD_URL="http://h"), self.assertRaisesRegex(Misconfigured, "CITEWARD_RUN"):
            RubricBuffer(arguments(), [])

    def test_a_wrong_row_is_named(self) -> None:
        with citeward_environment(CITEWARD_URL="http://h", CITEWARD_RUN="r"):
            with self.assertRaisesRegex(BadRequest, "^row 1: ground_truth.query: required"):
                RubricBuffer(arguments(), [ROW, '{"question": "q", "rubrics": []}'])
