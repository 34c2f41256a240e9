"""Reward functions for verl (``custom_reward_function.path``, or ``reward.custom_reward_function.path``).

``compute_score`` works with the reward loop and its managers naive, dapo, gdpo and remote, ``compute_score_async`` with
async managers, ``compute_score_batch`` with the legacy batch manager. Settings come from ``reward_kwargs`` or the
environment.

verl cannot represent an unscored sample: such a sample raises ``Unscored``. Under the V1 trainer this loses data: an
async trainer drops the whole group, the sync one trains the siblings without the sample. The older trainer's step
fails. Therefore ``deadline_s`` is an hour here, if neither ``reward_kwargs`` nor the environment sets it: during an
outage of the judge the samples wait. A failure that no retry repairs raises at once.

**Do not use** ``reward_manager=rate_limited``: it turns every exception and timeout into a reward of 0.0 (verl#4107),
and so do the legacy prime manager and early versions of the batch manager.

``ground_truth`` or ``extra_info["citeward"]`` holds a row's fields (mapping or JSON text), ``extra_info`` also
``num_turns``, ``response_tokens``, ``outcome`` and ``metrics``. They are sent if present and have no defaults; the dapo manager does not pass
``num_turns`` (Gen-Verse/Open-AgentRL#13), and the Worker refuses a request without it if the recipe needs it.

These functions know neither step nor group: to record a run, use ``citeward.verl_reward_loop``.

Contracts: verl b178a3cd and 1dda039b, ``verl/experimental/reward_loop/``.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from citeward.client import shared_client
from citeward.credit import in_transcript, token_ends, token_rewards
from citeward.errors import Misconfigured, Unscored
from citeward.fields import is_object, measured, merged, read_object, sample_fields
from citeward.replies import Score
from citeward.runs import placed
from citeward.settings import Settings, split_settings

Result = dict[str, Union[float, str]]

#: Seconds for a sample with all retries: an outage of the judge shorter than this loses no sample.
DEADLINE_S = 3_600.0

_OF_THE_TRAINER = ("num_turns", "response_tokens", "outcome", "metrics")
_WITHOUT_PLACE = (
    "verl passes them to reward managers only: use citeward.verl_reward_loop, or put them into the row's run"
)


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
        extra_info: may hold ``citeward`` (further fields), ``num_turns``, ``response_tokens``, and what a run keeps
            beside the reward: ``outcome`` and ``metrics``.
        **kwargs: settings (``citeward.settings``); arguments that verl adds are ignored.

    Returns:
        The same keys for all samples of a recipe, because verl reads the keys of the first sample from all samples.
        ``score``: the reward. ``acc``: the same value, which verl logs for functions that return a float. The
        contributions by name, for example ``rubric`` and ``citation``: they add up to the reward, and can be the
        ``gdpo_reward_keys``.
        ``citeward``: JSON text with base and components, which verl stores with the sample but excludes from
        statistics. No number is ever NaN: one would make the advantages of the whole batch NaN.

    Raises:
        Unscored: the reward could not be determined.
        CitewardError: the row, the key or a setting is wrong.
    """
    settings = settings_of(kwargs)
    row = row_fields(solution_str, ground_truth, extra_info)
    return result_of(shared_client(settings).score(placed(row, settings.run, {}, _WITHOUT_PLACE)))


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Result:
    """Like ``compute_score``, but async: scores up to ``max_connections`` samples of a worker concurrently.

    The ``remote`` manager refuses async functions.
    """
    settings = settings_of(kwargs)
    row = row_fields(solution_str, ground_truth, extra_info)
    return result_of(await shared_client(settings).score_async(placed(row, settings.run, {}, _WITHOUT_PLACE)))


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    **kwargs: Any,
) -> list[Result]:
    """Scores a batch for the legacy batch manager. One unscored sample raises ``Unscored`` for the whole batch."""
    settings = settings_of(kwargs)
    rows = [
        placed(row_fields(solution, truth, extra), settings.run, {}, _WITHOUT_PLACE)
        for solution, truth, extra in zip(list(solution_strs), list(ground_truths), list(extra_infos))
    ]
    scores = shared_client(settings).score_many(rows)
    lost = [score for score in scores if isinstance(score, Unscored)]
    if lost:
        raise Unscored(
            lost[0].reason,
            f"{len(lost)} of {len(scores)} samples; the first: {lost[0].detail}",
            all(unscored.retryable for unscored in lost),
        )
    return [result_of(score) for score in scores if isinstance(score, Score)]


def token_level_scores(data: Any, tokenizer: Any) -> list[list[float]]:
    """The rewards by token: the share of a claim on the token in which it ends, the rest on the response's last token.

    ``torch.tensor`` of them is verl's ``reward_tensor``, also called ``rm_scores`` and ``token_level_scores``. Needs
    the setting ``credit="claims"``. Advantages that add the rewards of a response (GRPO) do not depend on their places.

    Args:
        data: verl's batch, scored by a function or manager of Citeward.
        tokenizer: the policy's, which decoded the responses.

    Raises:
        Misconfigured: the samples have no credit.
    """
    rows = []
    for response, mask, told in zip(
        data.batch["responses"], data.batch["attention_mask"], data.non_tensor_batch["citeward"]
    ):
        credit = json.loads(told).get("credit")
        if credit is None:
            raise Misconfigured('credit: the samples have none; set credit="claims"')
        width = len(response)
        ids = [int(one) for one in response[: int(sum(mask[-width:]))]]
        rewards = token_rewards(credit, token_ends(ids, lambda part: tokenizer.decode(part, skip_special_tokens=True)))
        rows.append(rewards + [0.0] * (width - len(rewards)))
    return rows


def settings_of(kwargs: Mapping[str, Any]) -> Settings:
    """The settings of ``reward_kwargs``, with a deadline that outlasts an outage of the judge."""
    settings = Settings.of(**split_settings(kwargs))
    if kwargs.get("deadline_s") is None and not os.environ.get("CITEWARD_DEADLINE_S"):
        return dataclasses.replace(settings, deadline_s=DEADLINE_S)
    return settings


def row_fields(solution: str, ground_truth: Any, extra_info: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a sample, from where verl's data sets hold them."""
    extra = {} if extra_info is None else extra_info
    carried = extra.get("citeward")
    parts = []
    # A ground truth that is a bare answer is ignored if extra_info contains the fields.
    if carried is None or is_object(ground_truth):
        parts.append(("ground_truth", read_object(ground_truth, "ground_truth")))
    if carried is not None:
        parts.append(('extra_info["citeward"]', read_object(carried, 'extra_info["citeward"]')))
    given = {
        name: measured(extra[name], f"extra_info.{name}") for name in _OF_THE_TRAINER if extra.get(name) is not None
    }
    parts.append(("extra_info", given))
    return sample_fields(merged(parts), solution)


def result_of(score: Score) -> Result:
    """The score as verl's reward managers read it."""
    score = score.of_one_sample()
    told = {
        "base": score.base,
        "decided_by": score.decided_by,
        "components": score.components,
        "details": score.reply.get("details"),
        "recipe": score.reply.get("recipe"),
        **({} if score.credit is None else {"credit": in_transcript(score.reply)}),
    }
    return {
        "score": score.reward,
        "acc": score.reward,
        **score.contributions,
        "citeward": json.dumps(told, separators=(",", ":")),
    }
