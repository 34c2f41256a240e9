"""Logs a recorded run, step by step, to the tracker that ``npx citeward runs sync RUN --to TRACKER`` names.

That command starts this module and writes a line for each step to its standard input. When the tracker has the step,
this module notes the next one in the file that the command names, so that a later call goes on there even if the
command was killed meanwhile, and then prints ``logged STEP``. The run of the tracker is found again by an id that the
command keeps in that file.

Contract: wandb 0.31 (``init`` with ``id`` and ``resume``, ``define_metric``, ``log``, ``Table``, ``Html``), mlflow 3.17
(``set_experiment``, ``search_runs``, ``start_run``, ``log_metrics``, ``log_text``), trackio 0.43 (``init`` with
``resume``, ``log`` with ``step``, ``Table``, ``Html``, ``finish``).
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from citeward.wandb import STEP

#: The answers of a step: group, sample, reward, question and ``html``, the answer with marked claims.
Sample = Mapping[str, Any]

COLUMNS = ("group", "sample", "reward", "question", "answer")


class Tracker(Protocol):
    """A run of a tracker that is open."""

    def log(self, step: int, figures: Mapping[str, float], samples: Sequence[Sample]) -> None:
        """Logs the figures of a step, and a table of its answers."""

    def close(self) -> None:
        """Ends the run of the tracker, when all is sent."""


class Wandb:
    """A run of Weights & Biases. The training step is a metric, because W&B drops values of lower steps."""

    def __init__(self, project: str, run: str, run_id: str) -> None:
        self._wandb: Any = importlib.import_module("wandb")
        self._run = self._wandb.init(
            project=project, id=run_id, name=run, resume="allow", config={"citeward_run": run}
        )
        self._run.define_metric(STEP)
        self._run.define_metric("*", step_metric=STEP)

    def log(self, step: int, figures: Mapping[str, float], samples: Sequence[Sample]) -> None:
        row: dict[str, Any] = {**figures, STEP: step}
        if samples:
            row["citeward/samples"] = self._wandb.Table(columns=list(COLUMNS), data=_cells(samples, self._wandb.Html))
        self._run.log(row)

    def close(self) -> None:
        self._run.finish()


class Mlflow:
    """A run of MLflow, found by its tag. The answers of a step are an HTML artifact, which MLflow's page shows."""

    def __init__(self, project: str, run: str, run_id: str) -> None:
        self._mlflow: Any = importlib.import_module("mlflow")
        self._mlflow.set_experiment(project)
        found = self._mlflow.search_runs(filter_string=f"tags.citeward_sync = '{run_id}'", output_format="list")
        if found:
            self._mlflow.start_run(run_id=found[0].info.run_id)
        else:
            self._mlflow.start_run(run_name=run, tags={"citeward_sync": run_id, "citeward_run": run})

    def log(self, step: int, figures: Mapping[str, float], samples: Sequence[Sample]) -> None:
        self._mlflow.log_metrics({_metric_name(name): value for name, value in figures.items()}, step=step)
        if samples:
            rows = "".join(f"<tr>{_html_cells(sample)}</tr>" for sample in samples)
            heads = "".join(f"<th>{name}</th>" for name in COLUMNS)
            page = f'<!doctype html><meta charset="utf-8"><table border="1"><tr>{heads}</tr>{rows}</table>'
            self._mlflow.log_text(page, f"citeward_samples/step_{step:06d}.html")

    def close(self) -> None:
        self._mlflow.end_run()


class Trackio:
    """A run of trackio, which is found by its name."""

    def __init__(self, project: str, run: str, run_id: str) -> None:
        self._trackio: Any = importlib.import_module("trackio")
        self._trackio.init(
            project=project, name=f"{run}-{run_id}", resume="allow", embed=False, config={"citeward_run": run}
        )

    def log(self, step: int, figures: Mapping[str, float], samples: Sequence[Sample]) -> None:
        row: dict[str, Any] = dict(figures)
        if samples:
            row["citeward/samples"] = self._trackio.Table(
                columns=list(COLUMNS), data=_cells(samples, self._trackio.Html)
            )
        self._trackio.log(row, step=step)

    def close(self) -> None:
        self._trackio.finish()


TRACKERS = {"wandb": Wandb, "mlflow": Mlflow, "trackio": Trackio}


def _cells(samples: Sequence[Sample], html: Any) -> list[list[Any]]:
    return [
        [each["group"], each["sample"], each["reward"], each["question"], html(each["html"])] for each in samples
    ]


def _html_cells(sample: Sample) -> str:
    texts = ["" if sample[name] is None else _escaped(str(sample[name])) for name in COLUMNS[:-1]]
    return "".join(f"<td>{text}</td>" for text in [*texts, sample["html"]])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _metric_name(name: str) -> str:
    """MLflow takes letters, digits and ``_-. :/`` in the name of a metric."""
    return "".join(one if one.isascii() and (one.isalnum() or one in "_-. :/") else "_" for one in name)


def main(arguments: Sequence[str]) -> int:
    """Logs the steps of standard input. Returns the exit code."""
    if len(arguments) != 5 or arguments[0] not in TRACKERS:
        return _failed(
            f"expected a tracker ({', '.join(TRACKERS)}), a project, a run, the id of the tracker's run and a file"
        )
    name, project, run, run_id, progress = arguments
    # The tracker's own messages are for people: standard output tells the command what is logged.
    told, sys.stdout = sys.stdout, sys.stderr
    try:
        tracker: Tracker = TRACKERS[name](project, run, run_id)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return _failed(f"{sys.executable} has no module {name}. Install it: python3 -m pip install {name}")
    # Each package has errors of its own: of a login, a server, a database.
    except Exception as error:
        advice = ". To log in: wandb login. To log without a network: WANDB_MODE=offline" if name == "wandb" else ""
        return _failed(f"{name} cannot open the run: {error}{advice}")
    try:
        for line in sys.stdin:
            read = json.loads(line)
            tracker.log(read["step"], read["figures"], read["samples"])
            _note(progress, {"id": run_id, "project": project, "next_step": read["step"] + 1})
            told.write(f"logged {read['step']}\n")
            told.flush()
    except BrokenPipeError:
        return _failed("the command has ended")
    finally:
        tracker.close()
        sys.stdout = told
    return 0


def _note(path: str, progress: Mapping[str, Any]) -> None:
    """Replaces the file as a whole, so that it is never cut off."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(f"{json.dumps(progress)}\n")
    os.replace(f"{path}.new", path)


def _failed(message: str) -> int:
    sys.stderr.write(f"citeward.sync: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
