"""A task of verifiers v1 with the documented reward and judge: contributions, and no reward while the judge is down."""

import asyncio
import os

import tomllib
from documented import DOWN_URL, GOOD, ROOT, ROW, URL
from verifiers.v1.graph import MessageNode
from verifiers.v1.task import Task, TaskConfig, TaskData
from verifiers.v1.trace import Trace
from verifiers.v1.types import AssistantMessage, UserMessage


class Data(TaskData):
    citeward: dict


def documented_config():
    page = (ROOT / "docs/trainers/verifiers.md").read_text("utf-8")
    return tomllib.loads(page.split("```toml\n")[1].split("```")[0])["env"]["taskset"]["task"]


async def scored(url, **config):
    # The settings are the environment's, as the page says.
    os.environ.update(CITEWARD_URL=url, CITEWARD_RECIPE="refiner-gpt54-instance-only", CITEWARD_DEADLINE_S="20")
    task = Task[Data, object, TaskConfig](Data(prompt=ROW["question"], citeward=ROW), TaskConfig(**config))
    question = MessageNode(message=UserMessage(content=ROW["question"]))
    answer = MessageNode(parent=0, message=AssistantMessage(content=GOOD), sampled=True)
    trace = Trace.model_construct(id="t", nodes=[question, answer], rewards={}, metrics={})
    try:
        await task.score(trace)
    except Exception as error:
        return trace, error
    return trace, None


async def main():
    written = documented_config()
    for config in ({"rewards": written["rewards"]}, {"judges": written["judges"]}):
        trace, error = await scored(URL, **config)
        assert error is None, error
        assert sum(reward.value for reward in trace.rewards.values()) == 10, trace.rewards
        assert len(trace.rewards) == 2, trace.rewards
        trace, error = await scored(DOWN_URL, **config)
        assert error is not None and all(reward is None for reward in trace.rewards.values()), trace.rewards


asyncio.run(main())
print("task.score with the reward and with the judge: the contributions; an error and no reward while the judge is down")
