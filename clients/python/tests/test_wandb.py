"""The figures of a run in W&B, and the messages of ``python3 -m citeward.wandb``.

``wandb`` is a stand-in, written from its documentation (wandb 0.25). test/unit/cli/wandb.test.ts starts the module as
the command line does.
"""

from __future__ import annotations

import contextlib
import io
import sys
import types
import unittest
from typing import Any
from unittest import mock

import citeward.wandb

STEPS = [(3, {"reward/mean": 6.5, "group/count": 2}), (7, {"reward/mean": 0})]


class Error(Exception):
    """The base class of wandb's errors."""


class Run:
    """A W&B run that keeps what it is given."""

    def __init__(self, **given: Any) -> None:
        self.given = given
        self.axes: dict[str, Any] = {}
        self.logged: list[dict[str, Any]] = []
        self.ended: bool | None = None

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.axes[name] = step_metric

    def log(self, data: dict[str, Any]) -> None:
        self.logged.append(data)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.ended = kind is None


class Wandb(unittest.TestCase):
    def setUp(self) -> None:
        self.runs: list[Run] = []

    def init(self, project: str, name: str | None, config: dict[str, Any]) -> Run:
        if project == "locked":
            raise Error("api_key not configured")
        self.runs.append(Run(project=project, name=name, config=config))
        return self.runs[-1]

    def installed(self, **variables: str) -> contextlib.ExitStack:
        """wandb under its name and these environment variables, for a ``with`` block."""
        module = types.ModuleType("wandb")
        vars(module).update(init=self.init, Error=Error)
        stack = contextlib.ExitStack()
        stack.enter_context(mock.patch.dict(sys.modules, wandb=module))
        stack.enter_context(mock.patch.dict("os.environ", variables, clear=True))
        return stack

    def main(self, *arguments: str, lines: str = "") -> tuple[int, str]:
        """The exit code and the messages."""
        said = io.StringIO()
        with mock.patch("sys.stdin", io.StringIO(lines)), contextlib.redirect_stderr(said):
            return citeward.wandb.main(arguments), said.getvalue()

    def test_each_figure_has_the_training_step_as_its_axis(self) -> None:
        with self.installed():
            self.assertEqual(citeward.wandb.log_run("r", STEPS, "p"), 2)
        [run] = self.runs
        self.assertEqual(run.given, {"project": "p", "name": "r", "config": {"citeward_run": "r"}})
        self.assertEqual(
            run.axes,
            {"citeward/step": None, "reward/mean": "citeward/step", "group/count": "citeward/step"},
        )
        self.assertEqual(run.logged, [{**figures, "citeward/step": step} for step, figures in STEPS])
        self.assertIs(run.ended, True)

    def test_a_run_of_the_trainer_keeps_its_name(self) -> None:
        with self.installed(WANDB_RUN_ID="trainer", WANDB_RESUME="allow"):
            citeward.wandb.log_run("r", STEPS, "p")
        self.assertIsNone(self.runs[0].given["name"])

    def test_lines_are_logged_as_they_are_read(self) -> None:
        with self.installed():
            self.assertEqual(self.main("p", "r", lines='{"step": 3, "figures": {"reward/mean": 6.5}}\n'), (0, ""))
        self.assertEqual(self.runs[0].logged, [{"reward/mean": 6.5, "citeward/step": 3}])

    def test_steps_that_end_in_an_error_end_the_run_as_failed(self) -> None:
        with self.installed(), self.assertRaises(ValueError):
            self.main("p", "r", lines='{"step": 3, "figures": {}}\n{"step":')
        self.assertIs(self.runs[0].ended, False)

    def test_messages_say_what_to_do(self) -> None:
        with mock.patch.dict(sys.modules, wandb=None):
            code, said = self.main("p", "r")
        self.assertEqual(code, 1)
        self.assertRegex(said, "has no module wandb. Install it: python3 -m pip install wandb\n$")
        with self.installed():
            code, said = self.main("locked", "r")
            self.assertEqual(code, 1)
            self.assertIn("api_key not configured. To log in: wandb login. To log without a network: WANDB_MODE", said)
            self.assertEqual(self.main("p")[0], 1)
