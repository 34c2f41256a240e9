"""OpenAI's Python client on files and batches: results, errors by line, and the client's own errors."""

import io
import json
import time

import openai
from documented import BAD, GOOD, ROW, URL

client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none")


def line(name, **fields):
    body = {**ROW, "recipe": "refiner-guarded", **fields}
    return json.dumps({"custom_id": name, "method": "POST", "url": "/v1/score", "body": body})


lines = [line("good", response=GOOD), line("bad", response=BAD), line("wrong", response=GOOD, positive_rubrics="x")]
file = client.files.create(file=("in.jsonl", io.BytesIO("\n".join(lines).encode())), purpose="batch")
batch = client.batches.create(input_file_id=file.id, endpoint="/v1/score", completion_window="24h")
ends = time.monotonic() + 120
while batch.status not in ("completed", "failed", "expired", "cancelled"):
    assert time.monotonic() < ends, batch.status
    time.sleep(1)
    batch = client.batches.retrieve(batch.id)
assert batch.status == "completed", batch
assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 1), batch.request_counts


def results(id):
    return {found["custom_id"]: found for found in map(json.loads, client.files.content(id).text.splitlines())}


scored = results(batch.output_file_id)
assert {name: found["response"]["body"]["reward"] for name, found in scored.items()} == {"good": 10, "bad": 0}
assert list(results(batch.error_file_id)) == ["wrong"]
assert batch.id in [found.id for found in client.batches.list(limit=2)]
try:
    client.batches.retrieve("batch_none")
except openai.NotFoundError:
    pass
else:
    raise AssertionError("a batch that does not exist was found")
print("files and batches: rewards, the wrong line in the error file, paging, NotFoundError")
