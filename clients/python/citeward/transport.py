"""Sends JSON POST requests with retries over persistent connections (``citeward.connection``).

Proxy environment variables are ignored.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import random
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union
from urllib.parse import urlsplit

from citeward.connection import Connection, OutOfTime, StaleConnection
from citeward.errors import Misconfigured
from citeward.settings import Settings

logger = logging.getLogger("citeward")

_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 20.0
#: No attempt starts with less time than this.
_SHORTEST_ATTEMPT_S = 0.05
#: A Worker that has never answered is not there after this time: training would go on without a reward.
_NEVER_REACHED_S = 5.0
#: How often the log names a Worker that was there and does not answer.
_NAMED_EVERY_S = 10.0
#: The Worker sends 429 and 503; a proxy sends 502 and 504 if it cannot reach the Worker.
_RETRIED_STATUSES = frozenset({429, 502, 503, 504})

#: The judge call goes on, or a deployment has ended it: a retry joins the call, or starts it again.
_GOING_ON = frozenset({"judge_running", "judge_interrupted"})

_FAILURES = (OSError, http.client.HTTPException, OutOfTime, StaleConnection)


@dataclass(frozen=True)
class Reply:
    """A complete reply."""

    status: int
    #: The decoded JSON, or ``None`` if the body is not JSON (NaN and Infinity are not).
    body: Any
    retry_after_s: float | None = None


@dataclass(frozen=True)
class NoReply:
    """The reason why there is no complete reply."""

    why: str
    timed_out: bool = False
    #: Nothing listens at the address, or there is no such host.
    absent: bool = False


Outcome = Union[Reply, NoReply]


class Transport:
    """Posts to one deployment. Thread-safe; at most ``max_connections`` requests run at a time."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.url)
        self._settings = settings
        self._https = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port
        self._path = parts.path
        self._context = ssl.create_default_context() if self._https else None
        self._headers = {"content-type": "application/json", "accept": "application/json"}
        if settings.api_key is not None:
            self._headers["authorization"] = f"Bearer {settings.api_key}"
        self._slots = threading.BoundedSemaphore(settings.max_connections)
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._reached = False
        self._named = -_NAMED_EVERY_S

    def post(self, path: str, data: bytes) -> Outcome:
        """Sends a JSON body until it succeeds, fails permanently or runs out of time; returns the last outcome.

        The deadline starts when the request gets its connection, so that queued samples do not time out. Retries
        connection errors, timeouts and 429, 502, 503 and 504, unless the reply says ``retryable: false``, with full
        jitter and not before ``Retry-After``. While the Worker says that the judge call goes on, the deadline moves
        with each reply, up to ``judge_deadline_s``.

        Raises:
            Misconfigured: the certificate cannot be verified, or no Worker has ever answered at the URL.
        """
        with self._slots:
            started = time.monotonic()
            deadline = started + self._settings.deadline_s
            last = started + max(self._settings.deadline_s, self._settings.judge_deadline_s)
            attempt = 0
            told: Reply | None = None
            while True:
                outcome = self._attempt(path, data, deadline)
                going_on = isinstance(outcome, Reply) and _goes_on(outcome)
                wait = _wait_before_retry(outcome, 0 if going_on else attempt)
                if isinstance(outcome, Reply):
                    self._reached = True
                    told = outcome
                    if going_on:
                        attempt = 0
                        deadline = min(last, time.monotonic() + (wait or 0.0) + self._settings.deadline_s)
                elif outcome.timed_out and told is not None and time.monotonic() + _SHORTEST_ATTEMPT_S > deadline:
                    # The last attempt ran out of time; the earlier outcome is more informative.
                    return told
                if wait is None or time.monotonic() + wait + _SHORTEST_ATTEMPT_S > deadline:
                    return outcome
                attempt += 1
                if isinstance(outcome, NoReply):
                    self._name_lost(outcome, time.monotonic() + wait - started)
                logger.info("retry %d in %.1f s: %s", attempt, wait, _described(outcome))
                time.sleep(wait)

    def _name_lost(self, outcome: NoReply, elapsed_s: float) -> None:
        """Names a Worker that does not answer.

        Raises:
            Misconfigured: it has never answered.
        """
        url = self._settings.url
        if not self._reached and outcome.absent and elapsed_s > _NEVER_REACHED_S:
            raise Misconfigured(
                f"no Worker answers at {url}: {outcome.why}. Start one (npx citeward serve), or correct the URL"
            )
        now = time.monotonic()
        with self._lock:
            if not self._reached or now - self._named < _NAMED_EVERY_S:
                return
            self._named = now
        logger.warning("the Worker at %s does not answer (%s); trying again", url, outcome.why)

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _attempt(self, path: str, data: bytes, deadline: float) -> Outcome:
        until = min(deadline, time.monotonic() + self._settings.attempt_timeout_s)
        connection = self._take_idle()
        if connection is not None:
            try:
                return self._exchange(connection, path, data, until)
            except StaleConnection:
                # The server closed the idle connection. The request is repeatable, so try a new connection.
                logger.debug("a kept connection was closed by the server; opening another")
            except _FAILURES as error:
                return _no_reply(error)
        connection = Connection(self._host, self._port, self._context)
        try:
            return self._exchange(connection, path, data, until)
        except _FAILURES as error:
            return _no_reply(error)

    def _exchange(self, connection: Connection, path: str, data: bytes, until: float) -> Outcome:
        kept = False
        try:
            status, body, retry_after, kept = connection.exchange(self._path + path, data, self._headers, until)
            return Reply(status, _json(body), _retry_after(retry_after))
        finally:
            if kept:
                with self._lock:
                    self._idle.append(connection)
            else:
                connection.close()

    def _take_idle(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None


def _goes_on(reply: Reply) -> bool:
    body = reply.body
    return reply.status == 503 and isinstance(body, dict) and body.get("reason") in _GOING_ON


def _wait_before_retry(outcome: Outcome, attempt: int) -> float | None:
    """Seconds until the next attempt; ``None`` = do not retry."""
    jitter = random.uniform(0, min(_FIRST_WAIT_S * 2**attempt, _LONGEST_BACKOFF_S))
    if isinstance(outcome, NoReply):
        return jitter
    if outcome.status not in _RETRIED_STATUSES:
        return None
    if isinstance(outcome.body, dict) and outcome.body.get("retryable") is False:
        return None
    # Adds jitter on top of ``Retry-After``, so that callers do not all return at once.
    return jitter if outcome.retry_after_s is None else outcome.retry_after_s + jitter


def _retry_after(header: str | None) -> float | None:
    """Parses ``Retry-After``, a number of seconds or a date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    date = email.utils.parsedate_tz(header)
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())


def encoded(body: Mapping[str, Any]) -> bytes:
    """Encodes a request as JSON.

    Raises:
        ValueError: NaN or Infinity, which are not JSON.
        TypeError: a value has no JSON representation.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate in a policy's output has no UTF-8 encoding, but a JSON escape.
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_reply(error: BaseException) -> NoReply:
    if isinstance(error, (OutOfTime, socket.timeout)):
        return NoReply("no reply in time", timed_out=True)
    if isinstance(error, ssl.SSLCertVerificationError):
        raise Misconfigured(f"the certificate of the deployment cannot be verified: {error.verify_message}") from None
    absent = isinstance(error, (ConnectionRefusedError, socket.gaierror))
    return NoReply(_why(error), absent=absent)


def _why(error: BaseException) -> str:
    """A short description for messages; these errors contain no headers."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, http.client.IncompleteRead):
        return "the reply broke off"
    if isinstance(error, (ConnectionError, http.client.BadStatusLine, StaleConnection)):
        return "the connection broke off"
    if isinstance(error, socket.gaierror):
        return "no such host"
    return f"{type(error).__name__}: {error}"


def _described(outcome: Outcome) -> str:
    if isinstance(outcome, NoReply):
        return outcome.why
    reason = outcome.body.get("reason") if isinstance(outcome.body, dict) else None
    return f"{outcome.status} {reason}" if isinstance(reason, str) else str(outcome.status)
