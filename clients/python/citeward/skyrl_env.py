"""An environment of SkyRL whose last step has Citeward's reward::

    from skyrl_gym.envs import register

    register(id="citeward", entry_point="citeward.skyrl_env:CitewardEnv")

The row's fields are in ``extras``: by name, in one entry ``citeward``, or as ``reward_spec.ground_truth``, as a mapping
or JSON text. A subclass with ``respond`` is an agent with tools. The whole transcript is scored once, when it ends; the
other steps give 0. SkyRL cannot represent an unscored sample: such a step raises ``Unscored``.

Contract: skyrl-gym 0.4.0, ``skyrl_gym/envs/base_text_env.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from citeward.episode import Episode
from citeward.rollouts import row_of

_WITHOUT_PLACE = "SkyRL does not tell environments: put them into the row's run"


class CitewardEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode. ``extras["max_turns"]`` (default 1) ends it; settings come from the environment variables."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = dict(extras or {})
        label = (given.get("reward_spec") or {}).get("ground_truth")
        self.max_turns = int(given.get("max_turns", 1))
        row = row_of(given if label is None else {"citeward": label}, "")
        self.episode = Episode(row, self.max_turns, _WITHOUT_PLACE)
        self.contributions: dict[str, float] = {}

    def respond(self, action: str) -> str | None:
        """Returns the tool's answer to an action; ``None`` = the action is the final answer."""
        return None

    def init(self, prompt: Sequence[Mapping[str, str]]) -> tuple[Any, dict[str, Any]]:
        """Begins the episode. The prompt is the question of a row that has none."""
        self.episode.row = {"question": prompt[-1]["content"] if prompt else "", **self.episode.row}
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Plays one turn. The last one has the reward, and the contributions as metadata.

        Raises:
            Unscored: the reward could not be determined.
            CitewardError: the row, the key or a setting is wrong.
        """
        feedback = self.respond(action)
        score = self.episode.play(action, feedback)
        self.turns = self.episode.turns
        if score is None:
            seen = [{"role": "user", "content": feedback}]
            return BaseTextEnvStepOutput(observations=seen, reward=0.0, done=False, metadata={})
        self.contributions = dict(score.contributions)
        metadata = {"contributions": self.contributions}
        return BaseTextEnvStepOutput(observations=[], reward=score.reward, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, float]:
        """The contributions, which SkyRL averages over the episodes."""
        return {f"citeward/{name}": value for name, value in self.contributions.items()}
