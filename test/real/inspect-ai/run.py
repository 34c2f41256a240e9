"""``eval`` with the documented task: a reward, and samples that are unscored and end nothing."""

import math
import tempfile

from documented import DOWN_URL, GOOD, ROW, documented
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import TaskState, solver

from citeward.inspect_scorer import citeward_scorer

PAGE = "trainers/inspect-ai.md"
logs = tempfile.TemporaryDirectory()


def model_that_says(*answers):
    outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        # Otherwise inspect counts tokens with a vocabulary that it downloads.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def values(task):
    [log] = eval(task, model=model_that_says(GOOD), log_dir=logs.name, display="none")
    assert log.status == "success", log.error.message
    return [next(iter(sample.scores.values())) for sample in log.samples], log


[score], log = values(documented(PAGE, "def rivers()")["rivers"]())
assert score.value == 10, score
assert log.results.scores[0].metrics["mean"].value == 10

[score], log = values(documented(PAGE, "def rivers()", DOWN_URL)["rivers"]())
assert math.isnan(score.value) and score.metadata["reason"].startswith("judge_"), score


@solver
def no_answer():
    async def solve(state: TaskState, generate) -> TaskState:
        return state

    return solve


samples = [Sample(input=ROW["question"], metadata={"citeward": ROW})]
scorer = citeward_scorer(recipe="refiner-gpt54-instance-only")
[score], log = values(Task(dataset=samples, solver=no_answer(), scorer=scorer))
assert math.isnan(score.value) and score.metadata["reason"] == "no_model_output", score
print("eval: a reward and its mean; unscored while the judge is down, and without model output")
