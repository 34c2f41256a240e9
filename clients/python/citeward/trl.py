"""Reward functions for TRL's ``GRPOTrainer`` and ``AsyncGRPOTrainer`` (``reward_funcs=[reward_function(...)]``).

An unscored sample is ``None``. Since TRL 1.6.0 (trl#5902) a row without any reward is excluded from the group's mean
and standard deviation and gets advantage 0. Earlier versions counted it as reward 0, so with them an unscored sample
raises.

The dataset holds a row's fields in one column ``citeward``, ``label`` or ``ground_truth``, as a mapping or JSON text,
or in one column per field. TRL repeats them for every completion.

The functions are instances of module-level classes, so that they can be pickled: ``AsyncGRPOTrainer`` runs them in
another process.

With the setting ``run`` the rollouts are recorded. ``GRPOTrainer`` gives the step (``trainer_state.global_step``); its
own attributes, reached through ``log_metric``, give the number of generations, the process and whether it evaluates.
Groups are consecutive samples of the batch that all processes score together. ``AsyncGRPOTrainer`` has no step and
calls once per group: the step is ``null``, and each call is a group with a name of its own.

Contract: huggingface/trl f2cd5771 (1.10.0.dev0) and release 1.13.0,
``trl/trainer/grpo_trainer.py::_calculate_rewards``,
``trl/experimental/async_grpo/async_rollout_worker.py::_score_group``.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import logging
import re
import threading
import types
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Callable, Optional

from citeward.client import results_of, results_of_async, shared_client
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.fields import ROW_FIELDS, Completion, is_object, merged, plain, read_object, sample_fields
from citeward.measures import Measure, Measures
from citeward.replies import Score
from citeward.runs import placed
from citeward.settings import Judge, Recipe, Settings, split_settings
from citeward.trl_places import Places

logger = logging.getLogger("citeward")

Rewards = list[Optional[float]]

#: Metric: the share of unscored samples of a call, in [0, 1]. Every call logs it, so that means over calls are right.
UNSCORED_METRIC = "citeward/unscored_share"

#: Columns of TRL's table of completions, as JSON text that is empty for an unscored sample: what each component of the
#: recipe adds to the reward, and the credit of each sample. TRL needs a column in every batch, so that of the
#: contributions is one column, whichever components a batch has.
CONTRIBUTIONS_COLUMN = "citeward/contributions"
CREDIT_COLUMN = "citeward/credit"

_LABELS = ("citeward", "label", "ground_truth")
_FIRST_WITH_ABSTENTION = (1, 6)
_MOST_OPEN_BATCHES = 64


class RewardFunction:
    """A reward function of ``reward_function`` or ``component_reward_functions``. Picklable."""

    def __init__(self, scoring: _Scoring, name: str, component: str | None = None) -> None:
        self.__name__ = self.__qualname__ = name
        self._scoring = scoring
        self._component = component

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None = None,
        trainer_state: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Rewards:
        """Scores a batch. All arguments are TRL's; without ``trainer_state`` the batch is one group."""
        futures = self._scoring.start(prompts, completions, completion_ids, trainer_state, log_metric, columns)
        return self._scoring.rewards(results_of(futures), log_metric, self._component, columns.get("log_extra"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__!r}, {self._scoring.settings!r})"


class AsyncRewardFunction(RewardFunction):
    """A reward function of ``async_reward_function``. Picklable.

    TRL awaits what ``inspect.iscoroutinefunction`` calls a coroutine function. An object is one if it has the
    attributes of a function, so this class has them. Python 3.9 does not look at them.
    """

    async def __call__(  # type: ignore[override]
        self,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None = None,
        trainer_state: Any = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Rewards:
        """``RewardFunction.__call__`` without blocking the event loop."""
        futures = self._scoring.start(prompts, completions, completion_ids, trainer_state, log_metric, columns)
        scores = await results_of_async(futures)
        return self._scoring.rewards(scores, log_metric, self._component, columns.get("log_extra"))

    __code__: types.CodeType = __call__.__code__
    __defaults__ = __call__.__defaults__
    __kwdefaults__ = __call__.__kwdefaults__


def reward_function(
    *,
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    attempt_timeout_s: float | None = None,
    max_connections: int | None = None,
    run: str | None = None,
    store_text: bool | None = None,
    credit: str | None = None,
    outcome: Measure | None = None,
    metrics: Mapping[str, Measure] | None = None,
    name: str = "citeward",
    on_unscored: str | None = None,
) -> RewardFunction:
    """Creates a reward function.

    Args:
        url: this and the other settings are described in ``citeward.settings``.
        run: the id of the run that records the rollouts; with ``store_text`` it keeps their text, too.
        credit: ``"claims"`` or ``"turns"``: the shares of each reward are a column of TRL's table of completions.
        outcome: whether an answer is right by a measure of your own, as a function with the arguments and the result of
            a reward function of TRL. With ``run`` the outcome is kept, charted and compared with the reward by the
            alerts; it is never part of the reward.
        metrics: further such functions, by the name of their number.
        name: the name in TRL's logs.
        on_unscored: ``"none"`` returns ``None``, ``"raise"`` ends the step. Default: ``"raise"`` before TRL 1.6.0,
            ``"none"`` otherwise.

    Raises:
        Misconfigured: a setting is missing or wrong. Raised here, not at the first step.
    """
    settings = Settings.of(**split_settings(locals()))
    return RewardFunction(_Scoring(settings, _abstains(on_unscored), measures=Measures.given(outcome, metrics)), name)


def async_reward_function(
    *,
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    attempt_timeout_s: float | None = None,
    max_connections: int | None = None,
    run: str | None = None,
    store_text: bool | None = None,
    credit: str | None = None,
    outcome: Measure | None = None,
    metrics: Mapping[str, Measure] | None = None,
    name: str = "citeward",
    on_unscored: str | None = None,
) -> Callable[..., Awaitable[Rewards]]:
    """Like ``reward_function``, but async: TRL runs these functions concurrently. Picklable from Python 3.10."""
    settings = Settings.of(**split_settings(locals()))
    scoring = _Scoring(settings, _abstains(on_unscored), measures=Measures.given(outcome, metrics))
    return _awaitable(AsyncRewardFunction(scoring, name))


def component_reward_functions(
    components: Sequence[str],
    *,
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    attempt_timeout_s: float | None = None,
    max_connections: int | None = None,
    run: str | None = None,
    store_text: bool | None = None,
    credit: str | None = None,
    outcome: Measure | None = None,
    metrics: Mapping[str, Measure] | None = None,
    name: str = "citeward",
    on_unscored: str | None = None,
) -> list[Callable[..., Awaitable[Rewards]]]:
    """Creates one async reward function per component, for trainers that normalise each component (GDPO).

    The functions return contributions: their sum is the reward, so ``reward_weights`` stays at its default. All
    functions share one request per sample and batch. An unscored sample is ``None`` in every function.

    Args:
        components: the names of all contributions of the recipe, for example ``["rubric", "citation"]``. A wrong list
            raises ``Misconfigured`` with the right one at the first batch.
        url: this and the other arguments are those of ``reward_function``.
        name: the prefix of the names in TRL's logs: ``citeward/rubric``.

    Raises:
        Misconfigured: a setting is missing or wrong.
    """
    if isinstance(components, str) or not components or len(set(components)) != len(components):
        raise Misconfigured("components: expected a list of different names")
    settings = Settings.of(**split_settings(locals()))
    scoring = _Scoring(settings, _abstains(on_unscored), tuple(components), Measures.given(outcome, metrics))
    return [_awaitable(AsyncRewardFunction(scoring, f"{name}/{one}", one)) for one in components]


def _awaitable(function: AsyncRewardFunction) -> Callable[..., Awaitable[Rewards]]:
    """The function itself where TRL recognises it as a coroutine function, else a coroutine function around it."""
    if inspect.iscoroutinefunction(function):
        return function

    async def reward(**given: Any) -> Rewards:
        return await function(**given)

    reward.__name__ = reward.__qualname__ = function.__name__
    return reward


class _Scoring:
    """Scores batches for the functions that share it."""

    def __init__(
        self,
        settings: Settings,
        abstains: bool,
        components: tuple[str, ...] = (),
        measures: Measures = Measures(),
    ) -> None:
        self.settings = settings
        self._abstains = abstains
        self._components = components
        self._measures = measures
        self._forget()

    def _forget(self) -> None:
        self._places = Places()
        self._lock = threading.Lock()
        #: Batches that not all functions have asked for. The completions are kept, so that no other list gets their id.
        self._open: dict[int, tuple[Any, list[Future[Score | Unscored]], int]] = {}

    def start(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None,
        trainer_state: Any,
        log_metric: Any,
        columns: Mapping[str, Any],
    ) -> list[Future[Score | Unscored]]:
        """Sends the requests of a batch, once for all functions: TRL passes the same lists to each of them."""
        with self._lock:
            held, futures, asked = self._open.pop(id(completions), (completions, None, 0))
            if futures is None:
                rows = self._rows(prompts, completions, completion_ids, trainer_state, log_metric, columns)
                futures = shared_client(self.settings).start_many(rows)
            if asked + 1 < len(self._components):
                self._open[id(completions)] = (held, futures, asked + 1)
                # Only a function that TRL does not call leaves batches behind.
                while len(self._open) > _MOST_OPEN_BATCHES:
                    del self._open[next(iter(self._open))]
        return futures

    def rewards(
        self,
        scores: Sequence[Score | Unscored],
        log_metric: Callable[[str, float], None] | None,
        component: str | None,
        log_extra: Callable[[str, list[Any]], None] | None,
    ) -> Rewards:
        """The rewards of a function, with the share of unscored samples as a metric, and what paid as columns."""
        lost = [score for score in scores if isinstance(score, Unscored)]
        if lost and not self._abstains:
            raise lost[0]
        if component in (None, *self._components[:1]):
            _report(lost, len(scores), log_metric)
            if log_extra is not None:
                scored = [score if isinstance(score, Score) else None for score in scores]
                log_extra(CONTRIBUTIONS_COLUMN, [_json(score and score.contributions) for score in scored])
                if self.settings.credit is not None:
                    log_extra(CREDIT_COLUMN, [_json(score and score.credit) for score in scored])
        return [
            self._number(score.of_one_sample(), component) if isinstance(score, Score) else None for score in scores
        ]

    def _number(self, score: Score, component: str | None) -> float:
        if component is None:
            return score.reward
        if set(score.contributions) != set(self._components):
            raise Misconfigured(f"components: this recipe's contributions are {sorted(score.contributions)}")
        return score.contributions[component]

    def _rows(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None,
        trainer_state: Any,
        log_metric: Any,
        columns: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        rows = list(_rows(completions, completion_ids, columns))
        if self.settings.run is None and not any("run" in row for row in rows):
            return rows
        given = {"completion_ids": completion_ids, "trainer_state": trainer_state, **columns}
        for row, measured in zip(rows, self._measures.of(prompts=prompts, completions=completions, **given)):
            row.update(measured)
        places = self._places.of(prompts, rows, trainer_state, getattr(log_metric, "__self__", None))
        return [placed(row, self.settings.run, place, "") for row, place in zip(rows, places)]

    def __getstate__(self) -> dict[str, Any]:
        # Locks and open batches stay in this process.
        return {
            "settings": self.settings,
            "_abstains": self._abstains,
            "_components": self._components,
            "_measures": self._measures,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


def _report(lost: Sequence[Unscored], samples: int, log_metric: Callable[[str, float], None] | None) -> None:
    if log_metric is not None and samples:
        log_metric(UNSCORED_METRIC, len(lost) / samples)
    if lost:
        reasons = Counter(entry.reason for entry in lost).most_common()
        counts = ", ".join(f"{count} {reason}" for reason, count in reasons)
        logger.warning("%d of %d samples are unscored: %s; the first: %s", len(lost), samples, counts, lost[0].detail)


def _json(value: Optional[Mapping[str, Any]]) -> str:
    return "" if value is None else json.dumps(dict(value))


def _abstains(on_unscored: str | None) -> bool:
    if on_unscored not in (None, "none", "raise"):
        raise Misconfigured("on_unscored: expected 'none' or 'raise'")
    if on_unscored is not None:
        return on_unscored == "none"
    try:
        version = importlib.metadata.version("trl")
    except importlib.metadata.PackageNotFoundError:
        return True
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _FIRST_WITH_ABSTENTION


def _rows(
    completions: Sequence[Completion],
    completion_ids: Sequence[Sequence[int]] | None,
    columns: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    for position, completion in enumerate(completions):
        try:
            row = _row(completion, {name: _cell(columns, name, position) for name in (*_LABELS, *ROW_FIELDS)})
            # Includes tool output, which counts for the overlong penalty of the tool-call recipes.
            known = {} if completion_ids is None else {"response_tokens": len(completion_ids[position])}
            yield {**known, **row}
        except BadRequest as error:
            error.row = position
            raise


def _cell(columns: Mapping[str, Any], name: str, position: int) -> Any:
    column = columns.get(name)
    return column[position] if isinstance(column, (list, tuple)) and position < len(column) else None


def _row(completion: Completion, cells: Mapping[str, Any]) -> dict[str, Any]:
    parts = [(label, read_object(cells[label], label)) for label in _LABELS if is_object(cells[label])]
    named = {name: plain(cells[name], name) for name in ROW_FIELDS if cells[name] is not None}
    return sample_fields(merged([*parts, ("columns", named)]), completion)
