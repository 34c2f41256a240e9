"""Places rollouts in a run, so that the Worker records them and a run can be replayed.

A place is ``{id, step, group, sample}``. The id is the setting ``run``; without an id nothing is recorded. A trainer's
client fills in what its trainer knows. A label may carry ``run``, the id as text or any of ``id``, ``step``, ``group``,
``sample`` and ``split``, which override what the client knows. Rollouts of evaluation go to a run of their own,
``<id>-eval``, so that they never mix with the run that trains.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from collections.abc import Mapping
from typing import Any, Union

from citeward.errors import BadRequest, FieldProblem, Misconfigured

#: The id of a group or a sample.
PlaceId = Union[str, int]

_MEMBERS = ("id", "step", "group", "sample", "split")
_TRAINING = "train"
_EVALUATION_SUFFIX = "-eval"


def placed(
    row: Mapping[str, Any],
    run: str | None,
    known: Mapping[str, Any],
    unknown: str,
) -> dict[str, Any]:
    """Replaces the ``run`` of a row by the place that ``POST /v1/score`` expects.

    Args:
        row: the fields of a row; its ``run`` comes from the label.
        run: the setting; ``None`` records only rows whose label carries an id.
        known: what the client knows of ``step`` (``None`` = the trainer has none), ``group``, ``sample``, ``split``.
        unknown: what to do about a member that neither knows, for the message.

    Raises:
        BadRequest: the label's ``run`` is malformed.
        Misconfigured: a member of the place is not known.
    """
    fields = {name: value for name, value in row.items() if name != "run"}
    told = _told(row.get("run"))
    place = {"id": run, **known, **told}
    if place["id"] is None:
        return fields
    missing = [name for name in ("step", "group", "sample") if name not in place]
    if missing:
        raise Misconfigured(f"run: {' and '.join(missing)} of a rollout are unknown here; {unknown}")
    split = place.pop("split", _TRAINING)
    if split != _TRAINING:
        place["id"] = f"{place['id']}{_EVALUATION_SUFFIX}"
    return {**fields, "run": place}


def digest_of(*parts: Any) -> str:
    """A short name of a prompt, equal in all processes: 16 hex digits of the SHA-256 of its JSON."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Visits:
    """Numbers the visits of prompts in this process, where a trainer has neither step nor group.

    A **visit** is one group of rollouts of a prompt. Calls that overlap in time belong to the same visit, so that a
    later epoch is another visit, and equal prompts of different epochs never merge. The names contain a random token of
    the process, because other processes count on their own. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = (0, "")
        self._open: dict[str, list[int]] = {}
        self._visits: dict[str, int] = {}

    def enter(self, prompt: str) -> tuple[str, int]:
        """Starts a rollout; returns the names of its group and sample. Each ``enter`` needs a ``leave``."""
        with self._lock:
            pid, token = self._process
            if pid != os.getpid():
                token = uuid.uuid4().hex[:8]
                self._process = (os.getpid(), token)
                self._open, self._visits = {}, {}
            if prompt not in self._open:
                self._visits[prompt] = self._visits.get(prompt, -1) + 1
                self._open[prompt] = [0, 0]
            state = self._open[prompt]
            state[0] += 1
            state[1] += 1
            return f"{prompt}-{token}-{self._visits[prompt]}", state[1] - 1

    def leave(self, prompt: str) -> None:
        """Ends a rollout."""
        with self._lock:
            state = self._open.get(prompt)
            if state is not None:
                state[0] -= 1
                if state[0] == 0:
                    del self._open[prompt]


def _told(run: Any) -> dict[str, Any]:
    if run is None:
        return {}
    if isinstance(run, str):
        return {"id": run}
    if not isinstance(run, Mapping):
        raise _problem("run", "expected an id, or an object with id, step, group, sample, split")
    for name, value in run.items():
        if name not in _MEMBERS:
            raise _problem(f"run.{name}", f"unknown member; expected {', '.join(_MEMBERS)}")
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise _problem(f"run.{name}", "expected a text or a whole number")
    return dict(run)


def _problem(path: str, message: str) -> BadRequest:
    return BadRequest(f"{path}: {message}", fields=[FieldProblem(path, message)])
