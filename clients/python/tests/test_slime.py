"""slime's calls, as rm_hub and RolloutManager make them (THUDM/slime 624b824a)."""

from __future__ import annotations

import asyncio
import enum
import importlib
import json
import math
import unittest
from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any

from citeward.errors import BadRequest, Misconfigured, Unscored
from tests.live import LiveTestCase, citeward_environment, expected_rewards, expected_score, label_of, rows
from tests.stub import Answer, Asked, Stub, problem, scored

RM = "citeward.slime.custom_rm"
POST_PROCESS = "citeward.slime.post_process_rewards"


class Status(enum.Enum):
    PENDING = "pending"
    COMPLETED = "completed"
    TRUNCATED = "truncated"
    FAILED = "failed"


@dataclass
class Sample:
    """The attributes of slime's ``Sample`` that a reward function can see."""

    prompt: Any = "p"
    response: str = ""
    response_length: int = 3
    label: Any | None = None
    reward: Any = None
    loss_mask: list[int] | None = None
    remove_sample: bool = False
    status: Status = Status.COMPLETED
    metadata: dict[str, Any] = field(default_factory=dict)
    custom_rm_path: str | None = None


def arguments(**fields: Any) -> Namespace:
    return Namespace(
        **{
            "custom_rm_path": RM,
            "custom_reward_post_process_path": POST_PROCESS,
            "reward_key": None,
            "advantage_estimator": "grpo",
            "rewards_normalization": True,
            "grpo_std_normalization": True,
            "n_samples_per_prompt": 4,
            "rollout_batch_size": 1,
            **fields,
        }
    )


def load_function(path: str) -> Any:
    """As slime/utils/misc.py loads one."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


async def generate_and_rm_group(args: Namespace, group: list[Sample], group_rm: bool) -> list[Sample]:
    """The part that asks for rewards, for one sample at a time or with --group-rm."""
    function = load_function(args.custom_rm_path)
    if group_rm:
        rewards = await function(args, group)
    else:
        rewards = await asyncio.gather(*(function(args, sample) for sample in group))
    for sample, reward in zip(group, rewards):
        sample.reward = reward
    return group


def samples() -> list[Sample]:
    """The example rows as samples."""
    return [
        Sample(
            response=row["response"],
            label=json.dumps(label_of(row)),
            status=Status.TRUNCATED if row["finish_reason"] == "length" else Status.COMPLETED,
        )
        for row in rows()
    ]


def post_processed(args: Namespace, group: list[Sample]) -> Any:
    return load_function(args.custom_reward_post_process_path)(args, group)


def mean_and_std(rewards: list[float]) -> Any:
    mean = sum(rewards) / len(rewards)
    return mean, math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1))


class Live(LiveTestCase):
    def test_rewards_one_by_one_and_as_a_group(self) -> None:
        for group_rm in (False, True):
            with self.subTest(group_rm=group_rm), self.environment(self.up):
                group = asyncio.run(generate_and_rm_group(arguments(), samples(), group_rm))
                self.assertEqual([sample.reward for sample in group], expected_rewards(self.up))
                for sample, row in zip(group, rows()):
                    reply = expected_score(self.up, row["id"])
                    self.assertFalse(sample.remove_sample)
                    self.assertEqual(
                        sample.metadata["citeward"],
                        {
                            "status": "scored",
                            "base": reply["base"],
                            "decided_by": reply["decided_by"],
                            "components": reply["components"],
                            "contributions": reply["contributions"],
                        },
                    )
                mean, std = mean_and_std(expected_rewards(self.up))
                raw, rewards = post_processed(arguments(), group)
                self.assertEqual(raw, expected_rewards(self.up))
                for reward, expected in zip(rewards, raw):
                    self.assertAlmostEqual(reward, (expected - mean) / (std + 1e-6), places=9)

    def test_a_judge_that_is_down_masks_the_sample(self) -> None:
        with self.environment(self.down):
            with self.assertLogs("citeward", "WARNING"):
                group = asyncio.run(generate_and_rm_group(arguments(), samples(), False))
            raw, rewards = post_processed(arguments(), group)
        # The two without an answer need no judge.
        self.assertEqual([math.isnan(sample.reward) for sample in group], [True, False, False, True])
        self.assertEqual([sample.remove_sample for sample in group], [True, False, False, True])
        self.assertEqual([sample.loss_mask for sample in group], [[0, 0, 0], None, None, [0, 0, 0]])
        self.assertEqual(group[0].metadata["citeward"]["status"], "unscored")
        self.assertTrue(group[0].metadata["citeward"]["reason"].startswith("judge_"))
        self.assertEqual([math.isnan(reward) for reward in raw], [True, False, False, True])
        self.assertEqual(rewards, [0.0] * 4)

    def test_a_judge_that_is_down_raises_if_nothing_leaves_the_sample_out(self) -> None:
        with self.environment(self.down), self.assertRaisesRegex(Unscored, "^judge_"):
            asyncio.run(generate_and_rm_group(arguments(custom_reward_post_process_path=None), samples(), True))


class Asking(unittest.TestCase):
    @staticmethod
    def answer(n: int, asked: Asked) -> Answer:
        response = asked.body["response"]
        return problem(503, "judge_refusal", retryable=False) if response == "lost" else scored(float(response))

    def rewards(self, *given: Sample, **fields: Any) -> list[Any]:
        with Stub(self.answer) as stub, citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub"):
            self.asked = stub.asked
            return asyncio.run(load_function(RM)(arguments(**fields), list(given), evaluation=False))

    def test_what_the_sample_says_of_itself_is_sent(self) -> None:
        label = {"question": "q"}
        self.rewards(Sample(response="1", label=label, response_length=7, status=Status.TRUNCATED))
        self.assertEqual(
            self.asked[0].body,
            {"question": "q", "response": "1", "response_tokens": 7, "finish_reason": "length", "recipe": "stub"},
        )
        self.rewards(Sample(response="1", label=label, status=Status.FAILED, metadata={"num_turns": 4}))
        self.assertNotIn("finish_reason", self.asked[0].body)
        self.assertEqual(self.asked[0].body["num_turns"], 4)

    def test_a_reward_key_names_reward_or_base(self) -> None:
        label = {"question": "q"}
        rewards = self.rewards(Sample(response="1", label=label), reward_key="base")
        self.assertEqual(rewards, [{"rubric": 1.0, "reward": 1.0, "base": 0.65}])
        self.assertEqual(self.rewards(Sample(response="1", label=label), reward_key="rubric")[0]["rubric"], 1.0)
        with self.assertLogs("citeward", "WARNING"):
            lost = self.rewards(Sample(response="lost", label=label), reward_key="reward")[0]
        self.assertTrue(math.isnan(lost["reward"]) and math.isnan(lost["base"]))
        with self.assertRaisesRegex(Misconfigured, "--reward-key score"):
            self.rewards(Sample(response="1", label=label), reward_key="score")

    def test_a_label_without_fields_ends_the_rollout(self) -> None:
        for label in (None, "42"):
            with self.subTest(label), self.assertRaisesRegex(BadRequest, "^label: expected a"):
                self.rewards(Sample(response="1", label=label))


class PostProcessing(unittest.TestCase):
    """The rewards and advantages are those of slime's own code, as recorded in golden/grpo.jsonl."""

    EIGHT = [0.82, 0.1, 0.46, 0.7, 0.0, 0.95, 0.33, 0.58]
    SCALED = [
        *[0.9449082063419658, -1.3228714888787525, -0.1889816412683932, 0.5669449238051795],
        *[-1.1590012252422732, 1.2088507403064572, -0.3364842266832406, 0.28663471161905685],
    ]

    def group(self, rewards: list[float | None]) -> list[Sample]:
        lost = {"citeward": {"status": "unscored", "reason": "judge_timeout", "detail": "d"}}
        return [
            Sample(reward=math.nan, metadata=dict(lost), loss_mask=[1, 1, 1])
            if reward is None
            else Sample(reward=reward)
            for reward in rewards
        ]

    def assert_rewards(self, given: list[float | None], expected: list[float], **fields: Any) -> None:
        raw, rewards = post_processed(arguments(**fields), self.group(given))
        self.assertEqual([None if math.isnan(reward) else reward for reward in raw], given)
        self.assertEqual(len(rewards), len(expected))
        for reward, wanted in zip(rewards, expected):
            self.assertAlmostEqual(reward, wanted, places=9)

    def test_without_a_loss_it_is_slimes(self) -> None:
        self.assert_rewards(self.EIGHT, self.SCALED, rollout_batch_size=2)
        centred = [0.3, -0.42, -0.06, 0.18, -0.465, 0.485, -0.135, 0.115]
        self.assert_rewards(self.EIGHT, centred, rollout_batch_size=2, grpo_std_normalization=False)
        self.assert_rewards(
            self.EIGHT, centred, rollout_batch_size=2, advantage_estimator="reinforce_plus_plus_baseline"
        )
        self.assert_rewards([0.5] * 4, [0.0] * 4)
        # 6 is not 4 x 2: slime takes the whole batch as one group.
        whole = [0.8099030485913158, -1.0413039196174063, -0.11570043551304508, 0.5013685538898621]
        whole += [-1.2984159985352843, 1.1441487511845572]
        self.assert_rewards(self.EIGHT[:6], whole, rollout_batch_size=2)

    def test_a_lost_sample_does_not_vote(self) -> None:
        first = [0.82, 0.1, 0.46, 0.7, 0.9]
        given: list[float | None] = [first[0], None, *first[2:]]
        mean, std = mean_and_std([first[0], *first[2:]])
        expected = [0.0 if reward is None else (reward - mean) / (std + 1e-6) for reward in given]
        self.assert_rewards(given, expected, n_samples_per_prompt=5)
        # The other group is as it was.
        self.assert_rewards([None] * 4 + self.EIGHT[4:], [0.0] * 4 + self.SCALED[4:], rollout_batch_size=2)

    def test_one_scored_sample_teaches_nothing(self) -> None:
        self.assert_rewards([None, None, 7.0, None], [0.0] * 4)
        self.assert_rewards([None] * 4, [0.0] * 4)

    def test_without_normalisation_rewards_stay_and_lost_ones_are_zero(self) -> None:
        self.assert_rewards([3.0, None], [3.0, 0.0], rewards_normalization=False)
        self.assert_rewards([3.0, None], [3.0, 0.0], advantage_estimator="ppo")

    def test_lost_samples_have_no_loss(self) -> None:
        group = self.group([1.0, None, 2.0, 3.0])
        post_processed(arguments(), group)
        self.assertEqual([sample.loss_mask for sample in group], [None, [0, 0, 0], None, None])
        self.assertEqual([sample.remove_sample for sample in group], [False, True, False, False])

    def test_a_nan_of_somebody_else_is_refused(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "not finite"):
            post_processed(arguments(), [Sample(reward=math.nan), Sample(reward=1.0)])

    def test_rewards_under_a_key(self) -> None:
        group = [Sample(reward={"reward": reward, "base": 0.0}) for reward in (1.0, 3.0)]
        raw, rewards = post_processed(arguments(reward_key="reward", grpo_std_normalization=False), group)
        self.assertEqual((raw, rewards), ([1.0, 3.0], [-1.0, 1.0]))


if __name__ == "__main__":
    unittest.main()
