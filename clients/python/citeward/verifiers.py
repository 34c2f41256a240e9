"""A reward for verifiers v1 and prime-rl, by import path or as a judge plugin.

As a reward, in the configuration of a taskset::

    [env.taskset.task.rewards.citeward]
    fn = "citeward.verifiers:reward"

As a judge, with the module ``citeward_judge``::

    [[env.taskset.task.judges]]
    id = "citeward_judge"

The row's fields are fields of the task's data, or one field ``citeward``. The reward is keyed: one entry per
contribution, which verifiers adds up and logs one by one. Settings come from the environment.

A sample whose reward could not be determined raises ``Unscored``: verifiers records an error on the trace, and the
trainer leaves the trace out. It never gets a number.

verifiers knows neither the step nor the group of a trace. To record a run, the row's ``run`` has to carry ``group``,
which must differ by epoch.

Contract: PrimeIntellect-ai/verifiers a60a606e, ``verifiers/v1/{task,judge,trace}.py``.
"""

from __future__ import annotations

from typing import Any

from citeward.client import shared_client
from citeward.fields import plain
from citeward.rollouts import row_of
from citeward.runs import placed
from citeward.settings import Settings

_WITHOUT_GROUP = "verifiers does not know it: put group into the row's run, with another value in every epoch"


async def reward(task: Any, trace: Any) -> dict[str, float]:
    """Scores the final branch of a trace.

    Args:
        task: the task's data.
        trace: the rollout. Messages that the model did not sample are context, not the policy's.

    Returns:
        The contributions by name; they add up to the reward.

    Raises:
        Unscored: the reward could not be determined.
        CitewardError: the row, the key or a setting is wrong.
    """
    settings = Settings.of()
    row = {**rollout_of(trace), **row_of(_fields_of(task), getattr(task, "prompt_text", ""))}
    place = {"step": None, "sample": str(trace.id)}
    score = await shared_client(settings).score_async(placed(row, settings.run, place, _WITHOUT_GROUP))
    return dict(score.of_one_sample().contributions)


def rollout_of(trace: Any) -> dict[str, Any]:
    """The messages of the last branch that trains, with the number of its tokens and how it ended."""
    branches = [branch for branch in trace.branches if getattr(branch, "trainable", True)]
    nodes = branches[-1].nodes if branches else []
    rollout: dict[str, Any] = {
        "messages": [_message(node) for node in nodes],
        "finish_reason": "length" if trace.is_truncated else "stop",
    }
    mask = [sampled for node in nodes for sampled in node.mask]
    if True in mask:
        # Includes tool output, which counts for the overlong penalty of the tool-call recipes.
        rollout["response_tokens"] = len(mask) - mask.index(True)
    return rollout


def _message(node: Any) -> dict[str, Any]:
    message = plain(_fields_of(node.message), "trace")
    return message if message.get("role") != "assistant" else {**message, "sampled": bool(node.sampled)}


def _fields_of(model: Any) -> dict[str, Any]:
    """The fields of a pydantic model as plain data."""
    return dict(model.model_dump(mode="json", exclude_none=True))
