"""The metric in the style of ragas. Samples are stand-ins for ``SingleTurnSample``, whose fields they have."""

from __future__ import annotations

import asyncio
import math
import unittest
from types import SimpleNamespace
from typing import Any

from citeward.errors import BadRequest, Misconfigured
from citeward.ragas_metric import CitewardMetric
from tests.live import LiveTestCase, citeward_environment, expected_score, rows
from tests.stub import Answer, Stub, problem, scored


def sample_of(**more: Any) -> Any:
    return SimpleNamespace(**{"user_input": "q", "response": "a", "retrieved_contexts": ["one", "two"], **more})


def value_of(answer: Answer, sample: Any = None, **settings: Any) -> tuple[float, list[Any]]:
    with Stub(lambda n, asked: answer) as stub, citeward_environment():
        metric = CitewardMetric(url=stub.url, recipe="stub", **settings)
        value = asyncio.run(metric.single_turn_ascore(sample or sample_of()))
        return value, [asked.body for asked in stub.asked]


class Ragas(unittest.TestCase):
    def test_the_value_is_the_share_of_the_range(self) -> None:
        value, [body] = value_of(scored(6.5), row=lambda sample: {"positive_rubrics": [sample.user_input]})
        self.assertEqual(value, 0.65)
        self.assertEqual((body["question"], body["response"], body["positive_rubrics"]), ("q", "a", ["q"]))
        self.assertEqual(body["sources"], [{"id": "S1", "text": "one"}, {"id": "S2", "text": "two"}])
        range_of = {"name": "stub", "digest": "0" * 64, "reward_range": [-1, 1]}
        self.assertEqual(value_of(scored(0.5, recipe=range_of))[0], 0.75)

    def test_a_row_without_contexts_sends_its_own_sources(self) -> None:
        answer = scored(5)
        _, [body] = value_of(answer, sample_of(retrieved_contexts=None), row=lambda _: {"tool_output": "t"})
        self.assertNotIn("sources", body)
        self.assertEqual(body["tool_output"], "t")

    def test_a_failed_judge_is_nan_and_a_wrong_row_raises(self) -> None:
        self.assertTrue(math.isnan(value_of(problem(503, "judge_refusal", retryable=False))[0]))
        with self.assertRaises(BadRequest):
            value_of(problem(422, "input_invalid"))

    def test_a_recipe_without_bounds_is_refused(self) -> None:
        unbounded = {"name": "stub", "digest": "0" * 64, "reward_range": [0, None]}
        with self.assertRaisesRegex(Misconfigured, "no bounds"):
            value_of(scored(6.5, recipe=unbounded))


class Live(LiveTestCase):
    """Against the Workers: the reward of the row as a share, and no number while the judge is down."""

    def test_the_metric_gets_the_reward_of_the_row(self) -> None:
        row = rows()[0]
        fields = {name: row[name] for name in ("tool_output", "positive_rubrics", "negative_rubrics") if name in row}
        sample = SimpleNamespace(user_input=row["question"], response=row["response"])
        with self.environment(self.up):
            expected = expected_score(self.up, row["id"])["reward"] / 10
            self.assertAlmostEqual(CitewardMetric(row=lambda _: fields).single_turn_score(sample), expected, places=9)
        with self.environment(self.down):
            self.assertTrue(math.isnan(CitewardMetric(row=lambda _: fields).single_turn_score(sample)))


if __name__ == "__main__":
    unittest.main()
