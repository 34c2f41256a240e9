"""The language model of the red team (language_model.py) with random weights: its numbers, and a run of its command."""

import json
import math
import subprocess
import sys
from pathlib import Path

import torch
from documented import ROOT, URL
from tiny_model import saved
from transformers import AutoConfig, AutoModelForCausalLM

sys.path.insert(0, str(ROOT / "scripts" / "red-team"))
from language_model import Policy

PROMPTS = ["Question: How long is the Aare?", "Question: Where is the source of the river Reuss?"]
TARGETS = ["288 km. [S1]", "At the Gotthard, above Andermatt. [S2]"]
TOKENS = 12
RATE = 3e-3


def write_model(folder):
    saved(folder)
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)


def opened(folder):
    policy = Policy()
    policy.open(str(folder), TOKENS)
    return policy


def weights(policy):
    return torch.cat([one.detach().flatten().clone() for one in policy.model.parameters()])


def answers_of(policy, step=0):
    return policy.sample(PROMPTS, 4, seed=1, step=step)["answers"]


def logs_of(policy):
    """The log-probability of each answer of the last batch, as `learn` computes it."""
    read, answers, told = policy.batch
    with torch.no_grad():
        return (policy._log_probabilities(read, answers, told) * told).sum(-1)


def alone(policy):
    """The same from each prompt and answer by itself, without padding."""
    read, answers, told = policy.batch
    logs = []
    for prompt, seen, answer, own in zip(read["input_ids"], read["attention_mask"], answers, told):
        whole = torch.cat([prompt[seen == 1], answer[own == 1]])[None]
        with torch.no_grad():
            predicted = policy.model(input_ids=whole).logits[0].log_softmax(-1)
        first = int(seen.sum())
        logs.append(sum(predicted[place - 1, whole[0, place]] for place in range(first, whole.shape[1])))
    return torch.stack(logs)


def check_numbers(folder):
    policy = opened(folder / "model")
    losses = [policy.imitate(PROMPTS, TARGETS, RATE)["loss"] for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0], losses
    policy.save(str(folder / "imitated"))

    first = answers_of(policy)
    assert answers_of(policy) == first and answers_of(policy, step=1) != first
    flat = [one for group in answers_of(policy) for one in group]
    ends = [0 in answer.tolist() for answer in policy.batch[1]]
    assert [one["cut"] for one in flat] == [not ended for ended in ends], flat
    off = (logs_of(policy) - alone(policy)).abs().max().item()
    assert off < 1e-3, off

    # Advantage 0 teaches nothing, and one that is no number is left out.
    before = weights(policy)
    assert policy.learn([[0.0] * 4] * 2, 0.0)["norm"] == 0 and torch.equal(weights(policy), before)
    assert policy.learn([[math.nan] * 4] * 2, RATE) == {"loss": None, "norm": None, "skipped": True}
    assert torch.equal(weights(policy), before)

    # The answers with an advantage become likelier than those without.
    liked = [[1.0, -1.0, 1.0, -1.0]] * 2
    signs = torch.tensor([one for group in liked for one in group])
    before = logs_of(policy)
    for _ in range(3):
        policy.learn(liked, RATE)
    gained = logs_of(policy) - before
    assert (gained * signs).sum() > 0.1, gained

    # A saved state continues as if nothing had ended; without its optimizer it does not.
    answers_of(policy, step=2)
    policy.save(str(folder / "part"))
    policy.learn(liked, RATE)
    for has_optimizer in (True, False):
        other = opened(folder / "model")
        other.load(str(folder / "part"), optimizer=has_optimizer)
        answers_of(other, step=2)
        other.learn(liked, RATE)
        assert torch.allclose(weights(other), weights(policy), atol=1e-6) == has_optimizer
    return losses, off


def run_command(folder):
    """Two steps of `npm run redteam -- --model`, scored by the Worker."""
    row = {
        "question": "How long is the Aare?",
        "sources": ["The Aare is 288 kilometres long.", "The Reuss is 164 kilometres long."],
        "facts": [{"sentence": "The Aare is 288 kilometres long.", "answer": "288", "source": 0}],
        "positive_rubrics": ["States 288"],
    }
    rows = folder / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    command = ["node", ROOT / "scripts" / "red-team.ts", "--recipe", '{"base":"refiner-guarded","grammar":"bracket"}']
    command += ["--model", folder / "model", "--python", sys.executable, "--rows", rows, "--url", URL, "--json"]
    command += ["--steps", "2", "--warm-up", "2", "--answer-tokens", "8", "--state", folder / "state"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    # Exit code 3: a model with random weights may well have learned nothing.
    assert ended.returncode in (0, 3), ended.stderr
    [seed] = json.loads(ended.stdout)["seeds"]
    assert seed["steps"] == 2 and seed["skipped"] == 0 and seed["last"]["reward"] is not None, seed


folder = Path("red-team").resolve()
folder.mkdir()
write_model(folder / "model")
losses, off = check_numbers(folder)
run_command(folder)
imitated = f"a random model imitates (loss {losses[0]:.1f} to {losses[-1]:.1f})"
print(f"{imitated}, learns from advantages, continues from a file, ends 2 steps; off by {off:.0e}")
