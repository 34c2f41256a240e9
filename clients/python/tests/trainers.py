"""The trainers' clients as test_trainer_cases.py plays them.

A trainer's client sends what the trainer sends, retries as often, reads the reply as it does and converts the rewards
to a tensor where ``torch`` is installed. The clients are written from published code:

* CaRR: THUDM/CaRR c97e7e89, ``slime/slime/rollout/rm_hub/__init__.py`` (``remote_rm``: ten tries on any exception)
* slime: THUDM/slime 624b824a, ``slime/rollout/rm_hub/__init__.py`` (``remote_rm``: tries again on any exception)
* OpenRLHF: OpenRLHF/OpenRLHF 3c3be623, ``openrlhf/utils/agent.py`` (``_post_request``: the same)
* NeMo Gym: NVIDIA-NeMo/Gym 07d6b0d0, ``/verify`` of a resources server; HTTP statuses are not retried
* TRL: huggingface/trl f2cd5771, ``grpo_trainer.py::_calculate_rewards``, ``async_rollout_worker.py::_score_group``
* verl: verl-project/verl 1dda039b, ``reward_manager/naive.py::run_single``
* open-instruct: allenai/open-instruct e6c3044a, ``ground_truth_utils.py::apply_verifiable_reward``
* verifiers, inspect_ai and OpenRLHF's agents: as in test_ecosystems.py

Tries after the second and the waits between them are left out; test/e2e/trainer-clients.test.ts plays all of them.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import urllib.error
import urllib.request
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Optional

import citeward.open_instruct
import citeward.slime
import citeward.verifiers
import citeward.verl
from citeward.trl import async_reward_function, reward_function
from citeward.verl_reward_loop import RewardManager
from tests import test_ecosystems as ecosystems
from tests.live import RECIPE, rows
from tests.live import label_of as live_label_of
from tests.test_runs import Tokenizer, Trl, verl_config, verl_data
from tests.test_slime import Sample, arguments
from tests.test_verl import with_reward_kwargs

try:
    import torch
except ModuleNotFoundError:
    torch = None  # type: ignore[assignment]

CARR_ROWS = Path(__file__).resolve().parents[3] / "examples" / "carr.jsonl"

#: A reward, or ``None`` where the trainer has such a value.
Reward = Optional[float]
#: ``(label, responses, epoch)`` to the rewards of a group; every response is a text, or the turns of a rollout.
Group = Callable[[dict[str, Any], Sequence[Any], int], list[Reward]]


class Refused(Exception):
    """The Worker or the client says that the request is wrong or incomplete."""


class Lost(Exception):
    """The trainer's own exception after its last try."""


def text_of(response: Any) -> str:
    return response if isinstance(response, str) else response[-1]["content"]


def together(calls: Sequence[Awaitable[Any]]) -> list[Any]:
    async def all_of() -> list[Any]:
        return list(await asyncio.gather(*calls))

    return asyncio.run(all_of())


def post(path: str, body: Any, tries: int, retried: Callable[[int], bool]) -> Any:
    """Posts to an adapter of the environment's deployment."""
    given = {name: os.environ.get(f"CITEWARD_{name.upper()}") for name in ("recipe", "run", "judge")}
    given["group_size"] = None if given["run"] is None else "2"
    query = "&".join(f"{name}={value}" for name, value in given.items() if value is not None)
    url = f"{os.environ['CITEWARD_URL']}/v1/adapters/{path}?{query}"
    headers = {"content-type": "application/json"}
    status = 0
    for _ in range(tries):
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
            if not retried(status):
                break
    raise Refused if status == 422 else Lost


def slime_remote_rm(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    body = [{"prompt": "p", "response": text_of(one), "label": json.dumps(label)} for one in responses]
    return [post("slime", one, 2, lambda status: status != 422) for one in body]


def carr(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    """The label is a row of examples/carr.jsonl without its response; its sources are what the policy has found."""
    found = "\n\n".join(
        f"[{n}] Title: {page['title']}\n[{n}] URL Source: {page['url']}\n[{n}] Description: {page['text']}"
        for n, page in enumerate(label["sources"], 1)
    )
    call = {"session_id": "s", "tool_call_id": "c", "name": "browser.search", "arguments": '{"query": "q"}'}
    info = {
        "search_forbidden_strs": [label["question"]],
        "rubrics": label["entity_rubrics"],
        "rubric_reward_ratio": 0.3,
        "max_steps": 100,
    }
    rewards = []
    for one in responses:
        history = [
            {"role": "user", "content": label["question"]},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": [{"session_id": "s", "tool_call_id": "c", "output": found}]},
            {"role": "assistant", "content": one},
        ]
        body = {
            "history": history,
            "label": label["reference"],
            "task_unfinished": False,
            "remote_env_info": info,
        }
        reply = post("longtracerl/evaluate", body, 2, lambda status: True)
        # The group step adds and divides these.
        tensor([reply["reward"], reply["outcome_reward"], reply["rubric_reward"]])
        rewards.append(reply["reward"])
    return rewards


def openrlhf_remote(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    rewards = []
    for one in responses:
        body = {"query": [f"p{text_of(one)}"], "prompts": ["p"], "labels": [json.dumps(label)]}
        reply = post("openrlhf/get_reward", body, 2, lambda status: status != 422)
        # Both are made into tensors; extra_logs too.
        for values in (reply["scores"], *reply["extra_logs"].values()):
            tensor(values)
        rewards.append(reply["rewards"][0])
    return rewards


def nemo_gym(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    rewards = []
    for index, one in enumerate(responses):
        text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text_of(one)}]}
        call = {"type": "function_call", "call_id": "c", "name": "search", "arguments": '{"q": "x"}'}
        result = {"type": "function_call_output", "call_id": "c", "output": "found"}
        body = {
            "responses_create_params": {"input": [{"role": "user", "content": "p"}]},
            "response": {"output": [text] if isinstance(one, str) else [call, result, text]},
            # The adapter reads turns from the output, and the number of tokens from the row.
            "citeward": label if isinstance(one, str) else {**label, "response_tokens": 9},
            "_ng_task_index": epoch,
            "_ng_rollout_index": index,
        }
        reply = post("nemo-gym/verify", body, 1, lambda status: False)
        # NeMo RL compares the sum with the reward.
        assert math.isclose(sum(reply["reward_components"].values()), reply["reward"], rel_tol=1e-5, abs_tol=1e-12)
        tensor(list(reply["reward_components"].values()))
        rewards.append(reply["reward"])
    return rewards


def trl(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    trainer = Trl(0, len(responses))
    return reward_function()(
        prompts=["p"] * len(responses),
        completions=list(responses),
        completion_ids=[[1] * 9] * len(responses),
        trainer_state=SimpleNamespace(global_step=epoch),
        log_metric=trainer._log_metric,
        label=[label] * len(responses),
    )


def trl_async(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    number = len(responses)
    call = {"completions": list(responses), "completion_ids": [[1] * 9] * number, "label": [label] * number}
    return asyncio.run(async_reward_function()(prompts=["p"] * number, **call))


def verl_function(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    function = with_reward_kwargs(citeward.verl.compute_score_async, {"deadline_s": os.environ["CITEWARD_DEADLINE_S"]})
    known = {"num_turns": 4, "response_tokens": 9}

    async def one(response: Any) -> float:
        extra = {"citeward": label, **(known if not isinstance(response, str) else {})}
        result = await function("d", text_of(response), None, extra)
        assert all(math.isfinite(value) for name, value in result.items() if name != "citeward")
        reward: float = result["score"]
        return reward

    return together([one(response) for response in responses])


def verl_manager(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    manager = RewardManager(verl_config(), Tokenizer())
    samples = [
        verl_data(label, text_of(one), uid=f"u{epoch}", session_id=index, global_steps=epoch)
        for index, one in enumerate(responses)
    ]
    return [result["reward_score"] for result in together([manager.run_single(data) for data in samples])]


def slime_custom_rm(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    group = []
    for index, one in enumerate(responses):
        metadata = {} if isinstance(one, str) else {"num_turns": 4}
        sample = Sample("p", text_of(one), 9, json.dumps(label), metadata=metadata)
        sample.group_index, sample.index = epoch, 2 * epoch + index  # type: ignore[attr-defined]
        citeward.slime.stamp_run(None, sample, rollout_id=epoch, evaluation=False)
        group.append(sample)
    rewards = asyncio.run(citeward.slime.custom_rm(arguments(), group))
    for sample, reward in zip(group, rewards):
        sample.reward = reward
    citeward.slime.post_process_rewards(arguments(n_samples_per_prompt=len(group)), group)
    # NaN stays only where the sample has no loss.
    assert all(math.isfinite(reward) or sample.loss_mask == [0] * 9 for sample, reward in zip(group, rewards))
    return list(rewards)


def open_instruct(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    verifier = citeward.open_instruct.CitewardVerifier()
    calls = [verifier.async_call([1] * 9, text_of(one), json.dumps(label), "q") for one in responses]
    # --verification_reward 10
    return [10.0 * result.score for result in together(calls)]


def openrlhf_agent(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    actions = [[one] if isinstance(one, str) else ["search", text_of(one)] for one in responses]
    return [ecosystems.openrlhf_episode(one, label, max_length=100_000)["reward"] for one in actions]


def verifiers(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    rewards = []
    for one in responses:
        turns = [{"role": "assistant", "content": one}] if isinstance(one, str) else one
        nodes = [
            ecosystems.node(**turn, sampled=turn["role"] == "assistant", tokens=3)
            for turn in turns
        ]
        trace = ecosystems.trace_of("", branches=[SimpleNamespace(nodes=nodes)])
        task = ecosystems.Model(prompt_text=label.get("question", "q"), citeward=label)
        rewards.append(asyncio.run(ecosystems.task_score(citeward.verifiers.reward, task, trace)))
    return rewards


def inspect(label: dict[str, Any], responses: Sequence[Any], epoch: int) -> list[Reward]:
    rewards = []
    for index, one in enumerate(responses):
        state = ecosystems.state_of(text_of(one), {"citeward": {"response_tokens": 9, **label}})
        if isinstance(one, str):
            state.messages = state.messages[-1:]
        state.sample_id, state.epoch = f"row-{epoch}", index
        rewards.append(ecosystems.inspect_score(state).value)
    return rewards


#: Trainer, its page, its client, and what it makes of an unscored sample.
TRAINERS: Sequence[tuple[str, Group]] = (
    ("[slime](slime.md), `remote_rm`", slime_remote_rm),
    ("[slime](slime.md), Python", slime_custom_rm),
    ("[CaRR](carr.md)", carr),
    ("[OpenRLHF](openrlhf.md), remote", openrlhf_remote),
    ("[OpenRLHF](openrlhf.md), agent", openrlhf_agent),
    ("[NeMo Gym](nemo-gym.md)", nemo_gym),
    ("[verl](verl.md), function", verl_function),
    ("[verl](verl.md), manager", verl_manager),
    ("[TRL](trl.md), `GRPOTrainer`", trl),
    ("[TRL](trl.md), `AsyncGRPOTrainer`", trl_async),
    ("[open-instruct](open-instruct.md)", open_instruct),
    ("[verifiers](verifiers.md)", verifiers),
    ("[inspect_ai](inspect-ai.md)", inspect),
)


@dataclass(frozen=True)
class Rows:
    """What a client is scored with."""

    recipe: str
    #: The first has a reward with digits, the second a whole number.
    rows: Sequence[dict[str, Any]]
    #: Whether the client's route takes a named recipe that reads turns.
    reads_turns: bool


def rows_of(group: Group) -> Rows:
    if group is not carr:
        some, none, *_ = rows()
        return Rows(RECIPE, (some, none), True)
    found = {row["id"]: row for row in map(json.loads, CARR_ROWS.read_text("utf-8").splitlines())}
    return Rows("carr", (found["carr-missing-page"], found["carr-complete"]), False)


def label_of(row: dict[str, Any]) -> dict[str, Any]:
    """What a data set carries of a row."""
    kept = ("question", "entity_rubrics", "reference", "sources")
    return {name: row[name] for name in kept} if "entity_rubrics" in row else live_label_of(row)


def tensor(values: Sequence[Any]) -> None:
    """Fails if ``torch.tensor`` of the values is not a float tensor: whole numbers must not arrive as int."""
    assert all(type(value) is float for value in values), values
    if torch is not None:
        made = torch.tensor(values)
        assert made.is_floating_point() and bool(torch.isfinite(made.std() if len(values) > 1 else made).all())
