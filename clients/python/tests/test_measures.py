"""Outcomes and metrics: sent with recorded rollouts only, and never a part of their groups."""

from __future__ import annotations

import unittest
from typing import Any

from citeward.client import Client
from citeward.errors import Misconfigured
from citeward.trl import reward_function
from citeward.verl import compute_score
from tests.live import citeward_environment
from tests.stub import Stub, scored
from tests.test_runs import Trl


class Measured(unittest.TestCase):
    def setUp(self) -> None:
        self.stub = Stub(lambda n, asked: scored())
        self.stub.__enter__()
        self.addCleanup(self.stub.__exit__)
        environment = citeward_environment(CITEWARD_URL=self.stub.url, CITEWARD_RECIPE="stub", CITEWARD_RUN="r")
        environment.start()
        self.addCleanup(environment.stop)

    def test_outcomes_are_sent_with_recorded_rollouts_and_keep_their_groups_together(self) -> None:
        def is_long(prompts: Any, completions: Any, **_: Any) -> list[float | None]:
            return [None if position == 0 else float(position) for position, _ in enumerate(completions)]

        rewards = reward_function(outcome=is_long, metrics={"length": lambda completions, **_: [7] * len(completions)})
        Trl(0, 0).score(rewards, 5, ["a"] * 3)
        sent = [(asked.body["outcome"], asked.body["metrics"]) for asked in self.stub.asked]
        self.assertEqual(sorted(sent, key=repr), [(1.0, {"length": 7}), (2.0, {"length": 7}), (None, {"length": 7})])
        self.assertEqual(len({asked.body["run"]["group"] for asked in self.stub.asked}), 1)
        self.stub.asked.clear()
        with citeward_environment(CITEWARD_URL=self.stub.url, CITEWARD_RECIPE="stub"), Client() as client:
            client.score({"question": "q", "response": "x", "outcome": 1, "metrics": {"a": 2}})
        self.assertEqual(self.stub.asked[0].body.keys() & {"outcome", "metrics"}, set())
        with self.assertRaisesRegex(Misconfigured, r"outcome: expected 3 numbers, got 1"):
            Trl(0, 0).score(reward_function(outcome=lambda **_: [1.0]), 5, ["a"] * 3)
        with self.assertRaisesRegex(Misconfigured, r"metrics\['a'\]: expected a function"):
            reward_function(metrics={"a": 3})

    def test_verl_gives_them_in_extra_info_where_numbers_may_be_those_of_numpy(self) -> None:
        class Float64:
            """A number of numpy, as far as the client asks it."""

            def tolist(self) -> float:
                return 0.5

        place = {"id": "r", "step": 1, "group": "g", "sample": "s"}
        truth = {"question": "q", "positive_rubrics": ["a"]}
        extra = {"outcome": Float64(), "metrics": {"length": 7}, "index": 3, "citeward": {"run": place}}
        compute_score("citeward", "x", truth, extra)
        body = self.stub.asked[0].body
        self.assertEqual((body["outcome"], body["metrics"], body["run"]), (0.5, {"length": 7}, place))
        self.assertNotIn("index", body)

    def test_true_is_1(self) -> None:
        Trl(0, 0).score(reward_function(outcome=lambda completions, **_: [True, False, None]), 5, ["a"] * 3)
        sent = [asked.body["outcome"] for asked in self.stub.asked]
        self.assertEqual(sorted(map(repr, sent)), ["0", "1", "None"])
        self.stub.asked.clear()
        place = {"run": {"id": "r", "step": 1, "group": "g", "sample": "s"}}
        extra = {"outcome": True, "metrics": {"exact": False}, "citeward": place}
        compute_score("citeward", "x", {"question": "q"}, extra)
        body = self.stub.asked[0].body
        self.assertEqual(repr((body["outcome"], body["metrics"])), "(1, {'exact': 0})")
