"""What you measure of an answer beside its reward: an outcome, and metrics by name. A run keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from citeward.errors import Misconfigured
from citeward.fields import measured

#: A function with the arguments and the result of a reward function of TRL, whose numbers are kept and never paid.
Measure = Callable[..., Sequence[Optional[float]]]


class Measures:
    """Functions that measure a batch. Picklable if they are."""

    def __init__(self, by_name: Mapping[str | None, Measure] | None = None) -> None:
        """``by_name``: functions by the name of a metric; ``None`` names the outcome."""
        self._by_name = dict(by_name or {})

    @classmethod
    def given(cls, outcome: Measure | None, metrics: Mapping[str, Measure] | None) -> Measures:
        """Raises ``Misconfigured`` unless all of them are functions."""
        by_name: dict[str | None, Measure] = dict(metrics or {})
        if outcome is not None:
            by_name[None] = outcome
        for name, measure in by_name.items():
            if not callable(measure):
                raise Misconfigured(f"{_words(name)}: expected a function with the arguments of a reward function")
        return cls(by_name)

    def of(self, *, completions: Sequence[Any], **given: Any) -> list[dict[str, Any]]:
        """The fields ``outcome`` and ``metrics`` of each sample, as far as they are measured."""
        known: list[dict[str, Any]] = [{} for _ in completions]
        for name, measure in self._by_name.items():
            values = list(measure(completions=completions, **given))
            if len(values) != len(known):
                raise Misconfigured(f"{_words(name)}: expected {len(known)} numbers, got {len(values)}")
            for fields, value in zip(known, values):
                number = measured(value, _words(name))
                if name is None:
                    fields["outcome"] = number
                else:
                    fields.setdefault("metrics", {})[name] = number
        return known


def _words(name: str | None) -> str:
    return "outcome" if name is None else f"metrics[{name!r}]"
