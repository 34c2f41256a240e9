"""Puts the credit of a score on tokens and steps: what earned how much of the reward.

Credit comes with the setting ``credit``, as entries whose shares add up to the reward: ``"claims"`` has the spans of
the claims, ``"turns"`` the generations whose search results the claims cite. What belongs to no claim or turn is on the
last token or step. Guide: ``docs/guides/credit.md``.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from citeward.errors import BadRequest, UnexpectedReply

#: Tokens after which a text that is no valid UTF-8 is taken as it is: a character has at most four bytes.
_MOST_PENDING = 8


def token_rewards(credit: Mapping[str, Any], ends: Sequence[int]) -> list[float]:
    """The reward of each token of a response.

    A claim's share is on the token in which the claim ends. Everything else is on the last token.

    Args:
        credit: ``Score.credit`` by claims, with spans in code points.
        ends: where each token ends in the response, in code points (``token_ends``).

    Raises:
        BadRequest: there are no tokens, or the credit is by turns.
        UnexpectedReply: the credit is malformed.

    Example:
        >>> entry = {"of": "claim", "index": 0, "spans": [{"start": 0, "end": 4}], "share": 3.0}
        >>> token_rewards({"by": "claims", "entries": [entry, {"of": "answer", "share": 1.0}]}, [2, 4, 6])
        [0.0, 3.0, 1.0]
    """
    if not ends:
        raise BadRequest("credit: a response without tokens has no place for a reward")
    rewards = [0.0] * len(ends)
    rest: list[float] = []
    # In the order of the response, so that one pass over the tokens finds all of them.
    placed = []
    for entry in _entries(credit, "claims"):
        spans = entry.get("spans") or ()
        if spans:
            placed.append((int(spans[-1]["end"]), _share(entry)))
        else:
            rest.append(_share(entry))
    token = 0
    for end, share in sorted(placed, key=lambda one: one[0]):
        while token < len(ends) - 1 and ends[token] < end:
            token += 1
        rewards[token] += share
    for share in rest:
        rewards[-1] += share
    return rewards


def token_ends(ids: Sequence[int], decode: Callable[[Sequence[int]], str]) -> list[int]:
    """Where each token ends in the decoded text, in code points.

    A token that ends within a character ends where the character began. Takes time linear in the tokens.

    Args:
        ids: the tokens of the response.
        decode: decodes tokens as the response was decoded, for example
            ``lambda ids: tokenizer.decode(ids, skip_special_tokens=True)``.

    Raises:
        BadRequest: the text of all tokens is not the texts of its parts, one after the other, so that tokens have no
            places in it.
    """
    ends: list[int] = []
    end = 0
    # The text of a token depends on the token before it: decoders drop a blank at the start of a text.
    before, read = 0, 0
    for position in range(len(ids)):
        known = decode(ids[before:read])
        text = decode(ids[before : position + 1])
        if not text.endswith("\ufffd") or position + 1 - read >= _MOST_PENDING:
            end += len(text) - len(known)
            before, read = read, position + 1
            ends.append(end)
        else:
            ends.append(max(end, end + len(text.rstrip("\ufffd")) - len(known)))
    if read < len(ids):
        ends[-1] = end + len(decode(ids[before:])) - len(decode(ids[before:read]))
    length = len(decode(ids))
    if ends and ends[-1] != length:
        raise BadRequest(f"credit: the tokens decode to {ends[-1]} characters one by one, and to {length} together")
    return ends


def step_rewards(credit: Mapping[str, Any]) -> list[float]:
    """The reward of each generation of the policy; they add up to the reward.

    Args:
        credit: ``Score.credit`` by turns.

    Raises:
        BadRequest: the credit is by claims.
        UnexpectedReply: the credit is malformed.

    Example:
        >>> answer = {"of": "answer", "turn": 1, "message": 3, "share": 4.0}
        >>> step_rewards({"by": "turns", "entries": [{"of": "turn", "turn": 0, "message": 1, "share": 6.0}, answer]})
        [6.0, 4.0]
    """
    rewards: dict[int, float] = {}
    for entry in _entries(credit, "turns"):
        turn = entry.get("turn")
        if not isinstance(turn, int):
            raise UnexpectedReply("200, but an entry of the credit has no turn")
        rewards[turn] = rewards.get(turn, 0.0) + _share(entry)
    if sorted(rewards) != list(range(len(rewards))):
        raise UnexpectedReply("200, but the credit leaves out a turn")
    return [rewards[turn] for turn in range(len(rewards))]


def masked_rewards(credit: Mapping[str, Any], loss_mask: Sequence[int]) -> list[float]:
    """The reward of each token of a multi-turn response: a step's reward is on the last token of its generation.

    Args:
        credit: ``Score.credit`` by turns.
        loss_mask: one number a token, 0 for those that the policy did not generate.

    Raises:
        BadRequest: the mask has another number of generations than the messages.
    """
    steps = step_rewards(credit)
    last = [
        position
        for position, mask in enumerate(loss_mask)
        if mask and (position + 1 == len(loss_mask) or not loss_mask[position + 1])
    ]
    if len(last) != len(steps):
        raise BadRequest(f"credit: {len(steps)} generations in the messages, but {len(last)} in the loss mask")
    rewards = [0.0] * len(loss_mask)
    for position, reward in zip(last, steps):
        rewards[position] = reward
    return rewards


def in_transcript(reply: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The credit of a reply whose request sent a transcript as one text (``trajectory.markup``), with spans in it.

    The spans of the Worker are in the final answer, and the reply says where the answer is in the transcript. The
    credit of another reply is returned as it is; ``None`` without credit.
    """
    credit, trajectory = reply.get("credit"), reply.get("trajectory")
    if not isinstance(credit, dict) or credit.get("by") != "claims":
        return credit if isinstance(credit, dict) else None
    pieces = trajectory.get("response", []) if isinstance(trajectory, dict) else []
    if any(piece["path"] != "messages" for piece in pieces) or not pieces:
        return credit
    ends = [piece["end"] for piece in pieces]

    def moved(entry: Mapping[str, Any]) -> Mapping[str, Any]:
        spans = []
        for span in entry.get("spans") or ():
            piece = pieces[min(bisect.bisect_left(ends, span["end"]), len(pieces) - 1)]
            by = piece["from"] - piece["start"]
            spans.append({"start": span["start"] + by, "end": span["end"] + by})
        return {**entry, "spans": spans} if spans else entry

    return {**credit, "entries": [moved(entry) for entry in _entries(credit, "claims")]}


def _entries(credit: Mapping[str, Any], by: str) -> Sequence[Mapping[str, Any]]:
    entries = credit.get("entries")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise UnexpectedReply("200, but the entries of its credit are not a list of objects")
    if credit.get("by") != by:
        raise BadRequest(f"credit: expected credit by {by}, got {credit.get('by')!r}")
    return entries


def _share(entry: Mapping[str, Any]) -> float:
    share = entry.get("share")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not math.isfinite(share):
        raise UnexpectedReply("200, but a share of the credit is not a finite number")
    return float(share)
