"""Sends the rewards of a recorded run to Langfuse, with the ``langfuse`` that is installed beside this package::

    npx citeward runs export RUN --url URL | python3 -m citeward.langfuse

Langfuse's own variables apply: ``LANGFUSE_PUBLIC_KEY``, ``LANGFUSE_SECRET_KEY`` and ``LANGFUSE_BASE_URL``. Each scored
rollout gives the score ``citeward/reward`` and one for each component, such as ``citeward/rubric``, on its trace: the
``sample`` of its place, if that is the id of a trace (32 hexadecimal digits), else the trace with the id
``Langfuse.create_trace_id(seed="RUN/STEP/GROUP/SAMPLE")``. An unscored rollout gives none. Ids and times of scores
follow from the run, so sending it again changes nothing. It deletes nothing either: a score that was sent stays when a
later attempt is unscored.

Contract: langfuse 5.0, ``Langfuse().api.scores.create``, which says what was accepted.
"""

from __future__ import annotations

import importlib
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: Scores in a request: less than Langfuse's limit of 1 MiB.
_BATCH = 500
_TRACE_ID = re.compile("[0-9a-f]{32}")

#: A rollout of a run's file, by the names of its fields.
Rollout = Mapping[str, Any]


class Incomplete(ValueError):
    """The file is cut off, or is no file of a run."""


def latest_rollouts(lines: Iterable[str]) -> Iterator[Rollout]:
    """The rollouts of a run's file, of each place the latest attempt.

    Raises:
        Incomplete: the file has no last line, or another number of rollouts than it says. What came before was given.
    """
    before: Rollout | None = None
    count, ended = 0, None
    for number, line in enumerate(lines, 1):
        try:
            read = json.loads(line)
        except ValueError:
            raise Incomplete(f"line {number} is no JSON") from None
        if not isinstance(read, dict):
            raise Incomplete(f"line {number} is no JSON object")
        if "end" in read:
            ended = read["end"]["rollouts"]
        if "rollout" not in read:
            continue
        count += 1
        rollout = read["rollout"]
        # The attempts of a place follow each other.
        if before is not None and _place(before) != _place(rollout):
            yield before
        before = rollout
    if before is not None:
        yield before
    if ended != count:
        raise Incomplete(f"it has {count} rollouts, and its last line does not say so")


def scores_of(rollout: Rollout, trace_id: str) -> list[dict[str, Any]]:
    """The scores of one rollout, by the names of Langfuse's API; none if it is unscored."""
    if rollout["reward"] is None:
        return []
    place = _place(rollout)
    values = {"reward": rollout["reward"], **rollout["components"]}
    return [
        {
            "id": f"{place}/{name}",
            "trace_id": trace_id,
            "name": f"citeward/{name}",
            "value": float(value),
            "data_type": "NUMERIC",
            "timestamp": rollout["recorded_at"],
            "metadata": {key: rollout[key] for key in ("run", "step", "group", "sample", "attempt")},
        }
        for name, value in values.items()
        if value is not None
    ]


def trace_of(rollout: Rollout, create_trace_id: Callable[..., str]) -> str:
    """The id of a rollout's trace. @param create_trace_id Langfuse's."""
    sample = str(rollout["sample"])
    return sample if _TRACE_ID.fullmatch(sample) else create_trace_id(seed=_place(rollout))


def _place(rollout: Rollout) -> str:
    step = "null" if rollout["step"] is None else rollout["step"]
    return f"{rollout['run']}/{step}/{rollout['group']}/{rollout['sample']}"


def main(arguments: Sequence[str]) -> int:
    """Sends the run of standard input. Returns the exit code."""
    if arguments:
        return _failed("expected no arguments: npx citeward runs export RUN --url URL | python3 -m citeward.langfuse")
    try:
        langfuse = importlib.import_module("langfuse")
        request_type = importlib.import_module("langfuse.api").CreateScoreRequest
        refusal = importlib.import_module("langfuse.api.core").ApiError
    except ModuleNotFoundError as error:
        if error.name != "langfuse":
            raise
        return _failed(f"{sys.executable} has no module langfuse. Install it: python3 -m pip install langfuse")
    client = langfuse.Langfuse()
    counts = {"rollouts": 0, "unscored": 0, "rejected": 0}

    def scores() -> Iterator[Any]:
        for rollout in latest_rollouts(sys.stdin):
            counts["rollouts"] += 1
            counts["unscored"] += rollout["reward"] is None
            for score in scores_of(rollout, trace_of(rollout, langfuse.Langfuse.create_trace_id)):
                yield request_type(**score)

    waiting = scores()
    try:
        while batch := list(itertools.islice(waiting, _BATCH)):
            reply = client.api.scores.create(request=batch)
            counts["rejected"] += getattr(reply, "rejected", None) or 0
            for error in (getattr(reply, "errors", None) or ())[:1]:
                sys.stderr.write(f"Langfuse rejected a score: {error.message}\n")
    except refusal as error:
        return _failed(f"Langfuse answered {error.status_code}: {error.body}")
    except Incomplete as error:
        return _failed(f"the file of the run is incomplete: {error}. Export it again")
    sent = f"{counts['rollouts']} rollouts sent, {counts['unscored']} of them unscored and without a score"
    sys.stderr.write(f"{sent}; {counts['rejected']} scores rejected\n")
    return 1 if counts["rejected"] else 0


def _failed(message: str) -> int:
    sys.stderr.write(f"citeward.langfuse: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
