"""Logs the figures of a recorded run to Weights & Biases, with the ``wandb`` that is installed beside this package.

``npx citeward runs export RUN --wandb NAME`` starts this module and writes the steps to its standard input. With
``--dry-run`` that command prints the steps instead. A machine without Node can log the printed file::

    python3 -m citeward.wandb NAME RUN < steps.jsonl

wandb's own variables apply: ``WANDB_MODE=offline``, ``WANDB_ENTITY``, and ``WANDB_RUN_ID`` with ``WANDB_RESUME=allow``
for the figures to join the trainer's curves. The x-axis is the training step, as a metric of its own, because W&B
drops values whose own step is lower than the last one.

Contract: wandb 0.25, ``wandb.init``, ``Run.define_metric`` and ``Run.log``; the run is a context manager, which ends it
with an exit code. W&B does not publish its file format, so nothing is written without ``wandb``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

#: The metric that is the x-axis of all figures.
STEP = "citeward/step"

#: The step and its figures by name.
Step = tuple[int, Mapping[str, float]]


def log_run(run: str, steps: Iterable[Step], project: str) -> int:
    """Logs each step to a W&B run. Returns the number of steps.

    Args:
        run: the id of the recorded run, which becomes the name of a new W&B run.
        steps: in ascending order.
        project: the W&B project.

    Raises:
        ModuleNotFoundError: wandb is not installed.
    """
    wandb = importlib.import_module("wandb")
    defined: set[str] = set()
    count = 0
    # A W&B run that exists keeps its name.
    name = None if os.environ.get("WANDB_RUN_ID") else run
    with wandb.init(project=project, name=name, config={"citeward_run": run}) as logged:
        logged.define_metric(STEP)
        for step, figures in steps:
            for figure in figures:
                if figure not in defined:
                    logged.define_metric(figure, step_metric=STEP)
                    defined.add(figure)
            logged.log({**figures, STEP: step})
            count += 1
    return count


def read_steps(lines: TextIO) -> Iterator[Step]:
    """Reads ``{"step": 0, "figures": {"reward/mean": 6.5}}``, one step a line."""
    for line in lines:
        read = json.loads(line)
        yield read["step"], read["figures"]


def main(arguments: Sequence[str]) -> int:
    """Logs the steps of standard input. Returns the exit code."""
    if len(arguments) != 2:
        return _failed("expected a W&B project and the id of a run: python3 -m citeward.wandb NAME RUN < steps.jsonl")
    project, run = arguments
    try:
        wandb = importlib.import_module("wandb")
    except ModuleNotFoundError as error:
        if error.name != "wandb":
            raise
        return _failed(f"{sys.executable} has no module wandb. Install it: python3 -m pip install wandb")
    try:
        log_run(run, read_steps(sys.stdin), project)
    except wandb.Error as error:
        return _failed(f"{error}. To log in: wandb login. To log without a network: WANDB_MODE=offline")
    return 0


def _failed(message: str) -> int:
    sys.stderr.write(f"citeward.wandb: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
