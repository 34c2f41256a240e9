"""Groups and training steps: their rewards and advantages, under the rules of trainers."""

from __future__ import annotations

import unittest
from typing import Any

from citeward.errors import UnexpectedReply
from tests.stub import Answer, Stub
from tests.stub_client import client


class Groups(unittest.TestCase):
    MASKED = {"advantage": 0, "masked": True}

    def group(self, reply: Any, responses: Any = ("a", {"response": "b", "num_turns": 4}), **more: Any) -> Any:
        with Stub(lambda n, asked: Answer(body=reply)) as stub, client(stub.url) as ours:
            try:
                return ours.group({"question": "q"}, responses, **more)
            finally:
                self.asked = stub.asked

    def reply(self, **fields: Any) -> Any:
        advantages = [{"advantage": 1.5, "masked": False}, self.MASKED]
        return {"rewards": [3, None], "advantages": advantages, "members": [{}, {}], "degenerate": None, **fields}

    def test_rewards_and_advantages(self) -> None:
        group = self.group(self.reply(), advantages="slime")
        self.assertEqual(group.rewards, (3.0, None))
        self.assertEqual(group.advantages, ((1.5, False), (0.0, True)))
        self.assertEqual((len(group.members), group.reply["degenerate"]), (2, None))
        self.assertEqual(self.asked[0].path, "/v1/groups")
        self.assertEqual(
            self.asked[0].body,
            {
                "question": "q",
                "recipe": "stub",
                "responses": ["a", {"response": "b", "num_turns": 4}],
                "advantages": "slime",
            },
        )

    def test_the_preset_is_the_workers_if_none_is_given(self) -> None:
        self.group(self.reply())
        self.assertNotIn("advantages", self.asked[0].body)

    OPEN = {"advantage": None, "masked": False, "weighted_sum": -0.5}
    LOST = {"advantage": None, "masked": True, "weighted_sum": None}

    def test_a_gdpo_preset_leaves_the_advantages_open(self) -> None:
        group = self.group(self.reply(advantages=[self.OPEN, self.LOST], final=False), advantages="trl-gdpo")
        self.assertEqual(group.advantages, ((None, False), (None, True)))
        self.assertEqual((group.final, group.weighted_sums), (False, (-0.5, None)))

    def test_other_presets_are_final(self) -> None:
        group = self.group(self.reply(final=True))
        self.assertEqual((group.final, group.weighted_sums), (True, None))

    def test_replies_that_do_not_fit(self) -> None:
        for name, fields in {
            "too few rewards": {"rewards": [3]},
            "no advantage though final": {"advantages": [self.OPEN, self.LOST], "final": True},
            "an advantage though not final": {"final": False},
            "final that is a number": {"final": 0},
            "a weighted sum that is text": {
                "advantages": [{**self.OPEN, "weighted_sum": "0"}, self.LOST],
                "final": False,
            },
            "no list": {"rewards": 3},
            "NaN in text": {"rewards": ["NaN", 1]},
            "a lost member that votes": {"advantages": [{"advantage": 1, "masked": False}] * 2},
            "an advantage that is a number": {"advantages": [1, 2]},
            "members that are none": {"members": [1, 2]},
        }.items():
            with self.subTest(name), self.assertRaises(UnexpectedReply):
                self.group(self.reply(**fields))


class Steps(unittest.TestCase):
    GROUPS = ([{"components": {"a": 1.0, "b": 0.0}, "response_tokens": 7}, {"components": None}], [{"reward": 2.0}])

    def step(self, reply: Any, **settings: Any) -> Any:
        with Stub(lambda n, asked: Answer(body=reply)) as stub, client(stub.url, **settings) as ours:
            try:
                return ours.advantages(self.GROUPS, {"preset": "trl-gdpo", "weights": {"a": 2}})
            finally:
                self.asked = stub.asked

    def reply(self, *groups: Any) -> Any:
        return {"groups": [{"advantages": advantages} for advantages in groups], "batch": None, "final": True}

    def test_the_advantages_of_each_group(self) -> None:
        one = [{"advantage": 0.5, "masked": False, "weighted_sum": 1}, {"advantage": 0, "masked": True}]
        step = self.step(self.reply(one, [{"advantage": -1, "masked": False}]))
        self.assertEqual(step.groups, (((0.5, False), (0.0, True)), ((-1.0, False),)))
        self.assertIsNone(step.reply["batch"])

    def test_the_request_has_neither_recipe_nor_judge(self) -> None:
        fit = self.reply([{"advantage": 0, "masked": True}] * 2, [{"advantage": 0, "masked": True}])
        self.step(fit, judge="other")
        self.assertEqual(self.asked[0].path, "/v1/advantages")
        self.assertEqual(
            self.asked[0].body,
            {
                "rule": {"preset": "trl-gdpo", "weights": {"a": 2}},
                "groups": [{"members": members} for members in self.GROUPS],
            },
        )

    def test_replies_that_do_not_fit(self) -> None:
        one = [{"advantage": 0, "masked": True}]
        for name, reply in {
            "too few groups": self.reply(one * 2),
            "too few members": self.reply(one, one),
            "an open advantage": self.reply([{"advantage": None, "masked": False}] * 2, one),
            "a group that is none": {"groups": [1, 2]},
        }.items():
            with self.subTest(name), self.assertRaises(UnexpectedReply):
                self.step(reply)
