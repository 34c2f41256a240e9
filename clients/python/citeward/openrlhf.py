"""Rewards of OpenRLHF: multi-turn agents (``--train.agent_func_path agent.py``) and a reward function
(``--reward.remote_url reward.py``), scored by a Citeward deployment.

The file ``reward.py`` is one line: ``from citeward.openrlhf import reward_func``.

The file ``agent.py`` says which tools the agent has; the reward of the finished transcript comes from here::

    from citeward.openrlhf import agent_executor

    class Search:
        async def respond(self, action: str, label: str) -> str | None:
            '''The tool's answer in the markup of the chat template, or None: the action is the final answer.'''

    AgentExecutor = agent_executor(Search, max_turns=8)

OpenRLHF ends an episode that has no tokens left without a last ``step``, and then trains on the sum of the rewards so
far. Therefore the steps here give 0, and the transcript is scored once, when the episode has ended for either reason.

OpenRLHF cannot represent an unscored sample: such a sample raises ``Unscored``. It knows neither step, group nor
sample. To record a run, the label's ``run`` carries ``step`` and ``group``; the sample gets a random name.

Contract: OpenRLHF/OpenRLHF 3c3be623, ``openrlhf/utils/agent.py`` (``SingleTurnAgentExecutor``,
``MultiTurnAgentExecutor``, ``AgentInstanceBase``).
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Protocol

from citeward.client import shared_client
from citeward.fields import merged, read_object, sample_fields
from citeward.replies import Score
from citeward.runs import placed
from citeward.settings import Settings

_DONE = "citeward_done"
_WITHOUT_PLACE = "OpenRLHF does not know them: put them into the label's run"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Mapping[str, Any]:
    """The lists ``rewards``, ``scores`` and ``extra_logs`` of OpenRLHF, one entry for each query.

    The same reply as that of ``--reward.remote_url`` with a URL; the key is in a header, and the client retries until
    its deadline. Settings come from the environment (``citeward.settings``).

    Args:
        queries: prompt and response as one text, with the tokens that end it.
        prompts: the prompts alone.
        labels: the row of each sample, as JSON text or an object.

    Raises:
        Unscored: a reward could not be determined. OpenRLHF logs it and has ``None`` as the reward.
        CitewardError: the request, the key or a setting is wrong.
    """
    body = {"query": list(queries), "prompts": list(prompts), "labels": list(labels)}
    return shared_client(Settings.of()).adapter("openrlhf/get_reward", body)


class Environment(Protocol):
    """The tools of one episode."""

    async def respond(self, action: str, label: Any) -> str | None:
        """Returns what follows the action in the transcript; ``None`` ends the episode."""


class _Zero(float):
    """A number on which OpenRLHF can call ``item()``, as on a tensor."""

    def item(self) -> float:
        return float(self)


def agent_executor(environment: Callable[[], Environment], max_turns: int = 16) -> type:
    """Creates the class that OpenRLHF looks for under the name ``AgentExecutor``.

    Args:
        environment: creates the tools of an episode.
        max_turns: the episode ends after this many actions.
    """
    agents = importlib.import_module("openrlhf.utils.agent")

    class Instance(agents.AgentInstanceBase):  # type: ignore[misc,name-defined]
        """One episode."""

        def __init__(self, *_: Any, **__: Any) -> None:
            self.environment = environment()
            self.turns = 0

        async def step(self, state_dict: dict[str, Any], **_: Any) -> dict[str, Any]:
            self.turns += 1
            feedback = await self.environment.respond(state_dict["action_text"], state_dict["label"])
            done = feedback is None or self.turns >= max_turns
            return {
                "rewards": _Zero(0.0),
                "scores": _Zero(0.0),
                "environment_feedback": "" if done else feedback,
                "done": done,
                "extra_logs": {_DONE: float(feedback is None)},
            }

    class AgentExecutor(agents.MultiTurnAgentExecutor):  # type: ignore[misc,name-defined]
        """Plays an episode, then scores its transcript."""

        def __init__(self) -> None:
            super().__init__(Instance)

        async def execute(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            """OpenRLHF's episode with reward (after scale and penalties), score (before) and logged contributions."""
            episode: dict[str, Any] = await super().execute(*args, **kwargs)
            tokenizer = kwargs["hf_tokenizer"] if "hf_tokenizer" in kwargs else args[4]
            score = await _scored(episode, tokenizer)
            episode["reward"] = score.reward
            episode["scores"] = score.reward if score.base is None else score.base
            episode["extra_logs"] = dict(score.contributions)
            return episode

    return AgentExecutor


async def _scored(episode: dict[str, Any], tokenizer: Any) -> Score:
    settings = Settings.of()
    ranges = episode["action_ranges"]
    tokens = episode["observation_tokens"]
    first = ranges[0][0] if ranges else len(tokens)
    row = {
        # Includes tool output, which counts for the overlong penalty of the tool-call recipes.
        "response_tokens": len(tokens) - first,
        "num_turns": 2 * len(ranges),
        "finish_reason": "stop" if episode["extra_logs"].get(_DONE) else "length",
        **merged([("label", read_object(episode["label"], "label"))]),
    }
    row = sample_fields(row, tokenizer.decode(tokens[first:], skip_special_tokens=True))
    place = {"sample": uuid.uuid4().hex}
    return (
        await shared_client(settings).score_async(placed(row, settings.run, place, _WITHOUT_PLACE))
    ).of_one_sample()
