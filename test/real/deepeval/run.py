"""The documented metric in deepeval's evaluate: the scores of test cases, and an error without a score."""

import os

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", DEEPEVAL_NO_INSPECT_PROMPT="1")

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase
from documented import BAD, DOWN_URL, GOOD, ROW, URL

from citeward import Unscored
from citeward.deepeval_metric import CitewardMetric

CONTEXTS = ["The Aare is 288 kilometres long."]


def evaluation(url, *answers, run_async=True, ignore_errors=False):
    """Whether each answer succeeds, with its score and error."""
    metadata = {"positive_rubrics": ROW["positive_rubrics"]}
    found = evaluate(
        [
            LLMTestCase(
                input=ROW["question"], actual_output=answer, retrieval_context=CONTEXTS, metadata=metadata, name=str(n)
            )
            for n, answer in enumerate(answers)
        ],
        [CitewardMetric(url=url, recipe="refiner-guarded", deadline_s=5)],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False),
        error_config=ErrorConfig(ignore_errors=ignore_errors),
    )
    results = sorted(found.test_results, key=lambda result: result.name)
    metrics = [metric for result in results for metric in result.metrics_data]
    assert {metric.name for metric in metrics} == {"citeward"}, metrics
    return [(metric.success, metric.score, metric.error) for metric in metrics]


for run_async in (True, False):
    assert evaluation(URL, GOOD, BAD, run_async=run_async) == [(True, 1, None), (False, 0, None)]
    [(success, score, error)] = evaluation(DOWN_URL, GOOD, run_async=run_async, ignore_errors=True)
    assert not success and score is None and "judge" in error, (success, score, error)
try:
    evaluation(DOWN_URL, GOOD)
except Unscored as unscored:
    assert unscored.reason.startswith("judge_"), unscored
else:
    raise AssertionError("no error without a judge")
print("evaluate, also one by one: 1 and 0; an error and no score while the judge is down")
