"""A reward manager for verl, which sees what reward functions do not: prompt, group, step and sample.

Settings of verl::

    reward.reward_manager.source=importlib
    reward.reward_manager.name=RewardManager
    reward.reward_manager.module.path=.../citeward/verl_reward_loop.py
    +reward.custom_reward_function.reward_kwargs.run=aare-1

The settings of the client are those of ``reward.custom_reward_function.reward_kwargs``, or the environment's. The row's
fields are where ``citeward.verl`` reads them; ``question`` defaults to the last user message of the prompt.

Places of a run: the group is verl's ``uid``, which is new for every draw of a prompt, so that epochs never merge. Under
the V1 trainer the step is ``global_steps`` and the sample ``session_id``. The older trainer passes neither: the step is
``null``, and samples are numbered by this process. verl does not say whether it validates; the row's ``split`` in
``extra_info`` does, if the data set has it.

Contract: verl-project/verl 1dda039b, ``verl/experimental/reward_loop/reward_manager/{base,naive}.py``,
``verl/trainer/ppo/v1/agent_loop_tq.py``.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
import uuid
from collections.abc import Mapping
from typing import Any

from citeward.client import shared_client
from citeward.fields import plain
from citeward.runs import placed
from citeward.verl import result_of, row_fields, settings_of


def _base() -> Any:
    try:
        return importlib.import_module("verl.experimental.reward_loop.reward_manager.base").RewardManagerBase
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "verl":
            raise
        return object


class RewardManager(_base()):  # type: ignore[misc]
    """Scores samples with a Citeward deployment and records them, if the setting ``run`` is given."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any = None, **_: Any) -> None:
        """Reads the settings.

        Args:
            config: verl's whole configuration.
            tokenizer: decodes the responses.
            compute_score: not used; verl passes its default function.

        Raises:
            Misconfigured: a setting is missing or wrong.
        """
        # The base class only sets these; its arguments differ between releases.
        self.config = config
        self.tokenizer = tokenizer
        self.settings = settings_of(_reward_kwargs(config))
        self._samples = itertools.count()
        self._token = ""

    async def run_single(self, data: Any) -> dict[str, Any]:
        """Scores the last sequence of a sample.

        Returns:
            ``reward_score`` and ``reward_extra_info``, with the keys of ``citeward.verl.compute_score``.

        Raises:
            Unscored: the reward could not be determined.
            CitewardError: the row, the key or a setting is wrong.
        """
        item = data[-1:][0]
        values = item.non_tensor_batch
        response_ids = item.batch["responses"]
        length = int(item.batch["attention_mask"][-response_ids.shape[-1] :].sum())
        decode = self.tokenizer.decode
        loop = asyncio.get_running_loop()
        ids = response_ids[:length]
        response = await loop.run_in_executor(None, lambda: decode(ids, skip_special_tokens=True))
        extra = {"response_tokens": length, **(values.get("extra_info") or {})}
        extra.update(values.get("tool_extra_fields") or {})
        if values.get("__num_turns__") is not None:
            extra["num_turns"] = values["__num_turns__"]
        row = row_fields(response, (values.get("reward_model") or {}).get("ground_truth"), extra)
        question = _last_question(values.get("raw_prompt"))
        if "question" not in row and question is not None:
            row["question"] = question
        place = self._place(values, extra.get("split"))
        score = await shared_client(self.settings).score_async(
            placed(row, self.settings.run, place, "put them into the row's run")
        )
        result = result_of(score)
        return {"reward_score": result["score"], "reward_extra_info": dict(result)}

    def _place(self, values: Mapping[str, Any], split: Any) -> dict[str, Any]:
        step, sample = values.get("global_steps"), values.get("session_id")
        place = {
            "step": None if step is None else plain(step, "global_steps"),
            "sample": self._numbered() if sample is None else plain(sample, "session_id"),
        }
        if values.get("uid") is not None:
            place["group"] = str(values["uid"])
        if isinstance(split, str):
            place["split"] = split
        return place

    def _numbered(self) -> str:
        if not self._token.startswith(f"{os.getpid()}-"):
            self._token = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        return f"{self._token}-{next(self._samples)}"


def _reward_kwargs(config: Any) -> dict[str, Any]:
    for name in ("reward", "custom_reward_function", "reward_kwargs"):
        config = None if config is None else config.get(name)
    return {} if config is None else dict(config)


def _last_question(prompt: Any) -> str | None:
    messages = plain(prompt, "raw_prompt")
    if not isinstance(messages, list):
        return None
    users = [message for message in messages if isinstance(message, dict) and message.get("role") == "user"]
    content = users[-1].get("content") if users else None
    return content if isinstance(content, str) else None
