"""An environment of SkyRL whose last step has Citeward's reward::

    from skyrl_gym.envs import register

    register(id="citeward", entry_point="citeward.skyrl_env:CitewardEnv")

The row's fields are in ``extras``: by name, in one entry ``citeward``, or as ``reward_spec.ground_truth``, as a mapping
or JSON text. A subclass with ``respond`` is an agent with tools. The whole transcript is scored once, when it ends; the
other steps give 0. SkyRL cannot represent an unscored sample: such a step raises ``Unscored``.

Contract: skyrl-gym 0.4.0, ``skyrl_gym/envs/base_text_env.py``.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from citeward.client import shared_client
from citeward.fields import sample_fields
from citeward.rollouts import row_of
from citeward.runs import placed
from citeward.settings import Settings

_WITHOUT_PLACE = "SkyRL does not tell environments: put them into the row's run"


class CitewardEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode. ``extras["max_turns"]`` (default 1) ends it; settings come from the environment variables."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = dict(extras or {})
        label = (given.get("reward_spec") or {}).get("ground_truth")
        self.max_turns = int(given.get("max_turns", 1))
        self.row = row_of(given if label is None else {"citeward": label}, "")
        self.contributions: dict[str, float] = {}
        self._messages: list[dict[str, Any]] = []

    def respond(self, action: str) -> str | None:
        """Returns the tool's answer to an action; ``None`` = the action is the final answer."""
        return None

    def init(self, prompt: Sequence[Mapping[str, str]]) -> tuple[Any, dict[str, Any]]:
        """Begins the episode. The prompt is the question of a row that has none."""
        self.row = {"question": prompt[-1]["content"] if prompt else "", **self.row}
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Plays one turn. The last one has the reward, and the contributions as metadata.

        Raises:
            Unscored: the reward could not be determined.
            CitewardError: the row, the key or a setting is wrong.
        """
        self.turns += 1
        feedback = self.respond(action)
        self._messages.append({"role": "assistant", "content": action})
        if feedback is not None and self.turns < self.max_turns:
            self._messages.append({"role": "tool", "content": feedback})
            seen = [{"role": "user", "content": feedback}]
            return BaseTextEnvStepOutput(observations=seen, reward=0.0, done=False, metadata={})
        settings = Settings.of()
        row = sample_fields(self.row, self._messages if len(self._messages) > 1 else action)
        place = {"sample": uuid.uuid4().hex}
        scored = shared_client(settings).score(placed(row, settings.run, place, _WITHOUT_PLACE)).of_one_sample()
        self.contributions = dict(scored.contributions)
        metadata = {"contributions": self.contributions}
        return BaseTextEnvStepOutput(observations=[], reward=scored.reward, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, float]:
        """The contributions, which SkyRL averages over the episodes."""
        return {f"citeward/{name}": value for name, value in self.contributions.items()}
