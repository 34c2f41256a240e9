"""Converts a reply to a score or an exception; an ambiguous reply is an exception.

Reward, status and base are validated, because trainers use them. Components are passed through unchanged, because each
recipe family has its own.
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

#: Reasons with these prefixes concern the judging of one sample, whatever the HTTP status.
_JUDGING = ("judge_", "judgment_")

#: Fields of a request that hold what the policy wrote.
_WRITTEN = ("response", "messages", "cited_answer")


@dataclass(frozen=True)
class Score:
    """The reward of a scored rollout."""

    #: Finite; its range is the recipe's ``reward_range``.
    reward: float
    #: Before scale and penalties; ``None`` if a penalty decided the reward and the components are unknown.
    base: float | None
    #: The rule that decided the reward: ``components``, ``no_answer``, ``non_stop_penalty``, ...
    decided_by: str | None
    #: Name to ``{status, value, weight, contribution}``; the names depend on the recipe family.
    components: Mapping[str, Any] = field(repr=False)
    #: The whole reply of ``POST /v1/score``.
    reply: Mapping[str, Any] = field(repr=False)
    #: Finite numbers that add up to the reward, with the same names in every reply of a recipe.
    contributions: Mapping[str, float] = field(default_factory=dict)

    @property
    def credit(self) -> Mapping[str, Any] | None:
        """The reward as shares that add up to it (``citeward.credit``); ``None`` without the setting ``credit``."""
        credit = self.reply.get("credit")
        return credit if isinstance(credit, dict) else None

    def of_one_sample(self) -> Score:
        """Returns this score if the reward does not depend on other samples.

        Raises:
            Misconfigured: the recipe divides by the group's maximum (long-trace), so a trainer that scores one sample
                at a time would train on the wrong reward.
        """
        details = self.reply.get("details")
        if isinstance(details, dict) and details.get("final") is False:
            raise Misconfigured(
                "this recipe's reward is decided by the group: switch its normalisation off, or use groups"
            )
        return self


class Advantage(NamedTuple):
    """The advantage of one member of a group."""

    #: Finite; 0 if masked. ``None`` in a ``GroupScore`` that is not ``final``: use ``Client.advantages``.
    advantage: float | None
    #: True: the member is unscored and excluded from the group's statistics.
    masked: bool


@dataclass(frozen=True)
class GroupScore:
    """A scored group."""

    #: One entry per response; ``None`` = unscored.
    rewards: tuple[float | None, ...]
    #: One entry per response.
    advantages: tuple[Advantage, ...]
    #: The score replies of the members.
    members: tuple[Mapping[str, Any], ...] = field(repr=False)
    #: The whole reply of ``POST /v1/groups``.
    reply: Mapping[str, Any] = field(repr=False)
    #: False with a GDPO preset: the advantages need the other groups of the step (``Client.advantages``).
    final: bool = True
    #: GDPO: one weighted sum of the normalised components per response, ``None`` = unscored; else ``None``.
    weighted_sums: tuple[float | None, ...] | None = None


@dataclass(frozen=True)
class StepAdvantages:
    """The advantages of a training step."""

    #: One tuple per group, one entry per member.
    groups: tuple[tuple[Advantage, ...], ...]
    #: The whole reply of ``POST /v1/advantages``.
    reply: Mapping[str, Any] = field(repr=False)


def score_of(outcome: Outcome) -> Score:
    """Reads the reply of ``POST /v1/score``.

    Raises:
        CitewardError: the matching subclass; see ``citeward.errors``.
    """
    body = body_of(outcome)
    status, reward = body.get("status"), body.get("reward")
    if status == "unscored" and reward is None:
        raise Unscored(_text(body.get("reason"), "unscored"), "the Worker answered without a reward", False)
    if status != "scored":
        raise UnexpectedReply("200, but its status is neither scored nor unscored")
    base, components, decided_by = body.get("base"), body.get("components"), body.get("decided_by")
    return Score(
        reward=_finite(reward, "reward"),
        base=_finite_or_none(base, "base"),
        decided_by=decided_by if isinstance(decided_by, str) else None,
        components=components if isinstance(components, dict) else {},
        reply=body,
        contributions=_contributions(body.get("contributions")),
    )


def group_of(outcome: Outcome, responses: int) -> GroupScore:
    """Reads the reply of ``POST /v1/groups``.

    Raises:
        CitewardError: the matching subclass; see ``citeward.errors``.
    """
    body = body_of(outcome)
    rewards = _list_of("rewards", body, responses)
    advantages = _list_of("advantages", body, responses)
    members = _list_of("members", body, responses)
    if not all(isinstance(member, dict) for member in members):
        raise UnexpectedReply("200, but not all of its members are objects")
    final = body.get("final", True)
    if not isinstance(final, bool):
        raise UnexpectedReply("200, but final is neither true nor false")
    group = GroupScore(
        rewards=tuple(_finite_or_none(reward, "rewards") for reward in rewards),
        advantages=tuple(_advantage(entry, final) for entry in advantages),
        members=tuple(members),
        reply=body,
        final=final,
        weighted_sums=_weighted_sums(advantages),
    )
    for reward, (_, masked) in zip(group.rewards, group.advantages):
        if reward is None and not masked:
            raise UnexpectedReply("200, but a member without a reward is not masked")
    return group


def step_of(outcome: Outcome, members: Sequence[int]) -> StepAdvantages:
    """Reads the reply of ``POST /v1/advantages``.

    Args:
        members: the number of members of each group.

    Raises:
        CitewardError: the matching subclass; see ``citeward.errors``.
    """
    body = body_of(outcome)
    groups = _list_of("groups", body, len(members))
    if not all(isinstance(group, dict) for group in groups):
        raise UnexpectedReply("200, but not all of its groups are objects")
    return StepAdvantages(
        groups=tuple(
            tuple(_advantage(entry, True) for entry in _list_of("advantages", group, size))
            for group, size in zip(groups, members)
        ),
        reply=body,
    )


def body_of(outcome: Outcome) -> Mapping[str, Any]:
    """The object of a reply.

    Raises:
        CitewardError: the matching subclass; see ``citeward.errors``.
    """
    if isinstance(outcome, NoReply):
        raise Unscored("worker_unreachable", outcome.why, True)
    if outcome.status != 200:
        raise _failure(outcome)
    if not isinstance(outcome.body, dict):
        raise UnexpectedReply("200, but not a JSON object")
    return outcome.body


def _failure(reply: Reply) -> CitewardError:
    """Converts an error reply, normally an RFC 9457 problem, to an exception."""
    status, body = reply.status, reply.body
    if 300 <= status < 400:
        # A redirect could turn the POST into a GET or send the key to another host.
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
    if reason.startswith(_JUDGING) and reason not in ("judge_unknown", "judge_option_unsupported"):
        return Unscored(reason, detail, problem.get("retryable") is True)
    if status >= 500 or status == 429:
        return Unscored(reason, detail, problem.get("retryable") is True)
    if fields and all(path.split("[")[0].split(".")[0] in _WRITTEN for path, _ in fields):
        # For example, the response has more claims than a judge accepts. Row and settings are correct, so this must
        # not end the training run.
        return Unscored(reason, "; ".join(f"{path}: {message}" for path, message in fields), False)
    return BadRequest(f"{status} {reason}: {detail}", fields=fields, status=status, reason=reason)


def _problems(errors: Any) -> Sequence[FieldProblem]:
    listed = errors if isinstance(errors, list) else []
    return [
        FieldProblem(entry["path"], entry["message"])
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get("path"), str) and isinstance(entry.get("message"), str)
    ]


def _contributions(value: Any) -> Mapping[str, float]:
    if not isinstance(value, dict):
        raise UnexpectedReply("200, but contributions are not an object; is the deployment older than this client?")
    return {name: _finite(number, "contributions") for name, number in value.items()}


def _advantage(entry: Any, final: bool) -> Advantage:
    if not isinstance(entry, dict) or not isinstance(entry.get("masked"), bool):
        raise UnexpectedReply("200, but an advantage is not {advantage, masked}")
    advantage = entry.get("advantage")
    if not final and advantage is not None:
        raise UnexpectedReply("200, but an advantage is given that is not final")
    return Advantage(_finite(advantage, "advantage") if final else None, entry["masked"])


def _weighted_sums(advantages: Sequence[Mapping[str, Any]]) -> tuple[float | None, ...] | None:
    if not any("weighted_sum" in entry for entry in advantages):
        return None
    return tuple(_finite_or_none(entry.get("weighted_sum"), "weighted_sum") for entry in advantages)


def _list_of(name: str, body: Mapping[str, Any], length: int) -> Sequence[Any]:
    value = body.get(name)
    if not isinstance(value, list) or len(value) != length:
        raise UnexpectedReply(f"200, but {name} is not a list of {length}")
    return value


def _finite_or_none(value: Any, name: str) -> float | None:
    return None if value is None else _finite(value, name)


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
