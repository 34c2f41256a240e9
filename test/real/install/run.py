"""The wheel and the npm package in empty folders: the first command of their pages, under each Python and Node."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from documented import ROOT

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
NODES = ("22", "24")
STOP_S = 60
NPM_INSTALL = ("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")

# Nothing of this clone: neither the Node that it brings, nor what npm tells the programs that it starts.
paths = [path for path in os.environ["PATH"].split(os.pathsep) if not Path(path).is_relative_to(ROOT)]
kept = {name: value for name, value in os.environ.items() if not name.startswith(("npm_", "PYTHON"))}
ENVIRONMENT = {**kept, "PATH": os.pathsep.join(paths)}


def output(*command, folder=".", environment=ENVIRONMENT):
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def block(page, language, containing):
    """The block of a page that contains a text, and the block after it: what the command prints."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    [at] = [at for at, (kind, code) in enumerate(blocks) if kind == language and containing in code]
    return blocks[at][1], blocks[at + 1][1]


def python_of(version):
    """A Python of this machine, whether pyenv selects it or not; None if there is none."""
    kept_by_pyenv = Path.home() / ".pyenv" / "versions"
    for name in (f"python{version}", *kept_by_pyenv.glob(f"{version}.*/bin/python")):
        asked = subprocess.run([name, "-c", "import venv"], capture_output=True, check=False)
        if asked.returncode == 0:
            return str(name)
    return None


def installed_wheel(version, python):
    """The Python of an environment that holds the wheel and nothing else."""
    output(python, "-m", "venv", f"python-{version}")
    made = Path(f"python-{version}", "bin", "python").absolute()
    output(made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", WHEEL)
    return made


output(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", ".", str(ROOT / "clients/python"))
[WHEEL] = [str(path) for path in Path().glob("*.whl")]
output("node", "scripts/build-library.ts", folder=ROOT, environment=os.environ)
output("npm", "pack", str(ROOT / "dist/npm"), "--silent")
[TARBALL] = [str(path.absolute()) for path in Path().glob("*.tgz")]

found = {version: python_of(version) for version in PYTHONS}
pythons = [installed_wheel(version, python) for version, python in found.items() if python is not None]
assert pythons, f"no Python of {', '.join(PYTHONS)} on this machine"
example, expected = block("clients/python/README.md", "sh", "from citeward import Client")
[program] = re.findall(r"<<'PY'\n(.*?)^PY$", example, re.DOTALL | re.MULTILINE)
[runtime] = re.findall(r"`npm install (workerd@\S+)`", (ROOT / "docs/guides/serve.md").read_text("utf-8"))
serve, _ = block("docs/guides/serve.md", "sh", "citeward serve --var")

nodes = []
for major in NODES:
    project = Path(f"node-{major}")
    project.mkdir()
    (project / "package.json").write_text('{ "name": "empty", "private": true }')
    output(*NPM_INSTALL, TARBALL, runtime, f"node@{major}", folder=project)
    nodes.append(output("node_modules/.bin/node", "--version", folder=project).strip().removeprefix("v"))
    log = (project / "serve.log").open("w+")
    command = [*serve.split(), "--port", "0"]
    server = subprocess.Popen(command, cwd=project, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = server.stdout.readline()
        assert line.startswith("listening at "), line
        url = line.split()[2]
        for python in pythons:
            printed = output(python, "-c", program.replace("http://127.0.0.1:8799", url))
            assert printed == expected, (python, printed)
    finally:
        server.terminate()
        server.communicate(timeout=STOP_S)
        log.seek(0)
        lines = log.read().splitlines()
    # docs/guides/serve.md: one JSON object a line.
    for line in lines:
        assert isinstance(json.loads(line), dict), line

absent = [version for version, python in found.items() if python is None]
without = f", none of {', '.join(absent)} here" if absent else ""
print(
    f"npm package serves under Node {' and '.join(nodes)}; wheel's example under Python "
    f"{', '.join(version for version in PYTHONS if version not in absent)}{without}"
)
