"""The environment of OpenEnv. ``Environment`` and its types are stand-ins, written from openenv 0.10.0."""

from __future__ import annotations

import importlib
import sys
import unittest
from types import SimpleNamespace
from typing import Any

from citeward.errors import BadRequest, Unscored
from tests.live import citeward_environment
from tests.stub import Answer, Stub, problem, scored
from tests.test_ecosystems import CONTRIBUTIONS, modules


class Model(SimpleNamespace):
    """A model of OpenEnv: fields by name, with the defaults of an observation."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{"done": False, "reward": None, "metadata": {}, **fields})


def environment(tools: bool = False) -> Any:
    types = {"Action": Model, "Observation": Model, "State": Model}
    interfaces = {"Environment": type("Environment", (), {})}
    with modules(openenv__core__env_server__interfaces=interfaces, openenv__core__env_server__types=types):
        module = importlib.import_module("citeward.openenv_env")
        sys.modules.pop("citeward.openenv_env")
    class Search(module.CitewardEnvironment):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.searches: list[str] = []

        def respond(self, action: str) -> str | None:
            if "search" not in action:
                return None
            self.searches.append(action)
            return "found"

    return (Search if tools else module.CitewardEnvironment)()


class OpenEnv(unittest.TestCase):
    def play(self, made: Any, *actions: str, answers: tuple[Answer, ...] = ()) -> list[Any]:
        """What each step gave, and what it raised."""
        given = answers or (scored(6.5, contributions=CONTRIBUTIONS),)
        with Stub(lambda n, asked: given[min(n, len(given) - 1)]) as stub:
            with citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub"):
                found = []
                for action in actions:
                    try:
                        found.append(made.step(Model(text=action)))
                    except (BadRequest, Unscored) as error:
                        found.append(error)
            self.asked = [asked.body for asked in stub.asked]
        return found

    def test_a_step_has_the_reward_of_the_row_that_reset_gave(self) -> None:
        made = environment()
        self.assertEqual(made.reset(seed=1, question="q", reference="288", other=3).text, "q")
        [step] = self.play(made, "a")
        self.assertEqual((step.reward, step.done, step.metadata), (6.5, True, {"contributions": CONTRIBUTIONS}))
        self.assertEqual(self.asked, [{"recipe": "stub", "question": "q", "reference": "288", "response": "a"}])

    def test_an_agent_is_scored_once_at_its_end(self) -> None:
        made = environment(tools=True)
        made.reset(episode_id="e", citeward='{"question": "q"}', max_turns=8)
        first, last = self.play(made, "search", "a")
        self.assertEqual((first.text, first.reward, first.done), ("found", None, False))
        self.assertEqual((last.reward, last.done), (6.5, True))
        messages = [("assistant", "search"), ("tool", "found"), ("assistant", "a")]
        [body] = self.asked
        self.assertEqual([(one["role"], one["content"]) for one in body["messages"]], messages)
        self.assertEqual((made.state.episode_id, made.state.step_count), ("e", 2))

    def test_an_unscored_step_raises_and_may_be_sent_again(self) -> None:
        made = environment()
        made.reset(question="q")
        refusal = problem(503, "judge_refusal", retryable=False)
        lost, found = self.play(made, "a", "a", answers=(refusal, scored(6.5)))
        self.assertIsInstance(lost, Unscored)
        self.assertEqual((found.reward, made.state.step_count), (6.5, 1))

    def test_a_step_that_is_sent_again_does_not_search_again(self) -> None:
        made = environment(tools=True)
        made.reset(question="q", max_turns=2)
        refusal = problem(503, "judge_refusal", retryable=False)
        _, lost, found = self.play(made, "search 1", "search 2", "search 2", answers=(refusal, scored(6.5)))
        self.assertIsInstance(lost, Unscored)
        self.assertEqual((found.reward, made.searches), (6.5, ["search 1", "search 2"]))
        made.reset(question="q", max_turns=2)
        self.play(made, "search 2", "a")
        self.assertEqual(made.searches[2:], ["search 2"])

    def test_max_turns_of_a_client_is_a_count(self) -> None:
        for max_turns in (0, -1, 2.5, "8", True, None):
            with self.subTest(max_turns), self.assertRaisesRegex(BadRequest, "max_turns: expected a whole number"):
                environment().reset(question="q", max_turns=max_turns)

    def test_an_episode_begins_with_a_row_and_ends_once(self) -> None:
        made = environment()
        self.assertEqual((made.state.episode_id, made.state.step_count), (None, 0))
        with self.assertRaisesRegex(BadRequest, "question"):
            made.reset(reference="288")
        [early] = self.play(made, "a")
        self.assertIsInstance(early, BadRequest)
        made.reset(question="q")
        _, late = self.play(made, "a", "a")
        self.assertIsInstance(late, BadRequest)


if __name__ == "__main__":
    unittest.main()
