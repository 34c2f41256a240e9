"""Exceptions, by what a trainer must do about them.

``Unscored`` concerns one sample: mask, drop or retry it. All others concern the run: the same call fails again until
the settings or the row are fixed. No message contains text of a request or a key. All exceptions can be pickled,
because trainers pass them between processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CitewardError(Exception):
    """Base class of all exceptions of this package."""


class Misconfigured(CitewardError):
    """A setting is missing or wrong: no URL, a redirecting URL, an unusable key."""


class Unauthorized(CitewardError):
    """The Worker refused the key, its scope, or a call without one."""


class FieldProblem(NamedTuple):
    """One invalid field."""

    #: For example ``positive_rubrics[0].weight``.
    path: str
    #: The expected value; never the given one.
    message: str


class BadRequest(CitewardError):
    """The row or the request is wrong; the same request never succeeds.

    ``fields`` lists the invalid fields, ``status`` is the HTTP status (``None`` if the error was found before sending),
    ``row`` is the position in a batch (``None`` outside a batch).
    """

    def __init__(
        self,
        detail: str,
        *,
        fields: Sequence[FieldProblem] = (),
        status: int | None = None,
        reason: str = "input_invalid",
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = tuple(fields)
        self.status = status
        self.reason = reason
        self.row: int | None = None

    def __str__(self) -> str:
        where = "" if self.row is None else f"row {self.row}: "
        what = "; ".join(f"{problem.path}: {problem.message}" for problem in self.fields)
        return f"{where}{what or self.detail}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Unscored(CitewardError):
    """The reward could not be determined.

    ``reason`` comes from the Worker (``judge_unreachable``, ``judgment_missing``, ...) or from this client
    (``worker_unreachable``, ``unexpected_reply``). ``retryable``: the same request may succeed later.
    """

    def __init__(self, reason: str, detail: str, retryable: bool) -> None:
        super().__init__(reason, detail, retryable)
        self.reason = reason
        self.detail = detail
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


class UnexpectedReply(Unscored):
    """The reply is not a score: a proxy's error page, an incompatible Worker version, NaN."""

    def __init__(self, detail: str, retryable: bool = False) -> None:
        super().__init__("unexpected_reply", detail, retryable)
        self.args = (detail, retryable)
