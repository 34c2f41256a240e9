"""What can go wrong, by what a trainer has to do about it.

``Unscored`` concerns one sample: mask it, drop it or try it again. Everything else concerns the run: the same call
fails again until somebody mends the settings or the row. No message repeats a request's text or a key. All of them
survive pickling, as trainers carry exceptions from process to process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class CitewardError(Exception):
    """Base of everything that this package raises on purpose."""


class Misconfigured(CitewardError):
    """A setting is missing or wrong: no URL, a redirecting URL, an unusable key."""


class Unauthorized(CitewardError):
    """The Worker refused the key, its scope, or a call without one."""


class FieldProblem(NamedTuple):
    """One offending field."""

    #: As in ``positive_rubrics[0].weight``.
    path: str
    #: What was expected there; never repeats the value.
    message: str


class BadRequest(CitewardError):
    """The row or the request is wrong; the same request never succeeds.

    ``fields`` names every offending field, ``status`` is the HTTP status (``None`` if it was found before sending), and
    ``row`` the position in a batch, where there is one.
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


class Unscored(CitewardError):
    """The reward could not be determined.

    ``reason`` is the Worker's (``judge_unreachable``, ``judgment_missing``, ...) or one of this client's:
    ``worker_unreachable``, ``unexpected_reply``. ``retryable`` says whether the same request may succeed later.
    """

    def __init__(self, reason: str, detail: str, retryable: bool) -> None:
        super().__init__(reason, detail, retryable)
        self.reason = reason
        self.detail = detail
        self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


class UnexpectedReply(Unscored):
    """Something answered, but not with a score: a proxy's page, a Worker of another version, NaN."""

    def __init__(self, detail: str, retryable: bool = False) -> None:
        super().__init__("unexpected_reply", detail, retryable)
        self.args = (detail, retryable)
