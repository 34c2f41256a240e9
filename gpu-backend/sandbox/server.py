#!/usr/bin/env python3
"""A development sandbox: SandboxFusion's `/run_code` for Python, from the standard library alone.

NO SECURITY BOUNDARY. Programs run as processes of this machine, with its files and its network. The limits on time,
memory and processes only keep mistakes from taking the machine down. Use this server for development and tests, on
127.0.0.1, with programs that you would run yourself. Run the programs of a policy in training in SandboxFusion in a
container, better under gVisor or Kata, as gpu-backend/compose.yaml starts it.

    python3 gpu-backend/sandbox/server.py --port 8080
    SANDBOX_API_KEY=... python3 gpu-backend/sandbox/server.py     # asks for `Authorization: Bearer ...`

Linux, Python 3.9 or newer. The API is that of bytedance/SandboxFusion (469de084), `language: python` only.
"""

import argparse
import hmac
import json
import math
import os
import select
import signal
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Writes no __pycache__ into the checkout.
sys.dont_write_bytecode = True
from runs import FileProblem, Sandbox

WARNING = "no security boundary: programs run with this machine's files and network. For development and tests only."
MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_TIMEOUT_S = 600
# How long a request waits for a slot before it is refused, in seconds.
MAX_WAIT_S = 30
# The languages of SandboxFusion. Like SandboxFusion, this server refuses any other name before it runs anything.
LANGUAGES = frozenset(
    "python cpp nodejs go go_test java php csharp bash typescript sql rust cuda lua R perl D_ut ruby scala julia pytest "
    "junit kotlin_script jest verilog python_gpu lean swift racket".split())


class BadRequest(Exception):
    """A field of the request is invalid. The text names the field and quotes nothing of its content."""


def field(body, name, default, accepts):
    value = body.get(name, default)
    if not accepts(value):
        raise BadRequest(name)
    return value


def is_text(value):
    return isinstance(value, str)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_timeout(value):
    return is_number(value) and 0 < value <= MAX_TIMEOUT_S


def encoded(text):
    # JSON can carry lone surrogates, UTF-8 cannot. The program then receives bytes that are not valid UTF-8.
    return text.encode("utf-8", "surrogatepass")


class RunRequest:
    """The body of POST /run_code, checked."""

    def __init__(self, body):
        if not isinstance(body, dict):
            raise BadRequest("body")
        self.code = encoded(field(body, "code", None, is_text))
        self.language = field(body, "language", None, lambda value: is_text(value) and value in LANGUAGES)
        field(body, "compile_timeout", 10, is_timeout)
        self.run_timeout = field(body, "run_timeout", 10, is_timeout)
        self.memory_mb = field(body, "memory_limit_MB", -1, lambda value: is_number(value) and value == int(value))
        self.stdin = encoded(field(body, "stdin", None, lambda value: value is None or is_text(value)) or "")
        self.files = field(body, "files", {}, lambda value: isinstance(value, dict) and all(
            content is None or is_text(content) for content in value.values()))
        self.fetch_files = field(body, "fetch_files", [], lambda value: isinstance(value, list) and all(
            map(is_text, value)))


def reply(status, message="", run_result=None, files=None):
    return {"status": status, "message": message, "compile_result": None, "run_result": run_result,
            "executor_pod_name": None, "files": files or {}}


def run_code(sandbox, slot, request, is_wanted):
    """Returns SandboxFusion's reply. A fault of the sandbox itself is, as there, a SandboxError with HTTP 200."""
    if request.language != "python":
        return reply("SandboxError", "this development sandbox runs python only")
    try:
        result, files = sandbox.run(slot, request.code, request.stdin, request.files, request.fetch_files,
                                    request.run_timeout, int(request.memory_mb), is_wanted)
    except FileProblem as problem:
        return reply("SandboxError", str(problem))
    except OSError as error:
        return reply("SandboxError", f"the program could not be started (errno {error.errno})")
    ok = result["status"] == "Finished" and result["return_code"] == 0
    return reply("Success" if ok else "Failed", "", result, files)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    sandbox = None
    api_key = None

    def do_GET(self):
        if self.path == "/v1/ping":
            self.send(200, "pong")
        else:
            self.send(404, {"detail": "Not Found"})

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self.send(413 if length.isdigit() else 411, {"detail": f"expected a body of at most {MAX_BODY_BYTES} bytes"})
            return
        body = self.rfile.read(int(length))
        if not self.is_let_in():
            self.send(401, {"detail": "Unauthorized"})
        elif self.path != "/run_code":
            self.send(404, {"detail": "Not Found"})
        else:
            self.answer(body)

    def is_let_in(self):
        given = self.headers.get("authorization", "")
        return self.api_key is None or hmac.compare_digest(given.encode(), f"Bearer {self.api_key}".encode())

    def answer(self, body):
        try:
            request = RunRequest(json.loads(body))
        except (ValueError, RecursionError):
            self.send(422, {"detail": [{"loc": ["body"], "msg": "not JSON"}]})
            return
        except BadRequest as problem:
            self.send(422, {"detail": [{"loc": ["body", str(problem)], "msg": "missing or of the wrong kind"}]})
            return
        slot = self.sandbox.take_slot(MAX_WAIT_S)
        if slot is None:
            self.send(503, {"detail": "every slot is taken"}, {"retry-after": "5"})
            return
        try:
            result = run_code(self.sandbox, slot, request, self.is_wanted)
        finally:
            self.sandbox.give_back(slot)
        self.send(200, result)

    def is_wanted(self):
        """Returns whether the caller is still connected: no slot stays busy for a disconnected caller."""
        try:
            readable = select.select([self.connection], [], [], 0)[0]
            return not readable or self.connection.recv(1, socket.MSG_PEEK) != b""
        except ConnectionError:
            return False

    def send(self, status, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        """Logs nothing: one line per request would bury the warning and say no more than the path."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def stop(_signal, _frame):
    raise SystemExit(0)


def main():
    parser = argparse.ArgumentParser(
        description="A development sandbox with SandboxFusion's /run_code, for Python. WARNING: " + WARNING,
        epilog="With SANDBOX_API_KEY set it asks for 'Authorization: Bearer ...'. Port 0 takes a free one.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--max-concurrent", type=int, default=4, help="programs at a time (default 4)")
    parser.add_argument("--python", default="/usr/bin/python3", help="what runs the programs (default /usr/bin/python3)")
    options = parser.parse_args()
    if not 1 <= options.max_concurrent <= 64:
        parser.error("--max-concurrent: expected 1 to 64")
    sandbox = Sandbox(options.python, options.max_concurrent)
    problem = sandbox.problem_of_python()
    if problem is not None:
        parser.error(f"--python: {options.python} does not run a program: {problem}")
    Handler.sandbox = sandbox
    Handler.api_key = os.environ.get("SANDBOX_API_KEY") or None
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    with Server((options.host, options.port), Handler) as server:
        print(f"WARNING: {WARNING}", file=sys.stderr, flush=True)
        print(f"listening on http://{options.host}:{server.server_address[1]}", flush=True)
        try:
            server.serve_forever()
        finally:
            sandbox.close()


if __name__ == "__main__":
    main()
