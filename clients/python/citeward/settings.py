"""Settings of the client, from arguments or from environment variables.

The API key appears in the ``Settings`` and in the ``Authorization`` header only, never in a ``repr``, log line or
message. The user part of a URL is an API key and is removed from the URL here.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Union
from urllib.parse import unquote, urlsplit

from citeward.errors import Misconfigured

#: A recipe name, or an inline recipe (``{"base": name, ...}`` or all parameters).
Recipe = Union[str, Mapping[str, Any]]
#: A judge name, or several names as fallbacks in order.
Judge = Union[str, Sequence[str]]

#: Below slime's limit of 120 s, and above the 95 s after which the Worker answers at the latest.
DEFAULT_DEADLINE_S = 100.0
#: Longer than the 900 s for which a deployment waits for running judge calls.
DEFAULT_JUDGE_DEADLINE_S = 960.0
#: Detects dead connections. Longer than the 60 s after which the Worker says that a judge is still running. A retry
#: joins that judgment, so a short timeout costs no second judge call.
DEFAULT_ATTEMPT_TIMEOUT_S = 75.0
DEFAULT_MAX_CONNECTIONS = 32

_ENVIRONMENT = {
    "url": "CITEWARD_URL",
    "api_key": "CITEWARD_API_KEY",
    "recipe": "CITEWARD_RECIPE",
    "judge": "CITEWARD_JUDGE",
    "deadline_s": "CITEWARD_DEADLINE_S",
    "judge_deadline_s": "CITEWARD_JUDGE_DEADLINE_S",
    "attempt_timeout_s": "CITEWARD_ATTEMPT_TIMEOUT_S",
    "max_connections": "CITEWARD_MAX_CONNECTIONS",
    "run": "CITEWARD_RUN",
    "store_text": "CITEWARD_STORE_TEXT",
    "credit": "CITEWARD_CREDIT",
}


@dataclass(frozen=True)
class Settings:
    """URL, key, recipe, judge and limits. Immutable, hashable and picklable; create it with ``Settings.of``."""

    #: Scheme, host and path, without user part and trailing slash.
    url: str
    api_key: str | None = field(default=None, repr=False)
    #: A name, or the JSON of an inline recipe; ``None`` leaves it to each call.
    recipe: str | None = None
    #: Names in order of preference; empty = the deployment's default judge.
    judge: tuple[str, ...] = ()
    #: Seconds for one sample with all its retries.
    deadline_s: float = DEFAULT_DEADLINE_S
    #: Seconds for one sample whose judge is slow or restarts: the Worker says so in each reply.
    judge_deadline_s: float = DEFAULT_JUDGE_DEADLINE_S
    #: Seconds for one attempt.
    attempt_timeout_s: float = DEFAULT_ATTEMPT_TIMEOUT_S
    max_connections: int = DEFAULT_MAX_CONNECTIONS
    #: The id of the run that the trainers' clients record rollouts in; ``None`` records nothing.
    run: str | None = None
    #: Whether the run keeps the text of the rollouts, too.
    store_text: bool = False
    #: ``"claims"`` or ``"turns"``: what the reward is divided among (``citeward.credit``); ``None`` = it is not.
    credit: str | None = None

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Reads settings from arguments (``None`` = not given), else from ``CITEWARD_URL``, ``_API_KEY``, ``_RECIPE``,
        ``_JUDGE``, ``_DEADLINE_S``, ``_JUDGE_DEADLINE_S``, ``_ATTEMPT_TIMEOUT_S``, ``_MAX_CONNECTIONS``, ``_RUN``,
        ``_STORE_TEXT`` and ``_CREDIT``.

        Raises:
            Misconfigured: a setting is missing, malformed or unknown. The message never contains a key.
        """
        unknown = sorted(set(given) - set(_ENVIRONMENT))
        if unknown:
            raise Misconfigured(f"unknown setting {unknown[0]!r}; expected one of {', '.join(_ENVIRONMENT)}")
        values = {name: value for name, value in given.items() if value is not None}
        for name, variable in _ENVIRONMENT.items():
            if name not in values and os.environ.get(variable, "") != "":
                values[name] = os.environ[variable]
        if "url" not in values:
            raise Misconfigured("no URL of a Citeward deployment: pass url= or set CITEWARD_URL")
        url, key_of_url = _url_and_key(values["url"])
        api_key = values.get("api_key")
        # A key in a URL argument overrides the environment; two keys from the same place are an error.
        rivals = given.get("url") is None or given.get("api_key") is not None
        if key_of_url is not None and api_key is not None and rivals:
            raise Misconfigured("two API keys, one in the URL and one beside it: give one")
        api_key = api_key if key_of_url is None else key_of_url
        return cls(
            url=url,
            api_key=_key(api_key),
            recipe=_recipe(values.get("recipe")),
            judge=_judge(values.get("judge")),
            deadline_s=_seconds("deadline_s", values.get("deadline_s", DEFAULT_DEADLINE_S)),
            judge_deadline_s=_seconds("judge_deadline_s", values.get("judge_deadline_s", DEFAULT_JUDGE_DEADLINE_S)),
            attempt_timeout_s=_seconds("attempt_timeout_s", values.get("attempt_timeout_s", DEFAULT_ATTEMPT_TIMEOUT_S)),
            max_connections=_count("max_connections", values.get("max_connections", DEFAULT_MAX_CONNECTIONS)),
            run=_run(values.get("run")),
            store_text=_flag("store_text", values.get("store_text", False)),
            credit=_credit(values.get("credit")),
        )

    def request_fields(self) -> Mapping[str, Any]:
        """The fields that these settings add to every request."""
        asked: dict[str, Any] = {}
        if self.recipe is not None:
            asked["recipe"] = json.loads(self.recipe) if self.recipe.startswith("{") else self.recipe
        if self.judge:
            asked["judge"] = self.judge[0] if len(self.judge) == 1 else list(self.judge)
        return asked


SETTING_NAMES = tuple(entry.name for entry in fields(Settings))


def split_settings(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Selects the settings from a trainer's keyword arguments, which include arguments of its own.

    Raises:
        Misconfigured: an argument looks like a misspelt setting. Ignoring it would train with the wrong reward.
    """
    for name in options:
        near = difflib.get_close_matches(name, SETTING_NAMES, n=1, cutoff=0.75)
        if name not in SETTING_NAMES and near:
            raise Misconfigured(f"unknown argument {name!r}; did you mean {near[0]!r}?")
    return {name: value for name, value in options.items() if name in SETTING_NAMES}


def _url_and_key(url: Any) -> tuple[str, str | None]:
    # urllib's messages repeat parts of the URL, which may contain a key, so they are replaced.
    wrong = Misconfigured("url: expected http:// or https:// with a host, and no query or fragment")
    if not isinstance(url, str):
        raise wrong
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise wrong
    if any(not 0x21 <= ord(character) <= 0x7E for character in host + parts.path):
        raise wrong
    shown_host = f"[{host}]" if ":" in host else host
    bare = f"{parts.scheme}://{shown_host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    # https://k:KEY@host, or https://KEY@host.
    secret = parts.password if parts.password is not None else parts.username
    return bare, unquote(secret) if secret else None


def _key(key: Any) -> str | None:
    if key is None:
        return None
    if not isinstance(key, str) or not key or any(not 0x21 <= ord(character) <= 0x7E for character in key):
        raise Misconfigured("api_key: expected printable ASCII without spaces")
    return key


def _recipe(recipe: Any) -> str | None:
    if recipe is None:
        return None
    if isinstance(recipe, Mapping):
        return json.dumps(recipe, sort_keys=True, allow_nan=False)
    if not isinstance(recipe, str) or not recipe.strip():
        raise Misconfigured("recipe: expected a name, an object or its JSON")
    if not recipe.strip().startswith("{"):
        return recipe.strip()
    try:
        return json.dumps(json.loads(recipe), sort_keys=True, allow_nan=False)
    except ValueError as error:
        raise Misconfigured(f"recipe: not JSON: {error}") from None


def _judge(judge: Any) -> tuple[str, ...]:
    names: list[Any] = []
    if isinstance(judge, str):
        names = [name.strip() for name in judge.split(",")]
    elif judge is not None:
        names = list(judge)
    if not all(isinstance(name, str) and name for name in names):
        raise Misconfigured("judge: expected a name, or several names")
    return tuple(names)


def _run(run: Any) -> str | None:
    # The Worker accepts 128 characters; the id of the evaluation's run is 5 longer.
    if run is not None and (not isinstance(run, str) or re.fullmatch(r"[A-Za-z0-9._-]{1,123}", run) is None):
        raise Misconfigured('run: expected 1 to 123 letters, digits, ".", "_" or "-"')
    return run


def _credit(credit: Any) -> str | None:
    if credit not in (None, "claims", "turns"):
        raise Misconfigured('credit: expected "claims" or "turns"')
    return credit


def _flag(name: str, value: Any) -> bool:
    flags = {"true": True, "false": False}
    flag = flags.get(value) if isinstance(value, str) else value
    if not isinstance(flag, bool):
        raise Misconfigured(f"{name}: expected true or false")
    return flag


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not (0 < seconds <= 86_400):
        raise Misconfigured(f"{name}: expected seconds, more than 0 and at most a day")
    return seconds


def _count(name: str, value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
        count = 0
    if not 1 <= count <= 1_024:
        raise Misconfigured(f"{name}: expected a number from 1 to 1024")
    return count
