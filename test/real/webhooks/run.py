"""Requests signed by Standard Webhooks' and Svix's libraries, and events that both libraries verify."""

import datetime
import http.server
import json
import queue
import threading
import urllib.request

import standardwebhooks
import svix.webhooks
from documented import GOOD, ROW, URL

BODY = json.dumps({**ROW, "recipe": "refiner-guarded", "response": GOOD})
received = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        received.put((dict(self.headers), self.rfile.read(int(self.headers["content-length"])).decode()))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def post(path, body, headers=None):
    content = {"content-type": "application/json"}
    request = urllib.request.Request(URL + path, body.encode(), {**content, **(headers or {})})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
endpoint = post("/v1/webhooks", json.dumps({"url": f"http://127.0.0.1:{receiver.server_port}/"}))
now = datetime.datetime.now(datetime.timezone.utc)
for name, webhook in (
    ("webhook", standardwebhooks.Webhook(endpoint["secret"])),
    ("svix", svix.webhooks.Webhook(endpoint["secret"])),
):
    message = f"{name}-1"
    signature = webhook.sign(message, now, BODY)
    signed = {"id": message, "timestamp": str(int(now.timestamp())), "signature": signature}
    post(f"/v1/webhooks/{endpoint['id']}/score", BODY, {f"{name}-{field}": value for field, value in signed.items()})
    headers, body = received.get(timeout=30)
    headers = {field.lower(): value for field, value in headers.items()}
    webhook.verify(body, headers)
    event = json.loads(body)
    assert event["type"] == "score.completed" and event["data"]["webhook_id"] == message, event
    assert event["data"]["score"]["reward"] == 10, event
    forged = body.replace("10", "11")
    try:
        webhook.verify(forged, headers)
    except Exception:
        continue
    raise AssertionError("a changed event was verified")
print("both libraries sign a request and verify its event; a changed event is refused")
