"""The adapters of autoevals, openevals, LangSmith and deepeval. The packages are stand-ins, written from their code."""

from __future__ import annotations

import asyncio
import importlib
import sys
import unittest
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.evaluation import rollout_of
from citeward.openevals_evaluator import citeward_async_evaluator, citeward_evaluator
from tests.live import LiveTestCase, citeward_environment, expected_score, label_of, rows
from tests.stub import Answer, Stub, problem, scored
from tests.test_ecosystems import modules

LOST = problem(503, "judge_refusal", retryable=False)


@dataclass
class AutoevalsScore:
    """autoevals's ``Score``."""

    name: str
    score: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class AutoevalsScorer:
    """autoevals's ``Scorer``."""

    async def eval_async(self, output: Any, expected: Any = None, **more: Any) -> Any:
        return await self._run_eval_async(output, expected, **more)  # type: ignore[attr-defined]

    def eval(self, output: Any, expected: Any = None, **more: Any) -> Any:
        return self._run_eval_sync(output, expected, **more)  # type: ignore[attr-defined]


def autoevals_scorer(**settings: Any) -> Any:
    autoevals = {"Score": AutoevalsScore}
    with modules(autoevals=autoevals, autoevals__score={"Scorer": AutoevalsScorer}):
        module = importlib.import_module("citeward.autoevals_scorer")
        sys.modules.pop("citeward.autoevals_scorer")
        return module.CitewardScorer(**settings)


class BaseMetric:
    """deepeval's metric, as far as it matters here."""

    def is_successful(self) -> bool:
        return self.score >= self.threshold  # type: ignore[attr-defined,no-any-return]


def deepeval_metric(**settings: Any) -> Any:
    with modules(deepeval__metrics={"BaseMetric": BaseMetric}):
        module = importlib.import_module("citeward.deepeval_metric")
        sys.modules.pop("citeward.deepeval_metric")
        return module.CitewardMetric(**settings)


def test_case(question: str, answer: str, contexts: Any = None, metadata: Any = None) -> Any:
    """deepeval's ``LLMTestCase``."""
    return SimpleNamespace(input=question, actual_output=answer, retrieval_context=contexts, metadata=metadata)


class Examples(unittest.TestCase):
    def test_fields_of_a_row_are_read_by_name_and_the_last_place_wins(self) -> None:
        places = ({"question": "q", "reference": "1", "other": 3}, "text", {"reference": "2"}, None)
        self.assertEqual(rollout_of("a", *places), {"question": "q", "reference": "2", "response": "a"})

    def test_an_answer_is_a_text_messages_or_a_mapping_with_either(self) -> None:
        messages = [{"role": "assistant", "content": "a"}]
        self.assertEqual(rollout_of(messages), {"messages": messages})
        self.assertEqual(rollout_of({"messages": messages, "response": "b"}), {"messages": messages})
        for name in ("response", "answer", "output", "content"):
            self.assertEqual(rollout_of({name: "a"}), {"response": "a"})
        for wrong in (None, 3, {}, {"answer": 3}):
            with self.assertRaisesRegex(BadRequest, "output: expected a text"):
                rollout_of(wrong)


class Autoevals(unittest.TestCase):
    def score(self, answer: Answer, **example: Any) -> Any:
        with Stub(lambda n, asked: answer) as stub, citeward_environment():
            scorer = autoevals_scorer(url=stub.url, recipe="stub")
            found = scorer.eval("a", **example)
            self.assertEqual(asyncio.run(scorer.eval_async("a", **example)), found)
            self.asked = [asked.body for asked in stub.asked]
            return found

    def test_the_score_is_the_share_of_the_range(self) -> None:
        found = self.score(scored(6.5), input="q", expected="text", metadata={"positive_rubrics": ["c"]}, id="7")
        self.assertEqual((found.name, found.score), ("citeward", 0.65))
        self.assertEqual(found.metadata, {"reward": 6.5, "contributions": {"rubric": 6.5}})
        body = {"recipe": "stub", "question": "q", "positive_rubrics": ["c"], "response": "a"}
        self.assertEqual(self.asked, [body, body])

    def test_a_failed_judge_is_none_and_a_wrong_row_raises(self) -> None:
        found = self.score(LOST, input={"question": "q"})
        self.assertEqual((found.score, found.metadata), (None, {"unscored_reason": "judge_refusal"}))
        with self.assertRaises(BadRequest):
            self.score(problem(422, "input_invalid"))
        with self.assertRaisesRegex(Misconfigured, "no bounds"):
            self.score(scored(recipe={"name": "stub", "digest": "0" * 64, "reward_range": [0, None]}))


class Openevals(unittest.TestCase):
    def result(self, answer: Answer, **example: Any) -> Any:
        with Stub(lambda n, asked: answer) as stub, citeward_environment():
            settings = {"url": stub.url, "recipe": "stub", "name": "cited"}
            found = citeward_evaluator(**settings)(**example)
            self.assertEqual(asyncio.run(citeward_async_evaluator(**settings)(**example)), found)
            self.asked = [asked.body for asked in stub.asked]
            return found

    def test_the_result_is_the_share_of_the_range(self) -> None:
        found = self.result(scored(6.5), inputs="q", outputs={"answer": "a"}, reference_outputs={"reference": "288"})
        metadata = {"reward": 6.5, "contributions": {"rubric": 6.5}}
        self.assertEqual(found, {"key": "cited", "score": 0.65, "comment": None, "metadata": metadata})
        body = {"recipe": "stub", "question": "q", "reference": "288", "response": "a"}
        self.assertEqual(self.asked, [body, body])

    def test_a_failed_judge_raises(self) -> None:
        with self.assertRaisesRegex(Unscored, "judge_refusal"):
            self.result(LOST, inputs="q", outputs="a")


class Deepeval(unittest.TestCase):
    def test_the_score_is_the_share_of_the_range(self) -> None:
        contexts = ["one", SimpleNamespace(context="two", source="page")]
        case = test_case("q", "a", contexts, {"positive_rubrics": ["c"]})
        with Stub(lambda n, asked: scored(6.5)) as stub, citeward_environment():
            metric = deepeval_metric(url=stub.url, recipe="stub", threshold=0.7)
            self.assertEqual((metric.measure(case), metric.__name__), (0.65, "citeward"))
            self.assertEqual((metric.success, metric.score_breakdown), (False, {"rubric": 6.5}))
            # As deepeval copies a metric for each test case.
            copied = type(metric)(settings=metric.settings, threshold=0.6, name="cited")
            self.assertEqual(asyncio.run(copied.a_measure(test_case("q", "a", ["one"], {"tool_output": "t"}))), 0.65)
            self.assertEqual((copied.success, copied.__name__), (True, "cited"))
        first, second = [asked.body for asked in stub.asked]
        self.assertEqual((first["question"], first["positive_rubrics"], first["response"]), ("q", ["c"], "a"))
        self.assertEqual(first["sources"], [{"id": "S1", "text": "one"}, {"id": "S2", "text": "two"}])
        self.assertEqual((second.get("sources"), second["tool_output"]), (None, "t"))

    def test_a_failed_judge_raises_and_leaves_no_score_of_another_case(self) -> None:
        answers = [scored(6.5), LOST]
        with Stub(lambda n, asked: answers[n]) as stub, citeward_environment():
            metric = deepeval_metric(url=stub.url, recipe="stub")
            metric.measure(test_case("q", "a"))
            with self.assertRaisesRegex(Unscored, "judge_refusal"):
                metric.measure(test_case("q", "b"))
        self.assertEqual((metric.score, metric.success), (None, False))


class Live(LiveTestCase):
    """Against the Workers: the reward of the row as a share, and no number while the judge is down."""

    def test_each_tool_gets_the_reward_of_the_row(self) -> None:
        row = rows()[0]
        label = label_of(row)
        with self.environment(self.up):
            share = expected_score(self.up, row["id"])["reward"] / 10
            self.assertAlmostEqual(autoevals_scorer().eval(row["response"], input=label).score, share, places=9)
            self.assertAlmostEqual(citeward_evaluator()(label, row["response"])["score"], share, places=9)
            case = test_case(row["question"], row["response"], None, label)
            self.assertAlmostEqual(deepeval_metric().measure(case), share, places=9)
        with self.environment(self.down):
            self.assertIsNone(autoevals_scorer().eval(row["response"], input=label).score)
            with self.assertRaisesRegex(Unscored, "^judge_"):
                citeward_evaluator()(label, row["response"])
            with self.assertRaisesRegex(Unscored, "^judge_"):
                deepeval_metric().measure(case)


if __name__ == "__main__":
    unittest.main()
