"""A verifier for open-instruct and its forks (dr-tulu).

open-instruct multiplies a verifier's score by ``verification_reward`` and its weight, and applies ``non_stop_penalty``
itself. So the score here is the recipe's base, before scale and penalties. It is in [0, 1] for the refiner recipes; an
additive mix or dr-tulu's signed rubrics can leave that range and are not clamped.

open-instruct cannot represent an unscored sample, so such a sample raises ``Unscored``, which ends the step.

Usage, in the script that starts the training::

    import citeward.open_instruct
    citeward.open_instruct.register()      # before open_instruct builds its verifiers

Rows name the verifier in their ``dataset`` column (``citeward``) and contain the fields as JSON text in
``ground_truth``. Settings come from the environment.

**Evolving rubrics.** open-instruct evolves only rows that say ``query`` or ``Question`` and ``rubrics``, and hands the
verifier ``{query, rubrics, rubrics_types}`` at the row's next visit. The verifier reads both names as the question.
With ``--apply_evolving_rubric_reward`` it refuses rows that open-instruct would leave as they are without a word.

With ``CITEWARD_RUN`` the rollouts are recorded. open-instruct passes neither step nor ids to verifiers, so the place is
inferred: the step is ``null``; calls with the same label that overlap in time are one group, because open-instruct
scores the responses to a prompt together; a later visit of the prompt is another group. Evaluation cannot be told from
training: its rows need ``"run": {"split": "eval"}`` in the label.

Contract: allenai/open-instruct e6c3044a,
``open_instruct/ground_truth_utils.py`` (``VerifierFunction``, ``build_all_verifiers``, ``apply_verifiable_reward``).
"""

from __future__ import annotations

import contextlib
import importlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from citeward.client import shared_client
from citeward.dr_tulu import rubric_rewards
from citeward.errors import BadRequest, FieldProblem, Misconfigured, UnexpectedReply
from citeward.fields import merged, read_object, sample_fields
from citeward.replies import Score
from citeward.runs import Visits, digest_of, placed
from citeward.settings import Settings

NAME = "citeward"

_EVOLVING_QUESTIONS = ("query", "Question")
_QUESTIONS = ("question", *_EVOLVING_QUESTIONS)
#: open-instruct writes "evolving", dr-tulu "adaptive".
_TYPES = ("persistent", "evolving", "adaptive")
_DESCRIPTIONS = ("description", "rubric_item", "Ingredient")

_visits = Visits()


@dataclass(frozen=True)
class VerificationResult:
    """The result type of open-instruct's verifiers, which reads ``score`` only; dr-tulu also reads ``log_values``.

    ``reasoning`` is the JSON of the contributions: numbers that add up to the reward of the recipe.
    """

    score: float
    cost: float = 0.0
    reasoning: str | None = None
    #: ``per_rubric_rewards``, by which dr-tulu retires criteria; ``None`` if the recipe judges no rubrics. A criterion
    #: without a verdict is absent.
    log_values: dict[str, Any] | None = None


@dataclass
class VerifierConfig:
    """What the verifier reads of open-instruct's arguments; its settings come from the environment."""

    #: ``--apply_evolving_rubric_reward``
    evolves: bool = False

    @classmethod
    def from_args(cls, *arg_sources: Any) -> VerifierConfig:
        """Reads the arguments that open-instruct passes to every verifier."""
        return cls(any(getattr(source, "apply_evolving_rubric_reward", False) is True for source in arg_sources))


class CitewardVerifier:
    """Verifies predictions with a Citeward deployment.

    Has the attributes and methods that open-instruct uses of a ``VerifierFunction``; ``register`` creates the actual
    subclass.
    """

    def __init__(
        self,
        verifier_config: Any | None = None,
        *,
        name: str = NAME,
        weight: float = 1.0,
        settings: Settings | None = None,
    ) -> None:
        self.name = name
        self.weight = weight
        self.verifier_config = verifier_config
        self.settings = settings or Settings.of()

    @classmethod
    def get_config_class(cls) -> type:
        """The class whose ``from_args`` open-instruct calls before it makes the verifier."""
        return VerifierConfig

    def __call__(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> VerificationResult:
        """Scores one prediction.

        Args:
            tokenized_prediction: its length is the row's ``response_tokens``.
            prediction: the decoded response.
            label: the row's fields, as JSON text or as a mapping.
            query: not used; the label contains the question without chat template and system prompt.
            rollout_state: not used.

        Raises:
            Unscored: the reward could not be determined.
            CitewardError: the label, the key or a setting is wrong.
        """
        with self._placed(tokenized_prediction, prediction, label) as row:
            return self._result(shared_client(self.settings).score(row), row)

    async def async_call(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> VerificationResult:
        """``__call__`` without blocking the event loop."""
        with self._placed(tokenized_prediction, prediction, label) as row:
            return self._result(await shared_client(self.settings).score_async(row), row)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name}, weight={self.weight})"

    @contextlib.contextmanager
    def _placed(self, tokens: list[int], prediction: str, label: Any) -> Iterator[dict[str, Any]]:
        row = _fields(tokens, prediction, label, getattr(self.verifier_config, "evolves", False))
        prompt = digest_of(label)
        group, sample = _visits.enter(prompt)
        try:
            yield placed(row, self.settings.run, {"step": None, "group": group, "sample": sample}, "")
        finally:
            _visits.leave(prompt)

    def _result(self, score: Score, row: Mapping[str, Any]) -> VerificationResult:
        score = score.of_one_sample()
        if score.decided_by == "non_stop_penalty":
            raise Misconfigured(
                "the recipe applies non_stop_penalty, which open-instruct applies itself: switch it off"
            )
        if score.base is None:
            raise UnexpectedReply("the reply has a reward without a base")
        log_values = None
        if score.reply.get("family") == "dr-tulu":
            log_values = {"per_rubric_rewards": rubric_rewards(row["question"], score.reply["criteria"])}
        return VerificationResult(score.base, reasoning=json.dumps(dict(score.contributions)), log_values=log_values)


def register() -> type[CitewardVerifier]:
    """Registers the verifier with open-instruct. Idempotent.

    open-instruct creates one verifier for each direct subclass of its ``VerifierFunction``, so defining the subclass is
    enough.

    Returns:
        The subclass; ``CitewardVerifier`` itself if open-instruct is not installed.
    """
    try:
        module = importlib.import_module("open_instruct.ground_truth_utils")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "open_instruct":
            raise
        return CitewardVerifier
    base: Any = module.VerifierFunction
    for subclass in base.__subclasses__():
        if issubclass(subclass, CitewardVerifier):
            made: type[CitewardVerifier] = subclass
            return made

    class CitewardVerifierFunction(CitewardVerifier, base):  # type: ignore[misc]
        """``CitewardVerifier`` as a subclass that open-instruct discovers."""

        def __reduce__(self) -> tuple[Any, ...]:
            # Ray pickles verifiers into processes where this class must be created first.
            return (_remade, (self.settings, self.name, self.weight, self.verifier_config))

    return CitewardVerifierFunction


def _remade(settings: Settings, name: str, weight: float, config: Any) -> CitewardVerifier:
    return register()(config, name=name, weight=weight, settings=settings)


def _fields(tokens: list[int], prediction: str, label: Any, evolves: bool) -> dict[str, Any]:
    row = merged([("label", read_object(_native(label, evolves), "label"))])
    return sample_fields({"response_tokens": len(tokens), **row}, prediction)


def _native(label: Any, evolves: bool) -> Any:
    """Renames open-instruct's fields of a label: its question, the types and the descriptions of its criteria."""
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    if isinstance(label, str):
        try:
            label = json.loads(label)
        except (ValueError, RecursionError) as error:
            raise _problem("label", f"expected a mapping or the JSON text of an object; {error}") from None
    if not isinstance(label, Mapping):
        return label
    questions = [label[name] for name in _QUESTIONS if label.get(name) is not None]
    if any(question != questions[0] for question in questions):
        raise _problem("label", f"{', '.join(_QUESTIONS)} differ; give one of them")
    row = {name: value for name, value in label.items() if name not in (*_QUESTIONS, "rubrics_types")}
    if questions:
        row["question"] = questions[0]
    criteria, types = label.get("rubrics"), label.get("rubrics_types")
    if evolves and (not isinstance(criteria, list) or all(label.get(name) is None for name in _EVOLVING_QUESTIONS)):
        raise _problem(
            "label",
            "--apply_evolving_rubric_reward evolves only rows with query (or Question) and the list rubrics; "
            "rename the row's fields, or leave the option out",
        )
    if types is not None:
        if not isinstance(types, list) or not isinstance(criteria, list) or len(types) != len(criteria):
            raise _problem("label.rubrics_types", "expected one type per entry of rubrics")
        for position, one in enumerate(types):
            if one not in _TYPES:
                raise _problem(f"label.rubrics_types[{position}]", f"expected {' or '.join(_TYPES)}")
    if isinstance(criteria, list):
        # open-instruct, too, skips criteria without a description.
        row["rubrics"] = [one for one in map(_criterion, criteria) if not isinstance(one, dict) or one["description"]]
    return row


def _criterion(criterion: Any) -> Any:
    if not isinstance(criterion, Mapping):
        return criterion
    described = next((criterion[name] for name in _DESCRIPTIONS if criterion.get(name)), "")
    return {**{k: v for k, v in criterion.items() if k not in _DESCRIPTIONS}, "description": described}


def _problem(path: str, message: str) -> BadRequest:
    return BadRequest(f"{path}: {message}", fields=[FieldProblem(path, message)])
