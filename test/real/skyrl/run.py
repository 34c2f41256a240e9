"""The documented environment, made by skyrl-gym: an answer, an agent with a tool, and no reward without a judge."""

import os

import skyrl_gym
from documented import BAD, DOWN_URL, GOOD, ROW, URL, documented

from citeward import Unscored
from citeward.skyrl_env import CitewardEnv

PROMPT = [{"role": "user", "content": ROW["question"]}]
os.environ.update(CITEWARD_RECIPE="refiner-guarded", CITEWARD_DEADLINE_S="20")


class Search(CitewardEnv):
    def respond(self, action):
        return "The Aare is 288 kilometres long." if action.startswith("search") else None


def episode(url, name, *actions, **extras):
    """The rewards of the steps, and the metrics of the episode."""
    os.environ["CITEWARD_URL"] = url
    environment = skyrl_gym.make(name, env_config={}, extras=extras)
    prompt, _ = environment.init(PROMPT)
    assert prompt == PROMPT, prompt
    steps = [environment.step(action) for action in actions]
    assert [step["done"] for step in steps] == [False] * (len(steps) - 1) + [True], steps
    return [step["reward"] for step in steps], environment.get_metrics()


documented("trainers/README.md", "skyrl_gym")
skyrl_gym.register(id="citeward-search", entry_point=Search)
spec = {"reward_spec": {"ground_truth": ROW}}
rewards, metrics = episode(URL, "citeward", GOOD, **spec)
assert rewards == [10] and sum(metrics.values()) == 10, (rewards, metrics)
assert episode(URL, "citeward", BAD, **spec)[0] == [0]
assert episode(URL, "citeward-search", "search: Aare", GOOD, max_turns=4, **ROW)[0] == [0, 10]
try:
    found = episode(DOWN_URL, "citeward", GOOD, **spec)
except Unscored as error:
    assert error.reason.startswith("judge_"), error
else:
    raise AssertionError(found)
print("skyrl_gym.make: the reward on the last step, also with a tool; Unscored while the judge is down")
