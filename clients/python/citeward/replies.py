"""From a reply to a score or an exception. Whatever is not clearly a score is none.

Components are passed on as the Worker sends them, as every recipe family has its own; the reward, its status and the
base are checked, as they are trained on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from citeward.errors import (
    BadRequest,
    CitewardError,
    FieldProblem,
    Misconfigured,
    Unauthorized,
    UnexpectedReply,
    Unscored,
)
from citeward.transport import NoReply, Outcome, Reply

#: Reasons that begin so concern the judging of one sample, whatever their HTTP status is.
_JUDGING = ("judge_", "judgment_")


@dataclass(frozen=True)
class Score:
    """A reward that was determined."""

    #: Finite; its range is the recipe's ``reward_range``.
    reward: float
    #: Before scale and penalties; ``None`` where a penalty decided the reward and nothing else was known.
    base: float | None
    #: What decided: ``components``, ``no_answer``, ``non_stop_penalty``, ... as the recipe's family names it.
    decided_by: str | None
    #: Name to ``{status, value, weight, contribution}``; which names there are is the family's matter.
    components: Mapping[str, Any] = field(repr=False)
    #: The whole reply of ``POST /v1/score``.
    reply: Mapping[str, Any] = field(repr=False)

    def of_one_sample(self) -> Score:
        """The same, if the reward is that of the sample by itself.

        Raises:
            Misconfigured: the recipe divides by the group's maximum (long-trace). A trainer that scores one sample at a
                time would train on something else than the recipe says.
        """
        details = self.reply.get("details")
        if isinstance(details, dict) and details.get("final") is False:
            raise Misconfigured(
                "this recipe's reward is decided by the group: switch its normalisation off, or use groups"
            )
        return self


class Advantage(NamedTuple):
    """The advantage of one member of a group."""

    #: Finite; 0 where masked.
    advantage: float
    #: True = the member has no reward and did not vote.
    masked: bool


@dataclass(frozen=True)
class GroupScore:
    """A scored group."""

    #: One entry a response; ``None`` = could not be determined.
    rewards: tuple[float | None, ...]
    #: One entry a response.
    advantages: tuple[Advantage, ...]
    #: The score replies of the members.
    members: tuple[Mapping[str, Any], ...] = field(repr=False)
    #: The whole reply of ``POST /v1/groups``.
    reply: Mapping[str, Any] = field(repr=False)


def score_of(outcome: Outcome) -> Score:
    """The score in an answer of ``POST /v1/score``.

    Raises:
        CitewardError: of the kind that fits; see ``citeward.errors``.
    """
    body = _body_of(outcome)
    status, reward = body.get("status"), body.get("reward")
    if status == "unscored" and reward is None:
        raise Unscored(_text(body.get("reason"), "unscored"), "the Worker answered without a reward", False)
    if status != "scored":
        raise UnexpectedReply("200, but its status is neither scored nor unscored")
    base, components, decided_by = body.get("base"), body.get("components"), body.get("decided_by")
    return Score(
        reward=_finite(reward, "reward"),
        base=None if base is None else _finite(base, "base"),
        decided_by=decided_by if isinstance(decided_by, str) else None,
        components=components if isinstance(components, dict) else {},
        reply=body,
    )


def group_of(outcome: Outcome, responses: int) -> GroupScore:
    """The group in an answer of ``POST /v1/groups``.

    Raises:
        CitewardError: of the kind that fits; see ``citeward.errors``.
    """
    body = _body_of(outcome)
    rewards = _list_of("rewards", body, responses)
    advantages = _list_of("advantages", body, responses)
    members = _list_of("members", body, responses)
    if not all(isinstance(member, dict) for member in members):
        raise UnexpectedReply("200, but not all of its members are objects")
    group = GroupScore(
        rewards=tuple(None if reward is None else _finite(reward, "rewards") for reward in rewards),
        advantages=tuple(_advantage(entry) for entry in advantages),
        members=tuple(members),
        reply=body,
    )
    for reward, (_, masked) in zip(group.rewards, group.advantages):
        if reward is None and not masked:
            raise UnexpectedReply("200, but a member without a reward is not masked")
    return group


def _body_of(outcome: Outcome) -> Mapping[str, Any]:
    if isinstance(outcome, NoReply):
        raise Unscored("worker_unreachable", outcome.why, True)
    if outcome.status != 200:
        raise _failure(outcome)
    if not isinstance(outcome.body, dict):
        raise UnexpectedReply("200, but not a JSON object")
    return outcome.body


def _failure(reply: Reply) -> CitewardError:
    """The exception for a reply that is no success; an RFC 9457 problem says why."""
    status, body = reply.status, reply.body
    if 300 <= status < 400:
        # A redirect would turn the POST into a GET, or carry the key elsewhere.
        return Misconfigured(f"the URL redirects ({status}); give the final URL")
    problem = body if isinstance(body, dict) and isinstance(body.get("reason"), str) else None
    if problem is None:
        if status in (401, 403):
            return Unauthorized(f"{status} without a problem in it")
        if 400 <= status < 500 and status != 429:
            return BadRequest(
                f"{status} without a problem in it; is this the URL of a Citeward deployment?", status=status
            )
        return UnexpectedReply(f"{status} without a problem in it", status in (429, 502, 503, 504))
    reason, detail = problem["reason"], _text(problem.get("detail"), "no detail")
    fields = tuple(_problems(problem.get("errors")))
    if status in (401, 403):
        return Unauthorized(f"{reason}: {detail}")
    if reason.startswith(_JUDGING) and reason != "judge_unknown":
        return Unscored(reason, detail, problem.get("retryable") is True)
    if status >= 500 or status == 429:
        return Unscored(reason, detail, problem.get("retryable") is True)
    if fields and all(path.split("[")[0].split(".")[0] == "response" for path, _ in fields):
        # The policy wrote more claims than a judge can take, say. That is no mistake of the row or the settings, and
        # must not end a training run.
        return Unscored(reason, "; ".join(f"{path}: {message}" for path, message in fields), False)
    return BadRequest(f"{status} {reason}: {detail}", fields=fields, status=status, reason=reason)


def _problems(errors: Any) -> Sequence[FieldProblem]:
    listed = errors if isinstance(errors, list) else []
    return [
        FieldProblem(entry["path"], entry["message"])
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get("path"), str) and isinstance(entry.get("message"), str)
    ]


def _advantage(entry: Any) -> Advantage:
    if not isinstance(entry, dict) or not isinstance(entry.get("masked"), bool):
        raise UnexpectedReply("200, but an advantage is not {advantage, masked}")
    return Advantage(_finite(entry.get("advantage"), "advantage"), entry["masked"])


def _list_of(name: str, body: Mapping[str, Any], length: int) -> Sequence[Any]:
    value = body.get(name)
    if not isinstance(value, list) or len(value) != length:
        raise UnexpectedReply(f"200, but {name} is not a list of {length}")
    return value


def _finite(value: Any, name: str) -> float:
    # A bool is an int in Python.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnexpectedReply(f"200, but {name} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnexpectedReply(f"200, but {name} is not finite")
    return number


def _text(value: Any, otherwise: str) -> str:
    return value if isinstance(value, str) else otherwise
