"""Custom reward functions for slime and its forks::

    --custom-rm-path citeward.slime.custom_rm
    --custom-reward-post-process-path citeward.slime.post_process_rewards

Use both. slime can remove the loss of a sample (``remove_sample``), but such a sample still counts in the mean and
standard deviation of its group; ``post_process_rewards`` excludes it.

**The reward of an unscored sample is NaN**, which cannot be mistaken for a reward. The effects:

* ``post_process_rewards`` gives the sample the training reward 0 and a loss mask of zeros, and computes the
  statistics of its group from the other samples. Without that option NaN would reach the loss, so ``custom_rm``
  raises ``Unscored``.
* ``--dynamic-sampling-filter-path ...check_reward_nonzero_std`` drops the whole group and samples another, because
  NaN > 1e-6 is false.
* The logged means ``rollout/raw_reward`` and ``eval/...`` are NaN for a step with an unscored sample. Count
  ``sample.metadata["citeward"]["status"] == "unscored"`` for the number of such samples.

To record a run, set ``CITEWARD_RUN`` and add ``--rollout-sample-hook-path citeward.slime.stamp_run``. The hook runs
before the reward and is the only place where slime tells the rollout id, which is the step, and whether it evaluates.
The group is ``sample.group_index``, which counts on over epochs, and the sample is ``sample.index``. Without the hook
the step is ``null``. Evaluation has no group index: its group is a digest of prompt and label.

``sample.label`` contains the fields, as JSON text or a mapping; ``num_turns`` comes from ``sample.metadata`` if
present, the finish reason and the number of tokens from the sample. Settings come from the environment
(``CITEWARD_URL``, ``CITEWARD_API_KEY``, ``CITEWARD_RECIPE``, ``CITEWARD_JUDGE``, ...).

Contract: THUDM/slime 624b824a, ``slime/rollout/rm_hub/__init__.py``, ``slime/rollout/sample_hooks.py``,
``slime/ray/rollout.py::_post_process_rewards``.
"""

from __future__ import annotations

import asyncio
import logging
import math
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Union

from citeward.client import Client, shared_client
from citeward.errors import Misconfigured, Unscored
from citeward.fields import merged, plain, read_object, sample_fields
from citeward.replies import Score
from citeward.runs import digest_of, placed
from citeward.settings import Settings

logger = logging.getLogger("citeward")

#: A float, or a mapping if ``--reward-key`` (``reward``, ``base`` or the name of a contribution) is set.
Reward = Union[float, dict[str, float]]

_MARK = "citeward"
_STAMP = "citeward_run"
_CENTRED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
_SCALED = ("grpo", "gspo", "cispo")
_EPSILON = 1e-6

#: slime's ``Sample.Status`` as finish reasons; ``failed`` does not tell how the generation ended.
_FINISH_REASONS = {"completed": "stop", "truncated": "length", "aborted": "abort"}


def stamp_run(args: Any, sample: Any, *, rollout_id: int | None = None, evaluation: bool = False) -> None:
    """Notes the rollout id and whether slime evaluates, for ``custom_rm`` (``--rollout-sample-hook-path``)."""
    if not isinstance(sample.metadata, dict):
        sample.metadata = {}
    sample.metadata[_STAMP] = {"step": rollout_id, "evaluation": bool(evaluation)}


async def custom_rm(args: Any, sample: Any, **kwargs: Any) -> Reward | list[Any]:
    """Scores one sample, the samples that one rollout fanned out into, or with ``--group-rm`` a group of either.

    Records the outcome in ``sample.metadata["citeward"]``: ``status`` ("scored" or "unscored"), and ``base``,
    ``components`` and ``contributions``, or ``reason`` and ``detail``. An unscored sample also gets
    ``remove_sample = True``.

    Returns:
        The reward, or NaN for an unscored sample; for a list, a list of the same shape.

    Raises:
        Unscored: a sample is unscored and ``--custom-reward-post-process-path`` is not set.
        CitewardError: the label, the key or a setting is wrong.
    """
    settings = Settings.of()
    rows: dict[int, dict[str, Any]] = {}
    taken: Counter[tuple[Any, ...]] = Counter()
    for member in _leaves(sample):
        place = _place(member)
        siblings = (place["group"], place["sample"])
        # Samples of one rollout share its index.
        if taken[siblings] > 0:
            place["sample"] = f"{place['sample']}.{taken[siblings]}"
        taken[siblings] += 1
        rows[id(member)] = placed(_fields(member), settings.run, place, "")
    client = shared_client(settings)

    async def rewards_of(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return list(await asyncio.gather(*map(rewards_of, value)))
        return await _scored(client, args, value, rows[id(value)])

    return await rewards_of(sample)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for member in value:
            yield from _leaves(member)
    else:
        yield value


def _place(sample: Any) -> dict[str, Any]:
    metadata = sample.metadata if isinstance(sample.metadata, dict) else {}
    stamp = metadata.get(_STAMP)
    stamp = stamp if isinstance(stamp, dict) else {}
    group, index = getattr(sample, "group_index", None), getattr(sample, "index", None)
    # Only evaluation has samples without a group index.
    evaluation = stamp.get("evaluation", group is None)
    return {
        "step": stamp.get("step"),
        "group": digest_of(sample.prompt, sample.label) if group is None else group,
        "sample": uuid.uuid4().hex if index is None else index,
        "split": "eval" if evaluation else "train",
    }


def post_process_rewards(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Applies slime's own normalisation to the scored samples only.

    The mean of the group is subtracted (``grpo``, ``gspo``, ``cispo`` and ``reinforce_plus_plus_baseline``, with
    ``rewards_normalization``); then the first three divide by the unbiased standard deviation + 1e-6, with
    ``grpo_std_normalization``. Groups are as in slime: ``n_samples_per_prompt`` consecutive samples, or all samples as
    one group if their number does not match. A group with fewer than two scored samples gets 0.

    Unscored samples get 0 and a loss mask of zeros.

    Returns:
        The raw rewards (NaN if unscored), and the training rewards.
    """
    raw = [_reward_value(args, sample) for sample in samples]
    scored = [not _is_unscored(sample) for sample in samples]
    for sample, reward, is_scored in zip(samples, raw, scored):
        if is_scored and not math.isfinite(reward):
            raise Misconfigured("a sample has a reward that is not finite, and no mark of citeward.slime.custom_rm")
        if not is_scored:
            sample.remove_sample = True
            sample.loss_mask = [0] * sample.response_length
    if args.advantage_estimator not in _CENTRED or not args.rewards_normalization:
        return raw, [reward if is_scored else 0.0 for reward, is_scored in zip(raw, scored)]
    size = args.n_samples_per_prompt if len(raw) == args.n_samples_per_prompt * args.rollout_batch_size else len(raw)
    scale = args.advantage_estimator in _SCALED and args.grpo_std_normalization
    rewards: list[float] = []
    for start in range(0, len(raw), max(size, 1)):
        end = start + size
        rewards.extend(_normalised(raw[start:end], scored[start:end], scale))
    return raw, rewards


def _normalised(raw: Sequence[float], scored: Sequence[bool], scale: bool) -> list[float]:
    voting = [reward for reward, is_scored in zip(raw, scored) if is_scored]
    if len(voting) < 2:
        return [0.0] * len(raw)
    mean = math.fsum(voting) / len(voting)
    divisor = 1.0
    if scale:
        divisor = math.sqrt(math.fsum((reward - mean) ** 2 for reward in voting) / (len(voting) - 1)) + _EPSILON
    return [(reward - mean) / divisor if is_scored else 0.0 for reward, is_scored in zip(raw, scored)]


async def _scored(client: Client, args: Any, sample: Any, row: dict[str, Any]) -> Reward:
    try:
        score = (await client.score_async(row)).of_one_sample()
    except Unscored as unscored:
        if getattr(args, "custom_reward_post_process_path", None) is None:
            raise
        logger.warning("a sample is unscored and leaves its group: %s", unscored)
        sample.remove_sample = True
        _mark(sample, {"status": "unscored", "reason": unscored.reason, "detail": unscored.detail})
        key = getattr(args, "reward_key", None) or "reward"
        return _shaped(args, {name: math.nan for name in ("reward", "base", key)})
    _mark(sample, _told(score))
    base = math.nan if score.base is None else score.base
    return _shaped(args, {**score.contributions, "reward": score.reward, "base": base})


def _fields(sample: Any) -> dict[str, Any]:
    metadata = sample.metadata if isinstance(sample.metadata, dict) else {}
    # Includes tool output, which counts for the overlong penalty of the tool-call recipes.
    told: dict[str, Any] = {"response_tokens": sample.response_length}
    if metadata.get("num_turns") is not None:
        told["num_turns"] = plain(metadata["num_turns"], "metadata.num_turns")
    finish_reason = _finish_reason(sample)
    if finish_reason is not None:
        told["finish_reason"] = finish_reason
    row = merged([("label", read_object(sample.label, "label")), ("sample", told)])
    return sample_fields(row, sample.response)


def _finish_reason(sample: Any) -> str | None:
    status = getattr(sample, "status", None)
    return _FINISH_REASONS.get(str(getattr(status, "value", status)))


def _told(score: Score) -> dict[str, Any]:
    return {
        "status": "scored",
        "base": score.base,
        "decided_by": score.decided_by,
        "components": dict(score.components),
        "contributions": dict(score.contributions),
    }


def _mark(sample: Any, mark: dict[str, Any]) -> None:
    if not isinstance(sample.metadata, dict):
        sample.metadata = {}
    sample.metadata[_MARK] = mark


def _is_unscored(sample: Any) -> bool:
    metadata = sample.metadata if isinstance(sample.metadata, dict) else {}
    mark = metadata.get(_MARK)
    return isinstance(mark, dict) and mark.get("status") == "unscored"


def _shaped(args: Any, numbers: dict[str, float]) -> Reward:
    key = getattr(args, "reward_key", None)
    if not key:
        return numbers["reward"]
    if key not in numbers:
        raise Misconfigured(f"--reward-key {key}: expected one of {', '.join(numbers)}")
    return numbers


def _reward_value(args: Any, sample: Any) -> float:
    key = getattr(args, "reward_key", None)
    return float(sample.reward[key] if key else sample.reward)
