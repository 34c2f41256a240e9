"""open-instruct's calls of its RubricManager, as DataPreparationActor makes them (allenai/open-instruct e6c3044a)."""

from __future__ import annotations

import json
import os
import types
import unittest
import uuid
from typing import Any
from unittest import mock

from citeward.client import Client
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.evolving import RubricManager, TrainingRow
from tests.live import LiveTestCase, citeward_environment

CONFIG = types.SimpleNamespace(num_samples_per_prompt_rollout=2, max_active_rubrics=2)
OWN = {"rubric_item": "Says 288 km", "weight": 1.0, "note": 7}
AARE = [json.dumps({"query": "How long is the Aare?", "rubrics": [OWN], "more": 1}), "for another verifier"]
LIES = {"description": "Lies", "weight": -1, "title": ""}
RHINE = json.dumps({"Question": "How long is the Rhine?", "rubrics": [LIES]})


def made(*descriptions: str) -> dict[str, Any]:
    """A reply of ``POST /v1/rubrics``."""
    criteria = [{"polarity": "negative", "description": text, "weight": 1} for text in descriptions]
    return {"criteria": criteria, "judgment": "a" * 64, "responses": ["b" * 64]}


class Live(LiveTestCase):
    def step(self, manager: RubricManager, step: int, answer: Any, rows: Any = (AARE, RHINE)) -> Any:
        self.asked: list[Any] = []

        def generate(_: Client, fields: Any) -> Any:
            self.asked.append(fields)
            found = answer(fields)
            if isinstance(found, Exception):
                raise found
            return found

        with mock.patch.object(Client, "make_rubrics", generate):
            return manager.run_step(
                decoded_responses=["r0", "r1", "r2"],
                ground_truths=[rows[0], rows[0], rows[1]],
                indices=[4, 4, 9],
                step=step,
            )

    def test_steps_give_the_rows_of_the_next_visit(self) -> None:
        with self.environment(self.up, CITEWARD_RUN=f"evolving-{uuid.uuid4().hex[:8]}"):
            manager = RubricManager(CONFIG, [AARE, RHINE])
            metrics, overrides = self.step(manager, 0, lambda fields: made(f"Errs about {fields['question']}"))
            self.assertEqual(list(overrides), [4, 9])
            self.assertEqual(sorted(len(one["responses"]) for one in self.asked), [1, 2])
            text, other = overrides[4]
            self.assertEqual(other, "for another verifier")
            new = {"description": "Errs about How long is the Aare?", "weight": -1.0, "title": ""}
            expected = {"query": "How long is the Aare?", "rubrics": [OWN, new], "more": 1}
            self.assertEqual(json.loads(text), {**expected, "rubrics_types": ["persistent", "evolving"]})
            self.assertEqual(json.loads(overrides[9])["rubrics"][0], LIES)
            self.assertEqual(metrics["evolving_rubrics/valid_rate"], 1)
            self.assertEqual(metrics["evolving_rubrics/total_active"], 2)
            # The next visit reads the row of this one; the oldest criterion goes when there are more than two.
            rows = (overrides[4], overrides[9])
            _, again = self.step(manager, 1, lambda fields: made("Second fault", "Third fault"), rows)
            self.assertEqual(len(self.asked[0]["existing"]["active"]), 1)
            kept = [one["description"] for one in json.loads(again[4][0])["rubrics"] if "description" in one]
            self.assertEqual(kept, ["Second fault", "Third fault"])
            # A repeated step proposes nothing new, and a failed generation leaves the rubric of the run.
            _, repeated = self.step(manager, 1, lambda fields: made("Fourth fault"), rows)
            self.assertEqual(repeated, again)
            with self.assertLogs("citeward", "WARNING") as logged:
                metrics, failed = self.step(manager, 2, lambda fields: Unscored("judge_timeout", "late", True), rows)
            self.assertEqual(failed, again)
            self.assertRegex(logged.output[0], "step 2: judge_timeout: late; the prompt keeps set [0-9a-f]{64}")
            self.assertEqual(metrics["evolving_rubrics/generation_failed/judge_timeout"], 2)
            self.assertEqual(metrics["evolving_rubrics/generation_failed"], 2)
            # The log of the run has the failure: the group cannot fail a second time.
            failure = {"step": 2, "group": "4", "reason": "judge_timeout"}
            fields = {"question": "How long is the Aare?", "failed_generation": failure}
            with Client() as client:
                again = client.start_rubrics(os.environ["CITEWARD_RUN"], fields)
            self.assertIs(again["proposal"]["recorded"], False)

    def test_a_worker_without_a_model_is_an_error(self) -> None:
        with self.environment(self.up, CITEWARD_RUN=f"evolving-{uuid.uuid4().hex[:8]}"):
            manager = RubricManager(CONFIG, [AARE])
            with self.assertLogs("citeward"), self.assertRaisesRegex(Unscored, "judge_request_refused"):
                manager.run_step(decoded_responses=["r"], ground_truths=[AARE], indices=[0], step=0)


class Offline(unittest.TestCase):
    def test_a_run_is_needed(self) -> None:
        with citeward_environment(CITEWARD_URL="http://h"), self.assertRaisesRegex(Misconfigured, "CITEWARD_RUN"):
            RubricManager(CONFIG, [])

    def test_a_row_that_would_not_evolve_is_named(self) -> None:
        with citeward_environment(CITEWARD_URL="http://h", CITEWARD_RUN="r"):
            with self.assertRaisesRegex(BadRequest, "^row 1: ground_truth.query: required"):
                RubricManager(CONFIG, [AARE, '{"question": "q", "rubrics": []}'])

    def test_wrong_rows(self) -> None:
        for wrong, message in (
            (7, "ground_truth: expected the JSON text"),
            ([], "ground_truth: expected the JSON text"),
            ("[]", "ground_truth: expected the JSON text"),
            ('{"query": "q"}', "ground_truth.rubrics: expected a list"),
            ('{"query": "q", "rubrics": ["d"]}', r"ground_truth.rubrics\[0\]: expected an object"),
            ('{"query": "q", "rubrics": [{"description": "d", "weight": "1"}]}', r"\[0\].weight: expected a number"),
            ('{"query": "q", "rubrics": [], "rubrics_types": ["x"]}', "one type per entry"),
        ):
            with self.subTest(message), self.assertRaisesRegex(BadRequest, message):
                TrainingRow.read(wrong)
