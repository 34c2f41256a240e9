"""The reward function of verl (``custom_reward_function.path``, or ``reward.custom_reward_function.path``).

``compute_score`` serves the reward loop and its managers naive, dapo, gdpo and remote, ``compute_score_async`` those
that await, ``compute_score_batch`` the legacy batch manager. Settings come from ``reward_kwargs`` or the environment.

verl has no word for "not scored": an unscored sample raises ``Unscored``, which the naive and dapo managers pass on,
and the step fails. **Do not use** ``reward_manager=rate_limited``: it turns every exception and time-out into a reward
of 0.0 (verl#4107), and so do the legacy prime manager and early versions of the batch manager. To bridge an outage,
raise ``deadline_s``.

A row's fields stand in ``ground_truth`` or ``extra_info["citeward"]`` (mapping or JSON text), ``num_turns`` and
``response_tokens`` in ``extra_info``. They are sent if they are there and never defaulted; the dapo manager does not
pass ``num_turns`` (Gen-Verse/Open-AgentRL#13), and a recipe that needs it then refuses the request.

Contracts: verl b178a3cd and 1dda039b, ``verl/experimental/reward_loop/``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Union

from citeward.client import shared_client
from citeward.errors import Unscored
from citeward.fields import is_object, merged, plain, read_object, response_text
from citeward.replies import Score
from citeward.settings import Settings, split_settings

Result = dict[str, Union[float, str]]

_OF_THE_TRAINER = ("num_turns", "response_tokens")


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Result:
    """Scores one sample.

    Args:
        data_source: not used.
        solution_str: the decoded response.
        ground_truth: the row's fields, as a mapping or as JSON text.
        extra_info: may hold ``citeward`` (further fields), ``num_turns`` and ``response_tokens``.
        **kwargs: settings (``citeward.settings``); what verl adds of its own is not used.

    Returns:
        The same four keys every time, as verl reads those of the first sample from all: ``score``, the reward; ``acc``,
        the same, as verl stores it for a function that returns a float; ``base``, before scale and penalties (NaN where
        a penalty decided the reward and nothing else was known; only logged); ``citeward``, JSON text with the
        components, which verl keeps with the sample and leaves out of its statistics.

    Raises:
        Unscored: the reward could not be determined.
        CitewardError: the row, the key or a setting is wrong.
    """
    client = shared_client(_settings(kwargs))
    return _result(client.score(_fields(solution_str, ground_truth, extra_info)))


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Result:
    """``compute_score`` for a reward loop: the samples of a worker are scored at the same time, up to
    ``max_connections`` of them. The ``remote`` manager refuses async functions."""
    client = shared_client(_settings(kwargs))
    return _result(await client.score_async(_fields(solution_str, ground_truth, extra_info)))


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    **kwargs: Any,
) -> list[Result]:
    """Scores a batch, for the legacy batch manager. One unscored sample raises ``Unscored`` for the batch."""
    client = shared_client(_settings(kwargs))
    rows = [
        _fields(solution, truth, extra)
        for solution, truth, extra in zip(list(solution_strs), list(ground_truths), list(extra_infos))
    ]
    scores = client.score_many(rows)
    lost = [score for score in scores if isinstance(score, Unscored)]
    if lost:
        raise Unscored(
            lost[0].reason,
            f"{len(lost)} of {len(scores)} samples; the first: {lost[0].detail}",
            all(unscored.retryable for unscored in lost),
        )
    return [_result(score) for score in scores if isinstance(score, Score)]


def _settings(kwargs: Mapping[str, Any]) -> Settings:
    return Settings.of(**split_settings(kwargs))


def _fields(solution: str, ground_truth: Any, extra_info: Mapping[str, Any] | None) -> dict[str, Any]:
    extra = {} if extra_info is None else extra_info
    carried = extra.get("citeward")
    parts = []
    # A ground truth that is a bare answer means nothing here, if the fields stand in extra_info.
    if carried is None or is_object(ground_truth):
        parts.append(("ground_truth", read_object(ground_truth, "ground_truth")))
    if carried is not None:
        parts.append(('extra_info["citeward"]', read_object(carried, 'extra_info["citeward"]')))
    given = {name: plain(extra[name], f"extra_info.{name}") for name in _OF_THE_TRAINER if extra.get(name) is not None}
    parts.append(("extra_info", given))
    return {**merged(parts), "response": response_text(solution)}


def _result(score: Score) -> Result:
    score = score.of_one_sample()
    told = {
        "decided_by": score.decided_by,
        "components": score.components,
        "details": score.reply.get("details"),
        "recipe": score.reply.get("recipe"),
    }
    return {
        "score": score.reward,
        "acc": score.reward,
        "base": math.nan if score.base is None else score.base,
        "citeward": json.dumps(told, separators=(",", ":")),
    }
