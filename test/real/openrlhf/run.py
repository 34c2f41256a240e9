"""OpenRLHF's executors with a scripted engine: HTTP reward, reward function and documented agent, and no judge."""

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace

from documented import DOWN_URL, GOOD, ROW, URL, documented
from openrlhf.utils.agent import AgentExecutorBase, SingleTurnAgentExecutor
from tiny_model import END, saved

from citeward import Unscored
from citeward.openrlhf import agent_executor

PAGE = "trainers/openrlhf.md"
ADAPTER = "/v1/adapters/openrlhf/get_reward?recipe=refiner-guarded"
tokenizer = saved(Path("model"))
PROMPT = tokenizer.apply_chat_template(
    [{"role": "user", "content": ROW["question"]}], tokenize=False, add_generation_prompt=True
)
# The end of the action and the markup of the answer, as the chat template of the policy writes them.
TOOL = "\n<|im_start|>tool\nThe Aare is 288 kilometres long.<|im_end|>\n<|im_start|>assistant\n"


class Engine:
    """Answers in turn."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def generate(self, token_ids, sampling_params, multi_modal_data=None):
        text = self.answers.pop(0) + END
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=None)])


class Search:
    """Answers the first action."""

    def __init__(self):
        self.calls = 0

    async def respond(self, action, label):
        self.calls += 1
        return TOOL if self.calls == 1 else None


async def episode(executor, *answers):
    params = SimpleNamespace(max_tokens=512, logprobs=None)
    return await executor.execute(PROMPT, json.dumps(ROW), params, 4096, tokenizer, Engine(*answers))


def agent(url):
    os.environ.update(CITEWARD_URL=url, CITEWARD_RECIPE="refiner-guarded", CITEWARD_DEADLINE_S="5")


async def main():
    down = asyncio.create_task(episode(SingleTurnAgentExecutor(DOWN_URL + ADAPTER), GOOD))

    single = await episode(SingleTurnAgentExecutor(URL + ADAPTER), GOOD)
    assert (single["reward"], single["scores"]) == ([10.0], [1.0]), single
    logs = single["extra_logs"]
    assert logs["rubric_contribution"][0] + logs["citation_contribution"][0] == 10, logs

    Path("reward.py").write_text("from citeward.openrlhf import reward_func\n")
    agent(URL)
    function = SingleTurnAgentExecutor("reward.py")
    assert await episode(function, GOOD) == single
    agent(DOWN_URL)
    found = await episode(function, GOOD)
    assert found["reward"] is None and found["scores"] is None, found

    written = documented(PAGE, "class Search")["AgentExecutor"]
    assert issubclass(written, AgentExecutorBase)
    agent(URL)
    for executor, answers in ((written(), [GOOD]), (agent_executor(Search)(), ["search: Aare", GOOD])):
        found = await episode(executor, *answers)
        assert (found["reward"], found["scores"]) == (10, 1), found
        assert sum(found["extra_logs"].values()) == 10, found["extra_logs"]
        assert len(found["action_ranges"]) == len(answers), found["action_ranges"]

    agent(DOWN_URL)
    try:
        found = await episode(written(), GOOD)
    except Unscored as error:
        assert error.reason.startswith("judge_"), error
    else:
        raise AssertionError(found)

    lost = await down
    assert lost["reward"] is None and lost["scores"] is None, lost


asyncio.run(main())
print("HTTP, reward_func, agents of one and two turns: the reward; None and Unscored while the judge is down")
