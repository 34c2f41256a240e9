"""Keys that stay secret, settings, exceptions, and the client against a real Worker."""

from __future__ import annotations

import logging
import pickle
import traceback
import unittest
from typing import Any

from citeward.client import Client
from citeward.errors import (
    BadRequest,
    CitewardError,
    FieldProblem,
    Misconfigured,
    Unauthorized,
    UnexpectedReply,
    Unscored,
)
from citeward.replies import Score
from citeward.settings import Settings
from tests.stub_client import ROW, SECRET, client
from tests.live import RECIPE, LiveTestCase, citeward_environment, expected_rewards, label_of, rows
from tests.stub import Answer, Stub, problem


class Secrets(unittest.TestCase):
    def test_a_key_in_the_url_becomes_a_header_and_is_shown_nowhere(self) -> None:
        answers = [problem(401, "key_unknown"), problem(503, "judge_timeout", True), Answer(reset=True)]
        for spelling in (f"k:{SECRET}@", f"{SECRET}@"):
            with Stub(lambda n, asked: answers[min(n, 2)]) as stub, citeward_environment():
                ours = client(stub.url.replace("http://", f"http://{spelling}"), deadline_s=1)
                with self.assertLogs("citeward", logging.DEBUG) as logs:
                    told = [repr(ours), repr(ours.settings)]
                    for _ in range(2):
                        try:
                            ours.score(ROW)
                        except CitewardError as error:
                            told += [repr(error), str(error), "".join(traceback.format_exception(None, error, None))]
                self.assertGreater(len(told), 6)
                self.assertNotIn(SECRET, "\n".join([*told, *logs.output]))
                self.assertEqual(stub.asked[0].headers["authorization"], f"Bearer {SECRET}")
                self.assertNotIn(SECRET, stub.asked[0].path + stub.asked[0].headers["host"])

    def test_no_message_about_settings_repeats_a_key(self) -> None:
        wrong = [
            {"url": f"http://k:{SECRET}/x@host"},
            {"url": f"http://k:{SECRET}@host:port"},
            {"url": f"http://k:{SECRET}@[host"},
            {"url": f"ftp://k:{SECRET}@host"},
            {"url": f"http://host/?key={SECRET}"},
            {"url": "http://host", "api_key": f"{SECRET}\r\nx: y"},
            {"url": "http://host", "api_key": f"{SECRET} "},
            {"url": f"http://k:{SECRET}@host", "api_key": f"{SECRET}2"},
        ]
        for given in wrong:
            with self.subTest(given), citeward_environment():
                try:
                    Settings.of(**given)
                except Misconfigured as error:
                    shown = "".join(traceback.format_exception(type(error), error, None))
                    self.assertNotIn(SECRET, shown + str(error.__cause__))
                else:
                    self.fail("not refused")


class SettingsOf(unittest.TestCase):
    def test_the_environment_says_what_the_caller_does_not(self) -> None:
        with citeward_environment(
            CITEWARD_URL="http://env/",
            CITEWARD_API_KEY="env-key",
            CITEWARD_RECIPE="r",
            CITEWARD_JUDGE="a, b",
            CITEWARD_DEADLINE_S="7",
            CITEWARD_MAX_CONNECTIONS="3",
        ):
            ours = Settings.of(judge="c")
            self.assertEqual((ours.url, ours.api_key, ours.recipe, ours.judge), ("http://env", "env-key", "r", ("c",)))
            self.assertEqual((ours.deadline_s, ours.max_connections), (7.0, 3))
            self.assertEqual(Settings.of().judge, ("a", "b"))
            # A URL with a key of its own beats the key of the environment.
            self.assertEqual(Settings.of(url="https://k:own%2F@host").api_key, "own/")
            self.assertEqual(pickle.loads(pickle.dumps(ours)), ours)

    def test_wrong_settings(self) -> None:
        for given in (
            {},
            {"url": "host"},
            {"url": "http://"},
            {"url": "http://a b"},
            {"url": "http://h", "deadline_s": 0},
            {"url": "http://h", "deadline_s": "soon"},
            {"url": "http://h", "deadline_s": float("nan")},
            {"url": "http://h", "max_connections": 0},
            {"url": "http://h", "judge": ["a", ""]},
            {"url": "http://h", "recipe": "{"},
            {"url": "http://h", "recipe": " "},
            {"url": "http://h", "recipie": "x"},
        ):
            with self.subTest(given), citeward_environment(), self.assertRaises(Misconfigured):
                Settings.of(**given)


class Exceptions(unittest.TestCase):
    def test_they_survive_pickling(self) -> None:
        bad = BadRequest("d", fields=[FieldProblem("p", "m")], status=422)
        bad.row = 3
        for error in (Unscored("judge_timeout", "d", True), UnexpectedReply("d", True), bad, Unauthorized("d")):
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), vars(again)), (type(error), str(error), vars(error)))

    def test_a_notebook_or_log_that_shows_the_repr_names_the_field(self) -> None:
        bad = BadRequest("the request is invalid", fields=[FieldProblem("citations", "expected an object")], status=422)
        self.assertEqual(repr(bad), "BadRequest('citations: expected an object')")


def shared_of(row: dict[str, Any]) -> dict[str, Any]:
    """The fields that the members of a group share; ``reasoning`` is each member's own."""
    return {name: value for name, value in label_of(row).items() if name != "reasoning"}


class Live(LiveTestCase):
    def test_rewards_are_those_of_the_worker(self) -> None:
        with Client(self.up, recipe=RECIPE) as ours:
            scores = ours.score_many([{**label_of(row), "response": row["response"]} for row in rows()])
        self.assertEqual([score.reward for score in scores], expected_rewards(self.up))
        self.assertEqual([scores[1].reward, scores[1].decided_by], [0.0, "no_answer"])
        self.assertGreater(scores[0].reward, 1)
        for score in scores:
            self.assertAlmostEqual(score.base * 10, score.reward)

    def test_a_wrong_recipe_is_named(self) -> None:
        row = rows()[0]
        with Client(self.up, recipe="nonsense") as ours, self.assertRaises(BadRequest) as caught:
            ours.score({**label_of(row), "response": row["response"]})
        self.assertEqual([field.path for field in caught.exception.fields], ["recipe"])

    def test_a_row_without_sources_is_named(self) -> None:
        row = rows()[0]
        with Client(self.up, recipe=RECIPE) as ours, self.assertRaises(BadRequest) as caught:
            ours.score({"question": row["question"], "response": row["response"], "positive_rubrics": ["x"]})
        self.assertIn("tool_output", [field.path for field in caught.exception.fields])

    def test_a_group(self) -> None:
        row = rows()[0]
        responses = [row["response"], {"response": "no answer block", "finish_reason": "stop"}]
        with Client(self.up, recipe=RECIPE) as ours:
            group = ours.group(shared_of(row), responses, advantages="slime")
        best = expected_rewards(self.up)[0]
        self.assertEqual(group.rewards, (best, 0.0))
        self.assertEqual([masked for _, masked in group.advantages], [False, False])
        # Of two, each is half a difference from the mean, and the unbiased deviation is its root of two.
        self.assertAlmostEqual(group.advantages[0].advantage, 0.5**0.5, places=4)
        self.assertAlmostEqual(group.advantages[1].advantage, -(0.5**0.5), places=4)

    def test_the_advantages_of_a_step_of_gdpo(self) -> None:
        row = rows()[0]
        with Client(self.up, recipe=RECIPE) as ours:
            group = ours.group(shared_of(row), [row["response"], "no answer block"], advantages="trl-gdpo")
            members = [{"components": member["contributions"]} for member in group.members]
            step = ours.advantages([members, [{"components": None}]], "trl-gdpo")
        self.assertEqual((group.final, group.advantages), (False, ((None, False), (None, False))))
        best, worst = (entry.advantage for entry in step.groups[0])
        self.assertGreater(best, 0)
        self.assertAlmostEqual(best, -worst)
        self.assertEqual(step.groups[1], ((0.0, True),))
        self.assertEqual(step.reply["groups"][0]["advantages"][0]["weighted_sum"], group.weighted_sums[0])

    def test_a_probe(self) -> None:
        row = rows()[0]
        responses = [row["response"], {"response": "no answer block", "outcome": 0}]
        with Client(self.up, recipe=RECIPE) as ours:
            report = ours.probe_recipe([{"id": row["id"], **shared_of(row), "responses": responses}], seed=3)
            with self.assertRaises(BadRequest) as caught:
                ours.probe_recipe([{"question": "q"}])
        shares = {answer["name"]: answer["share"] for answer in report["answers"]}
        self.assertLess(shares["it"], 1)
        self.assertEqual((report["rows"], report["samples"]["samples"]), (1, 2))
        self.assertTrue(all(field.path.startswith("rows[0]") for field in caught.exception.fields))

    def test_a_probe_needs_a_recipe(self) -> None:
        with citeward_environment(), Client(self.up) as ours, self.assertRaises(Misconfigured):
            ours.probe_recipe([{"question": "q"}])

    def test_a_judge_that_is_down_masks_a_member_of_a_group(self) -> None:
        row = rows()[0]
        with Client(self.down, recipe=RECIPE, deadline_s=20) as ours:
            group = ours.group(shared_of(row), [row["response"], "no answer block"])
        self.assertEqual(group.rewards, (None, 0.0))
        self.assertEqual(group.advantages, ((0.0, True), (0.0, False)))

    def test_a_judge_that_is_down_is_unscored(self) -> None:
        with Client(self.down, recipe=RECIPE, deadline_s=6) as ours:
            scores = ours.score_many([{**label_of(row), "response": row["response"]} for row in rows()])
        self.assertEqual([type(score) for score in scores], [Unscored, Score, Score, Unscored])
        self.assertTrue(scores[0].reason.startswith("judge_"))
        # Without an answer there is nothing to judge: the reward is determined.
        self.assertEqual([scores[1].reward, scores[2].reward], [0.0, 0.0])


if __name__ == "__main__":
    unittest.main()
