"""Reward functions for TRL's ``GRPOTrainer`` (``reward_funcs=[reward_function(...)]``).

An unscored sample is ``None``. Since TRL 1.6.0 (trl#5902) a row without any reward is excluded from the group's mean
and standard deviation and gets advantage 0. Earlier versions counted it as reward 0, so with them an unscored sample
raises.

The dataset holds a row's fields in one column ``citeward``, ``label`` or ``ground_truth``, as a mapping or JSON text,
or in one column per field. TRL repeats them for every completion.

Contract: huggingface/trl f2cd5771 (1.10.0.dev0), ``trl/trainer/grpo_trainer.py::_calculate_rewards``.
"""

from __future__ import annotations

import importlib.metadata
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Callable, Optional

from citeward.client import shared_client
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.fields import ROW_FIELDS, Completion, is_object, merged, plain, read_object, response_text
from citeward.replies import Score
from citeward.settings import Judge, Recipe, Settings

logger = logging.getLogger("citeward")

Rewards = list[Optional[float]]

#: Metric: the share of unscored samples of a call, in [0, 1]. Every call logs it, so that means over calls are right.
UNSCORED_METRIC = "citeward/unscored_share"

_LABELS = ("citeward", "label", "ground_truth")
_FIRST_WITH_ABSTENTION = (1, 6)


def reward_function(
    *,
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    attempt_timeout_s: float | None = None,
    max_connections: int | None = None,
    name: str = "citeward",
    on_unscored: str | None = None,
) -> Callable[..., Rewards]:
    """Creates a reward function.

    Args:
        url: this and the other settings are described in ``citeward.settings``.
        name: the name in TRL's logs.
        on_unscored: ``"none"`` returns ``None``, ``"raise"`` ends the step. Default: ``"raise"`` before TRL 1.6.0,
            ``"none"`` otherwise.

    Raises:
        Misconfigured: a setting is missing or wrong. Raised here, not at the first step.
    """
    settings = _settings(url, api_key, recipe, judge, deadline_s, attempt_timeout_s, max_connections)
    abstains = _abstains(on_unscored)

    def reward(
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Rewards:
        scores = shared_client(settings).score_many(_rows(completions, completion_ids, columns))
        return _rewards(scores, abstains, log_metric)

    reward.__name__ = reward.__qualname__ = name
    return reward


def async_reward_function(
    *,
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    attempt_timeout_s: float | None = None,
    max_connections: int | None = None,
    name: str = "citeward",
    on_unscored: str | None = None,
) -> Callable[..., Awaitable[Rewards]]:
    """Like ``reward_function``, but async: TRL runs async reward functions concurrently."""
    settings = _settings(url, api_key, recipe, judge, deadline_s, attempt_timeout_s, max_connections)
    abstains = _abstains(on_unscored)

    async def reward(
        prompts: Sequence[Any],
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> Rewards:
        scores = await shared_client(settings).score_many_async(_rows(completions, completion_ids, columns))
        return _rewards(scores, abstains, log_metric)

    reward.__name__ = reward.__qualname__ = name
    return reward


def _settings(
    url: str | None,
    api_key: str | None,
    recipe: Recipe | None,
    judge: Judge | None,
    deadline_s: float | None,
    attempt_timeout_s: float | None,
    max_connections: int | None,
) -> Settings:
    return Settings.of(
        url=url,
        api_key=api_key,
        recipe=recipe,
        judge=judge,
        deadline_s=deadline_s,
        attempt_timeout_s=attempt_timeout_s,
        max_connections=max_connections,
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
) -> list[dict[str, Any]]:
    rows = []
    for position, completion in enumerate(completions):
        try:
            row = _row(completion, {name: _cell(columns, name, position) for name in (*_LABELS, *ROW_FIELDS)})
            # Includes tool output, which counts for the overlong penalty of the tool-call recipes.
            known = {} if completion_ids is None else {"response_tokens": len(completion_ids[position])}
            rows.append({**known, **row})
        except BadRequest as error:
            error.row = position
            raise
    return rows


def _cell(columns: Mapping[str, Any], name: str, position: int) -> Any:
    column = columns.get(name)
    return column[position] if isinstance(column, (list, tuple)) and position < len(column) else None


def _row(completion: Completion, cells: Mapping[str, Any]) -> dict[str, Any]:
    parts = [(label, read_object(cells[label], label)) for label in _LABELS if is_object(cells[label])]
    named = {name: plain(cells[name], name) for name in ROW_FIELDS if cells[name] is not None}
    return {**merged([*parts, ("columns", named)]), "response": response_text(completion)}


def _rewards(
    scores: Sequence[Score | Unscored],
    abstains: bool,
    log_metric: Callable[[str, float], None] | None,
) -> Rewards:
    lost = [score for score in scores if isinstance(score, Unscored)]
    if lost and not abstains:
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
