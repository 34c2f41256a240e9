"""open-instruct's calls, as ground_truth_utils.apply_verifiable_reward makes them (allenai/open-instruct e6c3044a)."""

from __future__ import annotations

import abc
import asyncio
import json
import pickle
import sys
import types
import unittest
from typing import Any
from unittest import mock

import citeward.open_instruct
from citeward.errors import BadRequest, Misconfigured, UnexpectedReply, Unscored
from tests.live import LiveTestCase, citeward_environment, expected_score, label_of, rows
from tests.stub import Answer, Asked, Stub, scored

VERIFICATION_REWARD = 10.0


class VerifierFunction(abc.ABC):
    """What open-instruct's verifiers descend from."""

    def __init__(self, name: str, weight: float = 1.0, verifier_config: Any = None) -> None:
        raise AssertionError("the verifier initialises itself")

    @classmethod
    def get_config_class(cls) -> type:
        raise AssertionError("the verifier has a configuration of its own")

    @abc.abstractmethod
    def __call__(self, tokenized_prediction: list[int], prediction: str, label: Any, query: Any = None) -> Any:
        """Verifies."""

    async def async_call(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the verifier is asynchronous itself")


def open_instruct_modules() -> Any:
    """Makes ``open_instruct.ground_truth_utils`` importable, for a ``with`` block."""
    module = types.ModuleType("open_instruct.ground_truth_utils")
    module.VerifierFunction = VerifierFunction  # type: ignore[attr-defined]
    package = types.ModuleType("open_instruct")
    package.__path__ = []  # type: ignore[attr-defined]
    return mock.patch.dict(sys.modules, {"open_instruct": package, "open_instruct.ground_truth_utils": module})


def build_all_verifiers(*arg_sources: Any) -> dict[str, Any]:
    """As open-instruct builds them: one of each direct subclass."""
    verifiers = {}
    for subclass in VerifierFunction.__subclasses__():
        instance = subclass(subclass.get_config_class().from_args(*arg_sources))
        verifiers[instance.name.lower()] = instance
    return verifiers


async def apply_verifiable_reward(
    verifiers: dict[str, Any], batch: list[dict[str, Any]], upstream: bool
) -> list[float]:
    tasks = []
    for row in batch:
        verifier = verifiers["Citeward".lower()]
        given = {
            "tokenized_prediction": [1, 2, 3],
            "prediction": row["response"],
            "label": json.dumps(label_of(row)),
            "query": "<|user|> the prompt",
        }
        tasks.append(verifier.async_call(**given, **({"rollout_state": None} if upstream else {})))
    results = await asyncio.gather(*tasks)
    if not upstream:
        # dr-tulu 6188f34c reads it of every result (``model_utils.apply_verifiable_reward``).
        assert all(result.log_values is None or result.log_values.items() for result in results)
    return [VERIFICATION_REWARD * result.score * verifiers["citeward"].weight for result in results]


class Live(LiveTestCase):
    def test_the_score_is_the_unscaled_base(self) -> None:
        bases = [expected_score(self.up, row["id"])["base"] for row in rows()]
        for upstream in (True, False):
            with self.subTest(upstream=upstream), self.environment(self.up), open_instruct_modules():
                citeward.open_instruct.register()
                rewards = asyncio.run(apply_verifiable_reward(build_all_verifiers(object(), None), rows(), upstream))
                self.assertEqual(rewards, [VERIFICATION_REWARD * base for base in bases])
        self.assertTrue(all(0 <= base <= 1 for base in bases) and max(bases) > 0.1)

    def test_the_call_by_position(self) -> None:
        row = rows()[0]
        with self.environment(self.up):
            verifier = citeward.open_instruct.CitewardVerifier()
            result = verifier([1, 2], row["response"], json.dumps(label_of(row)), "query")
        self.assertEqual(result.score, expected_score(self.up, row["id"])["base"])

    def test_a_judge_that_is_down_raises(self) -> None:
        with self.environment(self.down), open_instruct_modules():
            citeward.open_instruct.register()
            with self.assertRaisesRegex(Unscored, "^judge_"):
                asyncio.run(apply_verifiable_reward(build_all_verifiers(), rows()[:1], True))
            row = rows()[0]
            with self.assertRaisesRegex(Unscored, "^judge_"):
                citeward.open_instruct.CitewardVerifier()([1], row["response"], label_of(row))


class Stubbed(unittest.TestCase):
    def verify(self, answer: Answer = scored(), label: Any = '{"question":"q"}') -> Asked:
        with Stub(lambda n, asked: answer) as stub, citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub"):
            self.result = citeward.open_instruct.CitewardVerifier()([5, 6, 7, 8], "text", label)
            return stub.asked[0]

    def test_fields_and_number_of_tokens(self) -> None:
        body = self.verify().body
        self.assertEqual(body, {"question": "q", "response": "text", "response_tokens": 4, "recipe": "stub"})
        self.assertEqual((self.result.score, self.result.cost, self.result.reasoning), (0.65, 0.0, '{"rubric": 6.5}'))

    def test_penalties_must_be_off(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "non_stop_penalty"):
            self.verify(scored(-1, decided_by="non_stop_penalty"))

    def test_a_reward_without_a_base_is_no_score(self) -> None:
        with self.assertRaisesRegex(UnexpectedReply, "without a base"):
            self.verify(scored(base=None))

    def test_a_label_without_fields_is_named(self) -> None:
        with self.assertRaisesRegex(BadRequest, "^label: expected a mapping or the JSON text of an object"):
            self.verify(label=["42"])

    def test_a_row_that_open_instruct_evolved_is_scored(self) -> None:
        # As evolving_rubric_step writes a row back after an update, and as a data set may hold it before.
        criteria = [
            {"description": "Says 288 km", "weight": 1.0, "title": "Length"},
            {"rubric_item": "Names the source", "weight": 1.0},
            {"Ingredient": "Names the mouth", "weight": 1.0},
            {"description": "", "weight": 1.0, "title": "empty"},
            {"description": "Invents a dam", "weight": -1.0, "title": "Invention"},
        ]
        types = ["persistent", "persistent", "persistent", "evolving", "adaptive"]
        for name in ("query", "Question"):
            evolved = {name: "How long?", "rubrics": criteria, "rubrics_types": types}
            for label in (json.dumps(evolved), evolved, [json.dumps(evolved)]):
                body = self.verify(label=label).body
                self.assertEqual(body["question"], "How long?")
                described = [(one["description"], one["weight"]) for one in body["rubrics"]]
                self.assertEqual(
                    described,
                    [("Says 288 km", 1), ("Names the source", 1), ("Names the mouth", 1), ("Invents a dam", -1)],
                )
                self.assertEqual(set(body), {"question", "rubrics", "response", "response_tokens", "recipe"})

    def test_a_row_that_cannot_be_what_it_says_is_refused(self) -> None:
        row = {"query": "q", "rubrics": [{"description": "d", "weight": 1}]}
        for change, message in (
            ({"rubrics_types": ["persistent", "evolving"]}, "label.rubrics_types: expected one type per entry"),
            ({"rubrics_types": ["static"]}, r"label.rubrics_types\[0\]: expected persistent or evolving or adaptive"),
            ({"Question": "another"}, "label: question, query, Question differ"),
            ({"qeury": "q"}, "label.qeury: unknown field"),
        ):
            with self.subTest(message), self.assertRaisesRegex(BadRequest, message):
                self.verify(label={**row, **change})

    def test_a_row_that_would_silently_never_evolve_is_refused(self) -> None:
        arguments = types.SimpleNamespace(apply_evolving_rubric_reward=True)
        config = citeward.open_instruct.CitewardVerifier.get_config_class().from_args(object(), arguments)
        with citeward_environment(CITEWARD_URL="http://h"), open_instruct_modules():
            made = citeward.open_instruct.register()(config)
            verifier = pickle.loads(pickle.dumps(made))
        rubrics = [{"description": "d", "weight": 1}]
        for label in ({"question": "q", "rubrics": rubrics}, {"query": "q", "positive_rubrics": ["d"]}):
            with self.assertRaisesRegex(BadRequest, "evolves only rows with query"):
                verifier([1], "text", label)
        with Stub(lambda n, asked: scored()) as stub:
            self.verify(label={"question": "q", "rubrics": rubrics})
            settings = citeward.open_instruct.Settings.of(url=stub.url, recipe="stub")
            verifier = citeward.open_instruct.CitewardVerifier(config, settings=settings)
            self.assertEqual(verifier([1], "text", {"query": "q", "rubrics": rubrics}).score, 0.65)

    def test_registering_makes_one_direct_subclass_that_ray_can_carry(self) -> None:
        with citeward_environment(CITEWARD_URL="http://h"), open_instruct_modules():
            made = citeward.open_instruct.register()
            self.assertIs(citeward.open_instruct.register(), made)
            self.assertEqual([c for c in VerifierFunction.__subclasses__() if c is made], [made])
            verifier = made(None, weight=0.5)
            self.assertIsInstance(verifier, VerifierFunction)
        with open_instruct_modules():
            again = pickle.loads(pickle.dumps(verifier))
        self.assertIs(type(again), made)
        self.assertEqual((again.name, again.weight, again.settings), ("citeward", 0.5, verifier.settings))

    def test_without_open_instruct_the_plain_class_is_given(self) -> None:
        with mock.patch.dict(sys.modules, {"open_instruct": None}):
            self.assertIs(citeward.open_instruct.register(), citeward.open_instruct.CitewardVerifier)


if __name__ == "__main__":
    unittest.main()
