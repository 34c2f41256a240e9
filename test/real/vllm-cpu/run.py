"""Random classifiers that vLLM serves judge through a Worker: verdicts, overload, a killed engine, `judge check`."""

import json
import os
import re
import string
import subprocess
from pathlib import Path

import torch
from documented import ROOT
from judged import at_once, post, scored, until_scored, while_killed
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
from vllm.envs import environment_variables
from vllm_engine import VLLM, serve, stop

PORT = os.environ["CITEWARD_CLASSIFIER_PORT"]
SERVER = f"http://127.0.0.1:{PORT}"
LABELS = ["entailment", "neutral", "contradiction"]
#: A token is a letter, so the windows of a long source are longer than the Worker estimates, and vLLM refuses them.
MODEL_TOKENS = 512
POOLING = ("--runner", "pooling", "--max-model-len", str(MODEL_TOKENS))
BREAKER_S = 180
#: An engine that is soon full.
FEW = ("--max-num-seqs", "2")


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


def judged(claim, **more):
    return scored(claim, "tiny-classifier", **more)


def expected(claim):
    """The verdict that the engine gives, asked without the Worker."""
    pair = f"The Aare is 288 kilometres long.[SEP]{claim}"
    _, direct = post(f"{SERVER}/classify", {"model": "tiny", "input": [pair]})
    return 1 if direct["data"][0]["probs"][0] >= 0.5 else 0


def supports(replies):
    return [reply["claims"][0]["support"] if status == 200 else None for status, reply in replies]


def check_overload(served):
    """64 callers of an engine that takes two at a time; then it is killed beneath them, and started again.

    Returns the engine that runs at the end, and how much longer the callers wait through the Worker.
    """
    claims = [f"It has a length of {n} km." for n in range(64)]
    verdicts, alone_s = at_once(expected, claims)
    replies, through_s = at_once(judged, claims)
    assert supports(replies) == verdicts, replies

    later = [f"It has a length of {n} m." for n in range(64)]
    lost = while_killed(judged, later, through_s / 4, lambda: stop(served))
    served = serve("labels", PORT, *POOLING, *FEW)
    verdicts, _ = at_once(expected, later)
    assert all(support in (None, verdict) for support, verdict in zip(supports(lost), verdicts)), lost
    replies = until_scored(judged, later, BREAKER_S)
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


def check_compose():
    """The engines of the GPU host start with flags and variables that this vLLM has."""
    compose = (ROOT / "gpu-backend/compose.yaml").read_text()
    variables = re.findall(r"^ +(VLLM_\w+):", compose, re.MULTILINE)
    assert variables and set(variables) <= set(environment_variables), variables
    used = re.findall(r"^ +- --([a-z-]+)", compose, re.MULTILINE)
    command = [VLLM, "serve", "--help=all"]
    flags = set(re.findall(r"--([a-z-]+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert used and set(used) <= flags, sorted(set(used) - flags)


check_compose()
make_classifier("labels", LABELS)
make_classifier("probability", ["LABEL_0"])
served = serve("labels", PORT, *POOLING, *FEW)
try:
    claim = "It has a length of 288 km."
    status, score = judged(claim)
    assert status == 200, score
    assert score["claims"][0]["support"] == expected(claim), score["claims"]
    [judgment] = score["judgments"]
    assert judgment["model"] == "tiny" and "entailment=supported" in judgment["template"], judgment
    long = f"<snippet id=S1>{'nineteen ' * 300}</snippet>"
    status, refused = judged(claim, tool_output=long)
    assert (status, refused["reason"]) == (422, "judge_prompt_too_long"), refused
    served, ratio = check_overload(served)
    check("classify", "--labels", ",".join(LABELS))
finally:
    stop(served)
status, gone = judged("The Aare has 288 km.")
assert (status, gone["reason"]) == (503, "judge_unreachable"), gone
served = serve("probability", PORT, *POOLING)
try:
    check("score")
finally:
    stop(served)
print(
    f"verdicts; 64 callers at --max-num-seqs 2: all, in {ratio:.1f} times the time of vLLM alone; killed: no number"
)
