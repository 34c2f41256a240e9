"""Anthropic's Python client on a scripted API: its message and its stream's events, verified and scored as they are."""

import http.server
import json
import threading

import anthropic
from documented import DOWN_URL, ROW, URL

from citeward import Client, Unscored

SOURCE = "The Aare is 288 kilometres long."
PLACE = {"document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": len(SOURCE)}
CITATION = {"type": "char_location", "cited_text": SOURCE, "file_id": None, **PLACE}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": []}
EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": CITATION}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "The Aare is "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "288 kilometres long."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


class Api(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("stream"):
            kind, body = "text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in EVENTS)
        else:
            content = [{"type": "text", "text": SOURCE, "citations": [CITATION]}]
            usage = {"input_tokens": 1, "output_tokens": 9}
            kind, body = "application/json", json.dumps({**MESSAGE, "content": content, "usage": usage})
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


api = http.server.HTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=api.serve_forever, daemon=True).start()
claude = anthropic.Anthropic(api_key="none", base_url=f"http://127.0.0.1:{api.server_port}")
document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": SOURCE}}
document["citations"] = {"enabled": True}
question = {"type": "text", "text": ROW["question"]}
asked = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": [document, question]}]}

message = claude.messages.create(**asked)
with claude.messages.stream(**asked) as stream:
    events = list(stream)
    accumulated = stream.get_final_message()
with claude.messages.create(**asked, stream=True) as raw:
    wire = list(raw)
answers = {
    "to_dict": message.to_dict(),
    "model_dump": message.model_dump(mode="json"),
    "content": [block.model_dump(mode="json") for block in message.content],
    "accumulated": accumulated.model_dump(mode="json"),
    "events": [event.model_dump(mode="json") for event in events],
    "wire": [event.to_dict() for event in wire],
}


def fields(answer):
    sources = [{"id": "S1", "text": SOURCE}]
    row = {"question": ROW["question"], "positive_rubrics": ROW["positive_rubrics"], "recipe": "refiner-guarded"}
    return {**row, "cited_answer": answer, "sources": sources}


for name, answer in answers.items():
    with Client(URL) as client:
        score = client.score(fields(answer))
        assert score.reward == 10, (name, score)
        read = score.reply["cited_answer"]
        assert read == {"format": "anthropic", "findings": [], "finding_count": 0}, (name, read)
    with Client(DOWN_URL, deadline_s=5) as client:
        try:
            found = client.score(fields(answer))
        except Unscored as error:
            assert error.reason.startswith("judge_"), error
        else:
            raise AssertionError(f"{name}: {found}")
print(f"{len(answers)} dumps of a message and of its stream: the full reward; no reward while the judge is down")
