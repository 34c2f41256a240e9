"""llama-cpp-python's own server: `backend:check` ends and says what it lacks, and no number comes of it."""

import json
import os
import subprocess
import sys
import time
import urllib.request

from documented import ROOT
from judged import scored

PORT = os.environ["CITEWARD_JUDGE_PORT"]
SERVER = f"http://127.0.0.1:{PORT}"
#: Ends a server that hangs. The model is tiny, but other tests may have the cores meanwhile.
START_S = 120

subprocess.run(["node", ROOT / "scripts/llm/tiny-model.ts", "tiny.gguf"], check=True, stdout=subprocess.DEVNULL)
command = [sys.executable, "-m", "llama_cpp.server", "--model", "tiny.gguf", "--model_alias", "tiny", "--port", PORT]
log = open("server.log", "w")
served = subprocess.Popen([*command, "--n_ctx", "32768", "--verbose", "false"], stdout=log, stderr=log)
try:
    deadline = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{SERVER}/v1/models"):
                break
        except OSError:
            assert served.poll() is None and time.monotonic() < deadline, open("server.log").read()
            time.sleep(0.5)
    status, lost = scored("It has a length of 288 km.", "tiny-judge")
    assert status != 200 and lost["reason"].startswith("judge_") and lost.get("reward") is None, lost
    limits = ["--timeout", "10", "--limit", "60"]
    command = ["node", ROOT / "gpu-backend/check/main.ts", "--url", SERVER, "--json", *limits]
    ended = subprocess.run(command, capture_output=True, text=True)
    findings = {one["id"]: (one["outcome"], one["saw"]) for one in json.loads(ended.stdout)["findings"]}
    assert findings["health"] == ("not_reported", "HTTP 404"), findings
    outcome, saw = findings["schema"]
    assert outcome == "fail" and "'text' or 'json_object'" in saw, findings
finally:
    served.kill()
    served.wait()
print(f"backend:check ends, /health not reported; json_schema refused, so it cannot judge: {lost['reason']}, no number")
