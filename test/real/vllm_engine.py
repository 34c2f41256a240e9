"""vLLM for CPUs: starts it on a port and ends it."""

import atexit
import os
import signal
import subprocess
import sys
import time
import urllib.request
from importlib.metadata import version
from pathlib import Path

import torch

#: Ends a server that hangs. Long, because vLLM loads and compiles a model on a CPU before it answers.
START_S = 1_800
OFFLINE = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
}
VLLM = Path(sys.executable).parent / "vllm"


def describe():
    """vLLM asks for the version of a distribution with its own name, and takes "+cpu" in it for the platform."""
    described = Path(torch.__file__).parents[1] / f"vllm-{version('vllm-cpu')}.dist-info"
    described.mkdir(exist_ok=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.4\nName: vllm\nVersion: {version('vllm-cpu')}+cpu\n")


def serve(folder, port, *flags):
    """The process that serves the model of a folder as ``tiny``, when it answers."""
    log = open(f"{folder}.log", "a")
    served = subprocess.Popen(
        [VLLM, "serve", folder, "--port", port, "--host", "127.0.0.1", "--served-model-name", "tiny",
         "--enforce-eager", "--dtype", "float32", *flags],
        env={**os.environ, **OFFLINE}, stdout=log, stderr=log, start_new_session=True,
    )
    atexit.register(stop, served)
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and served.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                return served
        except OSError:
            time.sleep(1)
    stop(served)
    sys.exit(f"vLLM did not start:\n{Path(log.name).read_text()[-4000:]}")


def stop(served):
    """Ends it with SIGKILL."""
    if served.poll() is None:
        os.killpg(served.pid, 9)
    served.wait()


describe()
# A run that is ended leaves no engine behind.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
