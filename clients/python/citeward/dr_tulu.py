"""Evolving rubrics for dr-tulu: its rubric buffer, kept in a run of Citeward.

dr-tulu keeps its buffer in the memory of the trainer, does not save it with checkpoints, and scores a group under
criteria made from its own responses. ``RubricBuffer`` does the same with a run that keeps every proposal and every
retirement. Three places of ``open_instruct/grpo_fast.py`` change::

    from citeward.dr_tulu import RubricBuffer

    # 1. Where the buffer is made of the data set:
    rubric_buffer = RubricBuffer(args, train_dataset["ground_truth"])

    # 2. In reward_fn, in place of the generation and of update_ground_truths_with_adaptive_rubrics:
    ground_truths, rubric_metrics = await rubric_buffer.evolve(decoded_responses, ground_truths, training_step)

    # 3. In reward_fn, in place of the block that manages the buffer after scoring:
    rubric_metrics.update(await rubric_buffer.observe(ground_truths, log_values["per_rubric_rewards"], training_step))

The settings come from the environment; ``CITEWARD_RUN`` names the run, and ``CITEWARD_JUDGE`` the model that writes. A
key needs the scopes ``score`` and ``generate``.

Differences, each because the published code loses or mixes something:

* Responses are grouped by question, and never by a fixed number.
* A failed generation changes nothing for its prompt: the group is scored under the set of the run, and not under the
  row's own criteria alone. ``evolving_rubrics/generation_failed/REASON`` counts it.
* A criterion without a score enters no statistics. Citeward's verifier (``citeward.open_instruct``) logs none;
  dr-tulu's own writes 0 for a failed judge call, so a group in which no response earned anything is not recorded: it
  cannot be told from an outage, which would retire all criteria.
* A generation reads the first 64 responses to a prompt; ``evolving_rubrics/responses_left_out`` counts the others.
* A step is recorded once, so a step that is repeated after a restart changes nothing.
* If nothing was scored, nothing is capped. The published code then keeps a random choice.

Contract: rlresearch/dr-tulu 6188f34c, ``rl/open-instruct/open_instruct/grpo_fast.py`` (``reward_fn``),
``search_rewards/utils/rubric_utils.py`` and ``search_rewards/longform_rubric_rewards.py`` (``create_rubric_key``).
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from citeward.client import shared_client
from citeward.errors import BadRequest, FieldProblem, Misconfigured
from citeward.evolving import Evolved, Place, evolve_groups, metrics_of, read_rows
from citeward.settings import Settings

#: A step has one group for each question.
_GROUP = "prompt"


class RubricBuffer:
    """The criteria of the prompts of a run, for dr-tulu's ``reward_fn``."""

    def __init__(self, args: Any, ground_truths: Sequence[Any], *, settings: Settings | None = None) -> None:
        """Reads the buffer's switches of dr-tulu's arguments, and checks every row of the data set.

        Args:
            args: ``max_active_rubrics``, ``use_static_rubrics_as_persistent_rubrics`` and
                ``add_static_rubrics_to_active_rubrics_every_n_steps``.
            ground_truths: the column of the data set.

        Raises:
            Misconfigured: no run.
            BadRequest: a row that cannot evolve.
        """
        self._settings = settings or Settings.of()
        if self._settings.run is None:
            raise Misconfigured("evolving rubrics are kept in a run: set CITEWARD_RUN")
        every = getattr(args, "add_static_rubrics_to_active_rubrics_every_n_steps", 10)
        rules = {
            "when": "same_step",
            "cap": {"rule": "std", "most": args.max_active_rubrics},
            "retire": {"rule": "zero_std"},
            "persistent": "row" if args.use_static_rubrics_as_persistent_rubrics else {"every": every},
            "again": "restore",
        }
        self._place = Place(self._settings.run, rules, "adaptive")
        #: The criteria that score the groups of the step that was evolved last.
        self._evolved: dict[str, Evolved] = {}
        read_rows(ground_truths)

    async def evolve(
        self, decoded_responses: Sequence[str], ground_truths: Sequence[Any], training_step: int
    ) -> tuple[list[Any], dict[str, Any]]:
        """Lets a model write criteria from the responses of a step, which are then scored under them.

        Returns:
            The ground truths to score with, in the order of the responses, and the metrics of the step.

        Raises:
            Unscored: the judge refuses every generation, or the Worker cannot be reached.
            CitewardError: a row, the key or a setting is wrong.
        """
        rows = read_rows(ground_truths)
        groups: dict[str, list[int]] = {}
        for position, row in enumerate(rows):
            groups.setdefault(row.question, []).append(position)
        at = {"step": training_step, "group": _GROUP}
        asked = [
            (rows[positions[0]], [decoded_responses[position] for position in positions], at)
            for positions in groups.values()
        ]
        results = await asyncio.to_thread(evolve_groups, shared_client(self._settings), self._place, asked)
        self._evolved = dict(zip(groups, results))
        written = [row.written(self._evolved[row.question].rubrics, self._place.label) for row in rows]
        return written, metrics_of(results) if results else {}

    async def observe(
        self,
        ground_truths: Sequence[Any],
        per_rubric_rewards: Sequence[Mapping[str, Any]],
        training_step: int,
    ) -> dict[str, Any]:
        """Records how far each criterion told the responses of a step apart; the rules retire and cap.

        Args:
            ground_truths: those that ``evolve`` returned.
            per_rubric_rewards: of each response, the weighted rewards by the key of their criterion, as dr-tulu logs
                them.

        Returns:
            The metrics of the step.

        Raises:
            BadRequest: a row that ``evolve`` did not return, or rewards that are no numbers.
            CitewardError: the key or a setting is wrong, or the Worker cannot be reached.
        """
        rewards_of: dict[str, list[Mapping[str, Any]]] = {}
        if len(per_rubric_rewards) != len(ground_truths):
            raise _problem("per_rubric_rewards", f"expected one entry for each of {len(ground_truths)} responses")
        for row, rewards in zip(read_rows(ground_truths), per_rubric_rewards):
            if row.question not in self._evolved:
                raise _problem("ground_truths", "a row that evolve() did not return: call it before")
            rewards_of.setdefault(row.question, []).append(rewards)
        replies = await asyncio.to_thread(self._record, rewards_of, training_step)
        events = [event["event"] for reply in replies for event in reply["events"]]
        return {
            "evolving_rubrics/num_retired": events.count("retired"),
            "evolving_rubrics/num_capped": events.count("capped"),
            "evolving_rubrics/without_verdicts": len(rewards_of) - len(replies),
        }

    def _record(
        self, rewards_of: Mapping[str, Sequence[Mapping[str, Any]]], training_step: int
    ) -> list[Mapping[str, Any]]:
        client = shared_client(self._settings)
        replies = []
        for question, rewards in rewards_of.items():
            rubrics = self._evolved[question].rubrics
            found = _statistics(question, rubrics, rewards)
            if found is None:
                continue
            scored = {"step": training_step, "group": _GROUP, "set": rubrics["set"]["id"], "statistics": found}
            replies.append(client.record_rubric_scores(self._place.run, rubrics["prompt"], scored))
        return replies


def _statistics(
    question: str, rubrics: Mapping[str, Any], rewards: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]] | None:
    """The spread of each criterion's scores; ``None`` if no response earned anything."""
    criteria = [*rubrics["persistent"], *rubrics["active"]]
    # dr-tulu divides a weighted score by the sum of the positive weights, or by 1.
    divisor = max(sum(one["weight"] for one in criteria if one["polarity"] == "positive"), 1.0)
    scores = {one["id"]: _scores(question, one, rewards, divisor) for one in criteria}
    if not any(score != 0 for found in scores.values() for score in found):
        return None
    return [
        {
            "id": name,
            "n": len(found),
            "mean": statistics.fmean(found) if found else None,
            "std": statistics.pstdev(found) if len(found) > 1 else None,
        }
        for name, found in scores.items()
    ]


def _scores(
    question: str, criterion: Mapping[str, Any], rewards: Sequence[Mapping[str, Any]], divisor: float
) -> list[float]:
    key = rubric_key(question, criterion["description"], criterion.get("title") or "")
    weight = criterion["weight"] * (-1 if criterion["polarity"] == "negative" else 1)
    given = [value for one in rewards if key in one for value in _listed(one[key])]
    scores = [float(value) * divisor / weight for value in given]
    if not all(map(math.isfinite, scores)):
        raise _problem("per_rubric_rewards", f"expected finite numbers for criterion {key}")
    return scores


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def rubric_rewards(question: str, criteria: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """The weighted rewards of a response by the key of their criterion, as dr-tulu logs them.

    Args:
        criteria: those of a score of the family dr-tulu: signed weights, and scores from 0 to 2. One without a score is
            left out.
    """
    divisor = max(sum(one["weight"] for one in criteria if one["weight"] > 0), 1.0)
    return {
        rubric_key(question, one["description"], one.get("title") or ""): [one["score"] / 2 * one["weight"] / divisor]
        for one in criteria
        if one["score"] is not None
    }


def rubric_key(question: str, description: str, title: str) -> str:
    """dr-tulu's name of a criterion in its logs (``create_rubric_key``)."""
    return hashlib.md5(f"{question}||{description}||{title}".encode(), usedforsecurity=False).hexdigest()[:12]


def _problem(path: str, message: str) -> BadRequest:
    return BadRequest(f"{path}: {message}", fields=[FieldProblem(path, message)])
