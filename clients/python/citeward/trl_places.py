"""The places of TRL's samples in a run: step, group, sample and split."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citeward.fields import OUTCOME_FIELDS
from citeward.runs import digest_of


class Places:
    """Numbers the batches of a step, so that no two of them share a place: an evaluation scores many at one step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Of each split, the last step and the number of its batches so far.
        self._batches: dict[str, tuple[int, int]] = {}

    def of(
        self, prompts: Sequence[Any], rows: Sequence[Mapping[str, Any]], trainer_state: Any, trainer: Any
    ) -> Iterator[dict[str, Any]]:
        """Yields step, group, sample and split of each row.

        ``trainer`` is the ``GRPOTrainer`` if TRL's own ``log_metric`` was passed. Otherwise the process comes from the
        variable ``RANK``, and groups are rows with equal prompt and fields.
        """
        if trainer_state is None:
            call = uuid.uuid4().hex[:8]
            for position, (prompt, row) in enumerate(zip(prompts, rows)):
                yield {"step": None, "group": f"{_name_of(prompt, row)}-{call}", "sample": position}
            return
        training = getattr(getattr(trainer, "model", None), "training", True)
        split = "train" if training else "eval"
        step = int(trainer_state.global_step)
        with self._lock:
            last, batch = self._batches.get(split, (step, -1))
            batch = batch + 1 if last == step else 0
            self._batches[split] = (step, batch)
        process = getattr(getattr(trainer, "accelerator", None), "process_index", None)
        first = (int(os.environ.get("RANK", "0")) if process is None else process) * len(rows)
        generations = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
        for position, (prompt, row) in enumerate(zip(prompts, rows), first):
            name = position // generations if generations else _name_of(prompt, row)
            yield {"step": step, "group": f"{batch}-{name}", "sample": position, "split": split}


def _name_of(prompt: Any, row: Mapping[str, Any]) -> str:
    written = (
        *("response", "messages", "cited_answer", "response_tokens", "finish_reason", "num_turns"),
        *OUTCOME_FIELDS,
    )
    return digest_of(prompt, {name: row[name] for name in row if name not in (*written, "trajectory", "run")})
