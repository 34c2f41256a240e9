"""Places in a run, and the runs that the trainers' clients record in a real Worker."""

from __future__ import annotations

import abc
import asyncio
import importlib.util
import json
import sys
import threading
import types
import unittest
import urllib.request
from types import SimpleNamespace
from typing import Any
from unittest import mock

import citeward.open_instruct
import citeward.slime
import citeward.verl
import citeward.verl_reward_loop
from citeward.client import Client
from citeward.errors import BadRequest, Misconfigured
from citeward.runs import Visits, digest_of, placed
from citeward.settings import Settings
from citeward.trl import async_reward_function, reward_function
from citeward.verl_reward_loop import RewardManager
from tests.live import RECIPE, LiveTestCase, citeward_environment, label_of, rows
from tests.stub import Asked, Stub, scored
from tests.test_slime import Sample, arguments

KNOWN = {"step": 3, "group": "g", "sample": 0}


class Placing(unittest.TestCase):
    def test_a_row_without_a_run_stays_as_it_is(self) -> None:
        self.assertEqual(placed({"question": "q"}, None, KNOWN, ""), {"question": "q"})
        self.assertEqual(placed({"question": "q", "run": {"split": "eval"}}, None, KNOWN, ""), {"question": "q"})

    def test_the_label_overrides_what_the_trainer_knows(self) -> None:
        self.assertEqual(placed({}, "r", KNOWN, "")["run"], {"id": "r", **KNOWN})
        self.assertEqual(placed({"run": "other"}, "r", KNOWN, "")["run"], {"id": "other", **KNOWN})
        self.assertEqual(placed({"run": {"group": "p", "sample": 7}}, "r", KNOWN, "")["run"]["group"], "p")

    def test_evaluation_is_a_run_of_its_own(self) -> None:
        for split in ("eval", "test", "validation"):
            self.assertEqual(placed({"run": {"split": split}}, "r", KNOWN, "")["run"], {"id": "r-eval", **KNOWN})
        self.assertEqual(placed({}, "r", {**KNOWN, "split": "train"}, "")["run"], {"id": "r", **KNOWN})

    def test_what_is_unknown_is_named(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "run: group and sample of a rollout are unknown here; do so"):
            placed({}, "r", {"step": None}, "do so")

    def test_a_malformed_run_is_named(self) -> None:
        for run, message in (({"steps": 1}, "run.steps: unknown"), ({"step": 1.5}, "run.step: expected"), (7, "run: ")):
            with self.assertRaisesRegex(BadRequest, message):
                placed({"run": run}, "r", KNOWN, "")

    def test_an_id_that_no_run_can_have_is_refused_early(self) -> None:
        for run in ("", "a b", "x" * 124, 7):
            with self.subTest(run), citeward_environment(), self.assertRaisesRegex(Misconfigured, "run: expected 1 to"):
                Settings.of(url="http://h", run=run)

    def test_a_wrong_store_text_is_refused_early(self) -> None:
        for store_text in ("yes", 1, "TRUE"):
            with self.subTest(store_text), citeward_environment(), self.assertRaisesRegex(
                Misconfigured, "store_text: expected true or false"
            ):
                Settings.of(url="http://h", store_text=store_text)

    def test_calls_that_overlap_are_a_group_and_later_ones_another(self) -> None:
        visits = Visits()
        first = [visits.enter("p"), visits.enter("p"), visits.enter("other")]
        for prompt in ("p", "p", "other"):
            visits.leave(prompt)
        second = visits.enter("p")
        self.assertEqual([sample for _, sample in [*first, second]], [0, 1, 0, 0])
        self.assertEqual(len({group for group, _ in [*first, second]}), 3)
        self.assertEqual(first[0][0], first[1][0])


class Tokenizer:
    """Decodes ids that are characters."""

    def decode(self, ids: Any, skip_special_tokens: bool) -> str:
        return "".join(chr(one) for one in ids)


class Ids(list):
    """As much of a tensor as the manager uses."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def sum(self) -> int:
        return sum(self)

    def __getitem__(self, key: Any) -> Any:
        taken = super().__getitem__(key)
        return Ids(taken) if isinstance(key, slice) else taken


class Data(list):
    """As much of a DataProto as the manager uses."""

    def __getitem__(self, key: Any) -> Any:
        return Data(super().__getitem__(key)) if isinstance(key, slice) else super().__getitem__(key)


def verl_data(row: dict[str, Any], response: str, padding: int = 3, **values: Any) -> Data:
    """A sample as the reward loop hands it to its manager, with a padded response."""
    ids = Ids([ord(character) for character in response] + [0] * padding)
    item = SimpleNamespace(
        batch={"responses": ids, "attention_mask": Ids([1] * (5 + len(response)) + [0] * padding)},
        non_tensor_batch={
            "data_source": "citeward",
            "reward_model": {"ground_truth": json.dumps(row)},
            "extra_info": {"index": 7, "split": "train"},
            "__num_turns__": 4,
            "raw_prompt": [{"role": "user", "content": "How long?"}],
            **values,
        },
    )
    return Data([item])


def verl_config(**reward_kwargs: Any) -> dict[str, Any]:
    return {"reward": {"custom_reward_function": {"path": None, "reward_kwargs": reward_kwargs}}}


class Trl:
    """The attributes of a ``GRPOTrainer`` that its ``log_metric`` leads to."""

    def __init__(self, process: int, generations: int, training: bool = True) -> None:
        self.accelerator = SimpleNamespace(process_index=process)
        self.num_generations = generations
        self.num_generations_eval = 1
        self.model = SimpleNamespace(training=training)

    def _log_metric(self, name: str, value: float) -> None:
        pass

    def score(self, function: Any, step: int, prompts: list[str], **columns: Any) -> None:
        function(
            prompts=prompts,
            completions=["r"] * len(prompts),
            completion_ids=[[1]] * len(prompts),
            trainer_state=SimpleNamespace(global_step=step),
            log_metric=self._log_metric,
            log_extra=None,
            **{"question": prompts, **columns},
        )


class Stubbed(unittest.TestCase):
    """What each client sends as ``run``."""

    def setUp(self) -> None:
        stub = Stub(lambda n, asked: scored())
        stub.__enter__()
        self.addCleanup(stub.__exit__)
        environment = citeward_environment(CITEWARD_URL=stub.url, CITEWARD_RECIPE="stub", CITEWARD_RUN="r")
        environment.start()
        self.addCleanup(environment.stop)
        self.asked: list[Asked] = stub.asked
        self.url = stub.url

    def places(self) -> list[tuple[Any, ...]]:
        runs = [asked.body["run"] for asked in self.asked]
        self.asked.clear()
        return sorted(((run["id"], run["step"], run["group"], run["sample"]) for run in runs), key=repr)

    def kept(self) -> list[Any]:
        kept = [asked.body.get("store_text") for asked in self.asked]
        self.asked.clear()
        return kept

    def test_text_is_kept_only_on_request_and_only_of_recorded_rollouts(self) -> None:
        Trl(0, 1).score(reward_function(), 5, ["a"])
        self.assertEqual(self.kept(), [None])
        Trl(0, 1).score(reward_function(store_text=True), 5, ["a"])
        self.assertEqual(self.kept(), [True])
        for text, expected in (("true", True), ("false", None)):
            with citeward_environment(CITEWARD_URL=self.url, CITEWARD_RECIPE="stub", CITEWARD_STORE_TEXT=text):
                Trl(0, 1).score(reward_function(run="r"), 5, ["a"])
                self.assertEqual(self.kept(), [expected])
                Trl(0, 1).score(reward_function(), 5, ["a"])
                self.assertEqual(self.kept(), [None])
        with Client(store_text=True) as client:
            client.score({"question": "q", "response": "x", "run": {**KNOWN, "id": "r"}, "store_text": False})
            client.score({"question": "q", "response": "x", "run": {**KNOWN, "id": "r"}})
        self.assertEqual(self.kept(), [False, True])

    def test_trl_numbers_groups_over_all_processes(self) -> None:
        # Two processes with six rows each and four generations: the second group lies in both.
        for process, prompts in ((0, ["a"] * 4 + ["b"] * 2), (1, ["b"] * 2 + ["b"] * 4)):
            Trl(process, 4).score(reward_function(), 5, prompts)
        expected = [("r", 5, f"0-{position // 4}", position) for position in range(12)]
        self.assertEqual(self.places(), sorted(expected, key=repr))

    def test_trl_keeps_epochs_batches_and_evaluation_apart(self) -> None:
        function = reward_function()
        for step, training in ((5, True), (5, False), (5, False), (5, True), (6, True)):
            Trl(0, 1, training).score(function, step, ["a"])
        self.assertEqual(
            self.places(),
            [
                ("r", 5, "0-0", 0),
                ("r", 5, "1-0", 0),
                ("r", 6, "0-0", 0),
                ("r-eval", 5, "0-0", 0),
                ("r-eval", 5, "1-0", 0),
            ],
        )

    def test_trl_without_its_own_log_metric_groups_equal_rows(self) -> None:
        with mock.patch.dict("os.environ", {"RANK": "1"}):
            reward_function()(
                prompts=["a", "a", "b"],
                completions=["r"] * 3,
                trainer_state=SimpleNamespace(global_step=2),
                question=["a", "a", "b"],
            )
        groups = [f"0-{digest_of(name, {'question': name})}" for name in "aab"]
        expected = [("r", 2, group, 3 + position) for position, group in enumerate(groups)]
        self.assertEqual(self.places(), sorted(expected, key=repr))

    def test_trl_async_has_a_group_a_call_and_no_step(self) -> None:
        function = async_reward_function()
        for _ in range(2):
            asyncio.run(function(prompts=["a", "a"], completions=["r", "r"], question=["a", "a"]))
        places = self.places()
        self.assertEqual([(run, step) for run, step, _, _ in places], [("r", None)] * 4)
        self.assertEqual(len({group for _, _, group, _ in places}), 2)
        self.assertEqual(sorted(sample for _, _, _, sample in places), [0, 0, 1, 1])

    def test_verl_functions_do_not_know_the_place(self) -> None:
        with self.assertRaisesRegex(Misconfigured, "step and group and sample .* citeward.verl_reward_loop"):
            citeward.verl.compute_score("d", "r", {"question": "q"}, {})
        label = {"question": "q", "run": {"step": 1, "group": "g", "sample": 2}}
        citeward.verl.compute_score("d", "r", label, {})
        citeward.verl.compute_score_batch(["d"], ["r"], ["-"], [{"citeward": label}])
        self.assertEqual(self.places(), [("r", 1, "g", 2)] * 2)

    def test_verl_manager_under_v1(self) -> None:
        manager = RewardManager(verl_config(run="kwargs"), Tokenizer(), compute_score=print, reward_router_address=None)
        for split in ("train", "test"):
            data = verl_data(
                {"reference": "288"}, "288", uid="u", session_id=2, global_steps=9, extra_info={"split": split}
            )
            result = asyncio.run(manager.run_single(data))
            self.assertEqual(result["reward_score"], 6.5)
            self.assertEqual(result["reward_score"], result["reward_extra_info"]["score"])
        body = self.asked[0].body
        self.assertEqual((body["response"], body["response_tokens"], body["num_turns"]), ("288", 3, 4))
        self.assertEqual((body["reference"], body["question"]), ("288", "How long?"))
        self.assertEqual(self.places(), [("kwargs", 9, "u", 2), ("kwargs-eval", 9, "u", 2)])

    def test_verl_manager_is_verls_own_kind_where_verl_is_installed(self) -> None:
        class RewardManagerBase(abc.ABC):
            def __init__(self, config: Any, compute_score: Any, tokenizer: Any) -> None:
                raise AssertionError("its arguments differ between releases")

            @abc.abstractmethod
            async def run_single(self, data: Any) -> Any: ...

        base = types.ModuleType("verl.experimental.reward_loop.reward_manager.base")
        base.RewardManagerBase = RewardManagerBase  # type: ignore[attr-defined]
        # verl loads the file under a name of its own.
        spec = importlib.util.spec_from_file_location("custom_module", citeward.verl_reward_loop.__file__)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with mock.patch.dict(sys.modules, {base.__name__: base}):
            spec.loader.exec_module(module)
        manager = module.RewardManager(config=verl_config(), tokenizer=Tokenizer(), compute_score=print)
        self.assertIsInstance(manager, RewardManagerBase)
        data = verl_data({"question": "q"}, "r", uid="u", session_id=0, global_steps=1)
        self.assertEqual(asyncio.run(manager.run_single(data))["reward_score"], 6.5)

    def test_verl_manager_before_v1_numbers_samples_itself(self) -> None:
        manager = RewardManager(config=verl_config(), tokenizer=Tokenizer(), compute_score=None)
        for uid in ("u", "u", "w"):
            asyncio.run(manager.run_single(verl_data({"question": "q"}, "r", uid=uid)))
        places = self.places()
        self.assertEqual([place[:3] for place in places], [("r", None, "u")] * 2 + [("r", None, "w")])
        self.assertEqual(len({sample for _, _, _, sample in places}), 3)

    def test_verl_manager_leaves_the_trainers_extra_info_alone(self) -> None:
        data = verl_data({"question": "q"}, "r", uid="u", tool_extra_fields={"citeward": {"reference": "x"}})
        asyncio.run(RewardManager(verl_config(), Tokenizer()).run_single(data))
        self.assertEqual(data[0].non_tensor_batch["extra_info"], {"index": 7, "split": "train"})
        self.assertEqual(self.asked[0].body["reference"], "x")

    def test_slime_with_and_without_its_hook(self) -> None:
        label = {"question": "q"}

        def sample(index: int, group_index: int | None = None) -> Sample:
            made = Sample(response="r", label=label)
            made.index, made.group_index = index, group_index  # type: ignore[attr-defined]
            return made

        train, evaluation, unhooked = sample(17, 4), sample(3), sample(18, 4)
        citeward.slime.stamp_run(None, train, rollout_id=6, evaluation=False)
        citeward.slime.stamp_run(None, evaluation, rollout_id=6, evaluation=True)
        for one in (train, evaluation, unhooked):
            asyncio.run(citeward.slime.custom_rm(arguments(), one))
        self.assertEqual(
            self.places(),
            [("r", 6, 4, 17), ("r", None, 4, 18), ("r-eval", 6, digest_of("p", label), 3)],
        )
        fanned = [sample(1, 2), sample(1, 2)]
        rewards = asyncio.run(citeward.slime.custom_rm(arguments(), [fanned, [sample(5, 2)]]))
        self.assertEqual(rewards, [[6.5, 6.5], [6.5]])
        self.assertEqual(self.places(), [("r", None, 2, "1.1"), ("r", None, 2, 1), ("r", None, 2, 5)])

    def test_open_instruct_infers_groups_from_overlapping_calls(self) -> None:
        verifier = citeward.open_instruct.CitewardVerifier()
        label = json.dumps({"question": "q"})

        async def visit() -> None:
            await asyncio.gather(*(verifier.async_call([1], text, label) for text in ("a", "b", "b")))

        for _ in range(2):
            asyncio.run(visit())
        places = self.places()
        self.assertEqual({place[:2] for place in places}, {("r", None)})
        self.assertEqual(sorted(sample for _, _, _, sample in places), [0, 0, 1, 1, 2, 2])
        self.assertEqual(len({group for _, _, group, _ in places}), 2)


class Live(LiveTestCase):
    """Runs as the Worker keeps them."""

    def rollouts(self, run: str) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.up}/v1/runs/{run}/rollouts", timeout=30) as response:
            return json.load(response)["rollouts"]

    def keeps_text(self, run: str) -> bool:
        with urllib.request.urlopen(f"{self.up}/v1/runs/{run}", timeout=30) as response:
            return json.load(response)["store_text"]

    def test_a_run_that_keeps_text(self) -> None:
        row = rows()[0]
        function = reward_function(url=self.up, recipe=RECIPE, run="python-text", store_text=True, deadline_s=20)
        Trl(0, 1).score(function, 0, ["p"], **{name: [value] for name, value in label_of(row).items()})
        self.assertTrue(self.keeps_text("python-text"))

    def test_a_run_of_trl_over_epochs(self) -> None:
        row = rows()[0]
        function = reward_function(url=self.up, recipe=RECIPE, run="python-trl", deadline_s=20)
        for step in (0, 1):
            for _ in range(2):
                columns = {name: [value] * 2 for name, value in label_of(row).items()}
                Trl(0, 2).score(function, step, ["p"] * 2, **columns)
        recorded = [(one["step"], one["group"], one["sample"], one["grouping"]) for one in self.rollouts("python-trl")]
        expected = [(s, f"{b}-0", str(i), "given") for s in (0, 1) for b in (0, 1) for i in (0, 1)]
        self.assertEqual(sorted(recorded), sorted(expected))

    def test_a_run_without_steps(self) -> None:
        row = rows()[0]
        with self.environment(self.up, CITEWARD_RUN="python-open-instruct"):
            verifier = citeward.open_instruct.CitewardVerifier()
            both = [threading.Thread(target=verifier, args=([1], row["response"], label_of(row))) for _ in range(2)]
            for thread in both:
                thread.start()
            for thread in both:
                thread.join()
            verifier([1], row["response"], label_of(row))
        recorded = self.rollouts("python-open-instruct")
        self.assertEqual({one["step"] for one in recorded}, {None})
        self.assertEqual(len(recorded), 3)

    def test_a_run_of_the_verl_manager(self) -> None:
        row = rows()[0]
        manager = RewardManager(
            verl_config(url=self.up, recipe=RECIPE, run="python-verl", deadline_s=20), Tokenizer()
        )
        data = verl_data(label_of(row), row["response"], uid="u", session_id=1, global_steps=4)
        result = asyncio.run(manager.run_single(data))
        [recorded] = self.rollouts("python-verl")
        self.assertFalse(self.keeps_text("python-verl"))
        self.assertEqual((recorded["step"], recorded["group"], recorded["sample"]), (4, "u", "1"))
        self.assertEqual(recorded["reward"], result["reward_score"])


if __name__ == "__main__":
    unittest.main()
