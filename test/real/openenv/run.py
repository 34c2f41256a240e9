"""The documented environment, served by openenv: an answer, an agent with a tool, and no reward without a judge."""

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from documented import BAD, DOWN_URL, GOOD, ROOT, ROW, URL, source
from openenv.core import GenericEnvClient

#: Ends a server that hangs. Long, because it imports large packages while other tests may have the cores.
START_S = 600
SESSIONS = 16
#: The documented server, and one whose policy may search.
TOOLS = """
class Search(CitewardEnvironment):
    def respond(self, action):
        return "The Aare is 288 kilometres long." if action.startswith("search") else None


search = create_app(Search, CitewardAction, CitewardObservation, max_concurrent_envs=64)
"""
Path("app.py").write_text(source("trainers/README.md", "create_app") + TOOLS)


def listens(port):
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def served(app, worker):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = os.pathsep.join([str(ROOT / "clients/python"), os.getcwd()])
    settings = {"CITEWARD_URL": worker, "CITEWARD_RECIPE": "refiner-guarded", "CITEWARD_DEADLINE_S": "20"}
    server = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", app, "--port", str(port), "--log-level", "warning"],
        env={**os.environ, "PYTHONPATH": path, **settings},
    )
    try:
        deadline = time.monotonic() + START_S
        while not listens(port):
            assert server.poll() is None and time.monotonic() < deadline, f"{app} does not answer"
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def documented_reward(url, answer):
    """The reward that the documented client gets."""
    code = source("trainers/README.md", "GenericEnvClient").replace("http://127.0.0.1:8000", url)
    names = {"row": ROW, "answer": answer}
    exec(code, names)
    return names["reward"]


def episode(url, *actions, **reset):
    """The results of the steps over one connection; the text of an error in place of its result."""
    with GenericEnvClient(base_url=url, message_timeout_s=900).sync() as environment:
        environment.reset(**ROW, **reset)
        found = []
        for text in actions:
            try:
                found.append(environment.step({"text": text}))
            except RuntimeError as error:
                found.append(str(error))
        return found


with served("app:app", URL) as url:
    assert documented_reward(url, GOOD) == 10
    assert documented_reward(url, BAD) == 0
    [last] = episode(url, GOOD)
    assert last.done and sum(last.metadata["contributions"].values()) == 10, last
    with ThreadPoolExecutor(SESSIONS) as trainers:
        several = list(trainers.map(lambda n: episode(url, GOOD if n % 2 else BAD)[0].reward, range(SESSIONS)))
    assert several == [0, 10] * (SESSIONS // 2), several
with served("app:search", URL) as url:
    first, last = episode(url, "search: Aare", GOOD, max_turns=4)
    assert (first.reward, first.done, last.reward, last.done) == (None, False, 10, True), (first, last)
    assert first.observation["text"].startswith("The Aare"), first
with served("app:app", DOWN_URL) as url:
    lost = episode(url, GOOD, GOOD)
    assert all(isinstance(one, str) and "judge_" in one for one in lost), lost
print("served: the reward of 16 sessions, also with a tool; an error of the step while the judge is down")
