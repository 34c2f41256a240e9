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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from citeward.client import shared_client
from citeward.errors import Misconfigured, UnexpectedReply
from citeward.fields import merged, read_object, response_text
from citeward.replies import Score
from citeward.runs import Visits, digest_of, placed
from citeward.settings import Settings

NAME = "citeward"

_visits = Visits()


@dataclass(frozen=True)
class VerificationResult:
    """The result type of open-instruct's verifiers; it reads ``score`` only."""

    score: float
    cost: float = 0.0
    reasoning: str | None = None


@dataclass
class VerifierConfig:
    """Empty configuration, required by open-instruct: all settings come from the environment."""

    @classmethod
    def from_args(cls, *arg_sources: Any) -> VerifierConfig:
        """Returns the configuration; open-instruct's arguments are ignored."""
        return cls()


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
            return self._result(shared_client(self.settings).score(row))

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
            return self._result(await shared_client(self.settings).score_async(row))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name}, weight={self.weight})"

    @contextlib.contextmanager
    def _placed(self, tokens: list[int], prediction: str, label: Any) -> Iterator[dict[str, Any]]:
        row = _fields(tokens, prediction, label)
        prompt = digest_of(label)
        group, sample = _visits.enter(prompt)
        try:
            yield placed(row, self.settings.run, {"step": None, "group": group, "sample": sample}, "")
        finally:
            _visits.leave(prompt)

    def _result(self, score: Score) -> VerificationResult:
        score = score.of_one_sample()
        if score.decided_by == "non_stop_penalty":
            raise Misconfigured(
                "the recipe applies non_stop_penalty, which open-instruct applies itself: switch it off"
            )
        if score.base is None:
            raise UnexpectedReply("the reply has a reward without a base")
        return VerificationResult(score=score.base)


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
            return (_remade, (self.settings, self.name, self.weight))

    return CitewardVerifierFunction


def _remade(settings: Settings, name: str, weight: float) -> CitewardVerifier:
    return register()(name=name, weight=weight, settings=settings)


def _fields(tokens: list[int], prediction: str, label: Any) -> dict[str, Any]:
    row = merged([("label", read_object(label, "label"))])
    return {"response_tokens": len(tokens), **row, "response": response_text(prediction)}
