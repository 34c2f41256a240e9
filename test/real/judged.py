"""A claim that the Worker judges with a real model."""

import json
import urllib.error
import urllib.request

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
