"""What the adapters of evaluation tools share: an example as a rollout, and its reward as a share from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citeward.errors import BadRequest, Misconfigured
from citeward.fields import ROW_FIELDS, plain
from citeward.replies import Score

#: Entries of an object that may hold the answer as text.
_ANSWERS = ("response", "answer", "output", "content")


def rollout_of(output: Any, *places: Any) -> dict[str, Any]:
    """The fields of ``POST /v1/score`` of an example.

    Args:
        output: the answer: a text, a list of chat messages, or a mapping with ``messages``, ``response``, ``answer``,
            ``output`` or ``content``.
        places: mappings that may hold fields of a row by name; a later one wins. Other values are ignored.

    Raises:
        BadRequest: the output has no answer.
    """
    row: dict[str, Any] = {}
    for place in places:
        named = place if isinstance(place, Mapping) else {}
        row.update({name: plain(named[name], name) for name in ROW_FIELDS if named.get(name) is not None})
    return {**row, **_answer(output)}


def _answer(output: Any) -> dict[str, Any]:
    if isinstance(output, str):
        return {"response": output}
    messages = output.get("messages") if isinstance(output, Mapping) else output
    if isinstance(messages, (list, tuple)):
        return {"messages": plain(list(messages), "messages")}
    texts = [output.get(name) for name in _ANSWERS] if isinstance(output, Mapping) else []
    for text in texts:
        if isinstance(text, str):
            return {"response": text}
    raise BadRequest(f"output: expected a text, messages, or a mapping with one of messages, {', '.join(_ANSWERS)}")


def share_of(scored: Score) -> float:
    """The reward as a share of the recipe's range: 0 is the least reward, 1 the most.

    Raises:
        Misconfigured: the rewards of the recipe have no bounds.
    """
    least, most = scored.reply["recipe"]["reward_range"]
    if least is None or most is None:
        raise Misconfigured("the rewards of this recipe have no bounds, so they have no share from 0 to 1")
    return float((scored.of_one_sample().reward - least) / (most - least))
