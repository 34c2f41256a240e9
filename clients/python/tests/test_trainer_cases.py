"""Every trainer's client in every case, and the table of docs/trainers/README.md that the outcomes make.

``WRITE_TRAINER_TABLE=1`` writes the table instead of comparing it.
"""

from __future__ import annotations

import json
import logging
import math
import os
import time
import unittest
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citeward.errors import BadRequest, Misconfigured, Unscored
from tests.live import LiveTestCase, citeward_environment
from tests.trainers import TRAINERS, Group, Lost, Refused, carr, label_of, open_instruct, rows_of, tensor

README = Path(__file__).resolve().parents[3] / "docs" / "trainers" / "README.md"
START, END = "<!-- outcomes: made by clients/python/tests/test_trainer_cases.py -->\n", "<!-- end of outcomes -->\n"
CASES = ("judge up", "whole number", "judge down", "judge slow", "turns", "two epochs")

#: The policy's answer after one round of tools, for the case with turns.
TURNS_RECIPE = "grpo-tcr"
TURNS_LABEL = {"reference": "42"}
CALLS = [{"type": "function", "function": {"name": "search", "arguments": {"q": "x"}}}]
FINAL = r"So it is \boxed{41}."


def turns_of(final: str) -> list[dict[str, Any]]:
    return [
        {"role": "assistant", "content": "", "tool_calls": CALLS},
        {"role": "tool", "name": "search", "content": "found"},
        {"role": "assistant", "content": final},
    ]


class Table(LiveTestCase):
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        # Clients warn of each unscored sample.
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_the_outcomes_are_those_of_the_documentation(self) -> None:
        lines = [f"| trainer | {' | '.join(CASES)} |", f"|---|{'---|' * len(CASES)}"]
        for name, group in TRAINERS:
            cells = [
                self.reward_of(group, 0),
                self.reward_of(group, 1),
                self.outcome(group, self.down),
                self.slow(group),
                self.turns(group),
                self.epochs(group),
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        table = "\n".join(lines) + "\n"
        page = README.read_text("utf-8")
        before, rest = page.split(START)
        documented, after = rest.split(END)
        if os.environ.get("WRITE_TRAINER_TABLE") == "1":
            README.write_text(f"{before}{START}\n{table}\n{END}{after}", "utf-8")
        else:
            self.assertEqual(documented.strip() + "\n", table)

    def outcome(self, group: Group, url: str, wanted: float | None = None, **variables: str) -> str:
        """What the trainer gets for one rollout of the first row."""
        [row, _] = rows_of(group).rows
        return self.outcome_of(group, url, label_of(row), row["response"], wanted, **variables)

    def outcome_of(
        self, group: Group, url: str, label: Any, response: Any, wanted: float | None, **variables: str
    ) -> str:
        with self.environment(url, **{"CITEWARD_RECIPE": rows_of(group).recipe, **variables}):
            try:
                [reward] = group(label, [response], 0)
            except (Refused, BadRequest, Misconfigured):
                return "refused"
            except (Lost, Unscored):
                return "exception"
        if reward is None:
            return "`None`"
        if math.isnan(reward):
            return "NaN, left out"
        self.assertIsNotNone(wanted, "a judge that is down gave a number")
        self.assertAlmostEqual(reward, wanted or 0.0, places=9)
        tensor([reward, reward])
        return "reward"

    def reward_of(self, group: Group, position: int) -> str:
        case = rows_of(group)
        row = case.rows[position]
        own = {name: row[name] for name in ("response", "finish_reason")}
        wanted = self.scored({**label_of(row), **own, "recipe": case.recipe})
        return self.outcome_of(group, self.up, label_of(row), row["response"], wanted)

    def scored(self, body: dict[str, Any]) -> float:
        """The reward of ``POST /v1/score``."""
        request = urllib.request.Request(
            f"{self.up}/v1/score", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            reward: float = json.load(reply)["reward"]
        return reward

    def slow(self, group: Group) -> str:
        """The judge needs longer than an attempt of the client; the retries join the judgment that is running."""
        case = rows_of(group)
        row = case.rows[0]
        label = {**label_of(row), "question": f"{row['question']} ({group.__name__}, {time.time()})"}
        recipe = case.recipe if group is carr else "refiner-gpt54-instance-only"
        limits = {"CITEWARD_ATTEMPT_TIMEOUT_S": "1", "CITEWARD_DEADLINE_S": "30"}
        with citeward_environment(CITEWARD_URL=self.down, CITEWARD_RECIPE=recipe):
            os.environ.update({**limits, "CITEWARD_JUDGE": "slow"})
            started = time.monotonic()
            [reward] = group(label, [row["response"]], 0)
            self.assertGreater(time.monotonic() - started, 1)
        self.assertIsInstance(reward, float)
        return "reward"

    def turns(self, group: Group) -> str:
        if not rows_of(group).reads_turns:
            return "own recipes"
        wanted = self.scored(
            {**TURNS_LABEL, "response": FINAL, "num_turns": 4, "response_tokens": 9, "recipe": TURNS_RECIPE}
        )
        with citeward_environment(CITEWARD_URL=self.up, CITEWARD_RECIPE=TURNS_RECIPE, CITEWARD_DEADLINE_S="20"):
            try:
                [reward] = group(TURNS_LABEL, [turns_of(FINAL)], 0)
            except (Refused, BadRequest, Misconfigured):
                return "refused"
        if group is open_instruct:
            wanted = 10 * wanted
        return "counted" if math.isclose(reward or 0.0, wanted) else f"other reward {reward}, not {wanted}"

    def epochs(self, group: Group) -> str:
        """Two epochs of two samples, as the run has them."""
        case = rows_of(group)
        [row, other] = case.rows
        responses = [row["response"], other["response"]]
        run = f"cases-{group.__name__}"
        with self.environment(self.up, CITEWARD_RUN=run, CITEWARD_RECIPE=case.recipe):
            try:
                for epoch in range(2):
                    group(label_of(row), responses, epoch)
            except (Refused, BadRequest, Misconfigured):
                return "not recorded"
        with urllib.request.urlopen(f"{self.up}/v1/runs/{run}/rollouts", timeout=30) as reply:
            rollouts = json.load(reply)["rollouts"]
        sizes = Counter((one["step"], one["group"]) for one in rollouts)
        if sorted(sizes.values()) != [2, 2]:
            return "merged"
        return "apart" if {step for step, _ in sizes} == {0, 1} else "apart, no step"


if __name__ == "__main__":
    unittest.main()
