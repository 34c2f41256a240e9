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
import logging
import os
import re
import threading
import types
import uuid
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any, Callable, Optional

from citeward.client import results_of, results_of_async, shared_client
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.fields import ROW_FIELDS, Completion, is_object, merged, plain, read_object, response_text
from citeward.replies import Score
from citeward.runs import digest_of, placed
from citeward.settings import Judge, Recipe, Settings

logger = logging.getLogger("citeward")

Rewards = list[Optional[float]]

#: Metric: the share of unscored samples of a call, in [0, 1]. Every call logs it, so that means over calls are right.
UNSCORED_METRIC = "citeward/unscored_share"

_LABELS = ("citeward", "label", "ground_truth")
_FIRST_WITH_ABSTENTION = (1, 6)


class RewardFunction:
    """A reward function of ``reward_function``. Picklable."""

    def __init__(self, settings: Settings, abstains: bool, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self._settings = settings
        self._abstains = abstains
        self._places = _Places()

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
        rows = self._rows(prompts, completions, completion_ids, trainer_state, log_metric, columns)
        return self._rewards(results_of(shared_client(self._settings).start_many(rows)), log_metric)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__!r}, {self._settings!r})"

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
        if self._settings.run is None and not any("run" in row for row in rows):
            return rows
        places = self._places.of(prompts, rows, trainer_state, getattr(log_metric, "__self__", None))
        return [placed(row, self._settings.run, place, "") for row, place in zip(rows, places)]

    def _rewards(
        self, scores: Sequence[Score | Unscored], log_metric: Callable[[str, float], None] | None
    ) -> Rewards:
        lost = [score for score in scores if isinstance(score, Unscored)]
        if lost and not self._abstains:
            raise lost[0]
        if log_metric is not None and scores:
            log_metric(UNSCORED_METRIC, len(lost) / len(scores))
        if lost:
            counts = ", ".join(
                f"{count} {reason}" for reason, count in Counter(entry.reason for entry in lost).most_common()
            )
            logger.warning(
                "%d of %d samples are unscored: %s; the first: %s", len(lost), len(scores), counts, lost[0].detail
            )
        return [score.of_one_sample().reward if isinstance(score, Score) else None for score in scores]


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
        rows = self._rows(prompts, completions, completion_ids, trainer_state, log_metric, columns)
        return self._rewards(await results_of_async(shared_client(self._settings).start_many(rows)), log_metric)

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
    name: str = "citeward",
    on_unscored: str | None = None,
) -> RewardFunction:
    """Creates a reward function.

    Args:
        url: this and the other settings are described in ``citeward.settings``.
        run: the id of the run that records the rollouts.
        name: the name in TRL's logs.
        on_unscored: ``"none"`` returns ``None``, ``"raise"`` ends the step. Default: ``"raise"`` before TRL 1.6.0,
            ``"none"`` otherwise.

    Raises:
        Misconfigured: a setting is missing or wrong. Raised here, not at the first step.
    """
    settings = _settings(url, api_key, recipe, judge, deadline_s, attempt_timeout_s, max_connections, run)
    return RewardFunction(settings, _abstains(on_unscored), name)


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
    name: str = "citeward",
    on_unscored: str | None = None,
) -> Callable[..., Awaitable[Rewards]]:
    """Like ``reward_function``, but async: TRL runs these functions concurrently. Picklable from Python 3.10."""
    settings = _settings(url, api_key, recipe, judge, deadline_s, attempt_timeout_s, max_connections, run)
    function = AsyncRewardFunction(settings, _abstains(on_unscored), name)
    return function if inspect.iscoroutinefunction(function) else _plain_coroutine_function(function)


def _plain_coroutine_function(function: AsyncRewardFunction) -> Callable[..., Awaitable[Rewards]]:
    async def reward(**given: Any) -> Rewards:
        return await function(**given)

    reward.__name__ = reward.__qualname__ = function.__name__
    return reward


class _Places:
    """Numbers the batches of a step, so that no two of them share a place: an evaluation scores many at one step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Of each split, the last step and the number of its batches so far.
        self._batches: dict[str, tuple[int, int]] = {}

    def of(
        self, prompts: Sequence[Any], rows: Sequence[Mapping[str, Any]], trainer_state: Any, trainer: Any
    ) -> Iterator[dict[str, Any]]:
        """Yields step, group, sample and split of each row.

        ``trainer`` is the ``GRPOTrainer`` if TRL's own ``log_metric`` was passed. Otherwise the process comes from the
        variable ``RANK``, and groups are rows with equal prompt and fields.
        """
        if trainer_state is None:
            call = uuid.uuid4().hex[:8]
            for position, (prompt, row) in enumerate(zip(prompts, rows)):
                yield {"step": None, "group": f"{_name_of(prompt, row)}-{call}", "sample": position}
            return
        training = getattr(getattr(trainer, "model", None), "training", True)
        split = "train" if training else "eval"
        step = int(trainer_state.global_step)
        with self._lock:
            last, batch = self._batches.get(split, (step, -1))
            batch = batch + 1 if last == step else 0
            self._batches[split] = (step, batch)
        process = getattr(getattr(trainer, "accelerator", None), "process_index", None)
        first = (int(os.environ.get("RANK", "0")) if process is None else process) * len(rows)
        generations = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
        for position, (prompt, row) in enumerate(zip(prompts, rows), first):
            name = position // generations if generations else _name_of(prompt, row)
            yield {"step": step, "group": f"{batch}-{name}", "sample": position, "split": split}

    def __getstate__(self) -> dict[str, Any]:
        # Locks cannot be pickled; the other process starts to count anew.
        return {}

    def __setstate__(self, _: Mapping[str, Any]) -> None:
        _Places.__init__(self)


def _name_of(prompt: Any, row: Mapping[str, Any]) -> str:
    own = ("response", "response_tokens", "finish_reason", "num_turns", "run")
    return digest_of(prompt, {name: value for name, value in row.items() if name not in own})


def _settings(
    url: str | None,
    api_key: str | None,
    recipe: Recipe | None,
    judge: Judge | None,
    deadline_s: float | None,
    attempt_timeout_s: float | None,
    max_connections: int | None,
    run: str | None,
) -> Settings:
    return Settings.of(
        url=url,
        api_key=api_key,
        recipe=recipe,
        judge=judge,
        deadline_s=deadline_s,
        attempt_timeout_s=attempt_timeout_s,
        max_connections=max_connections,
        run=run,
    )


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
    return {**merged([*parts, ("columns", named)]), "response": response_text(completion)}
