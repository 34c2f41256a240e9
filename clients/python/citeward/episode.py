"""The episode of an agent in a trainer's environment, scored once, when it ends."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from citeward.client import shared_client
from citeward.fields import sample_fields
from citeward.replies import Score
from citeward.runs import placed
from citeward.settings import Settings


class Episode:
    """The turns of one answer to one row.

    Args:
        row: the fields of ``POST /v1/score``, without the answer.
        max_turns: the turn that ends the episode at the latest.
        without_place: completes the error if ``CITEWARD_RUN`` is set and the row has no place in the run.
    """

    def __init__(self, row: Mapping[str, Any], max_turns: int, without_place: str) -> None:
        self.row = dict(row)
        self.max_turns = max_turns
        self.turns = 0
        self._without_place = without_place
        self._messages: list[dict[str, Any]] = []
        self._place = {"sample": uuid.uuid4().hex}

    def play(self, action: str, feedback: str | None) -> Score | None:
        """Plays one turn: an action of the policy, and the tool's answer to it.

        Args:
            feedback: ``None`` = the action is the final answer.

        Returns:
            The score of the whole transcript if the episode ends; otherwise ``None``.

        Raises:
            Unscored: the reward could not be determined. The turn was not played, and may be played again.
            CitewardError: the row, the key or a setting is wrong.
        """
        messages = [*self._messages, {"role": "assistant", "content": action}]
        score = None
        if feedback is not None and self.turns + 1 < self.max_turns:
            messages.append({"role": "tool", "content": feedback})
        else:
            settings = Settings.of()
            row = placed(
                sample_fields(self.row, messages if len(messages) > 1 else action),
                *(settings.run, self._place, self._without_place),
            )
            score = shared_client(settings).score(row).of_one_sample()
        self._messages = messages
        self.turns += 1
        return score
