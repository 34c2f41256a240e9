"""``runs export --wandb`` with W&B itself, offline: the figures that its own file holds."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

from documented import BAD, GOOD, ROOT, ROW, URL
from wandb.proto.wandb_internal_pb2 import Record

from citeward import Client

BLOCK = 32_768
FILE_HEADER = 7
#: Checksum, length and type: 1 a whole record, else its 2 first, 3 middle or 4 last part.
PART_HEADER = struct.Struct("<IHB")


def records(data):
    """The records of W&B's file, which has the form of LevelDB's log."""
    at, parts = FILE_HEADER, b""
    while at + PART_HEADER.size <= len(data):
        if BLOCK - at % BLOCK < PART_HEADER.size:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = PART_HEADER.unpack_from(data, at)
        at += PART_HEADER.size
        parts += data[at : at + length]
        at += length
        if kind in (1, 4):
            yield parts
            parts = b""


with Client(URL, recipe="refiner-guarded") as client:
    for step in (0, 1):
        for sample, answer in enumerate((GOOD, BAD)):
            run = {"id": "real-wandb", "step": step, "group": "g", "sample": sample}
            client.score({**ROW, "response": answer, "run": run})

# The command starts python3: the one of this environment.
paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
folder = os.getcwd()
environment = {**os.environ, "PATH": paths, "WANDB_MODE": "offline", "WANDB_DIR": folder, "WANDB_SILENT": "true"}
command = ["npx", "citeward", "runs", "export", "real-wandb", "--wandb", "demo", "--url", URL]
subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)

[file] = Path(folder).rglob("*.wandb")
history = []
for data in records(file.read_bytes()):
    record = Record()
    record.ParseFromString(data)
    if record.WhichOneof("record_type") == "history":
        items = record.history.item
        history.append({"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in items})
means = {row["citeward/step"]: row["reward/mean"] for row in history}
assert means == {0: 5, 1: 5}, history
print("runs export --wandb, offline: W&B's file has a row for each step, with its mean reward")
