"""Evaluators for openevals and LangSmith::

    from citeward.openevals_evaluator import citeward_evaluator

    evaluate(target, data=data, evaluators=[citeward_evaluator(recipe="refiner-guarded")])

The fields of a row are in ``inputs`` (or they are the question) and ``reference_outputs``, by name. The score is the
share of the recipe's range, from 0 to 1. An answer that could not be scored raises ``Unscored``: LangSmith records the
evaluator as failed, and a simulation of openevals has no result of it. A wrong row, key or setting raises, too.

Contract: openevals 0.2.2, ``openevals/types.py`` (``SimpleEvaluator``); the package need not be installed.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Callable

from citeward.client import shared_client
from citeward.evaluation import rollout_of, share_of
from citeward.replies import Score
from citeward.settings import Judge, Recipe, Settings

Result = dict[str, Any]


def citeward_evaluator(
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    name: str = "citeward",
) -> Callable[..., Result]:
    """Creates an evaluator. The arguments are settings (``citeward.settings``); ``name`` is the key of its results."""
    settings = Settings.of(url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s)

    def evaluator(inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **_: Any) -> Result:
        return _result(name, shared_client(settings).score(_rollout(inputs, outputs, reference_outputs)))

    evaluator.__name__ = name
    return evaluator


def citeward_async_evaluator(
    url: str | None = None,
    api_key: str | None = None,
    recipe: Recipe | None = None,
    judge: Judge | None = None,
    deadline_s: float | None = None,
    name: str = "citeward",
) -> Callable[..., Awaitable[Result]]:
    """Creates an evaluator for ``aevaluate`` and ``run_multiturn_simulation_async``, like ``citeward_evaluator``."""
    settings = Settings.of(url=url, api_key=api_key, recipe=recipe, judge=judge, deadline_s=deadline_s)

    async def evaluator(inputs: Any = None, outputs: Any = None, reference_outputs: Any = None, **_: Any) -> Result:
        return _result(name, await shared_client(settings).score_async(_rollout(inputs, outputs, reference_outputs)))

    evaluator.__name__ = name
    return evaluator


def _rollout(inputs: Any, outputs: Any, reference_outputs: Any) -> dict[str, Any]:
    return rollout_of(outputs, {"question": inputs} if isinstance(inputs, str) else inputs, reference_outputs)


def _result(name: str, scored: Score) -> Result:
    metadata = {"reward": scored.of_one_sample().reward, "contributions": dict(scored.contributions)}
    return {"key": name, "score": share_of(scored), "comment": None, "metadata": metadata}
