"""The row of a task or sample, for frameworks that give every rollout an object with named fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citeward.fields import ROW_FIELDS, is_object, merged, plain, read_object

#: The field that may hold the whole row, as a mapping or as JSON text.
_ROW = "citeward"


def row_of(values: Mapping[str, Any], question: str) -> dict[str, Any]:
    """Reads a row from the field ``citeward`` and from fields that have the names of ``POST /v1/score``.

    Args:
        values: the fields of the task or sample; others are ignored.
        question: used if the row has none.

    Raises:
        BadRequest: the row is malformed, or has no fields.
    """
    carried = values.get(_ROW)
    parts = [(_ROW, read_object(carried, _ROW))] if is_object(carried) else []
    named = {name: plain(values[name], name) for name in ROW_FIELDS if values.get(name) is not None}
    row = merged([*parts, ("fields", named)])
    return {"question": question, **row} if question else row


def text_of(content: Any) -> str:
    """The text of a message's content; parts that are not text are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else []
    texts = [part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None) for part in parts]
    return "".join(text for text in texts if isinstance(text, str))
