"""A random language model in vLLM judges through a Worker: overload, a killed engine, a full queue, each grammar."""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import torch
from documented import ROOT
from judged import at_once, scored, until_scored, while_killed
from tiny_model import saved
from transformers import LlamaConfig, LlamaForCausalLM
from vllm_engine import serve, stop

PORT = os.environ["CITEWARD_JUDGE_PORT"]
SERVER = f"http://127.0.0.1:{PORT}"
CONTEXT_TOKENS = 32_768
CALLERS = 64
#: An engine that is soon full, and one that also refuses to queue more than a few.
FEW = ("--max-num-seqs", "2")
QUEUED = 8
SHORT_QUEUE = ("--max-num-queued-reqs", str(QUEUED))
ENGINE = ("--max-model-len", str(CONTEXT_TOKENS), "--enable-prompt-tokens-details", "--generation-config", "vllm")
#: A request waits a minute for its judgment (docs/guides/backends.md); the rest is for a busy machine.
WAIT_S = 90
PATIENCE_S = 600
SUPPORT = {"full": 1, "partial": 0.5, "none": 0}


def make_judge(folder):
    """A Llama with random weights that prefers printable bytes, and ends a string soon: a token is a byte."""
    torch.manual_seed(0)
    tokenizer = saved(Path(folder))
    vocabulary = tokenizer.get_vocab()
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=CONTEXT_TOKENS, initializer_range=0.15, tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
    )
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        # No layer writes to the first dimension, which says the same of every token.
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight[0] = 0
            layer.mlp.down_proj.weight[0] = 0
        model.model.embed_tokens.weight *= 40
        model.model.embed_tokens.weight[:, 0] = 40
        liking = torch.full((len(vocabulary),), -10.0)
        for piece, token in vocabulary.items():
            if len(piece) == 1 and " " < piece <= "~":
                liking[token] = 0
        liking[vocabulary['"']] = 0.75
        # Otherwise each verdict would be "partial".
        liking[vocabulary["p"]] = -0.4
        liking[tokenizer.eos_token_id] = 0
        model.lm_head.weight[:, 0] = liking
    model.save_pretrained(folder)


def judged(claim):
    return scored(claim, "tiny-judge")


def recorded_call(claim):
    """The body of the Worker's call for a claim, which a full server refuses."""
    bodies = []

    class Full(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(503)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    full = HTTPServer(("127.0.0.1", int(PORT)), Full)
    Thread(target=full.serve_forever, daemon=True).start()
    status, lost = judged(claim)
    full.shutdown()
    full.server_close()
    assert (status, lost["reason"]) == (503, "judge_overloaded") and lost.get("reward") is None, lost
    assert claim in bodies[0], bodies[0]
    return bodies[0]


def opened(claim):
    """The engine's reply to the Worker's own call for a claim, sent without the Worker."""
    body = CALL.replace(CLAIM, claim).encode()
    request = urllib.request.Request(f"{SERVER}/v1/chat/completions", body, {"content-type": "application/json"})
    return urllib.request.urlopen(request)


def status_alone(claim):
    try:
        with opened(claim) as reply:
            reply.read()
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def asked_alone(claim):
    """The support that the engine gives."""
    with opened(claim) as reply:
        events = [line[6:] for line in reply.read().decode().splitlines() if line.startswith("data: {")]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    said = json.loads("".join(choice["delta"].get("content") or "" for choice in choices))
    return SUPPORT[said["k1"]["support"]]


def asked_within_queue(claims):
    """The supports that the engine gives, asked for no faster than its short queue allows."""
    return [found for n in range(0, len(claims), QUEUED) for found in at_once(asked_alone, claims[n : n + QUEUED])[0]]


def counted():
    """Tokens that the engine has read, taken from its cache and written since it started."""
    with urllib.request.urlopen(f"{SERVER}/metrics") as page:
        text = page.read().decode()
    names = ("prompt_tokens_total", "prefix_cache_hits_total", "generation_tokens_total")
    found = [re.findall(rf"^vllm:{name}\{{.*\}} (\S+)$", text, re.MULTILINE) for name in names]
    return [sum(map(float, values)) for values in found]


def spent(ask, claims):
    """The answers of as many callers at once, their seconds, and the tokens of each kind that they cost."""
    before = counted()
    answers, seconds = at_once(ask, claims)
    return answers, seconds, [after - start for after, start in zip(counted(), before)]


class Callers:
    """Ask the Worker every second until they have a verdict, and count what happens until then."""

    def __init__(self):
        self.waits_s = []
        self.refused = Counter()

    def judged(self, claim):
        """The support of a claim: a caller that is told to come back does so, and no failure has a number."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            began = time.monotonic()
            status, reply = judged(claim)
            self.waits_s.append(time.monotonic() - began)
            assert self.waits_s[-1] < WAIT_S, (self.waits_s[-1], reply)
            if status == 200:
                return reply["claims"][0]["support"]
            assert status == 503 and reply["reason"].startswith("judge_") and reply.get("reward") is None, reply
            assert time.monotonic() < deadline, reply
            self.refused[reply["reason"]] += 1
            time.sleep(1)

    def __str__(self):
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.refused.most_common())
        return f"asked again after {reasons or 'nothing'}, longest wait {max(self.waits_s):.0f} s"


def supports(replies):
    return [reply["claims"][0]["support"] if status == 200 else None for status, reply in replies]


def check_overload():
    """Callers of an engine that takes two at a time, alone and through the Worker. Returns seconds and a report."""
    claims = [f"It has a length of {n} km." for n in range(CALLERS)]
    verdicts, alone_s, alone = spent(asked_alone, claims)
    callers = Callers()
    found, through_s, through = spent(callers.judged, claims)
    assert found == verdicts, (found, verdicts)
    seconds, written, cached = through_s / alone_s, through[2] / alone[2], through[1] / through[0]
    return through_s, (
        f"{CALLERS} callers at --max-num-seqs 2: all judged, in {seconds:.2f} times the time and with {written:.2f} "
        f"times the tokens of vLLM alone, {cached:.0%} of prompts cached, {callers}"
    )


def check_killed(after_s, kill, restart):
    """Callers beneath whom the engine is killed, and who come back when it runs again. Returns a report."""
    claims = [f"It has a length of {n} m." for n in range(CALLERS)]
    before = at_once(asked_alone, claims)[0]
    lost = supports(while_killed(judged, claims, after_s, kill))
    assert None in lost and all(support in (None, verdict) for support, verdict in zip(lost, before)), lost
    restart()
    after = asked_within_queue(claims)
    callers = Callers()
    found = at_once(callers.judged, claims)[0]
    expected = [then if now is None else now for now, then in zip(lost, after)]
    assert found == expected, (found, expected)
    return f"killed with -9: {lost.count(None)} of {CALLERS} without a number; started again: all judged, {callers}"


def check_short_queue():
    """More callers than the engine lets in at all: it refuses, and those who come back are judged. Returns a report."""
    claims = [f"It has a length of {n} cm." for n in range(CALLERS)]
    refused, _ = at_once(status_alone, claims)
    assert set(refused) == {200, 503}, refused
    verdicts = asked_within_queue(claims)
    callers = Callers()
    found, _ = at_once(callers.judged, claims)
    assert found == verdicts, (found, verdicts)
    alone = f"queue of {QUEUED}: {refused.count(503)} of {CALLERS} refused alone"
    return f"{alone}; through the Worker all judged, {callers}"


def check_fit():
    """Fails unless ``backend:check`` finds that replies have the schema, in its order and against the prompt."""
    findings = checked()
    for id in ("schema", "schema_constrained", "reason_first", "prefix_cache"):
        assert findings[id][0] == "pass", (id, findings)


def checked():
    """What ``backend:check`` finds: outcome and observation by requirement."""
    command = ["node", ROOT / "gpu-backend/check/main.ts", "--url", SERVER, "--json", "--timeout", "120"]
    ended = subprocess.run([*command, "--limit", "900"], capture_output=True, text=True)
    return {one["id"]: (one["outcome"], one["saw"]) for one in json.loads(ended.stdout)["findings"]}


def check_logprobs():
    """``judge check --logprobs`` has a probability of each verdict. The figures of random weights mean nothing."""
    command = ["node", ROOT / "bin/citeward.mjs", "judge", "check", "--quick", "--json", "--logprobs", "--limit", "20"]
    judge = ["--judge-url", f"{SERVER}/v1", "--judge-model", "tiny"]
    ended = subprocess.run([*command, *judge], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    [report] = json.loads(ended.stdout)["judges"]
    kinds = report["labelled"]["kinds"]
    assert kinds and all(kind["calibration"]["scored"] == kind["parts"][0]["rows"] for kind in kinds), kinds


def engine(grammar, *flags):
    return serve("judge", PORT, *ENGINE, *flags, "--structured-outputs-config.backend", grammar)


CLAIM = "It has a length of 288 km."
CALL = recorded_call(CLAIM)
make_judge("judge")


def start_again():
    global served
    served = engine("guidance", *FEW, *SHORT_QUEUE)


served = engine("xgrammar", *FEW)
try:
    until_scored(judged, [CLAIM], PATIENCE_S)
    check_fit()
    check_logprobs()
    seconds, overload = check_overload()
    killed = check_killed(seconds / 4, lambda: stop(served), start_again)
    refused = check_short_queue()
    check_fit()
finally:
    stop(served)

served = engine("outlines")
try:
    check_fit()
finally:
    stop(served)

# The version that vLLM 0.32 asks for imports a module that vLLM no longer has.
served = engine("lm-format-enforcer")
try:
    outcome, saw = checked()["schema"]
    assert outcome == "fail" and "500" in saw, (outcome, saw)
    status, gone = judged("It has a length of 288 miles.")
    assert (status, gone["reason"]) == (503, "judge_error") and gone.get("reward") is None, gone
finally:
    stop(served)

print(
    f"{overload}; {killed}; {refused}; judge check --logprobs: a probability for each verdict; xgrammar, guidance and "
    "outlines fit; lm-format-enforcer cannot be imported: judge_error"
)
