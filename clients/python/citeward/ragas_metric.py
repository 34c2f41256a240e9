"""A metric in the style of ragas: an object with a name that scores one sample::

    from citeward.ragas_metric import CitewardMetric

    metric = CitewardMetric(url="http://127.0.0.1:8799", recipe="refiner-guarded")
    value = await metric.single_turn_ascore(sample)

``user_input`` of a sample is the question, ``response`` the answer, and ``retrieved_contexts`` are the sources ``S1``,
``S2``, …. ``row`` adds further fields.

The value is the share of the recipe's range, from 0 to 1. A sample that could not be scored is ``nan``, so leave it out
of means; a wrong row, key or setting raises. The fields of samples and the method are those of ragas
(``SingleTurnSample``, ``SingleTurnMetric.single_turn_ascore``); the class descends from none of ragas, which need not be
installed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any

from citeward.client import shared_client
from citeward.errors import Unscored
from citeward.evaluation import share_of
from citeward.settings import Judge, Recipe, Settings


class CitewardMetric:
    """Scores samples of ragas. The arguments are settings (``citeward.settings``).

    ``row`` maps a sample to further fields of ``POST /v1/score``, such as ``positive_rubrics``.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        recipe: Recipe | None = None,
        judge: Judge | None = None,
        deadline_s: float | None = None,
        row: Callable[[Any], Mapping[str, Any]] | None = None,
        name: str = "citeward",
    ) -> None:
        self.name = name
        self._settings = Settings.of(url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s)
        self._row = row

    async def single_turn_ascore(self, sample: Any, callbacks: Any = None, timeout: float | None = None) -> float:
        """Returns the score of a sample from 0 to 1, or ``nan`` if there is none."""
        request = {**rollout_of(sample), **({} if self._row is None else self._row(sample))}
        try:
            scored = await shared_client(self._settings).score_async(request)
        except Unscored:
            return math.nan
        return share_of(scored)

    def single_turn_score(self, sample: Any, callbacks: Any = None) -> float:
        """Like ``single_turn_ascore``, for callers without an event loop."""
        return asyncio.run(self.single_turn_ascore(sample, callbacks))


def rollout_of(sample: Any) -> dict[str, Any]:
    """The fields of a rollout that a sample has."""
    contexts = getattr(sample, "retrieved_contexts", None) or []
    rollout: dict[str, Any] = {
        "question": getattr(sample, "user_input", None),
        "response": getattr(sample, "response", None),
        "sources": [{"id": f"S{n}", "text": text} for n, text in enumerate(contexts, start=1)] or None,
    }
    return {name: value for name, value in rollout.items() if value is not None}
