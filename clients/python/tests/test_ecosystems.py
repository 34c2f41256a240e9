"""verifiers, inspect_ai and OpenRLHF, as they call a reward, a scorer and an agent.

The frameworks are stand-ins, written from their published code: PrimeIntellect-ai/verifiers a60a606e
(``verifiers/v1/task.py::Task.score``, ``utils/loaders.py``), UKGovernmentBEIS/inspect_ai 03ed3dda
(``scorer/_metric.py``) and OpenRLHF/OpenRLHF 3c3be623 (``openrlhf/utils/agent.py::MultiTurnAgentExecutor``).
"""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
import types
import unittest
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest import mock

import citeward.verifiers
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.openrlhf import reward_func
from tests.live import LiveTestCase, citeward_environment, expected_score, label_of, rows
from tests.stub import Answer, Asked, Stub, problem, scored

CONTRIBUTIONS = {"rubric": 4.5, "citation": 2}


class Model(SimpleNamespace):
    """A pydantic model, as far as it matters here."""

    def model_dump(self, mode: str, exclude_none: bool) -> dict[str, Any]:
        assert (mode, exclude_none) == ("json", True)
        return {name: value for name, value in vars(self).items() if value is not None}


def modules(**made: Any) -> Any:
    """Makes modules importable, for a ``with`` block; their names have ``__`` in place of dots."""
    found = {}
    for name, members in made.items():
        path = name.split("__")
        for depth in range(1, len(path) + 1):
            found.setdefault(".".join(path[:depth]), types.ModuleType(".".join(path[:depth])))
        vars(found[".".join(path)]).update(members)
        if len(path) > 1:
            setattr(found[".".join(path[:-1])], path[-1], found[".".join(path)])
    return mock.patch.dict(sys.modules, found)


# verifiers


class Judge:
    """What judge plugins descend from."""

    def __init__(self, config: Any = None) -> None:
        self.config = config or SimpleNamespace(weight=1.0)

    def __class_getitem__(cls, _: Any) -> type:
        return cls


def node(role: str, content: str, sampled: bool = False, tokens: int = 2, **more: Any) -> Any:
    message = Model(role=role, content=content, **more)
    return SimpleNamespace(message=message, sampled=sampled, mask=[sampled] * tokens)


def trace_of(response: str, **more: Any) -> Any:
    call = {"id": "c", "name": "search", "arguments": '{"q": "Aare"}'}
    compacted = [node("user", "q"), node("assistant", "lost", sampled=True)]
    nodes = [
        node("user", "q", tokens=5),
        node("assistant", "an example of the prompt"),
        node("assistant", "", sampled=True, tool_calls=[call]),
        node("tool", "found", tool_call_id="c", tokens=3),
        node("assistant", response, sampled=True),
    ]
    branches = [SimpleNamespace(nodes=nodes, trainable=True), SimpleNamespace(nodes=compacted, trainable=False)]
    return SimpleNamespace(**{"id": "t1", "branches": branches, "is_truncated": False, "rewards": {}, **more})


async def task_score(reward: Any, task: Any, trace: Any, weight: float = 1.0) -> float:
    """The part of ``Task.score`` that runs rewards and judges, and the trace's reward."""
    result = await reward(**{"task": task, "trace": trace})
    for key, value in (result if isinstance(result, Mapping) else {"reward": result}).items():
        trace.rewards[key] = weight * float(value)
    return sum(trace.rewards.values())


class Verifiers(unittest.TestCase):
    @staticmethod
    def answer(n: int, asked: Asked) -> Answer:
        if asked.body["question"] == "lost":
            return problem(503, "judge_refusal", retryable=False)
        return scored(6.5, contributions=CONTRIBUTIONS)

    def run_with(
        self, task: Any, trace: Any = None, reward: Any = citeward.verifiers.reward, **variables: str
    ) -> float:
        with Stub(self.answer) as stub:
            given = {"CITEWARD_URL": stub.url, "CITEWARD_RECIPE": "stub", **variables}
            with citeward_environment(**given):
                try:
                    self.trace = trace or trace_of("r")
                    return asyncio.run(task_score(reward, task, self.trace))
                finally:
                    self.asked = stub.asked

    def test_contributions_add_up_to_the_traces_reward(self) -> None:
        self.assertEqual(self.run_with(Model(prompt_text="q", reference="288", prompt="q", idx=3)), 6.5)
        self.assertEqual(self.trace.rewards, CONTRIBUTIONS)
        body = self.asked[0].body
        self.assertEqual((body["question"], body["reference"], body["finish_reason"]), ("q", "288", "stop"))
        self.assertNotIn("idx", body)
        # From the first token that the model sampled on.
        self.assertEqual(body["response_tokens"], 7)

    def test_the_branch_that_trains_is_sent_with_what_the_model_sampled(self) -> None:
        self.run_with(Model(prompt_text="q", citeward={"question": "other"}), trace_of("r", is_truncated=True))
        body = self.asked[0].body
        self.assertEqual((body["question"], body["finish_reason"]), ("other", "length"))
        self.assertEqual([one.get("sampled") for one in body["messages"]], [None, False, True, None, True])
        self.assertEqual(body["messages"][2]["tool_calls"][0]["name"], "search")
        self.assertEqual(body["messages"][3], {"role": "tool", "content": "found", "tool_call_id": "c"})

    def test_a_failure_raises_and_records_no_reward(self) -> None:
        with self.assertRaisesRegex(Unscored, "judge_refusal"):
            self.run_with(Model(prompt_text="lost", reference="x"))
        self.assertEqual(self.trace.rewards, {})
        with self.assertRaisesRegex(BadRequest, "no fields"):
            self.run_with(Model(prompt_text="q", prompt="q"))

    def test_the_group_of_a_run_comes_from_the_row(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "group of a rollout are unknown"):
            self.run_with(Model(prompt_text="q", reference="x"), CITEWARD_RUN="r")
        row = {"reference": "x", "run": {"group": "g"}}
        self.run_with(Model(prompt_text="q", citeward=row), CITEWARD_RUN="r")
        self.assertEqual(self.asked[0].body["run"], {"id": "r", "step": None, "group": "g", "sample": "t1"})

    def test_the_judge_plugin_is_the_same_reward(self) -> None:
        with modules(verifiers__v1={"Judge": Judge}):
            module = importlib.import_module("citeward_judge")
            # As the loader picks the plugin of a module.
            names = [name for name in module.__all__ if issubclass(getattr(module, name), Judge)]
            judge = getattr(module, names[0])(SimpleNamespace(weight=1.0))
            sys.modules.pop("citeward_judge")
        self.assertEqual(len(names), 1)
        self.assertEqual(self.run_with(Model(prompt_text="q", reference="x"), reward=judge.score), 6.5)


# inspect_ai


class Score:
    """inspect's ``Score``."""

    def __init__(self, value: Any, **more: Any) -> None:
        self.value, self.more = value, more

    @classmethod
    def unscored(cls, *, answer: Any = None, explanation: Any = None, metadata: Any = None) -> Score:
        return cls(math.nan, answer=answer, explanation=explanation, metadata=metadata)


def inspect_modules() -> Any:
    scorer = {"Score": Score, "mean": lambda: None, "stderr": lambda: None, "scorer": lambda metrics: lambda made: made}
    return modules(inspect_ai__scorer=scorer)


def state_of(response: str, metadata: dict[str, Any], stop_reason: str = "stop") -> Any:
    call = SimpleNamespace(id="c", function="search", arguments={"q": "Aare"})
    messages = [
        SimpleNamespace(role="user", content="q"),
        SimpleNamespace(role="assistant", content=[SimpleNamespace(type="text", text="")], tool_calls=[call]),
        SimpleNamespace(role="tool", content="found", tool_call_id="c", function="search"),
        SimpleNamespace(role="assistant", content=response, tool_calls=None),
    ]
    output = SimpleNamespace(completion=response, stop_reason=stop_reason, choices=["choice"])
    return SimpleNamespace(
        messages=messages, metadata=metadata, input_text="q", output=output, sample_id=7, epoch=2
    )


def inspect_score(state: Any, **settings: Any) -> Any:
    with inspect_modules():
        module = importlib.import_module("citeward.inspect_scorer")
        sys.modules.pop("citeward.inspect_scorer")
        return asyncio.run(module.citeward_scorer(**settings)(state, None))


class Inspect(unittest.TestCase):
    def test_the_reward_is_the_value_and_messages_become_chat_messages(self) -> None:
        with Stub(lambda n, asked: scored(6.5, contributions=CONTRIBUTIONS)) as stub, citeward_environment():
            state = state_of("answer", {"reference": "288", "source": "mine"}, "max_tokens")
            score = inspect_score(state, url=stub.url, recipe="stub", run="eval-1")
        self.assertEqual((score.value, score.more["answer"]), (6.5, "answer"))
        self.assertEqual(score.more["metadata"]["contributions"], CONTRIBUTIONS)
        body = stub.asked[0].body
        self.assertEqual((body["question"], body["reference"], body["finish_reason"]), ("q", "288", "length"))
        self.assertNotIn("source", body)
        self.assertEqual(body["run"], {"id": "eval-1", "step": None, "group": "7", "sample": 2})
        function = {"name": "search", "arguments": {"q": "Aare"}}
        calls = [{"id": "c", "type": "function", "function": function}]
        self.assertEqual(body["messages"][1], {"role": "assistant", "content": "", "tool_calls": calls})
        self.assertEqual(body["messages"][2], {"role": "tool", "content": "found", "tool_call_id": "c"})

    def test_a_sample_that_ended_before_the_model_answered_is_unscored(self) -> None:
        class Output:
            """inspect's ``ModelOutput()`` after ``time_limit`` or ``message_limit``: no choices, whose first is read."""

            choices: list[str] = []
            completion = ""

            @property
            def stop_reason(self) -> str:
                return self.choices[0]

        state = state_of("", {"reference": "x"})
        state.output = Output()
        with Stub(lambda n, asked: scored(6.5)) as stub, citeward_environment():
            score = inspect_score(state, url=stub.url, recipe="stub")
        self.assertTrue(math.isnan(score.value))
        self.assertEqual(score.more["metadata"], {"reason": "no_model_output"})
        self.assertEqual(stub.asked, [])

    def test_a_failed_judge_is_unscored_and_a_wrong_row_raises(self) -> None:
        answers = [problem(503, "judge_refusal", retryable=False), problem(422, "input_invalid")]
        with Stub(lambda n, asked: answers[n]) as stub, citeward_environment():
            score = inspect_score(state_of("a", {"reference": "x"}), url=stub.url, recipe="stub")
            self.assertTrue(math.isnan(score.value))
            self.assertEqual(score.more["metadata"], {"reason": "judge_refusal"})
            with self.assertRaises(BadRequest):
                inspect_score(state_of("a", {"reference": "x"}), url=stub.url, recipe="stub")


# OpenRLHF


class Tokenizer:
    """A token per character."""

    def decode(self, tokens: list[str], skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return "".join(token for token in tokens if token != "\0")


class MultiTurnAgentExecutor:
    """OpenRLHF's loop over steps, without its engine: the actions are given."""

    def __init__(self, agent_instance_cls: type) -> None:
        self.agent_instance_cls = agent_instance_cls

    async def execute(
        self, prompt: str, label: Any, sampling_params: Any, max_length: int, hf_tokenizer: Any, llm_engine: Any
    ) -> dict[str, Any]:
        agent = self.agent_instance_cls()
        observation = (await agent.reset({"observation": prompt, "label": label}))["observation"]
        ranges, total, scores, logs = [], 0.0, 0.0, {}
        while len(observation) < max_length:
            action = next(llm_engine)
            ranges.append((len(observation), len(observation) + len(action)))
            states = {"observation_text": observation, "action_text": action, "label": label}
            result = await agent.step(states)
            total += result["rewards"].item()
            scores, logs = result.get("scores", total), result.get("extra_logs", {})
            observation += action + result["environment_feedback"]
            if result["done"]:
                break
        return {
            **{"prompt": prompt, "label": label, "reward": total, "scores": scores, "extra_logs": logs},
            **{"observation_tokens": list(observation), "action_ranges": ranges},
        }


class AgentInstanceBase:
    async def reset(self, states: dict[str, Any], **_: Any) -> dict[str, Any]:
        return states


class Tools:
    async def respond(self, action: str, label: Any) -> str | None:
        return "[found]" if "search" in action else None


def openrlhf_episode(actions: list[str], label: Any, max_length: int = 1000, max_turns: int = 8) -> dict[str, Any]:
    agent = {"MultiTurnAgentExecutor": MultiTurnAgentExecutor, "AgentInstanceBase": AgentInstanceBase}
    with modules(openrlhf__utils__agent=agent):
        executor = importlib.import_module("citeward.openrlhf").agent_executor(Tools, max_turns)()
        return asyncio.run(executor.execute("prompt ", label, None, max_length, Tokenizer(), iter(actions)))


class OpenRlhf(unittest.TestCase):
    LABEL = '{"question": "q"}'

    def episode(self, actions: list[str], label: Any = LABEL, answer: Answer | None = None, **options: int) -> Any:
        found = answer or scored(6.5, contributions=CONTRIBUTIONS)
        with Stub(lambda n, asked: found) as stub:
            with citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub"):
                try:
                    return openrlhf_episode(actions, label, **options)
                finally:
                    self.asked = [asked.body for asked in stub.asked]

    def test_the_transcript_is_scored_once_at_the_end(self) -> None:
        episode = self.episode(["search\0", "answer"])
        self.assertEqual((episode["reward"], episode["scores"], episode["extra_logs"]), (6.5, 0.65, CONTRIBUTIONS))
        self.assertEqual({type(episode["reward"]), type(episode["scores"])}, {float})
        [body] = self.asked
        self.assertEqual(body["response"], "search[found]answer")
        self.assertEqual((body["num_turns"], body["response_tokens"], body["finish_reason"]), (4, 20, "stop"))

    def test_an_episode_without_a_last_step_is_scored_too(self) -> None:
        for options in ({"max_length": 12}, {"max_turns": 1}):
            self.assertEqual(self.episode(["search", "search"], **options)["reward"], 6.5)
            self.assertEqual(self.asked[0]["finish_reason"], "length")

    def test_a_failure_raises(self) -> None:
        with self.assertRaisesRegex(Unscored, "judge_refusal"):
            self.episode(["answer"], answer=problem(503, "judge_refusal", retryable=False))

    def test_the_reward_function_asks_the_adapter(self) -> None:
        reply = {"rewards": [6.5], "scores": [0.65], "extra_logs": {"rubric": [0.65]}}
        answers = [Answer(body=reply), problem(503, "judge_refusal", retryable=False)]
        asked = (["q: a</s>"], ["q: "], [self.LABEL])
        with Stub(lambda n, _: answers[n]) as stub:
            named = {"CITEWARD_URL": stub.url, "CITEWARD_RECIPE": "stub"}
            with citeward_environment(**named, CITEWARD_JUDGE="j", CITEWARD_RUN="r"):
                self.assertEqual(reward_func(*asked), reply)
            with citeward_environment(**named), self.assertRaisesRegex(Unscored, "judge_refusal"):
                reward_func(*asked)
            for wrong in ({"CITEWARD_RECIPE": "{}"}, {"CITEWARD_JUDGE": "a,b"}):
                with citeward_environment(**{**named, **wrong}), self.assertRaisesRegex(Misconfigured, "adapter"):
                    reward_func(*asked)
        self.assertEqual(stub.asked[0].path, "/v1/adapters/openrlhf/get_reward?recipe=stub&judge=j&run=r")
        self.assertEqual(stub.asked[0].body, {"query": asked[0], "prompts": asked[1], "labels": asked[2]})

    def test_the_place_comes_from_the_label(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "step and group"):
            self.episode(["a"], {"question": "q", "run": "r"})
        self.episode(["a"], {"question": "q", "run": {"id": "r", "step": 1, "group": "g"}})
        self.assertEqual([self.asked[0]["run"][name] for name in ("id", "step", "group")], ["r", 1, "g"])


class Live(LiveTestCase):
    """Against the Workers: the same reward as without this package, and no number while the judge is down."""

    def test_each_framework_gets_the_reward_of_the_row(self) -> None:
        row = rows()[0]
        label = label_of(row)
        reward = expected_score(self.up, row["id"])["reward"]
        with self.environment(self.up):
            task = Model(prompt_text=row["question"], citeward=label)
            node_of = [node("assistant", row["response"], sampled=True)]
            trace = trace_of("", branches=[SimpleNamespace(nodes=node_of)])
            self.assertAlmostEqual(asyncio.run(task_score(citeward.verifiers.reward, task, trace)), reward, places=9)
            self.assertEqual(inspect_score(state_of(row["response"], {"citeward": label})).value, reward)
            self.assertEqual(openrlhf_episode([row["response"]], label, max_length=100_000)["reward"], reward)

    def test_no_framework_gets_a_number_while_the_judge_is_down(self) -> None:
        row = rows()[0]
        label = label_of(row)
        with self.environment(self.down):
            trace = trace_of(row["response"])
            with self.assertRaisesRegex(Unscored, "^judge_"):
                asyncio.run(task_score(citeward.verifiers.reward, Model(prompt_text="q", citeward=label), trace))
            self.assertEqual(trace.rewards, {})
            self.assertTrue(math.isnan(inspect_score(state_of(row["response"], {"citeward": label})).value))
            with self.assertRaisesRegex(Unscored, "^judge_"):
                openrlhf_episode([row["response"]], label, max_length=100_000)


if __name__ == "__main__":
    unittest.main()
