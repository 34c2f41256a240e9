"""Pairs of answers compared by Math-Verify and by ``grpo-tcr-symbolic``; the sandbox has SymPy (root: gpu-backend/sandbox/install-debian.sh)."""

import json
import os
import subprocess
import sys
import urllib.request

from documented import ROOT, URL
from math_verify import parse, verify

#: A reference and answers to it.
PAIRS = {
    "\\frac{3}{8}": ["0.375", "3/8", ".375", "37.5\\%", "\\frac38", "3:8", "0.38", "8/3", "-0.375", "\\frac{3}{8}\\text{ cm}"],
    "2\\frac{1}{4}": ["2.25", "\\frac{9}{4}", "9/4", "\\frac{2}{4}", "2"],
    "62\\%": ["62", "0.62", "62%", "62 percent", "6.2", "31/50", "62 pct"],
    "18300": ["18,300", "18{,}300", "18300.0", "\\$18300", "1.83 \\times 10^4", "18301", "183"],
    "12\\text{ cm}": ["12", "12 cm", "12.0", "12 \\mathrm{~cm}^2", "13\\text{ cm}"],
    "35^\\circ": ["35", "35^{\\circ}", "36"],
    "[1, 4)": ["1 \\le x < 4", "x \\in [1, 4)", "(1, 4]", "[1, 5)", "\\left[1, 4\\right)"],
    "x > \\sqrt{3}": ["(\\sqrt{3}, \\infty)", "\\sqrt{3} < x", "x \\ge \\sqrt{3}", "(3, \\infty)", "x > \\sqrt{5}"],
    "0 < f(x) < 2": ["(0, 2)", "(0, 3)", "0<f(x)<2"],
    "\\{3, 5\\}": ["3, 5", "\\{5, 3\\}", "5 \\text{ or } 3", "3 and 5", "\\{3\\}", "x = 3 \\text{ or } x = 5"],
    "\\pm 6": ["6, -6", "\\{-6, 6\\}", "6"],
    "(3, 5)": ["(3,5)", "(5, 3)", "\\left(3, \\frac{10}{2}\\right)"],
    "\\text{Tuesday}": ["Tuesday", "\\text{tuesday}", "\\textbf{Tuesday}", "Monday", "7"],
    "\\text{(B)}": ["B", "(B)", "\\text{B}", "C"],
    "|AB| = 7": ["7", "8"],
    "y = 2x + 1": ["2x+1", "1 + 2x", "2x - 1", "y = 1 + 2x"],
    "2\\sqrt{5}": ["\\sqrt{20}", "\\sqrt{5} \\cdot 2", "4.47", "\\sqrt{10}"],
    "\\frac{1}{6}": ["0.1666667", "0.17"],
    "(a+b)^2": ["a^2 + 2ab + b^2", "a^2 + b^2"],
    "n \\approx 9": ["9", "10"],
    "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}": ["\\begin{pmatrix} 1 \\\\ \\frac{4}{2} \\end{pmatrix}", "(2, 1)"],
}


def boxed(text):
    return f"\\boxed{{{text}}}"


def ours(reference, answer):
    """Whether the answer is right; ``None`` = undecided."""
    row = {"reference": reference, "response": boxed(answer), "num_turns": 2, "response_tokens": 9}
    body = json.dumps({**row, "recipe": "grpo-tcr-symbolic", "on_judge_failure": "null"}).encode()
    request = urllib.request.Request(f"{URL}/v1/score", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        score = json.load(reply)
    return None if score["reward"] is None else score["reward"] > 0


def both():
    for reference, answers in PAIRS.items():
        for answer in answers:
            theirs = verify(parse(boxed(reference)), parse(boxed(answer)))
            yield reference, answer, theirs, ours(reference, answer)


# Started by root, the sandbox runs programs as other users, who may not read this environment.
python = [] if os.geteuid() == 0 else ["--python", sys.executable]
port = os.environ["CITEWARD_SANDBOX_PORT"]
server = [sys.executable, ROOT / "gpu-backend/sandbox/server.py", "--port", port, *python]
sandbox = subprocess.Popen(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
try:
    assert any(line.startswith(b"listening") for line in sandbox.stdout), "the sandbox did not start"
    compared = list(both())
finally:
    sandbox.terminate()
apart = [one for one in compared if one[3] not in (None, one[2])]
undecided = [one for one in compared if one[3] is None]
for kind, found in (("apart", apart), ("undecided", undecided)):
    for reference, answer, theirs, mine in found:
        print(f"{kind}: {answer} for {reference}: Math-Verify {theirs}, Citeward {mine}")
equal = len(compared) - len(apart) - len(undecided)
# An inequality beside a reference that is an interval is right only here, a rounded decimal only for Math-Verify.
assert [answer for _, answer, _, _ in apart] == ["1 \\le x < 4", "0.1666667"], apart
# A number beside a reference in words.
assert [answer for _, answer, _, _ in undecided] == ["7"], undecided
print(f"of {len(compared)} pairs, {equal} alike, {len(apart)} apart, {len(undecided)} undecided")
