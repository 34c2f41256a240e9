"""A scorer for inspect_ai::

    from citeward.inspect_scorer import citeward_scorer

    Task(dataset=..., solver=..., scorer=citeward_scorer(recipe="dr-tulu"))

The row's fields are in the sample's metadata, by name or in one entry ``citeward``. The value is the reward; the
metadata of the score hold its contributions.

A sample whose reward could not be determined is ``Score.unscored()``, which inspect leaves out of metrics. A wrong row,
key or setting raises, so that a whole evaluation does not end unscored without an error.

Contract: UKGovernmentBEIS/inspect_ai 03ed3dda, ``src/inspect_ai/scorer/_metric.py``, ``solver/_task_state.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from citeward.client import shared_client
from citeward.errors import Unscored
from citeward.fields import plain
from citeward.rollouts import row_of, text_of
from citeward.runs import placed
from citeward.settings import Judge, Recipe, Settings

#: inspect's reasons to stop, as finish reasons.
_FINISH_REASONS = {"stop": "stop", "max_tokens": "length", "model_length": "length"}


@scorer(metrics=[mean(), stderr()])
def citeward_scorer(
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    run: str | None = None,
    store_text: bool | None = None,
) -> Any:
    """Creates the scorer. The arguments are settings (``citeward.settings``)."""
    settings = Settings.of(
        url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s, run=run, store_text=store_text
    )

    async def score(state: Any, target: Any) -> Any:
        if not state.output.choices:
            ended = "the sample ended before the model answered (time_limit or message_limit)"
            return Score.unscored(explanation=ended, metadata={"reason": "no_model_output"})
        row = {**rollout_of(state), **row_of(dict(state.metadata or {}), state.input_text)}
        place = {"step": None, "group": str(state.sample_id), "sample": int(state.epoch)}
        try:
            scored = await shared_client(settings).score_async(placed(row, settings.run, place, ""))
        except Unscored as unscored:
            return Score.unscored(explanation=str(unscored), metadata={"reason": unscored.reason})
        return Score(
            value=scored.of_one_sample().reward,
            answer=state.output.completion,
            metadata={
                "contributions": dict(scored.contributions),
                "decided_by": scored.decided_by,
                "recipe": scored.reply.get("recipe"),
            },
        )

    return score


def rollout_of(state: Any) -> dict[str, Any]:
    """The messages of a sample, as chat messages, and how its last generation ended."""
    rollout: dict[str, Any] = {"messages": [_message(message) for message in state.messages]}
    finish_reason = _FINISH_REASONS.get(str(state.output.stop_reason))
    return rollout if finish_reason is None else {**rollout, "finish_reason": finish_reason}


def _message(message: Any) -> Mapping[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": text_of(message.content)}
    calls = getattr(message, "tool_calls", None) or []
    if calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": plain(call.arguments, "tool_calls")},
            }
            for call in calls
        ]
    if message.role == "tool":
        made["tool_call_id"] = message.tool_call_id
    return {name: value for name, value in made.items() if value is not None}
