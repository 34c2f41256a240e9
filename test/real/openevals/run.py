"""The documented evaluator in openevals's simulation and LangSmith's evaluate, which uploads nothing."""

import os
import uuid
from datetime import datetime, timezone

os.environ.update(LANGSMITH_API_KEY="none", LANGSMITH_TRACING="false")

from documented import BAD, DOWN_URL, GOOD, ROW, URL
from langsmith.evaluation import evaluate
from langsmith.schemas import Example
from openevals.simulators import run_multiturn_simulation

from citeward.openevals_evaluator import citeward_evaluator


def evaluator(url):
    return citeward_evaluator(url=url, recipe="refiner-guarded", deadline_s=5)


def experiment(url, answer):
    """The results of LangSmith's evaluation of one example."""
    fields = {name: ROW[name] for name in ("tool_output", "positive_rubrics")}
    now = datetime.now(timezone.utc)
    example = Example(
        id=uuid.uuid4(), inputs={"question": ROW["question"]}, outputs=fields, dataset_id=uuid.uuid4(), created_at=now
    )
    found = evaluate(lambda inputs: {"answer": answer}, data=[example], evaluators=[evaluator(url)], upload_runs=False)
    [row] = found
    return row["evaluation_results"]["results"]


def simulation(url, answer):
    """The results of openevals for a conversation of one turn."""
    found = run_multiturn_simulation(
        app=lambda message, **_: {"role": "assistant", "content": answer},
        user=[{"role": "user", "content": ROW["question"]}],
        max_turns=1,
        trajectory_evaluators=[evaluator(url)],
        reference_outputs=ROW,
    )
    return found["evaluator_results"]


for answer, score in ((GOOD, 1), (BAD, 0)):
    [result] = experiment(URL, answer)
    assert (result.key, result.score) == ("citeward", score), result
    [result] = simulation(URL, answer)
    assert (result["key"], result["score"]) == ("citeward", score), result
failed = experiment(DOWN_URL, GOOD)
assert all(result.score is None for result in failed), failed
assert simulation(DOWN_URL, GOOD) == []
print("LangSmith's evaluate and a simulation: 1 and 0; an evaluator without a score while the judge is down")
