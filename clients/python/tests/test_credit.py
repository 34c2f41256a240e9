"""Credit on tokens and steps: its shares stay exact, and are where the claims and generations end."""

from __future__ import annotations

import json
import math
import random
import unittest
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from citeward.credit import masked_rewards, step_rewards, token_ends, token_rewards
from citeward.errors import BadRequest, Misconfigured, UnexpectedReply, Unscored
from citeward.settings import Settings
from citeward.skyrl import with_step_rewards
from citeward.trl import CONTRIBUTIONS_COLUMN, CREDIT_COLUMN, component_reward_functions, reward_function
from citeward.verl import compute_score, token_level_scores
from tests.live import LiveTestCase, citeward_environment
from tests.stub import Answer, Asked, Stub, problem, scored
from tests.stub_client import ROW, client

BY_CLAIMS = {
    "by": "claims",
    "entries": [
        {"of": "claim", "index": 0, "spans": [{"start": 9, "end": 12}], "share": 4.5},
        {"of": "statement", "index": 0, "spans": [], "share": 1.5},
        {"of": "answer", "share": 0.5},
    ],
}
BY_TURNS = {
    "by": "turns",
    "entries": [
        {"of": "turn", "turn": 0, "message": 1, "share": 6.0},
        {"of": "turn", "turn": 2, "message": 5, "share": 0.0},
        {"of": "answer", "turn": 1, "message": 3, "share": 0.4},
        {"of": "answer", "turn": 1, "message": 3, "share": 0.1},
    ],
}


class Bytes:
    """A tokenizer whose tokens are parts of the UTF-8 bytes of a text; the token -1 is special."""

    def __init__(self, text: str, seed: int, longest: int = 5) -> None:
        choose = random.Random(seed)
        data = text.encode()
        self._parts: list[bytes] = []
        while data:
            size = choose.randint(1, longest)
            self._parts.append(data[:size])
            data = data[size:]
        self.ids = [*range(len(self._parts)), -1]

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        assert skip_special_tokens
        return b"".join(self._parts[one] for one in ids if one >= 0).decode("utf-8", errors="replace")


class Tokens(unittest.TestCase):
    def test_ends_are_those_of_the_characters_that_the_tokens_complete(self) -> None:
        text = "Zürich 🏔️ liegt. 河は長い <cite>naïve</cite>\n"
        for seed in range(50):
            tokenizer = Bytes(text, seed)
            ends = token_ends(tokenizer.ids, tokenizer.decode)
            self.assertEqual(ends[-1], len(text))
            for position, end in enumerate(ends[:-1]):
                known = b"".join(tokenizer._parts[: position + 1]).decode("utf-8", errors="ignore")
                self.assertEqual(end, len(known), (seed, position))

    def test_no_token_has_no_end(self) -> None:
        self.assertEqual(token_ends([], Bytes("", 1).decode), [])

    def test_bytes_that_are_no_text_take_linear_time(self) -> None:
        decoded = []

        def decode(ids: Sequence[int]) -> str:
            decoded.append(len(ids))
            return "\ufffd" * len(ids)

        self.assertEqual(token_ends(range(2_000), decode)[-1], 2_000)
        self.assertLess(sum(decoded), 50 * 2_000)

    def test_a_decoder_that_joins_tokens_is_refused(self) -> None:
        with self.assertRaisesRegex(BadRequest, "8 characters one by one, and to 4 together"):
            token_ends([1, 2, 3, 4], lambda ids: "ab" * len(ids) if len(ids) < 4 else "abcd")

    def test_a_share_is_on_the_token_in_which_the_claim_ends_and_the_rest_on_the_last(self) -> None:
        self.assertEqual(token_rewards(BY_CLAIMS, [5, 10, 14, 20]), [0.0, 0.0, 4.5, 2.0])
        self.assertEqual(token_rewards(BY_CLAIMS, [5, 12, 14, 20]), [0.0, 4.5, 0.0, 2.0])
        # A response that was cut shorter than it was scored.
        self.assertEqual(token_rewards(BY_CLAIMS, [3]), [6.5])

    def test_claims_in_any_order_find_their_tokens(self) -> None:
        entries = [{"of": "claim", "spans": [{"start": 0, "end": end}], "share": float(end)} for end in (6, 2, 4)]
        self.assertEqual(token_rewards({"by": "claims", "entries": entries}, [2, 4, 6]), [2.0, 4.0, 6.0])

    def test_a_response_without_tokens_is_refused(self) -> None:
        with self.assertRaisesRegex(BadRequest, "without tokens"):
            token_rewards(BY_CLAIMS, [])

    def test_malformed_credit_is_no_number(self) -> None:
        for share in (None, "1", math.nan, True):
            with self.subTest(share), self.assertRaisesRegex(UnexpectedReply, "not a finite number"):
                token_rewards({"by": "claims", "entries": [{"of": "answer", "share": share}]}, [1])
        with self.assertRaisesRegex(UnexpectedReply, "not a list of objects"):
            token_rewards({"by": "claims"}, [1])


class Steps(unittest.TestCase):
    def test_each_generation_has_its_shares(self) -> None:
        self.assertEqual(step_rewards(BY_TURNS), [6.0, 0.5, 0.0])
        self.assertEqual(masked_rewards(BY_TURNS, [1, 1, 0, 0, 1, 0, 1]), [0, 6.0, 0, 0, 0.5, 0, 0.0])

    def test_another_number_of_generations_is_refused(self) -> None:
        with self.assertRaisesRegex(BadRequest, "3 generations in the messages, but 2 in the loss mask"):
            masked_rewards(BY_TURNS, [1, 0, 1])

    def test_the_kinds_are_not_mixed_up(self) -> None:
        with self.assertRaisesRegex(BadRequest, "expected credit by turns, got 'claims'"):
            step_rewards(BY_CLAIMS)
        with self.assertRaisesRegex(BadRequest, "expected credit by claims, got 'turns'"):
            token_rewards(BY_TURNS, [1])

    def test_a_turn_that_is_missing_is_an_error(self) -> None:
        for turn in (1, None):
            with self.subTest(turn), self.assertRaises(UnexpectedReply):
                step_rewards({"by": "turns", "entries": [{"of": "answer", "turn": turn, "share": 1.0}]})


class Trainers(unittest.TestCase):
    def test_the_setting_asks_for_credit_with_offsets_of_python(self) -> None:
        with Stub(lambda n, asked: scored(credit=BY_CLAIMS)) as stub, client(stub.url, credit="claims") as citeward:
            self.assertEqual(citeward.score(ROW).credit, BY_CLAIMS)
            citeward.score({**ROW, "credit": "turns"})
            self.assertEqual([asked.body["credit"] for asked in stub.asked], ["claims", "turns"])
            self.assertEqual({asked.body["offsets"] for asked in stub.asked}, {"codepoints"})
            citeward.probe_recipe([ROW])
            self.assertNotIn("credit", stub.asked[-1].body)
        with Stub(lambda n, asked: scored()) as stub, client(stub.url) as citeward:
            self.assertIsNone(citeward.score(ROW).credit)
            self.assertNotIn("credit", stub.asked[0].body)

    def test_a_wrong_setting_is_refused_early(self) -> None:
        with citeward_environment(), self.assertRaisesRegex(Misconfigured, 'credit: expected "claims" or "turns"'):
            Settings.of(url="http://h", credit="tokens")

    def test_verl_gets_one_number_a_token(self) -> None:
        tokenizer = Bytes("<answer>abc</answer>", 3)
        width = len(tokenizer.ids) + 2
        with Stub(lambda n, asked: scored(credit=BY_CLAIMS)) as stub, citeward_environment():
            settings = {"url": stub.url, "recipe": "stub", "credit": "claims"}
            result = compute_score("d", tokenizer.decode(tokenizer.ids), {"question": "q"}, **settings)
        batch = {
            "responses": [[*tokenizer.ids, 0, 0]],
            # The prompt's three tokens come first.
            "attention_mask": [[0, 1, 1, *([1] * len(tokenizer.ids)), 0, 0]],
        }
        data = SimpleNamespace(batch=batch, non_tensor_batch={"citeward": [result["citeward"]]})
        [rewards] = token_level_scores(data, tokenizer)
        ends = token_ends(tokenizer.ids, tokenizer.decode)
        claim = next(position for position, end in enumerate(ends) if end >= 12)
        expected = [0.0] * width
        expected[claim], expected[len(ends) - 1] = 4.5, 2.0
        self.assertEqual(rewards, expected)
        data.non_tensor_batch = {"citeward": ["{}"]}
        with self.assertRaisesRegex(Misconfigured, 'set credit="claims"'):
            token_level_scores(data, tokenizer)

    def test_trl_logs_contributions_and_credit_once_as_columns(self) -> None:
        def answer(n: int, asked: Asked) -> Answer:
            lost = asked.body["response"] == "lost"
            return problem(503, "judge_timeout", retryable=False) if lost else scored(credit=BY_CLAIMS)

        logged: list[tuple[str, list[str]]] = []
        given: dict[str, Any] = {"log_extra": lambda name, values: logged.append((name, values))}
        with Stub(answer) as stub, citeward_environment():
            settings = {"url": stub.url, "recipe": "stub", "deadline_s": 2, "on_unscored": "none"}
            function = reward_function(**settings, credit="claims")
            with self.assertLogs("citeward", "WARNING"):
                self.assertEqual(function(["p", "p"], ["a", "lost"], question=["q", "q"], **given), [6.5, None])
            reward_function(**settings)(["p"], ["a"], question=["q"], **given)
            self.assertEqual(len(component_reward_functions(["rubric"], **settings, credit="claims")), 1)
        names = [CONTRIBUTIONS_COLUMN, CREDIT_COLUMN, CONTRIBUTIONS_COLUMN]
        self.assertEqual([name for name, _ in logged], names)
        (paid, without), (credit, none) = logged[0][1], logged[1][1]
        self.assertEqual((json.loads(paid), without), ({"rubric": 6.5}, ""))
        self.assertEqual((json.loads(credit), none), (BY_CLAIMS, ""))

    def test_skyrl_gets_the_rewards_of_its_steps(self) -> None:
        with Stub(lambda n, asked: scored(credit=BY_TURNS)) as stub, client(stub.url, credit="turns") as citeward:
            score = citeward.score({"question": "q", "messages": [], "recipe": "stub"})
        output = {"response_ids": [[7, 8, 9, 10, 11]], "loss_masks": [[1, 0, 1, 0, 1]], "rewards": [0.0]}
        credited = with_step_rewards(output, [score])
        self.assertEqual(credited["rewards"], [[6.0, 0.0, 0.5, 0.0, 0.0]])
        self.assertEqual(output["rewards"], [0.0])
        with self.assertRaisesRegex(BadRequest, "1 trajectories, but 0 scores"):
            with_step_rewards(output, [])
        with self.assertRaises(Unscored):
            with_step_rewards(output, [Unscored("judge_timeout", "as told", True)])


class Live(LiveTestCase):
    def test_the_tokens_of_a_response_add_up_to_its_reward(self) -> None:
        response = "🏔️ <answer><snippet id=S1>The Aare is 288 km long.</snippet> It is a river of Bern.</answer>"
        row = {
            "question": "How long is the Aare?",
            "sources": [{"id": "S1", "text": "The Aare is 288 km long."}],
            "positive_rubrics": ["States that the Aare is 288 km long"],
            "response": response,
        }
        tokenizer = Bytes(response, 7)
        with client(self.up, recipe="refiner-rl-balanced", credit="claims") as citeward:
            score = citeward.score(row)
        assert score.credit is not None
        self.assertEqual(sum(entry["share"] for entry in score.credit["entries"]), score.reward)
        ends = token_ends(tokenizer.ids, tokenizer.decode)
        rewards = token_rewards(score.credit, ends)
        self.assertAlmostEqual(sum(rewards), score.reward, places=12)
        paid = [position for position, reward in enumerate(rewards[:-1]) if reward > 0]
        end = response.index("</snippet>")
        self.assertEqual(paid, [next(position for position, one in enumerate(ends) if one >= end)])

    def test_verl_finds_the_claims_of_a_transcript_that_is_one_text(self) -> None:
        text = (
            'I look it up. 🏔️\n<tool_call>\n{"name": "search", "arguments": {"q": "Aare"}}\n</tool_call>\nuser\n'
            "<tool_response>\n<snippet id=S1>The Aare is 288 km long.</snippet>\n</tool_response>\nassistant\n"
            "<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>"
        )
        tokenizer = Bytes(text, 11)
        row = {
            "question": "How long is the Aare?",
            "positive_rubrics": ["States that the Aare is 288 km long"],
            "trajectory": {"markup": "hermes"},
        }
        with citeward_environment():
            settings = {"url": self.up, "recipe": "refiner-rl-balanced", "credit": "claims"}
            result = compute_score("d", text, row, **settings)
        batch = {"responses": [tokenizer.ids], "attention_mask": [[1] * len(tokenizer.ids)]}
        data = SimpleNamespace(batch=batch, non_tensor_batch={"citeward": [result["citeward"]]})
        [rewards] = token_level_scores(data, tokenizer)
        self.assertAlmostEqual(sum(rewards), float(result["score"]), places=12)
        paid = [position for position, reward in enumerate(rewards[:-1]) if reward > 0]
        ends = token_ends(tokenizer.ids, tokenizer.decode)
        end = text.rindex("</snippet></answer>")
        self.assertEqual(paid, [next(position for position, one in enumerate(ends) if one >= end)])


if __name__ == "__main__":
    unittest.main()
