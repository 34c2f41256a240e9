"""An environment of OpenEnv whose last step has Citeward's reward. Its server, as ``app.py``::

    from citeward.openenv_env import CitewardAction, CitewardEnvironment, CitewardObservation
    from openenv.core.env_server import create_app

    app = create_app(CitewardEnvironment, CitewardAction, CitewardObservation, max_concurrent_envs=64)

``reset`` takes the row's fields by name, or in one field ``citeward``, and ``max_turns`` (default 1). A subclass with
``respond`` is an agent with tools. The whole transcript is scored once, when it ends; the other steps have no reward.
Trainers read a missing reward as 0, so an unscored sample is an error of the step, which may be sent again.

Contract: openenv 0.10.0, ``openenv/core/env_server/interfaces.py``.
"""

from __future__ import annotations

import uuid
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from citeward.episode import Episode
from citeward.errors import BadRequest
from citeward.rollouts import row_of

_WITHOUT_PLACE = "OpenEnv does not tell environments: put them into the row's run"


class CitewardAction(Action):  # type: ignore[misc]
    """What the policy wrote in one turn."""

    text: str


class CitewardObservation(Observation):  # type: ignore[misc]
    """The question, or a tool's answer; empty at the end. ``metadata`` then has the contributions."""

    text: str = ""


class CitewardEnvironment(Environment):  # type: ignore[misc]
    """One episode at a time. Settings come from the environment variables."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._id: str | None = None
        self._episode: Episode | None = None
        self._is_over = True
        #: The action of the turn that is not played to its end, and the tool's answer to it.
        self._turn: tuple[str, str | None] | None = None

    def respond(self, action: str) -> str | None:
        """Returns the tool's answer to an action; ``None`` = the action is the final answer.

        It is called once for a turn, also if the turn was not scored and is sent again.
        """
        return None

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, *, max_turns: int = 1, **fields: Any
    ) -> CitewardObservation:
        """Begins an episode and gives its question.

        Args:
            seed: not used.
            max_turns: the turn that ends the episode at the latest, 1 or more.
            fields: the row, as for ``POST /v1/score``; others are ignored.

        Raises:
            BadRequest: the row is malformed, or has no question; ``max_turns`` is no such number.
        """
        if type(max_turns) is not int or max_turns < 1:
            raise BadRequest(f"reset: max_turns: expected a whole number of 1 or more, got {max_turns!r}")
        row = row_of(fields, "")
        if "question" not in row:
            raise BadRequest("reset: the row has no question")
        self._id = episode_id or uuid.uuid4().hex
        self._episode = Episode(row, max_turns, _WITHOUT_PLACE)
        self._is_over, self._turn = False, None
        return CitewardObservation(text=str(row["question"]))

    def step(self, action: CitewardAction, timeout_s: float | None = None, **_: Any) -> CitewardObservation:
        """Plays one turn. The last one has the reward.

        Raises:
            Unscored: the reward could not be determined; the step may be sent again.
            CitewardError: the row, the key or a setting is wrong, or there was no ``reset``.
        """
        if self._episode is None or self._is_over:
            raise BadRequest("step: there is no episode, or it has ended; call reset with a row")
        if self._turn is None or self._turn[0] != action.text:
            self._turn = (action.text, self.respond(action.text))
        feedback = self._turn[1]
        score = self._episode.play(action.text, feedback)
        self._turn = None
        if score is None:
            return CitewardObservation(text=feedback)
        self._is_over = True
        metadata = {"contributions": dict(score.contributions)}
        return CitewardObservation(done=True, reward=score.reward, metadata=metadata)

    @property
    def state(self) -> State:
        """The id of the episode, and the turns played."""
        return State(episode_id=self._id, step_count=0 if self._episode is None else self._episode.turns)
