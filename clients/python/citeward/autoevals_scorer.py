"""A scorer of autoevals, also for Braintrust's ``Eval``::

    from citeward.autoevals_scorer import CitewardScorer

    Eval("answers", data=data, task=task, scores=[CitewardScorer(recipe="refiner-guarded")])

The fields of a row are in ``input`` (or it is the question), ``expected`` and ``metadata``, by name. The score is the
share of the recipe's range, from 0 to 1. An example that could not be scored has the score ``None``, which averages
leave out; a wrong row, key or setting raises.

Contract: autoevals 0.4.1, ``autoevals/score.py``.
"""

from __future__ import annotations

from typing import Any

from autoevals import Score
from autoevals.score import Scorer

from citeward.client import shared_client
from citeward.errors import Unscored
from citeward.evaluation import rollout_of, share_of
from citeward.settings import Judge, Recipe, Settings


class CitewardScorer(Scorer):  # type: ignore[misc]
    """Scores examples. The arguments are settings (``citeward.settings``); ``name`` is that of the score."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        recipe: Recipe | None = None,
        judge: Judge | None = None,
        deadline_s: float | None = None,
        name: str = "citeward",
    ) -> None:
        self.name = name
        self._settings = Settings.of(url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s)

    def _name(self) -> str:
        return self.name

    def _run_eval_sync(
        self, output: Any, expected: Any = None, input: Any = None, metadata: Any = None, **_: Any
    ) -> Score:
        rollout = _rollout(output, expected, input, metadata)
        try:
            return self._score(shared_client(self._settings).score(rollout))
        except Unscored as unscored:
            return self._unscored(unscored)

    async def _run_eval_async(
        self, output: Any, expected: Any = None, input: Any = None, metadata: Any = None, **_: Any
    ) -> Score:
        rollout = _rollout(output, expected, input, metadata)
        try:
            return self._score(await shared_client(self._settings).score_async(rollout))
        except Unscored as unscored:
            return self._unscored(unscored)

    def _score(self, scored: Any) -> Score:
        metadata = {"reward": scored.of_one_sample().reward, "contributions": dict(scored.contributions)}
        return Score(name=self.name, score=share_of(scored), metadata=metadata)

    def _unscored(self, unscored: Unscored) -> Score:
        return Score(name=self.name, score=None, metadata={"unscored_reason": unscored.reason})


def _rollout(output: Any, expected: Any, given: Any, metadata: Any) -> dict[str, Any]:
    return rollout_of(output, {"question": given} if isinstance(given, str) else given, expected, metadata)
