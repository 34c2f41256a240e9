"""Evolving rubrics for open-instruct: a model of the Worker writes criteria, and a run keeps the rubric of each prompt.

open-instruct keeps its rubrics in the memory of an actor, so a restart loses them, and an exception loses the overrides
of the whole step. ``RubricManager`` has the calls of open-instruct's class and keeps them in a run of Citeward instead:
in ``open_instruct/data_loader.py``, import it from here::

    from citeward.evolving import RubricManager      # was: from open_instruct.rubrics import RubricManager

The settings come from the environment; ``CITEWARD_RUN`` names the run, and ``CITEWARD_JUDGE`` the model that writes. A
key needs the scopes ``score`` and ``generate``.

Differences, each because the published code loses or mixes something:

* Responses are grouped by data set index, or by question without indices, and never by a fixed number: a step that lost
  truncated responses would let answers to two questions meet in one generation.
* A failed generation changes nothing for its prompt: the row keeps the rubric of the run. It is counted in
  ``evolving_rubrics/generation_failed`` and, by its reason, in ``evolving_rubrics/generation_failed/REASON``, and
  logged as a warning with the set that stays. The log of the prompt has the reason.
* A wrong row, key or setting raises, because it would fail at every step. So does a step in which the judge refuses
  every generation, such as one that writes no criteria.
* A generation reads the first 64 responses to a prompt; ``evolving_rubrics/responses_left_out`` counts the others.
* The step of a prompt proposes once, so a step that is repeated after a restart changes nothing.

Contract: allenai/open-instruct e6c3044a, ``open_instruct/rubrics/evolving_rubric_step.py`` (``RubricManager``) and
``open_instruct/data_loader.py`` (``DataPreparationActor``).
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from citeward.client import Client, shared_client
from citeward.errors import BadRequest, FieldProblem, Misconfigured, Unscored
from citeward.settings import Settings

#: The family of the recipes that score rows with ``rubrics``; needed to start a run.
_FAMILY = "dr-tulu"
_QUESTIONS = ("query", "Question")
_DESCRIPTIONS = ("description", "rubric_item", "Ingredient")
#: The most responses that one generation reads (``POST /v1/rubrics``): those of a whole group there.
_MOST_RESPONSES = 64

Criterion = Mapping[str, Any]

logger = logging.getLogger("citeward")


@dataclass(frozen=True)
class TrainingRow:
    """The ``ground_truth`` of a row, read."""

    question: str
    #: The row's own criteria, as the Worker takes them, with the objects that they were read from.
    own: tuple[tuple[dict[str, Any], Any], ...]
    #: All keys of the object.
    fields: Mapping[str, Any]
    #: The elements after the JSON text; ``None`` = the row is no list.
    others: tuple[Any, ...] | None

    @classmethod
    def read(cls, ground_truth: Any) -> TrainingRow:
        """Reads a JSON text, or a list whose first element is one.

        Raises:
            BadRequest: names the field that open-instruct could not use.
        """
        listed = isinstance(ground_truth, list)
        text = ground_truth[0] if listed and ground_truth else ground_truth
        try:
            fields = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise _problem("ground_truth", "expected the JSON text of an object, or a list that begins with one")
        question = next((fields[name] for name in _QUESTIONS if fields.get(name)), None)
        if not isinstance(question, str):
            raise _problem("ground_truth.query", 'required: a text, as "query" or "Question"')
        rubrics, types = fields.get("rubrics"), fields.get("rubrics_types")
        if not isinstance(rubrics, list):
            raise _problem("ground_truth.rubrics", "expected a list")
        if types is not None and (not isinstance(types, list) or len(types) != len(rubrics)):
            raise _problem("ground_truth.rubrics_types", "expected one type per entry of rubrics")
        own = []
        for position, entry in enumerate(rubrics):
            if types is None or types[position] == "persistent":
                criterion = _criterion(entry, f"ground_truth.rubrics[{position}]")
                if criterion is not None:
                    own.append((criterion, entry))
        return cls(question, tuple(own), fields, tuple(ground_truth[1:]) if listed else None)

    def written(self, rubrics: Mapping[str, Any], label: str) -> Any:
        """Writes the row in its own shape, with the rubric that a reply of the Worker has.

        Args:
            rubrics: ``persistent`` and ``active`` of a prompt of a run.
            label: what the trainer calls evolving criteria: ``evolving``, or ``adaptive`` in dr-tulu.
        """
        given = {_identity(criterion): entry for criterion, entry in self.own}
        persistent, active = rubrics["persistent"], rubrics["active"]
        listed = [given.get(_identity(one), _entry(one)) for one in persistent] + [_entry(one) for one in active]
        types = ["persistent"] * len(persistent) + [label] * len(active)
        text = json.dumps({**self.fields, "rubrics": listed, "rubrics_types": types})
        return text if self.others is None else [text, *self.others]


def read_rows(ground_truths: Sequence[Any]) -> list[TrainingRow]:
    """Reads the rows of a data set or a batch.

    Raises:
        BadRequest: names the row and its field.
    """
    rows = []
    for position, ground_truth in enumerate(ground_truths):
        try:
            rows.append(TrainingRow.read(ground_truth))
        except BadRequest as error:
            error.row = position
            raise
    return rows


class RubricManager:
    """Has the two calls of open-instruct's ``RubricManager``; the rubrics are in a run of Citeward."""

    def __init__(
        self, streaming_config: Any, ground_truths: Sequence[Any], *, settings: Settings | None = None
    ) -> None:
        """Reads ``max_active_rubrics`` of the configuration, and checks every row of the data set.

        Raises:
            Misconfigured: no run.
            BadRequest: a row that open-instruct would leave as it is without a word.
        """
        self._settings = settings or Settings.of()
        if self._settings.run is None:
            raise Misconfigured("evolving rubrics are kept in a run: set CITEWARD_RUN")
        rules = {
            "when": "next_visit",
            "cap": {"rule": "fifo", "most": streaming_config.max_active_rubrics},
            "retire": {"rule": "never"},
            "persistent": "row",
            "again": "restore",
        }
        self._place = Place(self._settings.run, rules, "evolving")
        read_rows(ground_truths)

    def run_step(
        self,
        *,
        decoded_responses: Sequence[str],
        ground_truths: Sequence[Any],
        indices: Sequence[int] | None,
        step: int,
    ) -> tuple[dict[str, Any], dict[int, Any]]:
        """Lets a model write criteria for each prompt of a step.

        Returns:
            The metrics, and for each data set index the ``ground_truth`` of its next visit. Without indices there is
            none, as in open-instruct.

        Raises:
            Unscored: the judge refuses every generation, or the Worker cannot be reached.
            CitewardError: a row, the key or a setting is wrong.
        """
        groups: dict[Any, list[int]] = {}
        for position, ground_truth in enumerate(ground_truths):
            key = TrainingRow.read(ground_truth).question if indices is None else indices[position]
            groups.setdefault(key, []).append(position)
        if not groups:
            return {}, {}
        step_groups = [
            (
                TrainingRow.read(ground_truths[positions[0]]),
                [decoded_responses[position] for position in positions],
                {"step": step, "group": str(name) if indices is not None else "prompt"},
            )
            for name, positions in groups.items()
        ]
        results = evolve_groups(shared_client(self._settings), self._place, step_groups)
        overrides = {} if indices is None else dict(zip(groups, (one.ground_truth for one in results)))
        return {**metrics_of(results), "evolving_rubrics/num_overrides": len(overrides)}, overrides


@dataclass(frozen=True)
class Place:
    """Where the rubric of a prompt is kept, and how it evolves."""

    run: str
    #: The rules of ``POST /v1/runs/{run}/rubrics``.
    rules: Mapping[str, Any]
    #: What the trainer calls evolving criteria.
    label: str


def evolve(
    client: Client, place: Place, row: TrainingRow, responses: Sequence[str], at: Mapping[str, Any]
) -> Evolved:
    """Lets a model write criteria from the responses to a prompt, and proposes them to its run.

    Args:
        at: ``step`` and ``group`` of the proposal. A group proposes once.

    Raises:
        CitewardError: a row, the key or a setting is wrong, or the run cannot be reached.
    """
    start = {
        "question": row.question,
        "family": _FAMILY,
        "rules": place.rules,
        "criteria": [criterion for criterion, _ in row.own],
    }
    rubrics = client.start_rubrics(place.run, start)["rubrics"]
    left_out = max(len(responses) - _MOST_RESPONSES, 0)
    asked = {
        "question": row.question,
        "responses": list(responses[:_MOST_RESPONSES]),
        "existing": {state: [_shown(one) for one in rubrics[state]] for state in ("persistent", "active", "inactive")},
    }
    try:
        made = client.make_rubrics(asked)
    except Unscored as failure:
        logger.warning("no criteria at step %s: %s; the prompt keeps set %s", at["step"], failure, rubrics["set"]["id"])
        failed = {**at, "reason": failure.reason}
        rubrics = client.start_rubrics(place.run, {**start, "failed_generation": failed})["rubrics"]
        return Evolved(row.written(rubrics, place.label), rubrics, None, failure, left_out)
    proposal = {
        **at,
        "under": rubrics["set"]["id"],
        "criteria": [{**_shown(one), "weight": one["weight"]} for one in made["criteria"]],
        "judgment": made["judgment"],
        "responses": made["responses"],
    }
    rubrics = client.start_rubrics(place.run, {**start, "proposal": proposal})["rubrics"]
    return Evolved(row.written(rubrics, place.label), rubrics, len(made["criteria"]), None, left_out)


def evolve_groups(
    client: Client, place: Place, groups: Sequence[tuple[TrainingRow, Sequence[str], Mapping[str, Any]]]
) -> list[Evolved]:
    """``evolve`` for each prompt of a step, several at a time.

    Raises:
        Unscored: the judge refuses every generation, so each step would fail.
        CitewardError: as ``evolve``.
    """
    if not groups:
        return []
    with ThreadPoolExecutor(min(client.settings.max_connections, len(groups))) as pool:
        results = list(pool.map(lambda group: evolve(client, place, *group), groups))
    failures = [one.failure for one in results if one.failure is not None and not one.failure.retryable]
    if len(failures) == len(results):
        raise failures[0]
    return results


@dataclass(frozen=True)
class Evolved:
    """What a step did to one prompt."""

    ground_truth: Any
    rubrics: Mapping[str, Any]
    #: The number of new criteria; ``None`` = the generation failed, for ``failure``.
    made: int | None
    failure: Unscored | None
    #: The number of last responses that the generation did not read.
    left_out: int


def metrics_of(results: Sequence[Evolved]) -> dict[str, Any]:
    """The figures of a step over its prompts: those that the trainers log, and the failed generations by reason."""
    made = [one.made for one in results if one.made is not None]
    reasons = Counter(one.failure.reason for one in results if one.failure is not None)
    totals = {
        f"evolving_rubrics/total_{state}": sum(len(one.rubrics[state]) for one in results)
        for state in ("persistent", "active", "inactive")
    }
    return {
        "evolving_rubrics/valid_rate": len(made) / len(results),
        "evolving_rubrics/generation_failed": len(results) - len(made),
        **{f"evolving_rubrics/generation_failed/{reason}": count for reason, count in reasons.items()},
        "evolving_rubrics/num_new": sum(made),
        "evolving_rubrics/responses_left_out": sum(one.left_out for one in results),
        **totals,
    }


def _criterion(entry: Any, path: str) -> dict[str, Any] | None:
    """A criterion as the Worker takes it; ``None`` if it has no text or no weight, which open-instruct skips too."""
    if not isinstance(entry, dict):
        raise _problem(path, "expected an object")
    description = next((entry[name] for name in _DESCRIPTIONS if entry.get(name)), None)
    weight, title = entry.get("weight", 1), entry.get("title")
    if not isinstance(weight, (int, float)) or isinstance(weight, bool):
        raise _problem(f"{path}.weight", "expected a number")
    if description is None or weight == 0:
        return None
    named = {"title": title} if isinstance(title, str) and title else {}
    polarity = "negative" if weight < 0 else "positive"
    return {"polarity": polarity, **named, "description": description, "weight": abs(weight)}


def _shown(criterion: Criterion) -> dict[str, Any]:
    named = {"title": criterion["title"]} if criterion.get("title") else {}
    return {"polarity": criterion["polarity"], **named, "description": criterion["description"]}


def _entry(criterion: Criterion) -> dict[str, Any]:
    """A criterion as open-instruct writes it: a signed weight, and always a title."""
    sign = -1.0 if criterion["polarity"] == "negative" else 1.0
    title = criterion.get("title") or ""
    return {"description": criterion["description"], "weight": sign * criterion["weight"], "title": title}


def _identity(criterion: Criterion) -> tuple[str, str, str]:
    return criterion["polarity"], criterion.get("title") or "", criterion["description"]


def _problem(path: str, message: str) -> BadRequest:
    return BadRequest(f"{path}: {message}", fields=[FieldProblem(path, message)])
