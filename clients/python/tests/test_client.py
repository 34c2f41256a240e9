"""The client against a server that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
import unittest
from collections.abc import Iterator
from typing import Any

from citeward.client import Client, shared_client
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
from tests.live import citeward_environment
from tests.stub import Answer, Stub, closed_port, problem, scored


@contextlib.contextmanager
def took(test: unittest.TestCase, *, at_least: float = 0.0, at_most: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds = time.monotonic() - started
    test.assertGreaterEqual(seconds, at_least)
    test.assertLess(seconds, at_most)


class Scoring(unittest.TestCase):
    def test_a_reward_with_its_parts(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url, judge=["a", "b"], api_key=SECRET) as ours:
            score = ours.score(ROW)
        self.assertEqual((score.reward, score.base, score.decided_by), (6.5, 0.65, "components"))
        self.assertEqual(score.components["rubric"]["value"], 0.65)
        self.assertEqual(score.reply["recipe"]["name"], "stub")
        asked = stub.asked[0]
        self.assertEqual(asked.path, "/v1/score")
        self.assertEqual(asked.body, {**ROW, "recipe": "stub", "judge": ["a", "b"]})
        self.assertEqual(asked.headers["authorization"], f"Bearer {SECRET}")
        self.assertEqual(asked.headers["content-type"], "application/json")

    def test_what_a_row_says_of_recipe_and_judge_goes_first(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url + "/base/", judge="a") as ours:
            ours.score({**ROW, "recipe": {"base": "x"}, "judge": "b"})
        self.assertEqual((stub.asked[0].body["recipe"], stub.asked[0].body["judge"]), ({"base": "x"}, "b"))
        self.assertEqual(stub.asked[0].path, "/base/v1/score")

    def test_an_inline_recipe_is_sent_as_an_object(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url, recipe='{"base": "x", "w": 0.5}') as ours:
            ours.score(ROW)
        self.assertEqual(stub.asked[0].body["recipe"], {"base": "x", "w": 0.5})

    def test_a_lone_surrogate_arrives_as_its_escape(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url) as ours:
            ours.score({**ROW, "response": "a\ud800é"})
        self.assertEqual(stub.asked[0].body["response"], "a\ud800é")

    def test_a_request_that_is_no_json_is_not_sent(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url) as ours:
            for bad in (float("nan"), float("inf"), {1, 2}):
                with self.assertRaisesRegex(BadRequest, "no JSON"):
                    ours.score({**ROW, "extra": bad})
        self.assertEqual(stub.asked, [])

    def test_no_recipe(self) -> None:
        with citeward_environment(), self.assertRaisesRegex(Misconfigured, "CITEWARD_RECIPE"):
            Client("http://127.0.0.1:9").score(ROW)


class Replies(unittest.TestCase):
    def raised(self, answer: Answer, kind: type = CitewardError) -> Any:
        with Stub(lambda n, asked: answer) as stub, client(stub.url) as ours, self.assertRaises(kind) as caught:
            ours.score(ROW)
        self.assertEqual(len(stub.asked), 1, "asked again")
        return caught.exception

    def test_what_is_not_clearly_a_score_is_none(self) -> None:
        answers = {
            "html": Answer(body="<html>welcome</html>"),
            "empty": Answer(body=""),
            "list": Answer(body=[6.5]),
            "number": Answer(body="6.5"),
            "NaN": Answer(body='{"status":"scored","reward":NaN,"base":null}'),
            "Infinity": Answer(body='{"status":"scored","reward":-Infinity,"base":null}'),
            "beyond a double": Answer(body='{"status":"scored","reward":1e999,"base":null}'),
            "a huge integer": Answer(body='{"status":"scored","reward":1%s,"base":null}' % ("0" * 400)),
            "text": scored("6.5"),
            "true": scored(True),
            "null, scored": scored(None),
            "no reward": Answer(body={"status": "scored"}),
            "no status": Answer(body={"reward": 6.5}),
            "a number, unscored": scored(0.0, status="unscored"),
            "base is no number": scored(base="0.65"),
            "deep": Answer(body="[" * 100_000),
            "500 of a proxy": Answer(500, "<html>oops</html>"),
        }
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertEqual(self.raised(answer, UnexpectedReply).reason, "unexpected_reply")

    def test_a_null_reward_is_unscored_with_its_reason(self) -> None:
        unscored = self.raised(scored(None, status="unscored", reason="judge_timeout", base=None), Unscored)
        self.assertEqual((unscored.reason, unscored.retryable), ("judge_timeout", False))

    def test_422_names_every_field_and_is_not_repeated(self) -> None:
        errors = [
            {"path": "recipe", "message": "unknown"},
            {"path": "positive_rubrics[0].weight", "message": "below 0"},
        ]
        error = self.raised(problem(422, "input_invalid", errors=errors), BadRequest)
        self.assertEqual(error.fields, tuple(FieldProblem(e["path"], e["message"]) for e in errors))
        self.assertEqual((error.status, error.reason), (422, "input_invalid"))
        self.assertEqual(str(error), "recipe: unknown; positive_rubrics[0].weight: below 0")

    def test_422_about_the_response_alone_is_the_samples_matter(self) -> None:
        for path in ("response", "messages[0].content", "cited_answer"):
            errors = [{"path": path, "message": "more than 2000 claims"}]
            unscored = self.raised(problem(422, "input_invalid", errors=errors), Unscored)
            self.assertEqual((unscored.reason, unscored.retryable), ("input_invalid", False))
            self.assertIn("2000 claims", unscored.detail)

    def test_422_and_409_about_judging_are_unscored(self) -> None:
        self.assertEqual(self.raised(problem(422, "judge_prompt_too_long"), Unscored).reason, "judge_prompt_too_long")
        self.assertEqual(self.raised(problem(409, "judgment_missing"), Unscored).reason, "judgment_missing")
        self.raised(problem(422, "judge_unknown", errors=[{"path": "judge", "message": "x"}]), BadRequest)
        self.raised(problem(422, "judge_option_unsupported"), BadRequest)

    def test_other_4xx_are_not_repeated_even_if_they_say_so(self) -> None:
        self.raised(problem(400, "body_interrupted", retryable=True), BadRequest)
        self.raised(problem(404, "route_unknown"), BadRequest)
        self.assertIn("deployment", str(self.raised(Answer(404, "not here"), BadRequest)))

    def test_a_refused_key(self) -> None:
        for status, reason in ((401, "key_unknown"), (403, "scope_missing")):
            self.assertIn(reason, str(self.raised(problem(status, reason), Unauthorized)))

    def test_a_final_503_is_not_repeated(self) -> None:
        unscored = self.raised(problem(503, "judge_unconfigured", retryable=False), Unscored)
        self.assertEqual((unscored.reason, unscored.retryable), ("judge_unconfigured", False))

    def test_a_500_of_the_worker_is_unscored_and_not_repeated(self) -> None:
        self.assertEqual(self.raised(problem(500, "internal"), Unscored).reason, "internal")

    def test_a_redirect_is_refused_and_its_target_never_asked(self) -> None:
        with Stub(lambda n, asked: scored()) as target:
            for status in (301, 302, 307, 308):
                error = self.raised(Answer(status, "", {"location": f"{target.url}/v1/score"}), Misconfigured)
                self.assertIn("redirects", str(error))
        self.assertEqual(target.asked, [])


class Retries(unittest.TestCase):
    def test_503_with_retry_after_then_a_score(self) -> None:
        first = problem(503, "judge_overloaded", True, {"retry-after": "1"})
        with Stub(lambda n, asked: first if n == 0 else scored()) as stub, client(stub.url) as ours:
            with took(self, at_least=1.0, at_most=4.0):
                self.assertEqual(ours.score(ROW).reward, 6.5)
        self.assertEqual(len(stub.asked), 2)

    def test_retry_after_may_be_a_date(self) -> None:
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
        first = problem(503, "judge_overloaded", True, {"retry-after": date})
        with Stub(lambda n, asked: first if n == 0 else scored()) as stub, client(stub.url) as ours:
            with took(self, at_least=0.9, at_most=5.0):
                ours.score(ROW)

    def test_429_502_503_and_504_are_repeated(self) -> None:
        statuses = [429, 502, 503, 504]
        answer = lambda n, asked: Answer(statuses[n], "busy") if n < 4 else scored()  # noqa: E731
        with Stub(answer) as stub, client(stub.url, deadline_s=20) as ours:
            self.assertEqual(ours.score(ROW).reward, 6.5)
        self.assertEqual(len(stub.asked), 5)

    def test_503_forever_ends_with_the_deadline(self) -> None:
        with (
            Stub(lambda n, asked: problem(503, "judge_unreachable", True)) as stub,
            client(stub.url, deadline_s=1.5) as ours,
            took(self, at_most=4.0),
            self.assertRaises(Unscored) as caught,
        ):
            ours.score(ROW)
        self.assertEqual((caught.exception.reason, caught.exception.retryable), ("judge_unreachable", True))
        self.assertGreater(len(stub.asked), 1)

    def test_the_last_word_of_the_worker_counts_more_than_a_cut_attempt(self) -> None:
        answer = lambda n, asked: problem(503, "judge_timeout", True) if n == 0 else Answer(delay_s=3)  # noqa: E731
        with Stub(answer) as stub, client(stub.url, deadline_s=1) as ours:
            with took(self, at_most=2.9), self.assertRaisesRegex(Unscored, "^judge_timeout"):
                ours.score(ROW)
        self.assertEqual(len(stub.asked), 2)

    def test_a_judge_that_is_still_running_is_waited_for(self) -> None:
        for reason in ("judge_running", "judge_interrupted"):
            with self.subTest(reason):
                running = problem(503, reason, True, {"retry-after": "0"})
                answer = lambda n, asked: running if n < 5 else scored()  # noqa: B023, E731
                with Stub(lambda n, asked: Answer(**{**vars(answer(n, asked)), "delay_s": 0.3})) as stub:
                    with client(stub.url, deadline_s=1) as ours, took(self, at_least=1.5, at_most=15):
                        self.assertEqual(ours.score(ROW).reward, 6.5)

    def test_the_judge_deadline_ends_the_wait_for_a_running_judge(self) -> None:
        running = problem(503, "judge_running", True, {"retry-after": "0"})
        with Stub(lambda n, asked: running) as stub, client(stub.url, deadline_s=0.5, judge_deadline_s=1.5) as ours:
            with took(self, at_least=0.9, at_most=4.0), self.assertRaisesRegex(Unscored, "^judge_running"):
                ours.score(ROW)
        self.assertGreater(len(stub.asked), 2)

    def test_an_outage_after_a_running_judge_ends_with_the_deadline(self) -> None:
        running = problem(503, "judge_running", True, {"retry-after": "0"})
        with Stub(lambda n, asked: running if n == 0 else Answer(reset=True)) as stub:
            with client(stub.url, deadline_s=2) as ours, took(self, at_most=6.0), self.assertRaises(Unscored):
                with self.assertLogs("citeward", "WARNING"):
                    ours.score(ROW)

    def test_a_retry_after_beyond_the_deadline_ends_at_once(self) -> None:
        answer = problem(503, "judge_circuit_open", True, {"retry-after": "60"})
        with Stub(lambda n, asked: answer) as stub, client(stub.url) as ours:
            with took(self, at_most=3.0), self.assertRaises(Unscored):
                ours.score(ROW)
        self.assertEqual(len(stub.asked), 1)

    def test_reset_and_cut_connections_are_repeated(self) -> None:
        broken = [Answer(reset=True), Answer(body=scored().body, truncate=True)]
        with Stub(lambda n, asked: broken[n] if n < 2 else scored()) as stub, client(stub.url) as ours:
            self.assertEqual(ours.score(ROW).reward, 6.5)
        self.assertEqual(len(stub.asked), 3)

    def test_reset_forever_is_unscored(self) -> None:
        with Stub(lambda n, asked: Answer(reset=True)) as stub, client(stub.url, deadline_s=1) as ours:
            with took(self, at_most=3.0), self.assertRaises(Unscored) as caught:
                ours.score(ROW)
        self.assertEqual((caught.exception.reason, caught.exception.retryable), ("worker_unreachable", True))

    def test_nobody_there(self) -> None:
        with client(f"http://127.0.0.1:{closed_port()}", deadline_s=0.5) as ours:
            with self.assertRaisesRegex(Unscored, "worker_unreachable: connection refused"):
                ours.score(ROW)

    def test_a_worker_that_never_answered_stops_the_training(self) -> None:
        port = closed_port()
        with client(f"http://k:sk-secret@127.0.0.1:{port}", deadline_s=60) as ours:
            with took(self, at_most=6.0), self.assertRaises(Misconfigured) as caught:
                ours.score(ROW)
        self.assertRegex(str(caught.exception), rf"no Worker answers at http://127.0.0.1:{port}: connection refused")
        self.assertIn("citeward serve", str(caught.exception))
        self.assertNotIn("sk-secret", str(caught.exception))

    def test_a_worker_that_is_lost_is_named_and_waited_for(self) -> None:
        with contextlib.ExitStack() as stack:
            with Stub(lambda n, asked: Answer(body=scored().body, hang_up=True)) as stub:
                ours = stack.enter_context(client(stub.url, deadline_s=7))
                ours.score(ROW)
            with self.assertLogs("citeward", "WARNING") as logs, self.assertRaises(Unscored) as caught:
                ours.score({**ROW, "question": "again"})
        self.assertEqual(caught.exception.reason, "worker_unreachable")
        self.assertEqual(sum("does not answer" in line for line in logs.output), 1)

    def test_a_slow_reply_ends_with_the_deadline(self) -> None:
        with Stub(lambda n, asked: Answer(delay_s=3)) as stub, client(stub.url, deadline_s=0.5) as ours:
            with took(self, at_most=2.5), self.assertRaisesRegex(Unscored, "no reply in time"):
                ours.score(ROW)

    def test_a_dripping_reply_ends_with_the_deadline(self) -> None:
        dripping = Answer(body=scored().body, drip_s=0.05)
        with Stub(lambda n, asked: dripping) as stub, client(stub.url, deadline_s=0.6) as ours:
            with took(self, at_most=5.0), self.assertRaisesRegex(Unscored, "no reply in time"):
                ours.score(ROW)

    def test_an_attempt_that_hangs_is_repeated(self) -> None:
        answer = lambda n, asked: Answer(delay_s=3) if n == 0 else scored()  # noqa: E731
        with Stub(answer) as stub, client(stub.url, attempt_timeout_s=0.3) as ours:
            with took(self, at_least=0.3, at_most=2.9):
                self.assertEqual(ours.score(ROW).reward, 6.5)


class Connections(unittest.TestCase):
    def test_one_connection_serves_many_requests(self) -> None:
        with Stub(lambda n, asked: scored()) as stub, client(stub.url) as ours:
            for _ in range(20):
                ours.score(ROW)
        self.assertEqual((len(stub.asked), stub.connections), (20, 1))

    def test_a_refusal_keeps_the_connection(self) -> None:
        answer = lambda n, asked: problem(422, "input_invalid") if n == 0 else scored()  # noqa: E731
        with Stub(answer) as stub, client(stub.url) as ours:
            with self.assertRaises(BadRequest):
                ours.score(ROW)
            ours.score(ROW)
        self.assertEqual(stub.connections, 1)

    def test_a_batch_stays_within_its_connections(self) -> None:
        answer = lambda n, asked: Answer(body=scored().body, delay_s=0.05)  # noqa: E731
        with Stub(answer) as stub, client(stub.url, max_connections=3) as ours:
            with took(self, at_least=0.5, at_most=3.0):
                self.assertEqual(len(ours.score_many([ROW] * 30)), 30)
        self.assertEqual(len(stub.asked), 30)
        self.assertLessEqual(stub.connections, 3)
        self.assertEqual(stub.most_at_once, 3)

    def test_a_connection_that_was_closed_while_idle_is_replaced_at_once(self) -> None:
        with Stub(lambda n, asked: Answer(body=scored().body, hang_up=True)) as stub, client(stub.url) as ours:
            with (
                self.assertNoLogs("citeward", logging.INFO)
                if hasattr(self, "assertNoLogs")
                else contextlib.nullcontext()
            ):
                for _ in range(3):
                    self.assertEqual(ours.score(ROW).reward, 6.5)
                    time.sleep(0.05)
        self.assertEqual((len(stub.asked), stub.connections), (3, 3))

    def test_waiting_for_a_turn_does_not_use_up_the_deadline(self) -> None:
        answer = lambda n, asked: Answer(body=scored().body, delay_s=0.3)  # noqa: E731
        with Stub(answer) as stub, client(stub.url, max_connections=1, deadline_s=1) as ours:
            self.assertTrue(all(isinstance(score, Score) for score in ours.score_many([ROW] * 5)))

    def test_a_fork_gets_connections_of_its_own(self) -> None:
        with Stub(lambda n, asked: scored()) as stub:
            settings = Settings.of(url=stub.url, recipe="stub", deadline_s=5)
            shared_client(settings).score(ROW)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if len(shared_client(settings).score_many([ROW, ROW])) == 2 else 1
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertIs(shared_client(settings), shared_client(settings))
            shared_client(settings).score(ROW)
        parents = [asked.connection for asked in (stub.asked[0], stub.asked[-1])]
        self.assertEqual(parents, [1, 1])
        self.assertNotIn(1, [asked.connection for asked in stub.asked[1:-1]])


class Batches(unittest.TestCase):
    @staticmethod
    def by_response(n: int, asked: Any) -> Answer:
        response = asked.body["response"]
        if response == "lost":
            return problem(503, "judge_refusal", retryable=False)
        if response == "bad":
            return problem(422, "input_invalid", errors=[{"path": "question", "message": "required"}])
        return scored(float(response))

    def rows_of(self, *responses: str) -> Any:
        return [{**ROW, "response": response} for response in responses]

    def test_what_is_lost_stands_in_its_place(self) -> None:
        with Stub(self.by_response) as stub, client(stub.url) as ours:
            for scores in (
                ours.score_many(self.rows_of("1", "lost", "3")),
                asyncio.run(ours.score_many_async(self.rows_of("1", "lost", "3"))),
            ):
                self.assertEqual([type(score) for score in scores], [Score, Unscored, Score])
                self.assertEqual([scores[0].reward, scores[1].reason, scores[2].reward], [1.0, "judge_refusal", 3.0])

    def test_a_bad_row_is_named_and_ends_the_batch(self) -> None:
        with Stub(self.by_response) as stub, client(stub.url, max_connections=1) as ours:
            rows_ = self.rows_of("1", "bad", *["2"] * 50)
            for call in (lambda: ours.score_many(rows_), lambda: asyncio.run(ours.score_many_async(rows_))):
                with self.assertRaises(BadRequest) as caught:
                    call()
                self.assertEqual((caught.exception.row, str(caught.exception)), (1, "row 1: question: required"))
        self.assertLess(len(stub.asked), 60)

    def test_an_empty_batch(self) -> None:
        with client("http://127.0.0.1:9") as ours:
            self.assertEqual(ours.score_many([]), [])
