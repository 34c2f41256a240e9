"""The judge plugin of ``citeward.verifiers``: a module of its own, because verifiers imports judges by module name.

Contract: PrimeIntellect-ai/verifiers a60a606e, ``verifiers/v1/utils/loaders.py``.
"""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf

from citeward.verifiers import reward


class CitewardJudge(vf.Judge):  # type: ignore[misc]
    """Scores a trace with a Citeward deployment; calls no model itself."""

    async def score(self, task: Any, trace: Any) -> dict[str, float]:
        """Returns the contributions; verifiers adds them up, each times the judge's ``weight``."""
        return await reward(task, trace)


__all__ = ["CitewardJudge"]
