"""A minimal reward server with the request and reply of LongTraceRL's `POST /evaluate` and a stub in place of its judge.

It reads the same bytes and does the least that such a server must do: parse the body, take the last message, compare
the answer with the label, count the gold entities. Its real counterpart also calls a judge over HTTP.
"""

import re
import sys

import uvicorn
from fastapi import FastAPI, Request

app = FastAPI()
WORD = re.compile(r"[a-zA-Z0-9_]+")


def words(text):
    return " ".join(WORD.findall(text.lower()))


def stub_judge(answer, label):
    """The outcome: 1 if the answer contains the label."""
    return 1.0 if words(label) in words(answer) else 0.0


@app.post("/evaluate")
async def evaluate(request: Request):
    data = await request.json()
    info = data["extra_reward_info"]
    ratio = info["rubric_reward_ratio"]
    answer = data["history"][-1]["content"]
    outcome = stub_judge(answer, data["label"])
    text = f" {words(answer)} "
    rubrics = info["rubrics"]
    rubric = sum(f" {words(entity)} " in text for entity in rubrics) / len(rubrics)
    return {
        "outcome_reward": outcome,
        "rubric_reward": rubric,
        "reward": (1 - ratio) * outcome + ratio * rubric,
    }


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
