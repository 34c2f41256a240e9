"""From rows to request fields."""

from __future__ import annotations

import json
import unittest
from typing import Any

from citeward.errors import BadRequest
from citeward.fields import is_object, merged, output_fields, plain, read_object, sample_fields


class Array:
    """What numpy hands out, as far as it matters here."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def tolist(self) -> Any:
        return self._value


class Reading(unittest.TestCase):
    FIELDS = {"question": "q", "sources": [{"id": "a", "text": "t"}], "positive_rubrics": ["r", {"description": "d"}]}

    def test_a_mapping_and_its_json_are_the_same(self) -> None:
        self.assertEqual(read_object(self.FIELDS, "label"), self.FIELDS)
        self.assertEqual(read_object("\n " + json.dumps(self.FIELDS), "label"), self.FIELDS)
        self.assertTrue(is_object(json.dumps(self.FIELDS)) and is_object(self.FIELDS))
        self.assertFalse(is_object("42") or is_object(None) or is_object([1]))

    def test_what_comes_out_of_parquet(self) -> None:
        row = {
            "question": "q",
            "tests": None,
            "sources": Array([{"id": "a", "text": "t", "title": None}]),
            "positive_rubrics": Array([{"title": None, "description": "d", "weight": Array(2.0)}, Array("e")]),
            "num_turns": Array(4),
        }
        read = read_object(row, "label")
        self.assertEqual(
            read,
            {
                "question": "q",
                "sources": [{"id": "a", "text": "t"}],
                "positive_rubrics": [{"description": "d", "weight": 2.0}, "e"],
                "num_turns": 4,
            },
        )
        json.dumps(read)

    def test_a_typo_does_not_pass_silently(self) -> None:
        with self.assertRaises(BadRequest) as caught:
            read_object({"question": "q", "postive_rubrics": ["r"], "response": "r"}, "label")
        self.assertEqual([f.path for f in caught.exception.fields], ["label.postive_rubrics", "label.response"])
        self.assertIn("positive_rubrics", str(caught.exception))

    def test_what_is_no_object(self) -> None:
        for value in (None, 42, ["x"], "42", "{", '{"question": NaN}', "{" * 5_000, '["x"]'):
            with self.subTest(value), self.assertRaisesRegex(BadRequest, "^ground_truth: expected a "):
                read_object(value, "ground_truth")

    def test_values_without_json_are_named(self) -> None:
        with self.assertRaisesRegex(BadRequest, r"label\.sources\[1\]\.text: a set has no JSON"):
            read_object({"sources": [{"id": "a"}, {"text": {1}}]}, "label")
        self.assertIs(plain(True, "x"), True)


class Merging(unittest.TestCase):
    def test_places_add_up(self) -> None:
        self.assertEqual(
            merged([("a", {"question": "q"}), ("b", {"question": "q", "reference": "r"})]),
            {
                "question": "q",
                "reference": "r",
            },
        )

    def test_contradictions_are_refused(self) -> None:
        with self.assertRaisesRegex(BadRequest, r"b\.question: differs from a\.question"):
            merged([("a", {"question": "q"}), ("b", {"question": "p"})])
        with self.assertRaisesRegex(BadRequest, "exactly one of tool_output and sources"):
            merged([("a", {"tool_output": "t", "sources": []})])

    def test_an_empty_row_is_refused(self) -> None:
        with self.assertRaisesRegex(BadRequest, "row: it carries no fields"):
            merged([("a", {})])


class Completions(unittest.TestCase):
    def test_a_text_is_the_response(self) -> None:
        self.assertEqual(output_fields(""), {"response": ""})

    def test_messages_are_passed_on_with_their_calls_and_results(self) -> None:
        messages = [
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"q": 1}}}]},
            {"role": "tool", "name": "f", "content": "{'hits': []}"},
            {"role": "assistant", "content": [{"type": "text", "text": "la"}, {"type": "image", "image": object()}]},
        ]
        sent = output_fields(messages)["messages"]
        self.assertEqual(sent[0]["tool_calls"], [{"function": {"name": "f", "arguments": {"q": 1}}}])
        self.assertEqual(sent[1], messages[1])
        self.assertEqual(sent[2]["content"], [{"type": "text", "text": "la"}, {"type": "image"}])
        json.dumps(sent)

    def test_a_text_is_a_transcript_if_the_row_names_its_markup(self) -> None:
        row = read_object({"question": "q", "trajectory": {"markup": "hermes"}}, "label")
        self.assertEqual(sample_fields(row, "text"), {**row, "messages": "text"})
        messages = [{"role": "assistant", "content": "a"}]
        listed = {"question": "q", "trajectory": {"source_ids": "call"}}
        self.assertEqual(sample_fields(listed, messages), {**listed, "messages": messages})
        self.assertEqual(sample_fields(listed, "text"), {"question": "q", "response": "text"})

    def test_a_text_is_the_answer_of_a_vendor_if_the_row_names_its_format(self) -> None:
        label = {"question": "q", "answer_format": "anthropic"}
        row = read_object(label, "label")
        answer = [{"type": "text", "text": "It opened in 1937."}]
        self.assertEqual(sample_fields(row, json.dumps(answer)), {**row, "cited_answer": answer})
        links = {**row, "answer_format": "markdown"}
        self.assertEqual(sample_fields(links, "It [opened](a)."), {**links, "cited_answer": "It [opened](a)."})
        for malformed in ("It opened", '[{"a": NaN}]', "[" * 50_000):
            self.assertEqual(sample_fields(row, malformed)["cited_answer"], malformed)
        for row, completion in ((row, [{"role": "user"}]), ({**row, "trajectory": {"markup": "qwen"}}, "[]")):
            with self.assertRaisesRegex(BadRequest, "^answer_format: only with a response that is one text"):
                sample_fields(row, completion)

    def test_what_is_neither(self) -> None:
        for completion in ([], None, 3, ["text"], {"role": "assistant"}):
            with self.subTest(completion), self.assertRaisesRegex(BadRequest, "^completion: "):
                output_fields(completion)  # type: ignore[arg-type]
        with self.assertRaisesRegex(BadRequest, r"^messages\[0\].content: a object has no JSON"):
            output_fields([{"role": "assistant", "content": object()}])


if __name__ == "__main__":
    unittest.main()
