"""``runs export`` into ``citeward.langfuse``: a stub of Langfuse's server reads the scores with Langfuse's types."""

import base64
import json
import os
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from documented import BAD, DOWN_URL, GOOD, ROOT, ROW, URL
from langfuse import Langfuse
from langfuse.api.core.pydantic_utilities import parse_obj_as
from langfuse.api.scores.types import CreateScoresRequest

TRACE = "0af7651916cd43dd8448eb211c80319c"
KEYS = {"LANGFUSE_PUBLIC_KEY": "pk-lf-real", "LANGFUSE_SECRET_KEY": "sk-lf-real"}
NAMED = "Basic " + base64.b64encode(":".join(KEYS.values()).encode()).decode()
JSON = {"content-type": "application/json"}
received = []


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["authorization"] != NAMED:
            return self.answer(401, {"message": "Invalid credentials"})
        assert self.path == "/api/public/scores", self.path
        received.extend(parse_obj_as(CreateScoresRequest, json.loads(body)))
        return self.answer(202, {"message": "Accepted"})

    def answer(self, status, value):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


def sent(run, url, **variables):
    """The exit code, the messages, and the scores that arrived."""
    received.clear()
    export = ["npx", "citeward", "runs", "export", run, "--url", url]
    exported = subprocess.run(export, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {**os.environ, **KEYS, "LANGFUSE_BASE_URL": f"http://127.0.0.1:{server.server_port}", **variables}
    found["PYTHONPATH"] = str(ROOT / "clients/python")
    command = [sys.executable, "-m", "citeward.langfuse"]
    ended = subprocess.run(command, input=exported, env=found, capture_output=True, text=True)
    return ended.returncode, ended.stderr, list(received)


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
for url in (URL, DOWN_URL):
    for sample, answer in ((TRACE, GOOD), ("1", BAD)):
        run = {"id": "real-langfuse", "step": 0, "group": "g", "sample": sample}
        row = {**ROW, "response": answer, "run": run, "recipe": "refiner-guarded", "on_judge_failure": "null"}
        request = urllib.request.Request(f"{url}/v1/score", json.dumps(row).encode(), JSON)
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 200

code, said, scores = sent("real-langfuse", URL)
assert code == 0, said
rewards = {score.trace_id: score.value for score in scores if score.name == "citeward/reward"}
assert rewards == {TRACE: 10, Langfuse.create_trace_id(seed="real-langfuse/0/g/1"): 0}, scores
assert len({score.id for score in scores}) == len(scores) > 2, scores
code, said, scores = sent("real-langfuse", DOWN_URL)
assert code == 0 and all(score.value is not None for score in scores), (said, scores)
assert not [score for score in scores if score.trace_id == TRACE], scores
code, said, _ = sent("real-langfuse", URL, LANGFUSE_SECRET_KEY="wrong")
assert code == 1 and "401" in said, said
print("a run's rewards and components as scores of traces, read by Langfuse's types; an unscored rollout has none")
