"""A persistent HTTP connection with a deadline for every operation.

``http.client`` alone has no deadline: its timeout restarts with every byte. Here the socket's timeout is set to the
remaining time before every read, so that a slow server cannot hold a sample beyond its deadline.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any

#: A reply with the maximum number of claims and findings takes a few MB.
_MAX_REPLY_BYTES = 64 * 1024 * 1024


class StaleConnection(Exception):
    """A reused connection was closed before the first byte of the reply."""


class OutOfTime(Exception):
    """The attempt ran out of time."""


class Connection:
    """One connection for many sequential requests."""

    def __init__(self, host: str, port: int | None, context: ssl.SSLContext | None) -> None:
        self._used = False
        self._socket: _DeadlineSocket | None = None
        # The type stubs do not allow replacing the socket.
        self._http: Any
        if context is None:
            self._http = http.client.HTTPConnection(host, port)
        else:
            self._http = http.client.HTTPSConnection(host, port, context=context)

    def exchange(
        self, path: str, data: bytes, headers: Mapping[str, str], until: float
    ) -> tuple[int, bytes, str | None, bool]:
        """Sends one request; returns status, body, ``Retry-After``, and whether the connection is reusable."""
        reused, self._used = self._used, True
        try:
            response = self._send(path, data, headers, until)
        except (ConnectionError, http.client.BadStatusLine, ssl.SSLEOFError) as error:
            if reused:
                raise StaleConnection from error
            raise
        with response:
            body = response.read(_MAX_REPLY_BYTES + 1)
            if len(body) > _MAX_REPLY_BYTES:
                raise http.client.HTTPException("the reply is too large")
            if response.length:
                # read(n) returns fewer bytes without an exception if the connection ends early.
                raise http.client.IncompleteRead(body, response.length)
            kept = response.isclosed() and not response.will_close
            return response.status, body, response.getheader("retry-after"), kept

    def _send(self, path: str, data: bytes, headers: Mapping[str, str], until: float) -> http.client.HTTPResponse:
        if self._socket is None:
            self._http.timeout = _left(until)
            self._http.connect()
            # http.client uses only sendall, makefile and close of a socket.
            self._socket = _DeadlineSocket(self._http.sock)
            self._http.sock = self._socket
        self._socket.until = until
        # Broken pipe: the server refused the request before reading all of it. Its reply may already be available.
        with contextlib.suppress(BrokenPipeError):
            self._http.request("POST", path, body=data, headers=dict(headers))
        response: http.client.HTTPResponse = self._http.getresponse()
        return response

    def close(self) -> None:
        """Closes the connection."""
        self._http.close()


class _DeadlineSocket:
    """A socket whose operations all end at ``until`` (monotonic clock)."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.until = 0.0

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self.until))
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self._sock, self.until))

    def close(self) -> None:
        self._sock.close()


class _DeadlineReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, until: float) -> None:
        super().__init__()
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._until))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise OutOfTime
    return left
