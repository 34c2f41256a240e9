"""Lists the tests, or runs them, for a runner of another language.

``--list`` writes the ids as one JSON array. Without it all tests run, and each one is a line of JSON as soon as it
ends: ``{"id", "outcome": "passed" | "failed" | "skipped", "seconds", "detail"}``. What a test needs is set up in
``setUp``: a ``setUpClass`` that fails would leave its tests without a line.
"""

from __future__ import annotations

import json
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class LineResult(unittest.TestResult):
    """Writes a line a test."""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._started = time.monotonic()
        self._outcome = ("passed", "")

    def stopTest(self, test: unittest.TestCase) -> None:
        self._write(test.id(), *self._outcome, time.monotonic() - self._started)
        super().stopTest(test)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._outcome = ("failed", self.failures[-1][1])

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._outcome = ("failed", self.errors[-1][1])

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            failed = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._outcome = ("failed", f"{subtest.id()}\n{failed[-1][1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._outcome = ("skipped", reason)

    def _write(self, name: str, outcome: str, detail: str, seconds: float) -> None:
        line = {"id": name, "outcome": outcome, "seconds": round(seconds, 3), "detail": detail}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """The tests of a suite of suites, in their order."""
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from tests_of(entry)
        else:
            yield entry


def main() -> int:
    sys.path.insert(0, str(ROOT))
    suite = unittest.TestLoader().discover(str(ROOT / "tests"), top_level_dir=str(ROOT))
    if sys.argv[1:] == ["--list"]:
        sys.stdout.write(json.dumps([test.id() for test in tests_of(suite)]) + "\n")
        return 0
    result = LineResult()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
