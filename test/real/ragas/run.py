"""The documented metric on samples of ragas: a share of the reward's range, and nan while the judge is down."""

import asyncio
import math

from documented import DOWN_URL, GOOD, ROW, URL
from ragas.dataset_schema import SingleTurnSample

from citeward.ragas_metric import CitewardMetric


def value(url, answer):
    def rubrics(sample):
        return {"positive_rubrics": ROW["positive_rubrics"]}

    contexts = ["The Aare is 288 kilometres long."]
    sample = SingleTurnSample(user_input=ROW["question"], response=answer, retrieved_contexts=contexts)
    metric = CitewardMetric(url=url, recipe="refiner-guarded", row=rubrics, deadline_s=5)
    return asyncio.run(metric.single_turn_ascore(sample))


assert value(URL, GOOD) == 1
assert value(URL, "<answer>No.</answer>") == 0
assert math.isnan(value(DOWN_URL, GOOD))
print("SingleTurnSample: 1, 0, and nan while the judge is down")
