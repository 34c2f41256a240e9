"""Step rewards for SkyRL: the reward of a trajectory on the generations that earned it.

An environment of SkyRL returns the reward of a step before the later steps are known. Therefore the whole trajectory is
scored at its end, with ``credit="turns"``, and its shares replace the rewards of the generator's output::

    client = Client(url, recipe="refiner-guarded", credit="turns")
    scores = client.score_many([{**row, "messages": messages} for row, messages in zip(rows, conversations)])
    output = with_step_rewards(await generator.generate(batch), scores)

Contract: NovaSky-AI/SkyRL 48554913, the generator's output: ``response_ids``, ``loss_masks`` and ``rewards``, which may
be one list a trajectory, with a number a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from citeward.credit import masked_rewards
from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.replies import Score


def with_step_rewards(output: Mapping[str, Any], scores: Sequence[Union[Score, Unscored]]) -> dict[str, Any]:
    """The output of a generator with ``rewards`` by token: each step's share on the last token of its generation.

    Args:
        output: the generator's output for whole trajectories, not for single steps.
        scores: one for each trajectory, scored with ``credit="turns"``.

    Raises:
        Unscored: the first unscored trajectory; SkyRL cannot represent one.
        Misconfigured: a score has no credit.
        BadRequest: the numbers of scores, or of generations in messages and loss mask, differ.
    """
    masks = output["loss_masks"]
    if len(masks) != len(scores):
        raise BadRequest(f"credit: {len(masks)} trajectories, but {len(scores)} scores")
    rewards = []
    for score, mask in zip(scores, masks):
        if isinstance(score, Unscored):
            raise score
        if score.credit is None:
            raise Misconfigured('credit: the scores have none; set credit="turns"')
        rewards.append(masked_rewards(score.credit, mask))
    return {**output, "rewards": rewards}
