"""A metric of deepeval::

    from citeward.deepeval_metric import CitewardMetric

    evaluate(test_cases, [CitewardMetric(recipe="refiner-guarded", threshold=0.7)])

``input`` of a test case is the question, ``actual_output`` the answer, ``retrieval_context`` the sources ``S1``,
``S2``, and so on; ``metadata`` may have further fields of a row, by name. The score is the share of the recipe's
range, from 0 to 1. A test case that could not be scored raises ``Unscored``: with ``ErrorConfig(ignore_errors=True)``
deepeval reports an error and no score, else the evaluation ends. A wrong row, key or setting raises, too.

Contract: deepeval 4.3.1, ``deepeval/metrics/base_metric.py``. deepeval copies a metric for each test case: it passes
the attributes that are named like arguments to the constructor.
"""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric

from citeward.client import shared_client
from citeward.evaluation import rollout_of, share_of
from citeward.replies import Score
from citeward.settings import Judge, Recipe, Settings


class CitewardMetric(BaseMetric):  # type: ignore[misc]
    """Scores test cases. The arguments are settings (``citeward.settings``).

    ``threshold`` is the least score of a successful test case, ``name`` that of the metric; ``settings`` replaces the
    other settings.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        recipe: Recipe | None = None,
        judge: Judge | None = None,
        deadline_s: float | None = None,
        threshold: float = 0.5,
        name: str = "citeward",
        settings: Settings | None = None,
    ) -> None:
        self.threshold = threshold
        self.name = name
        self.settings = settings or Settings.of(
            url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s
        )

    @property
    def __name__(self) -> str:
        return self.name

    def measure(self, test_case: Any, *_: Any, **__: Any) -> float:
        """Returns the score of a test case and keeps it as ``score``, with the reward as ``reason``."""
        self._forget()
        return self._keep(shared_client(self.settings).score(_rollout(test_case)))

    async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float:
        """``measure`` without blocking the event loop."""
        self._forget()
        return self._keep(await shared_client(self.settings).score_async(_rollout(test_case)))

    def _forget(self) -> None:
        self.score, self.score_breakdown, self.reason, self.success, self.error = None, None, None, False, None

    def _keep(self, scored: Score) -> float:
        self.score = share_of(scored)
        self.score_breakdown = dict(scored.contributions)
        self.reason = f"the reward is {scored.reward:.3f}"
        self.success = self.is_successful()
        return self.score


def _rollout(test_case: Any) -> dict[str, Any]:
    rollout = rollout_of(test_case.actual_output, {"question": test_case.input}, test_case.metadata)
    if test_case.retrieval_context and not rollout.keys() & {"tool_output", "sources"}:
        texts = [getattr(context, "context", context) for context in test_case.retrieval_context]
        rollout["sources"] = [{"id": f"S{n}", "text": text} for n, text in enumerate(texts, start=1)]
    return rollout
