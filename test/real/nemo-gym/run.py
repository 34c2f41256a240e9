"""The documented resources server in Gym: a reward, no answer while the judge is down, and Gym's mask on request."""

import asyncio
from unittest.mock import MagicMock

import httpx
from documented import DOWN_URL, GOOD, ROW, URL, documented
from nemo_gym.server_utils import ServerClient

ADAPTER = "/v1/adapters/nemo-gym/verify?recipe=refiner-guarded"
RESPONSE = {
    "id": "r",
    "created_at": 0,
    "model": "m",
    "object": "response",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": GOOD, "annotations": []}],
        }
    ],
}
names = documented("trainers/nemo-gym.md", "class CitewardResourcesServer")


async def verified(url, body, **more):
    config = names["CitewardConfig"](host="127.0.0.1", port=1, entrypoint="", name="citeward", citeward_url=url, **more)
    server = names["CitewardResourcesServer"](config=config, server_client=MagicMock(spec=ServerClient))
    transport = httpx.ASGITransport(server.setup_webserver(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gym", timeout=100) as client:
        return await client.post("/verify", json=body)


async def main():
    body = {
        "responses_create_params": {"input": [{"role": "user", "content": ROW["question"]}]},
        "response": RESPONSE,
        "citeward": ROW,
    }
    reply = await verified(URL + ADAPTER, body)
    assert reply.status_code == 200, reply.text
    row = reply.json()
    assert row["reward"] == 10 and sum(row["reward_components"].values()) == 10, row
    assert not row["mask_sample"], row

    reply = await verified(DOWN_URL + ADAPTER, body)
    assert reply.status_code >= 500, reply.text

    masked = (await verified(DOWN_URL + ADAPTER, body, mask_failures=True)).json()
    assert masked["mask_sample"] and masked["failure_kind"] == "judge_failed", masked
    assert "503" in masked["failure_reason"], masked["failure_reason"]

    again = (await verified(URL + ADAPTER, masked)).json()
    assert again["reward"] == 10 and not again["mask_sample"] and again.get("failure_kind") is None, again


asyncio.run(main())
print("the resources server: a reward with its components; an error or Gym's mask while the judge is down")
