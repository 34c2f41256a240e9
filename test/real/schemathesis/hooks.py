"""How Schemathesis writes bodies of JSON lines, which it does not know."""

import json

import schemathesis


@schemathesis.serializer("application/jsonl", "application/x-ndjson")
def json_lines(_, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()
