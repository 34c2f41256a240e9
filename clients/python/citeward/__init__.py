"""Citeward's HTTP scoring as a Python client and as the reward function of trainers.

``citeward.client`` calls the Worker; ``citeward.verl``, ``citeward.trl``, ``citeward.open_instruct``,
``citeward.slime``, ``citeward.verifiers``, ``citeward.openrlhf`` and ``citeward.inspect_scorer`` each implement the
contract of one framework. Standard library only. A reward is a finite float; an unscored sample is an exception,
``None`` or a masked sample, never a number.
"""

from citeward.client import Client
from citeward.errors import (
    BadRequest,
    CitewardError,
    FieldProblem,
    Misconfigured,
    Unauthorized,
    UnexpectedReply,
    Unscored,
)
from citeward.replies import Advantage, GroupScore, Score, StepAdvantages
from citeward.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Advantage",
    "BadRequest",
    "CitewardError",
    "Client",
    "FieldProblem",
    "GroupScore",
    "Misconfigured",
    "Score",
    "Settings",
    "StepAdvantages",
    "Unauthorized",
    "UnexpectedReply",
    "Unscored",
]
