"""verl's agent loop and Ray reward loop with the documented manager and function; a scripted engine answers."""

import asyncio
import json
import os
import re
import time
import urllib.request
from pathlib import Path

# Ray gives a busy machine half a minute to start, and otherwise writes a token into the home directory.
os.environ.update(RAY_raylet_start_wait_time_s="300", RAY_AUTH_MODE="disabled")

import numpy as np
import ray
import torch
import verl
from documented import BAD, DOWN_URL, GOOD, ROOT, ROW, URL, documented
from hydra import compose, initialize_config_dir
from tiny_model import END, saved
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.experimental.reward_loop.reward_loop import RewardLoopManager, migrate_legacy_reward_impl
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.workers.rollout.replica import TokenOutput

import citeward.verl
from citeward import Unscored

PAGE = "trainers/verl.md"
CLIENT = str(ROOT / "clients/python")
MODEL = Path("model").resolve()
tokenizer = saved(MODEL)


class Engine:
    """Answers in turn, with what an agent loop measures of each answer."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def generate(self, **_):
        answer = self.answers.pop(0)
        ids = tokenizer(answer + END, add_special_tokens=False)["input_ids"]
        right = answer == GOOD
        return TokenOutput(token_ids=ids, extra_fields={"outcome": right, "metrics": {"words": len(answer.split())}})


def flags(containing):
    """The settings of a documented command, without the data and with the recipe of the row."""
    blocks = re.findall(r"^```text\n(.*?)^```", (ROOT / "docs" / PAGE).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    [command] = [block for block in blocks if containing in block]
    return dict(re.findall(r"^ +(\+?reward\.[^\s=]+)=(\S+)", command, re.MULTILINE))


def configured(settings, url, **reward_kwargs):
    kwargs = "+reward.custom_reward_function.reward_kwargs"
    settings = {**settings, f"{kwargs}.url": url, f"{kwargs}.recipe": "refiner-guarded"}
    settings.update({f"{kwargs}.{name}": value for name, value in reward_kwargs.items()})
    fixed = {
        "actor_rollout_ref.model.path": MODEL,
        "actor_rollout_ref.rollout.name": "vllm",
        "actor_rollout_ref.rollout.prompt_length": 128,
        "actor_rollout_ref.rollout.response_length": 128,
        "reward.num_workers": 1,
        "data.train_files": "train.parquet",
    }
    with initialize_config_dir(str(Path(verl.__file__).parent / "trainer/config"), version_base=None):
        config = compose("ppo_trainer", [f"{name}={value}" for name, value in {**settings, **fixed}.items()])
    return migrate_legacy_reward_impl(config)


def batch(config, size, **places):
    """The rows of the documented Parquet file, as the trainer hands them to the agent loop."""
    [row] = RLHFDataset("train.parquet", tokenizer, config.data)
    fields = collate_fn([row] * size)
    places = {name: np.array(values, dtype=object) for name, values in places.items()}
    return DataProto.from_single_dict({**fields, "uid": np.array(["u"] * size, dtype=object), **places})


class Trainer:
    """The agent loop, with one process of Ray for the rewards."""

    def __init__(self, settings, url, **reward_kwargs):
        self.config = configured(settings, url, **reward_kwargs)
        # verl names its processes, so a name has to be free. Killing one takes Ray a moment.
        for name in ray.util.list_named_actors():
            ray.kill(ray.get_actor(name))
        while ray.util.list_named_actors():
            time.sleep(0.1)
        self.rewards = RewardLoopManager(self.config)

    def output_of(self, *answers, **places):
        """The scored batch of rollouts of one prompt."""
        loop = AgentLoopWorker(self.config, Engine(*answers), None, self.rewards.reward_loop_worker_handles)
        return asyncio.run(loop.generate_sequences(batch(self.config, len(answers), **places)))

    def rewards_of(self, *answers, **places):
        """The rewards of rollouts of one prompt, in the order of the places, and what verl logs with each."""
        output = self.output_of(*answers, **places)
        infos = [output.non_tensor_batch[name] for name in output.meta_info["reward_extra_keys"]]
        # Between the two that verl logs for each function and the text: what each component contributed.
        score, acc, *contributions, told = output.meta_info["reward_extra_keys"]
        assert (score, acc, told) == ("score", "acc", "citeward") and "rubric" in contributions, output
        rewards = output.batch["rm_scores"].sum(-1).tolist()
        # The engine answers in the order in which it is asked, which is any.
        assert sorted(rewards) == [0, 10], rewards
        for reward, score, _, *contributed, told in zip(rewards, *infos):
            assert score == reward == sum(contributed), (reward, score, contributed)
            assert json.loads(told)["base"] == reward / 10, told
        return rewards


def get(path):
    with urllib.request.urlopen(URL + path) as reply:
        return json.load(reply)


Path("aare.json").write_text(json.dumps(ROW))
documented(PAGE, "to_parquet")
# Ray's processes do not search modules where this program does.
environment = {"env_vars": {"PYTHONPATH": CLIENT}}
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)

# The manager, as the V1 trainer calls it, which says step and sample, and as the older one, which does not.
manager = flags("data.train_files=train.parquet")
trainer = Trainer(manager, URL, run="real-verl")
placed = trainer.rewards_of(GOOD, BAD, session_id=[0, 1], global_steps=[3, 3])
trainer.rewards_of(GOOD, BAD)
rollouts = get("/v1/runs/real-verl/rollouts")["rollouts"]
assert {row["group"] for row in rollouts} == {"u"}, rollouts
assert {row["sample"]: row["reward"] for row in rollouts if row["step"] == 3} == dict(zip("01", placed)), rollouts
steps = {step["step"]: step for step in get("/v1/runs/real-verl")["steps"]}
assert list(steps) == [None, 3], list(steps)
for step in steps.values():
    assert step["outcome"] == {"rollouts": 2, "mean": 0.5}, step["outcome"]
    assert step["metrics"] == {"words": {"rollouts": 2, "mean": 4}}, step["metrics"]

# The function, with verl's own manager. The page's command asks Python where it is.
function = {**flags("compute_score_async"), "reward.custom_reward_function.path": citeward.verl.__file__}
Trainer(function, URL).rewards_of(GOOD, BAD)

# Credit by token: the claim's share and the answer's, which verl's GRPO adds to the same advantages.
credited = Trainer(function, URL, credit="claims").output_of(GOOD, BAD)
whole = credited.batch["rm_scores"]
shares = torch.tensor(citeward.verl.token_level_scores(credited, tokenizer), dtype=whole.dtype)
assert shares.shape == whole.shape and torch.allclose(shares.sum(-1), whole.sum(-1)), (shares, whole)
assert sorted((shares != 0).sum(-1).tolist()) == [0, 2], shares
mask = credited.batch["response_mask"]
advantages = [compute_grpo_outcome_advantage(scores, mask, np.array(["u", "u"]))[0] for scores in (shares, whole)]
assert torch.allclose(*advantages), advantages

try:
    Trainer(manager, DOWN_URL, deadline_s=5).rewards_of(GOOD, GOOD)
except Unscored as error:
    assert "judge_unreachable" in str(error), error
else:
    raise AssertionError("a reward without a judge")
seen = "agent and reward loop, manager and function: the reward, in a run, its credit by token"
print(f"{seen}; Unscored without a judge")
