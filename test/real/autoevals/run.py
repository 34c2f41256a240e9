"""The documented scorer in autoevals and in Braintrust's Eval, which sends nothing: the score, its average, and None."""

import asyncio

from braintrust import EvalAsync
from documented import BAD, DOWN_URL, GOOD, ROW, URL

from citeward.autoevals_scorer import CitewardScorer

FIELDS = {name: ROW[name] for name in ("tool_output", "positive_rubrics")}


async def evaluation(url, *answers):
    """The scores of an evaluation, and their average in its summary."""
    answer = dict(enumerate(answers))
    data = [{"input": ROW["question"], "metadata": {**FIELDS, "n": n}} for n in answer]
    scorer = CitewardScorer(url=url, recipe="refiner-guarded", deadline_s=5)

    def task(question, hooks):
        return answer[hooks.metadata["n"]]

    found = await EvalAsync("citeward", data=data, task=task, scores=[scorer], no_send_logs=True)
    assert all(result.error is None for result in found.results), found.results
    scores = [result.scores["citeward"] for result in sorted(found.results, key=lambda one: one.metadata["n"])]
    summary = found.summary.scores.get("citeward")
    return scores, None if summary is None else summary.score


async def main():
    assert await evaluation(URL, GOOD, BAD) == ([1, 0], 0.5)
    scores, average = await evaluation(DOWN_URL, GOOD)
    assert (scores, average) == ([None], None), (scores, average)


one = CitewardScorer(url=URL, recipe="refiner-guarded").eval(GOOD, input={"question": ROW["question"], **FIELDS})
assert (one.score, one.metadata["reward"]) == (1, 10), one
asyncio.run(main())
print("Scorer and Braintrust's Eval: 1, 0 and their average; None and no average while the judge is down")
