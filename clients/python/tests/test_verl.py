"""verl's calls, as its reward managers make them (verl b178a3cd, 1dda039b: verl/experimental/reward_loop/)."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import inspect
import json
import math
import unittest
from typing import Any, Callable
from unittest import mock

import citeward.verl
from citeward.errors import BadRequest, Misconfigured, UnexpectedReply, Unscored
from tests.live import RECIPE, LiveTestCase, citeward_environment, expected_rewards, expected_score, label_of, rows
from tests.stub import Asked, Stub, problem, scored

KEYS = ["score", "acc", "rubric", "citation", "citeward"]


def with_reward_kwargs(function: Callable[..., Any], reward_kwargs: dict[str, Any]) -> Callable[..., Any]:
    """As verl/trainer/ppo/reward.py wraps a custom reward function."""

    def call(raw: Callable[..., Any], extra: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return raw(*args, **{**kwargs, **extra})

    async def call_async(raw: Callable[..., Any], extra: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        return await raw(*args, **{**kwargs, **extra})

    return functools.partial(call_async if inspect.iscoroutinefunction(function) else call, function, reward_kwargs)


async def run_single(compute_score: Callable[..., Any], row: dict[str, Any], manager: str) -> dict[str, Any]:
    """What the naive and dapo managers of the reward loop do with one sample."""
    extra_info: dict[str, Any] = {"index": 7, "split": "train"}
    given = {
        "data_source": "citeward/refiner",
        "solution_str": row["response"],
        "ground_truth": json.dumps(label_of(row)),
        "extra_info": extra_info,
    }
    if manager == "naive":
        extra_info.update({"num_turns": 2, "rollout_reward_scores": {}})
        given.update({"reward_router_address": "127.0.0.1:1", "reward_model_tokenizer": object()})
    else:
        given["strict_box_verify"] = False
    if inspect.iscoroutinefunction(compute_score):
        result = await compute_score(**given)
    else:
        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(None, lambda: compute_score(**given))
    return {"reward_score": result["score"], "reward_extra_info": dict(result)}


async def reward_loop(compute_score: Callable[..., Any], manager: str) -> list[dict[str, Any]]:
    return list(await asyncio.gather(*(run_single(compute_score, row, manager) for row in rows())))


class Live(LiveTestCase):
    def test_the_reward_loop_with_naive_and_dapo(self) -> None:
        for function in (citeward.verl.compute_score, citeward.verl.compute_score_async):
            for manager in ("naive", "dapo"):
                with self.subTest(f"{function.__name__}, {manager}"), citeward_environment():
                    wrapped = with_reward_kwargs(function, {"url": self.up, "recipe": RECIPE, "deadline_s": 20})
                    outputs = asyncio.run(reward_loop(wrapped, manager))
                    self.assertEqual([output["reward_score"] for output in outputs], expected_rewards(self.up))
                    self.assert_extra_info([output["reward_extra_info"] for output in outputs])

    def test_the_batch_manager(self) -> None:
        batch = rows()
        with self.environment(self.up):
            results = citeward.verl.compute_score_batch(
                data_sources=["citeward/refiner"] * len(batch),
                solution_strs=[row["response"] for row in batch],
                ground_truths=[label_of(row) for row in batch],
                extra_infos=[{} for _ in batch],
            )
        self.assertEqual([result["score"] for result in results], expected_rewards(self.up))
        self.assert_extra_info(results)

    def test_a_text_with_tool_output(self) -> None:
        snippet = "<snippet id=S1>The Aare is 288 km long.</snippet>"
        answer = "<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>"
        call = '<tool_call>\n{"name": "search", "arguments": {"q": "Aare"}}\n</tool_call>'
        decoded = f"{call}\nuser\n<tool_response>\n{snippet}\n</tool_response>\nassistant\n{answer}"
        label = {"question": "How long is the Aare?", "positive_rubrics": ["States that the Aare is 288 km long"]}
        with self.environment(self.up):
            scores = [
                citeward.verl.compute_score("citeward", solution, {**label, **more}, {})["score"]
                for solution, more in (
                    (decoded, {"trajectory": {"markup": "hermes"}}),
                    (answer, {"tool_output": snippet}),
                )
            ]
        self.assertEqual(scores[0], scores[1])
        self.assertGreater(scores[0], 0)

    def assert_extra_info(self, infos: list[dict[str, Any]]) -> None:
        # verl reads the keys of the first sample from all.
        self.assertEqual([list(info) for info in infos], [KEYS] * len(infos))
        for info, row in zip(infos, rows()):
            reply = expected_score(self.up, row["id"])
            self.assertEqual([info["score"], info["acc"]], [reply["reward"]] * 2)
            self.assertEqual({name: info[name] for name in KEYS[2:4]}, reply["contributions"])
            self.assertEqual({type(info[key]) for key in KEYS[:4]}, {float})
            self.assertEqual(json.loads(info["citeward"])["base"], reply["base"])
            self.assertEqual(json.loads(info["citeward"])["components"], reply["components"])

    def test_a_judge_that_is_down_raises(self) -> None:
        row = rows()[0]
        with self.environment(self.down):
            for function in (citeward.verl.compute_score, citeward.verl.compute_score_async):
                with self.assertRaisesRegex(Unscored, "^judge_"):
                    asyncio.run(run_single(function, row, "naive"))
            with self.assertRaisesRegex(Unscored, "^judge_.*: 2 of 3 samples"):
                citeward.verl.compute_score_batch(
                    data_sources=["x"] * 3,
                    solution_strs=[row["response"], "no answer block", row["response"]],
                    ground_truths=[label_of(row)] * 3,
                    extra_infos=[None] * 3,
                )


class Stubbed(unittest.TestCase):
    def asked(self, answer: Any = None, **given: Any) -> Asked:
        with Stub(lambda n, asked: answer or scored()) as stub, citeward_environment():
            call = {"data_source": "d", "solution_str": "s", "ground_truth": {"question": "q"}, "url": stub.url}
            self.result = citeward.verl.compute_score(**{**call, "recipe": "stub", "deadline_s": 2, **given})
            return stub.asked[0]

    def test_turns_and_tokens_are_sent_if_they_are_there(self) -> None:
        self.assertEqual(self.asked(extra_info={"num_turns": 4, "response_tokens": 9}).body["num_turns"], 4)
        for extra in (None, {}, {"num_turns": None, "rollout_reward_scores": {}}):
            body = self.asked(extra_info=extra).body
            self.assertEqual(set(body), {"question", "response", "recipe"})

    def test_fields_in_extra_info_make_the_ground_truth_irrelevant(self) -> None:
        extra = {"citeward": json.dumps({"question": "q", "reference": "r"})}
        body = self.asked(ground_truth="42", extra_info=extra).body
        self.assertEqual(body, {"question": "q", "reference": "r", "response": "s", "recipe": "stub"})

    def test_a_ground_truth_without_fields_is_named(self) -> None:
        with self.assertRaisesRegex(BadRequest, "^ground_truth: expected a mapping"):
            self.asked(ground_truth=42)

    def test_a_misspelt_setting_is_named(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "did you mean 'recipe'"):
            self.asked(recipie="other")

    def test_a_reward_by_penalty_alone_has_the_same_keys(self) -> None:
        contributions = {"rubric": 0, "citation": 0, "non_stop_penalty": -1}
        self.asked(scored(-1, base=None, decided_by="non_stop_penalty", contributions=contributions))
        self.assertEqual(list(self.result), ["score", "acc", *contributions, "citeward"])
        self.assertEqual(self.result["score"], -1.0)

    def test_no_number_is_ever_nan(self) -> None:
        # One NaN makes the advantages of verl's whole batch NaN.
        self.asked(scored(-1, base=None))
        for name, value in self.result.items():
            if name != "citeward":
                self.assertTrue(math.isfinite(value), name)
        self.assertIsNone(json.loads(self.result["citeward"])["base"])
        for broken in ({"rubric": None}, {"rubric": "NaN"}, None):
            with self.assertRaisesRegex(UnexpectedReply, "contributions"):
                self.asked(scored(contributions=broken))

    def test_a_sample_waits_an_hour_for_the_judge_unless_told_otherwise(self) -> None:
        url = {"url": "http://h"}
        with citeward_environment():
            self.assertEqual(citeward.verl.settings_of(url).deadline_s, 3600)
            self.assertEqual(citeward.verl.settings_of({**url, "deadline_s": 7}).deadline_s, 7)
        with citeward_environment(CITEWARD_DEADLINE_S="9"):
            self.assertEqual(citeward.verl.settings_of(url).deadline_s, 9)

    def test_a_reward_that_the_group_decides_is_refused(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "decided by the group"):
            self.asked(scored(details={"final": False}))

    def test_unscored_raises(self) -> None:
        with self.assertRaisesRegex(Unscored, "judge_refusal"):
            self.asked(problem(503, "judge_refusal", retryable=False))

    def test_the_file_itself_can_be_given_as_path(self) -> None:
        # verl loads the module of a path under a name of its own.
        spec = importlib.util.spec_from_file_location("custom_module", citeward.verl.__file__)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        with mock.patch.object(citeward.verl, "compute_score", module.compute_score):
            self.assertEqual(self.asked().body["question"], "q")


if __name__ == "__main__":
    unittest.main()
