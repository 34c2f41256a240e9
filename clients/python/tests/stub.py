"""A server that misbehaves on request, with what it was asked and over how many connections."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable


@dataclass
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Any
    connection: int


@dataclass
class Answer:
    """One reply, or one of the ways not to give it."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds before the reply begins.
    delay_s: float = 0.0
    #: Seconds between two bytes of the body.
    drip_s: float = 0.0
    #: Resets the connection in place of a reply.
    reset: bool = False
    #: Ends the connection in the middle of the body.
    truncate: bool = False
    #: Ends the connection after the reply without having announced it.
    hang_up: bool = False


def scored(reward: Any = 6.5, **fields: Any) -> Answer:
    """A reply of ``POST /v1/score``."""
    component = {"status": "scored", "value": 0.65, "weight": 1, "contribution": 6.5}
    reply = {
        "family": "refiner",
        "reward": reward,
        "base": 0.65,
        "status": "scored",
        "reason": None,
        "decided_by": "components",
        "components": {"rubric": component},
        "contributions": {"rubric": reward},
        "details": {"citation_recall": None},
        "recipe": {"name": "stub", "digest": "0" * 64, "reward_range": [0, 10]},
        **fields,
    }
    return Answer(body=reply)


def problem(status: int, reason: str, retryable: bool = False, headers: dict | None = None, **more: Any) -> Answer:
    """A reply that says why not."""
    body = {"type": f"urn:citeward:problem:{reason}", "title": reason, "status": status, "reason": reason}
    body.update({"detail": f"about {reason}", "retryable": retryable, "request_id": "r-1", **more})
    return Answer(status, body, {"content-type": "application/problem+json", **(headers or {})})


class Stub:
    """``answer(n, asked)`` says what the n-th request (from 0) gets."""

    def __init__(self, answer: Callable[[int, Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler(answer))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Stub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(stub, answer: Callable[[int, Asked], Answer]) -> type:  # noqa: N805 - `self` is the handler below
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = 20

            def setup(self) -> None:
                super().setup()
                with stub._lock:
                    stub.connections += 1
                    self.connection_number = stub.connections

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.path, headers, body, self.connection_number)
                with stub._lock:
                    number = len(stub.asked)
                    stub.asked.append(asked)
                    stub._at_once += 1
                    stub.most_at_once = max(stub.most_at_once, stub._at_once)
                try:
                    self._reply(answer(number, asked))
                except OSError:
                    self.close_connection = True
                finally:
                    with stub._lock:
                        stub._at_once -= 1

            do_GET = do_POST

            def _reply(self, reply: Answer) -> None:
                time.sleep(reply.delay_s)
                if reply.reset:
                    # Closing with lingering off and zero sends RST.
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                data = text.encode("utf-8")
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if reply.truncate:
                    data = data[: len(data) // 2]
                for piece in [data] if reply.drip_s == 0 else [data[i : i + 1] for i in range(len(data))]:
                    self.wfile.write(piece)
                    time.sleep(reply.drip_s)
                if reply.truncate or reply.hang_up:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                """The tests speak for themselves."""

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        """Broken connections are what this server is for."""


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
