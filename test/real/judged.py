"""Claims that the Worker judges with a real model, one or many at once."""

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from documented import ROW, URL

#: The reward is the support of the cited claims.
RECIPE = {"base": "refiner-rl-balanced", "mix": "convex", "citation_weight": 1}


def post(url, body):
    """The status and the JSON of a reply."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def scored(claim, judge, **more):
    """What the Worker says of an answer with one claim. A copied sentence would need no judge."""
    response = f"<answer><snippet id=S1>{claim}</snippet></answer>"
    return post(f"{URL}/v1/score", {**ROW, "response": response, "recipe": RECIPE, "judge": judge, **more})


def at_once(ask, claims):
    """The answers of as many callers at once, and the seconds until the last has its own."""
    began = time.monotonic()
    with ThreadPoolExecutor(len(claims)) as callers:
        return list(callers.map(ask, claims)), time.monotonic() - began


def while_killed(ask, claims, after_s, kill):
    """The replies of as many callers beneath whom the model's server is killed. None that failed has a number."""
    with ThreadPoolExecutor(1) as other:
        asked = other.submit(at_once, ask, claims)
        time.sleep(after_s)
        kill()
        replies, _ = asked.result()
    lost = [reply for status, reply in replies if status != 200]
    assert all(reply["reason"].startswith("judge_") and reply.get("reward") is None for reply in lost), lost
    return replies


def until_scored(ask, claims, seconds):
    """The replies of all claims, asked again as long as some fail: the circuit breaker rests a minute at most."""
    deadline = time.monotonic() + seconds
    while True:
        replies, _ = at_once(ask, claims)
        assert all(status == 200 or reply["reason"].startswith("judge_") for status, reply in replies), replies
        if all(status == 200 for status, _ in replies) or time.monotonic() > deadline:
            return replies
        time.sleep(5)
