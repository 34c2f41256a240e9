"""TRL's calls, as GRPOTrainer._calculate_rewards makes them (huggingface/trl f2cd5771)."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import sys
import threading
import unittest
from typing import Any, Callable
from unittest import mock

from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.trl import UNSCORED_METRIC, async_reward_function, component_reward_functions, reward_function
from tests.live import RECIPE, LiveTestCase, citeward_environment, expected_rewards, label_of, rows
from tests.stub import Answer, Asked, Stub, problem, scored

MAKERS = (reward_function, async_reward_function)


class Trainer:
    """The part of the trainer that calls reward functions."""

    def __init__(self) -> None:
        self.metrics: list[tuple[str, float]] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def rewards(self, function: Callable[..., Any], inputs: list[dict[str, Any]], completions: list[Any]) -> list[Any]:
        keys = [key for key in inputs[0] if key not in ("prompt", "completion", "completion_ids")]
        given: dict[str, Any] = {key: [example[key] for example in inputs] for key in keys}
        given.update(
            trainer_state=object(),
            log_extra=lambda column, values: None,
            log_metric=lambda name, value: self.metrics.append((name, value)),
            prompts=[example["prompt"] for example in inputs],
            completions=completions,
            completion_ids=[[1, 2, 3] for _ in completions],
        )
        if inspect.iscoroutinefunction(function):
            output = asyncio.run_coroutine_threadsafe(function(**given), self.loop).result()
        else:
            output = function(**given)
        # What it does with the output: None becomes NaN, everything else a float tensor.
        return [math.nan if reward is None else float(reward) for reward in output]

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class TrainerTestCase(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.trainer = Trainer()
        self.addCleanup(self.trainer.close)


class Live(TrainerTestCase, LiveTestCase):
    def test_rewards_of_texts_with_one_column_a_field(self) -> None:
        inputs = [{"prompt": "p", "id": row["id"], **label_of(row)} for row in rows()]
        completions = [row["response"] for row in rows()]
        for make in MAKERS:
            with self.subTest(make.__name__), citeward_environment():
                function = make(url=self.up, recipe=RECIPE, deadline_s=20)
                self.assertEqual(self.trainer.rewards(function, inputs, completions), expected_rewards(self.up))
        self.assertEqual(self.trainer.metrics, [(UNSCORED_METRIC, 0.0)] * 2)

    def test_rewards_of_conversations_with_one_label_column(self) -> None:
        inputs = [{"prompt": [{"role": "user", "content": "p"}], "label": json.dumps(label_of(row))} for row in rows()]
        completions = [[{"role": "assistant", "content": row["response"]}] for row in rows()]
        with self.environment(self.up):
            self.assertEqual(self.trainer.rewards(reward_function(), inputs, completions), expected_rewards(self.up))

    def test_a_conversation_with_tools_counts_the_turns_and_sources_of_its_messages(self) -> None:
        # As TRL writes them: arguments are an object, calls have no id, results are Python's str().
        snippet = "<snippet id=S1>The Aare is 288 kilometres long.</snippet>"
        completion: list[dict[str, Any]] = [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"type": "function", "function": {"name": "search", "arguments": {"q": "Aare"}}}],
            },
            {"role": "tool", "name": "search", "content": snippet},
            {"role": "assistant", "content": f"<answer>{snippet}</answer>"},
        ]
        inputs = [{"prompt": "p", "question": "How long is the Aare?", "positive_rubrics": ["Says 288 kilometres"]}]
        with self.environment(self.up):
            function = reward_function(recipe="refiner-gpt54-instance-only")
            self.assertEqual(self.trainer.rewards(function, inputs, [completion]), [10.0])
            # The last assistant turn alone has no source to cite.
            [lost] = self.trainer.rewards(function, [{**inputs[0], "tool_output": ""}], [completion[2]["content"]])
            self.assertLess(lost, 10.0)

    def test_a_judge_that_is_down_is_none(self) -> None:
        inputs = [{"prompt": "p", **label_of(row)} for row in rows()]
        completions = [row["response"] for row in rows()]
        for make in MAKERS:
            with self.subTest(make.__name__), self.environment(self.down):
                function = make(on_unscored="none")
                with self.assertLogs("citeward", "WARNING") as logs:
                    rewards = self.trainer.rewards(function, inputs, completions)
                # The two without an answer need no judge.
                self.assertEqual([math.isnan(reward) for reward in rewards], [True, False, False, True])
                self.assertEqual(rewards[1:3], [0.0, 0.0])
                self.assertRegex(logs.output[-1], r"2 of 4 samples are unscored: .*judge_")
        self.assertEqual(self.trainer.metrics, [(UNSCORED_METRIC, 0.5)] * 2)


async def score_group(functions: list[Callable[..., Any]], group: dict[str, Any]) -> list[float]:
    """AsyncGRPOTrainer's rewards of one group, in its worker: no trainer state, no metrics, sums of what is there."""
    outputs = await asyncio.gather(
        *(
            function(**group) if inspect.iscoroutinefunction(function) else asyncio.to_thread(function, **group)
            for function in functions
        )
    )
    sums = []
    for rewards in zip(*outputs):
        known = [reward for reward in rewards if reward is not None]
        sums.append(sum(known) if known else math.nan)
    return sums


class AsyncTrainer(unittest.TestCase):
    @unittest.skipIf(sys.version_info < (3, 10), "AsyncGRPOTrainer needs Python 3.10")
    def test_functions_are_pickled_into_the_worker_and_score_there(self) -> None:
        with Stub(lambda n, asked: scored(float(asked.body["response"]))) as stub, citeward_environment():
            for make in MAKERS:
                function = make(url=stub.url, recipe="stub", deadline_s=5, name="judge_2", run="r")
                moved = pickle.loads(pickle.dumps([function, function]))
                self.assertIs(moved[0], moved[1])
                self.assertEqual(moved[0].__name__, "judge_2")
                self.assertEqual(inspect.iscoroutinefunction(moved[0]), make is async_reward_function)
                group = {"prompts": ["p"] * 2, "completions": ["1", "2"], "completion_ids": [[1]] * 2}
                rewards = asyncio.run(score_group(moved[:1], {**group, "question": ["q"] * 2}))
                self.assertEqual(rewards, [1.0, 2.0])
            self.assertNotIn("log_metric", stub.asked[0].body)


class Components(TrainerTestCase):
    """One function per component, as GDPO needs them."""

    @staticmethod
    def answer(n: int, asked: Asked) -> Answer:
        if asked.body["response"] == "lost":
            return problem(503, "judge_refusal", retryable=False)
        reward = float(asked.body["response"])
        return scored(reward, contributions={"rubric": reward - 2, "citation": 2})

    def functions(self, url: str, components: list[str], **options: Any) -> list[Callable[..., Any]]:
        given = {"recipe": "stub", "deadline_s": 5, "on_unscored": "none", **options}
        return component_reward_functions(components, url=url, **given)

    def rewards(self, functions: list[Callable[..., Any]], completions: list[Any]) -> list[list[Any]]:
        inputs = [{"prompt": "p", "question": "q"}] * len(completions)
        return [self.trainer.rewards(function, inputs, completions) for function in functions]

    def test_functions_share_their_requests_and_add_up_to_the_reward(self) -> None:
        with Stub(self.answer) as stub, citeward_environment():
            functions = self.functions(stub.url, ["rubric", "citation"])
            self.assertEqual([function.__name__ for function in functions], ["citeward/rubric", "citeward/citation"])
            for batch in (["7", "3"], ["7", "4"]):
                columns = self.rewards(functions, batch)
                self.assertEqual([sum(column) for column in zip(*columns)], [float(text) for text in batch])
            self.assertEqual(len(stub.asked), 4)
            # An equal batch that is another list is another step.
            self.rewards(functions, ["7", "4"])
            self.assertEqual(len(stub.asked), 6)
        self.assertEqual(self.trainer.metrics, [(UNSCORED_METRIC, 0.0)] * 3)

    def test_unscored_is_none_in_all(self) -> None:
        with Stub(self.answer) as stub, citeward_environment(), self.assertLogs("citeward", "WARNING") as logs:
            columns = self.rewards(self.functions(stub.url, ["rubric", "citation"]), ["lost", "3"])
        self.assertEqual([math.isnan(column[0]) for column in columns], [True, True])
        self.assertEqual([column[1] for column in columns], [1.0, 2.0])
        self.assertEqual(len(logs.output), 1)

    def test_the_asynchronous_trainer_shares_requests_between_concurrent_functions(self) -> None:
        group = {"prompts": ["p"] * 2, "completions": ["5", "6"], "question": ["q"] * 2}
        with Stub(self.answer) as stub, citeward_environment():
            functions = self.functions(stub.url, ["citation", "rubric"])
            if sys.version_info >= (3, 10):
                functions = pickle.loads(pickle.dumps(functions))
            self.assertEqual(asyncio.run(score_group(functions, group)), [5.0, 6.0])
            self.assertEqual(len(stub.asked), 2)

    def test_a_list_that_is_not_the_recipes_is_refused(self) -> None:
        with Stub(self.answer) as stub, citeward_environment():
            for wrong in (["rubric"], ["rubric", "citation", "format"], ["rubric", "citations"]):
                with self.assertRaisesRegex(Misconfigured, r"contributions are \['citation', 'rubric'\]"):
                    self.rewards(self.functions(stub.url, wrong), ["7"])
            for malformed in ("rubric", [], ["rubric", "rubric"]):
                with self.assertRaisesRegex(Misconfigured, "expected a list of different names"):
                    self.functions(stub.url, malformed)  # type: ignore[arg-type]

    def test_batches_that_no_function_asks_for_again_are_forgotten(self) -> None:
        with Stub(self.answer) as stub, citeward_environment():
            first, _ = self.functions(stub.url, ["rubric", "citation"])
            for _ in range(70):
                self.rewards([first], ["7"])
            self.assertEqual(len(first._scoring._open), 64)  # type: ignore[attr-defined]


class Stubbed(TrainerTestCase):
    @staticmethod
    def answer(n: int, asked: Asked) -> Answer:
        response = asked.body["response"]
        lost = {"a": "judge_timeout", "b": "judge_refusal", "c": "judge_refusal"}
        if response in lost:
            return problem(503, lost[response], retryable=False)
        if response == "bad":
            return problem(422, "input_invalid", errors=[{"path": "recipe", "message": "unknown"}])
        return scored(float(response))

    def rewards(self, *completions: Any, columns: list[dict[str, Any]] | None = None, **options: Any) -> list[Any]:
        inputs = [{"prompt": "p", **row} for row in columns or [{"question": "q"}] * len(completions)]
        with Stub(self.answer) as stub, citeward_environment():
            function = reward_function(url=stub.url, recipe="stub", deadline_s=5, **options)
            try:
                return self.trainer.rewards(function, inputs, list(completions))
            finally:
                self.asked = stub.asked

    def test_reasons_are_counted(self) -> None:
        with self.assertLogs("citeward", "WARNING") as logs:
            rewards = self.rewards("1", "a", "b", "c", "-2.5", on_unscored="none")
        self.assertEqual([rewards[0], rewards[4]], [1.0, -2.5])
        self.assertTrue(all(math.isnan(reward) for reward in rewards[1:4]))
        self.assertIn("3 of 5 samples are unscored: 2 judge_refusal, 1 judge_timeout", logs.output[-1])
        self.assertEqual(self.trainer.metrics, [(UNSCORED_METRIC, 0.6)])

    def test_a_bad_row_ends_the_step(self) -> None:
        with self.assertRaisesRegex(BadRequest, "^row 1: recipe: unknown"):
            self.rewards("1", "bad", "2", on_unscored="none")
        with self.assertRaisesRegex(BadRequest, r"^row 1: label.q: unknown field"):
            self.rewards("1", "2", columns=[{"label": '{"question":"q"}'}, {"label": '{"q":"q"}'}])
        self.assertEqual(self.asked, [])

    def test_columns_of_others_are_not_sent(self) -> None:
        self.rewards("1", columns=[{"question": "q", "label": "cat", "id": 3, "reference": None}])
        self.assertEqual(self.asked[0].body, {"question": "q", "recipe": "stub", "response": "1", "response_tokens": 3})

    def test_a_trl_without_abstention_gets_no_none(self) -> None:
        for version, abstains in (
            ("1.5.9", False),
            ("0.24.0", False),
            ("1.6.0", True),
            ("1.10.0.dev0", True),
            ("2.0", True),
        ):
            with self.subTest(version), mock.patch("importlib.metadata.version", return_value=version):
                if abstains:
                    with self.assertLogs("citeward", "WARNING"):
                        self.assertTrue(math.isnan(self.rewards("a")[0]))
                else:
                    with self.assertRaisesRegex(Unscored, "judge_timeout"):
                        self.rewards("a")

    def test_names_and_wrong_options(self) -> None:
        with citeward_environment():
            for make in MAKERS:
                function = make(url="http://h", name="judge_2")
                self.assertEqual(function.__name__, "judge_2")
                self.assertEqual(inspect.iscoroutinefunction(function), make is async_reward_function)
                with self.assertRaises(Misconfigured):
                    make(url="http://h", on_unscored="zero")
                with self.assertRaisesRegex(Misconfigured, "CITEWARD_URL"):
                    make()


if __name__ == "__main__":
    unittest.main()
