"""A client of one Citeward deployment: scores single rollouts, batches and groups."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlencode

from citeward.errors import BadRequest, Misconfigured, Unscored
from citeward.fields import OUTCOME_FIELDS
from citeward.replies import GroupScore, Score, StepAdvantages, body_of, group_of, score_of, step_of
from citeward.settings import Judge, Recipe, Settings
from citeward.transport import Outcome, Transport, encoded

NO_RECIPE = "no recipe: pass recipe= or set CITEWARD_RECIPE"


class Client:
    """Scores rollouts over HTTP.

    Thread-safe, but not usable across a fork (``shared_client`` gives each process its own). Connections are kept open
    and reused; at most ``max_connections`` requests run at a time, further ones are queued. Settings that are not
    passed come from the environment (``citeward.settings``).

    The deadline of a sample, ``deadline_s`` seconds including retries, starts when it leaves the queue: a batch of n
    samples takes at most ``ceil(n / max_connections) * deadline_s``. Each reply that says that the judge is still
    running, or was interrupted by a deployment, starts it again, up to ``judge_deadline_s`` seconds in total.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        recipe: Recipe | None = None,
        judge: Judge | None = None,
        deadline_s: float | None = None,
        max_connections: int | None = None,
        attempt_timeout_s: float | None = None,
        run: str | None = None,
        store_text: bool | None = None,
        *,
        credit: str | None = None,
        judge_deadline_s: float | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings.of(
            url=url,
            api_key=api_key,
            recipe=recipe,
            judge=judge,
            deadline_s=deadline_s,
            judge_deadline_s=judge_deadline_s,
            max_connections=max_connections,
            attempt_timeout_s=attempt_timeout_s,
            run=run,
            store_text=store_text,
            credit=credit,
        )
        self._transport = Transport(self.settings)
        self._threads: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Client({self.settings!r})"

    def score(self, fields: Mapping[str, Any]) -> Score:
        """Scores one rollout.

        Args:
            fields: the fields of ``POST /v1/score``: ``question``, ``response``, ``tool_output`` or ``sources``,
                ``positive_rubrics``, ... ``recipe`` and ``judge`` in them override the settings.

        Raises:
            Unscored: the reward could not be determined.
            CitewardError: the request, the key or a setting is wrong (``citeward.errors``).
        """
        return score_of(self._post("/v1/score", fields))

    def score_many(self, rows: Sequence[Mapping[str, Any]]) -> list[Score | Unscored]:
        """Scores rollouts concurrently; the result holds an ``Unscored`` for each unscored rollout.

        Raises:
            CitewardError: a row, the key or a setting is wrong; queued rows are not sent. ``BadRequest.row`` is the
                position of the wrong row.
        """
        return results_of(self.start_many(rows))

    async def score_async(self, fields: Mapping[str, Any]) -> Score:
        """``score`` without blocking the event loop. Works with any loop: it runs in this client's threads."""
        return await asyncio.get_running_loop().run_in_executor(self._pool(), self.score, fields)

    async def score_many_async(self, rows: Sequence[Mapping[str, Any]]) -> list[Score | Unscored]:
        """``score_many`` without blocking the event loop."""
        return await results_of_async(self.start_many(rows))

    def start_many(self, rows: Sequence[Mapping[str, Any]]) -> list[Future[Score | Unscored]]:
        """Queues rollouts and returns immediately; several callers may wait for the same futures."""
        pool = self._pool()
        return [pool.submit(self._score_row, position, row) for position, row in enumerate(rows)]

    def group(
        self,
        fields: Mapping[str, Any],
        responses: Sequence[str | Mapping[str, Any]],
        advantages: str | Mapping[str, Any] | None = None,
    ) -> GroupScore:
        """Scores the responses to one question together (``POST /v1/groups``).

        Args:
            fields: the fields of ``score`` that the responses share.
            responses: texts, or ``{response, finish_reason?, reasoning?, num_turns?, response_tokens?, outcome?,
                metrics?}``.
            advantages: a preset by the trainer's name (``slime``, ...), or the options as an object; ``None`` = the
                Worker's default. With a GDPO preset the advantages are ``None`` until ``advantages`` computes them
                with the other groups of the step.

        Raises:
            CitewardError: the group could not be scored. A failed judgment masks its member and raises nothing.
        """
        body: dict[str, Any] = {**fields, "responses": [r if isinstance(r, str) else dict(r) for r in responses]}
        if advantages is not None:
            body["advantages"] = advantages
        return group_of(self._post("/v1/groups", body), len(responses))

    def advantages(
        self, groups: Sequence[Sequence[Mapping[str, Any]]], rule: str | Mapping[str, Any]
    ) -> StepAdvantages:
        """Computes the advantages of a whole training step (``POST /v1/advantages``), without a judge or a recipe.

        Args:
            groups: the members of every group of the step: ``{reward}`` or ``{components, response_tokens?}``. The
                GDPO presets need components: ``contributions`` of a score; ``verl-gdpo`` also needs
                ``response_tokens``. ``None`` as reward or components = unscored.
            rule: a preset by the trainer's name (``trl-gdpo``, ...), or the options as an object.

        Raises:
            CitewardError: the advantages could not be computed.
        """
        body = {"rule": rule, "groups": [{"members": [dict(member) for member in members]} for members in groups]}
        return step_of(self._send("/v1/advantages", body), [len(members) for members in groups])

    def probe_recipe(self, rows: Sequence[Mapping[str, Any]], **fields: Any) -> Mapping[str, Any]:
        """Says what the recipe pays for canned cheap answers (``POST /v1/recipes/probe``), before a training.

        Args:
            rows: at most 16 rows of training data: the fields that ``score`` shares, and any of ``id``, ``reference``
                and ``responses`` (samples of the policy, as in ``group``; ``outcome`` is compared with the reward).
            fields: ``seed``, ``detail`` (``rows``: with the facts of every answer), ``judge``, ...

        Returns:
            the report: ``answers`` with the share of the best known answer that each earns, ``warnings``, ...

        Raises:
            Misconfigured: there is no recipe.
            CitewardError: the recipe could not be probed.
        """
        body = {**self.settings.request_fields(), **fields, "rows": [dict(row) for row in rows]}
        if "recipe" not in body:
            raise Misconfigured(NO_RECIPE)
        return body_of(self._send("/v1/recipes/probe", body))

    def make_rubrics(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Lets a model of the Worker write criteria for a question (``POST /v1/rubrics``).

        Args:
            fields: ``question``, and any of ``responses``, ``existing``, ``reference``, ...; ``judge`` overrides the
                settings.

        Raises:
            Unscored: there is no generation.
            CitewardError: the request, the key or a setting is wrong.
        """
        asked = self.settings.request_fields()
        judge = {"judge": asked["judge"]} if "judge" in asked else {}
        return body_of(self._send("/v1/rubrics", {**judge, **fields}))

    def start_rubrics(self, run: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Starts the evolving rubric of a prompt unless the run has it, and records a proposal
        (``POST /v1/runs/{run}/rubrics``). Idempotent.

        Raises:
            CitewardError: the request, the key or a setting is wrong, or the Worker cannot be reached.
        """
        return body_of(self._send(f"/v1/runs/{_segment(run)}/rubrics", fields))

    def record_rubric_scores(self, run: str, prompt: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Records the statistics of a group, after which the rules retire and cap
        (``POST /v1/runs/{run}/rubrics/{prompt}/scored``). Idempotent.

        Args:
            prompt: the digest of the question.
            fields: ``step``, ``group``, ``set`` and ``statistics``.

        Raises:
            CitewardError: the request, the key or a setting is wrong, or the Worker cannot be reached.
        """
        return body_of(self._send(f"/v1/runs/{_segment(run)}/rubrics/{_segment(prompt)}/scored", fields))

    def adapter(self, name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Sends a request in a trainer's own format (``POST /v1/adapters/{name}``); the settings are the query.

        Args:
            name: ``openrlhf/get_reward``, ``slime``, ...
            body: the trainer's request.

        Raises:
            Misconfigured: the settings have no recipe, or an inline one, or several judges.
            Unscored: a reward could not be determined.
            CitewardError: the request or the key is wrong.
        """
        asked = {**self.settings.request_fields(), "run": self.settings.run}
        if not isinstance(asked.get("recipe"), str) or not isinstance(asked.get("judge", ""), str):
            raise Misconfigured("an adapter takes the name of a recipe, and at most one judge")
        query = urlencode({field: value for field, value in asked.items() if value is not None})
        return body_of(self._send(f"/v1/adapters/{name}?{query}", body))

    def close(self) -> None:
        """Stops the threads and closes the connections."""
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=True)
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, path: str, fields: Mapping[str, Any]) -> Outcome:
        body = {**self.settings.request_fields(), **fields}
        if "recipe" not in body:
            raise Misconfigured(NO_RECIPE)
        if "run" not in body:
            body = _without_outcomes(body)
        elif self.settings.store_text:
            body.setdefault("store_text", True)
        if self.settings.credit is not None:
            body = {"credit": self.settings.credit, "offsets": "codepoints", **body}
        return self._send(path, body)

    def _send(self, path: str, body: Mapping[str, Any]) -> Outcome:
        try:
            data = encoded(body)
        except (TypeError, ValueError) as error:
            raise BadRequest(f"the request has no JSON: {error}") from None
        return self._transport.post(path, data)

    def _score_row(self, position: int, row: Mapping[str, Any]) -> Score | Unscored:
        try:
            return self.score(row)
        except Unscored as unscored:
            return unscored
        except BadRequest as error:
            error.row = position
            raise

    def _pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.settings.max_connections, thread_name_prefix="citeward")
            return self._threads


def _segment(identifier: str) -> str:
    """The id as one segment of a path. A URL drops ``.`` and ``..``, even encoded: they are encoded twice, so that the
    Worker is asked for an id that nothing has."""
    segment = quote(identifier, safe="")
    return segment.replace(".", "%252E") if segment in (".", "..") else segment


def _without_outcomes(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those that only a run keeps."""
    kept = {name: value for name, value in body.items() if name not in OUTCOME_FIELDS}
    if isinstance(kept.get("responses"), list):
        kept["responses"] = [r if isinstance(r, str) else _without_outcomes(r) for r in kept["responses"]]
    return kept


def results_of(futures: Sequence[Future[Score | Unscored]]) -> list[Score | Unscored]:
    """Waits for the futures of ``start_many``; the first exception cancels those that are still queued."""
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


async def results_of_async(futures: Sequence[Future[Score | Unscored]]) -> list[Score | Unscored]:
    """``results_of`` without blocking the event loop."""
    try:
        return list(await asyncio.gather(*map(asyncio.wrap_future, futures)))
    finally:
        for future in futures:
            future.cancel()


_shared: dict[tuple[int, Settings], Client] = {}
_shared_lock = threading.Lock()


def shared_client(settings: Settings) -> Client:
    """Returns this process's client for these settings. Created on first use, so that a fork gets its own."""
    with _shared_lock:
        client = _shared.get((os.getpid(), settings))
        if client is None:
            client = _shared[(os.getpid(), settings)] = Client(settings=settings)
        return client
