"""The environment of SkyRL. ``BaseTextEnv`` is a stand-in, written from skyrl-gym 0.4.0."""

from __future__ import annotations

import importlib
import sys
import unittest
from typing import Any

from citeward.errors import Unscored
from tests.live import LiveTestCase, citeward_environment, expected_score, label_of, rows
from tests.stub import Answer, Stub, problem, scored
from tests.test_ecosystems import CONTRIBUTIONS, modules


class BaseTextEnv:
    """skyrl-gym's environment."""

    def __init__(self) -> None:
        self.turns, self.max_turns = 0, 1


def skyrl_environment(tools: bool = False, **extras: Any) -> Any:
    base = {"BaseTextEnv": BaseTextEnv, "BaseTextEnvStepOutput": dict}
    with modules(skyrl_gym__envs__base_text_env=base):
        module = importlib.import_module("citeward.skyrl_env")
        sys.modules.pop("citeward.skyrl_env")
    made = type("Search", (module.CitewardEnv,), {"respond": lambda _, action: "found" if "search" in action else None})
    environment = (made if tools else module.CitewardEnv)(extras=extras)
    environment.init([{"role": "user", "content": "q"}])
    return environment


class SkyRl(unittest.TestCase):
    def steps(self, environment: Any, *actions: str, answer: Answer | None = None) -> list[Any]:
        found = answer or scored(6.5, contributions=CONTRIBUTIONS)
        with Stub(lambda n, asked: found) as stub:
            with citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub"):
                try:
                    return [environment.step(action) for action in actions]
                finally:
                    self.asked = [asked.body for asked in stub.asked]

    def test_the_row_may_be_in_three_places(self) -> None:
        for extras in ({"reference": "288"}, {"citeward": '{"reference": "288"}'}):
            [step] = self.steps(skyrl_environment(**extras), "a")
            self.assertEqual((step["reward"], step["done"]), (6.5, True))
            self.assertEqual(step["metadata"], {"contributions": CONTRIBUTIONS})
            self.assertEqual(self.asked, [{"recipe": "stub", "question": "q", "reference": "288", "response": "a"}])
        environment = skyrl_environment(reward_spec={"ground_truth": {"question": "own"}}, tests=["other"])
        self.steps(environment, "a")
        self.assertEqual(self.asked, [{"recipe": "stub", "question": "own", "response": "a"}])
        self.assertEqual(environment.get_metrics(), {"citeward/rubric": 4.5, "citeward/citation": 2})

    def test_an_agent_is_scored_once_at_its_end(self) -> None:
        first, last = self.steps(skyrl_environment(tools=True, reference="288", max_turns=8), "search", "a")
        self.assertEqual((first["reward"], first["done"], first["observations"][0]["content"]), (0, False, "found"))
        self.assertEqual((last["reward"], last["done"]), (6.5, True))
        messages = [("assistant", "search"), ("tool", "found"), ("assistant", "a")]
        [body] = self.asked
        self.assertEqual([(one["role"], one["content"]) for one in body["messages"]], messages)
        [cut] = self.steps(skyrl_environment(tools=True, reference="288"), "search")
        self.assertEqual((cut["reward"], cut["done"], self.asked[0]["response"]), (6.5, True, "search"))

    def test_a_failure_raises(self) -> None:
        with self.assertRaisesRegex(Unscored, "judge_refusal"):
            self.steps(skyrl_environment(reference="x"), "a", answer=problem(503, "judge_refusal", retryable=False))


class Live(LiveTestCase):
    """Against the Workers: the reward of the row, and none while the judge is down."""

    def test_the_step_has_the_reward_of_the_row(self) -> None:
        row = rows()[0]
        environment = {"citeward": label_of(row)}
        with self.environment(self.up):
            reward = expected_score(self.up, row["id"])["reward"]
            self.assertEqual(skyrl_environment(**environment).step(row["response"])["reward"], reward)
        with self.environment(self.down), self.assertRaisesRegex(Unscored, "^judge_"):
            skyrl_environment(**environment).step(row["response"])


if __name__ == "__main__":
    unittest.main()
