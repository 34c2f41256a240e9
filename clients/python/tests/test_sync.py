"""The trackers of ``runs sync``, with stand-ins written from wandb 0.31, mlflow 3.17 and trackio 0.43."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

import citeward.sync

SAMPLE = {"group": "g", "sample": "0", "reward": 6.5, "question": "How <deep>?", "html": "<mark>1,642 m</mark>"}
LINES = "".join(
    json.dumps({"step": step, "figures": {"reward/mean": 6.5, "criterion/a(b)": 1}, "samples": samples}) + "\n"
    for step, samples in [(3, [SAMPLE]), (4, [])]
)
CELLS = ["g", "0", 6.5, "How <deep>?", ("html", "<mark>1,642 m</mark>")]


class Module:
    """A tracker's package that keeps the calls that it gets, and answers each with itself."""

    def __init__(self, found: list[Any]) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.found = found

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if name == "Html":
                return ("html", *given)
            if name == "Table":
                return named["data"]
            self.calls.append((name, *given, named))
            return self.found if name == "search_runs" else self

        return call


class Sync(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.progress = os.path.join(folder.name, "progress.json")

    def main(self, tracker: str, module: Module | types.SimpleNamespace | None, lines: str = LINES) -> tuple[int, str, str]:
        """The exit code, standard output and the messages."""
        told, said = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.dict(sys.modules, {tracker: module}))
            stack.enter_context(mock.patch("sys.stdin", io.StringIO(lines)))
            stack.enter_context(contextlib.redirect_stdout(told))
            stack.enter_context(contextlib.redirect_stderr(said))
            return citeward.sync.main([tracker, "p", "r", "id", self.progress]), told.getvalue(), said.getvalue()

    def test_each_step_is_told_when_it_is_logged(self) -> None:
        for tracker in citeward.sync.TRACKERS:
            with self.subTest(tracker):
                self.assertEqual(self.main(tracker, Module([])), (0, "logged 3\nlogged 4\n", ""))

    def test_a_step_that_is_logged_is_noted_though_the_command_was_killed(self) -> None:
        class Broken(io.StringIO):
            def write(self, text: str) -> int:
                raise BrokenPipeError

        with mock.patch.dict(sys.modules, {"trackio": Module([])}), mock.patch("sys.stdin", io.StringIO(LINES)):
            with mock.patch("sys.stdout", Broken()), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(citeward.sync.main(["trackio", "p", "r", "id", self.progress]), 1)
        with open(self.progress, encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"id": "id", "project": "p", "next_step": 4})

    def test_wandb_gets_figures_and_a_table_of_marked_answers_in_the_same_run(self) -> None:
        module = Module([])
        self.main("wandb", module)
        [init, *_defined, first, second, end] = module.calls
        self.assertEqual((init[1]["id"], init[1]["resume"]), ("id", "allow"))
        self.assertEqual(first[1]["citeward/samples"], [CELLS])
        self.assertEqual((first[1]["citeward/step"], second[1]["citeward/step"]), (3, 4))
        self.assertNotIn("citeward/samples", second[1])
        self.assertEqual(end[0], "finish")

    def test_mlflow_goes_on_in_the_run_with_the_id_and_takes_no_other_names(self) -> None:
        found = types.SimpleNamespace(info=types.SimpleNamespace(run_id="known"))
        for runs, started in [([], {"run_name": "r"}), ([found], {"run_id": "known"})]:
            module = Module(runs)
            self.main("mlflow", module)
            calls = {name: (given, named) for name, *given, named in module.calls}
            self.assertLessEqual(started.items(), calls["start_run"][1].items())
            self.assertEqual(calls["log_metrics"], ([{"reward/mean": 6.5, "criterion/a_b_": 1}], {"step": 4}))
            page, path = calls["log_text"][0]
            self.assertIn("<td>How &lt;deep>?</td><td><mark>1,642 m</mark></td>", page)
            self.assertEqual(path, "citeward_samples/step_000003.html")

    def test_mlflow_shows_an_unscored_answer_without_a_reward(self) -> None:
        module = Module([])
        line = {"step": 3, "figures": {}, "samples": [{**SAMPLE, "reward": None}]}
        self.main("mlflow", module, json.dumps(line) + "\n")
        [page] = [call[1] for call in module.calls if call[0] == "log_text"]
        self.assertIn("<td>g</td><td>0</td><td></td><td>How", page)

    def test_trackio_gets_the_step(self) -> None:
        module = Module([])
        self.main("trackio", module)
        logs = [call for call in module.calls if call[0] == "log"]
        self.assertEqual([named for *_given, named in logs], [{"step": 3}, {"step": 4}])
        self.assertEqual(logs[0][1]["citeward/samples"], [CELLS])

    def test_messages_say_what_to_do(self) -> None:
        code, _told, said = self.main("trackio", None)
        self.assertEqual(code, 1)
        self.assertRegex(said, "has no module trackio. Install it: python3 -m pip install trackio\n$")

        locked = types.SimpleNamespace(init=mock.Mock(side_effect=ValueError("no login")))
        code, _told, said = self.main("wandb", locked)
        self.assertEqual((code, said.split(". ")[0]), (1, "citeward.sync: wandb cannot open the run: no login"))

    def test_a_line_that_is_cut_off_ends_the_run_of_the_tracker(self) -> None:
        module = Module([])
        with self.assertRaises(ValueError):
            self.main("wandb", module, '{"step":')
        self.assertEqual(module.calls[-1][0], "finish")
