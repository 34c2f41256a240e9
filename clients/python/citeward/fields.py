"""Converts a trainer's row to the fields of a request.

Trainers pass one opaque label per row. It holds the fields of ``POST /v1/score`` as a mapping or as JSON text; values
from Parquet or Arrow (numpy arrays and scalars, ``None`` for absent fields) are converted to plain JSON. The response
itself comes from the trainer, never from the label.
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from citeward.errors import BadRequest, FieldProblem

#: The fields that a row may contain.
ROW_FIELDS = (
    "question",
    "tool_output",
    "sources",
    "reasoning",
    "positive_rubrics",
    "negative_rubrics",
    "rubrics",
    "reference",
    "entities",
    "entity_rubrics",
    "useful_chunks",
    "tests",
    "finish_reason",
    "num_turns",
    "response_tokens",
)

#: What a trainer knows of a sample beside its reward: a number, and numbers by name. A run keeps them; they are sent with
#: ``run`` only.
OUTCOME_FIELDS = ("outcome", "metrics")

#: The fields that a label may contain: those of a row, how messages and the answers of vendors are read, the place in a
#: run (``citeward.runs``), and what the run keeps beside the reward. Columns of data sets that are called
#: ``trajectory`` or ``metrics`` hold other things.
LABEL_FIELDS = (*ROW_FIELDS, *OUTCOME_FIELDS, "answer_format", "trajectory", "run")

#: Types of parts that hold no text.
_MEDIA = ("image", "image_url", "audio", "input_audio", "video")

#: A completion of a trainer: a text, or a list of chat messages.
Completion = Union[str, Sequence[Mapping[str, Any]]]


def is_object(value: Any) -> bool:
    """Returns whether a label can hold fields: a mapping, or text that starts like a JSON object."""
    return isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith("{"))


def read_object(value: Any, where: str) -> dict[str, Any]:
    """Reads the fields of a label.

    Args:
        value: a mapping or the JSON text of an object.
        where: the trainer's name of the label, for messages.

    Raises:
        BadRequest: the label is neither, or it has unknown fields: a typo must not pass silently.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise _problem(where, f"expected a JSON object; {error}") from None
    if not isinstance(value, Mapping):
        raise _problem(where, f"expected a mapping or the JSON text of an object, got {type(value).__name__}")
    fields = {name: plain(entry, f"{where}.{name}") for name, entry in value.items() if entry is not None}
    unknown = [name for name in fields if name not in LABEL_FIELDS]
    if unknown:
        expected = f"unknown field; a row may carry {', '.join(LABEL_FIELDS)}"
        raise BadRequest("unknown fields", fields=[FieldProblem(f"{where}.{name}", expected) for name in unknown])
    return fields


def merged(parts: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Merges the fields of several places into one row.

    The Worker checks which fields the recipe requires, and names those that are missing.

    Args:
        parts: pairs of a place (for messages) and the fields found there.

    Raises:
        BadRequest: two places give different values for a field, or there are no fields at all.
    """
    row: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for where, fields in parts:
        for name, value in fields.items():
            if name in row and row[name] != value:
                raise _problem(f"{where}.{name}", f"differs from {origin[name]}.{name}")
            row[name], origin[name] = value, where
    if not row:
        raise _problem("row", "it carries no fields; which ones a recipe needs is in the deployment's /openapi.json")
    if "tool_output" in row and "sources" in row:
        raise _problem("tool_output", "give exactly one of tool_output and sources")
    return row


def sample_fields(row: Mapping[str, Any], completion: Completion) -> dict[str, Any]:
    """Adds the policy's output to a row.

    A text is a transcript if the row names its markup (``trajectory.markup``). Other texts are not read as messages, so
    ``trajectory`` has no effect on them. A row with ``answer_format`` says that the text is the answer of a vendor.

    Raises:
        BadRequest: as ``output_fields``, or the row names ``answer_format`` and the completion is no text.
    """
    trajectory = row.get("trajectory")
    if "answer_format" in row:
        if not isinstance(completion, str) or trajectory is not None:
            raise _problem("answer_format", "only with a response that is one text")
        return {**row, "cited_answer": _cited_answer(completion, row["answer_format"])}
    output = output_fields(completion)
    if "response" not in output or trajectory is None:
        return {**row, **output}
    if isinstance(trajectory, Mapping) and trajectory.get("markup") is not None:
        return {**row, "messages": output["response"]}
    return {**{name: value for name, value in row.items() if name != "trajectory"}, **output}


def output_fields(completion: Completion) -> dict[str, Any]:
    """Returns the field that holds the policy's output: ``response`` for a text, ``messages`` for chat messages.

    The Worker reads messages: tool calls and results, the final answer, and the number of turns. They are passed on as
    they are, except for parts that are not text: of these only the type is sent.

    Raises:
        BadRequest: it is neither, or a message has no JSON.
    """
    if isinstance(completion, str):
        return {"response": completion}
    if isinstance(completion, Sequence) and completion and all(isinstance(one, Mapping) for one in completion):
        return {"messages": [_message(one, f"messages[{at}]") for at, one in enumerate(completion)]}
    raise _problem("completion", "expected a text, or a list of chat messages")


def plain(value: Any, where: str) -> Any:
    """Converts a value to plain JSON; ``None`` entries of mappings are left out.

    Raises:
        BadRequest: the value has no JSON representation.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(name): plain(entry, f"{where}.{name}") for name, entry in value.items() if entry is not None}
    if hasattr(value, "tolist"):
        # A numpy array or scalar.
        return plain(value.tolist(), where)
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{where}[{position}]") for position, entry in enumerate(value)]
    raise _problem(where, f"a {type(value).__name__} has no JSON")


def measured(value: Any, where: str) -> Any:
    """Like ``plain``, with booleans as 1 and 0: a measure may say whether an answer is right."""
    given = plain(value, where)
    if isinstance(given, dict):
        return {name: measured(entry, f"{where}.{name}") for name, entry in given.items()}
    return int(given) if isinstance(given, bool) else given


def _cited_answer(text: str, answer_format: Any) -> Any:
    """Markdown is the text itself; every other format is JSON.

    Text that is no JSON is sent as it is, and the Worker refuses it: a policy may write anything, which must not end
    the training run.
    """
    if answer_format == "markdown":
        return text
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _message(message: Mapping[str, Any], where: str) -> Any:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        parts = [part if not _is_medium(part) else {"type": part["type"]} for part in content]
        message = {**message, "content": parts}
    return plain(message, where)


def _is_medium(part: Any) -> bool:
    return isinstance(part, Mapping) and "text" not in part and part.get("type") in _MEDIA


def _problem(path: str, message: str) -> BadRequest:
    return BadRequest(f"{path}: {message}", fields=[FieldProblem(path, message)])


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
