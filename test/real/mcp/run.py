"""The MCP client on ``/mcp``: the tools, a verified answer, a reward, and none while the judge is down."""

import asyncio

from documented import DOWN_URL, GOOD, ROW, URL
from mcp.client.client import Client


async def main():
    answer = {"response": GOOD, "tool_output": ROW["tool_output"]}
    row = {**ROW, "recipe": "refiner-guarded", "response": GOOD}
    async with Client(f"{URL}/mcp") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert {"verify_citations", "score_answer", "list_recipes"} <= set(tools), tools
        verified = await client.call_tool("verify_citations", answer)
        [claim] = verified.structured_content["claims"]
        assert claim["text"] == "The Aare is 288 kilometres long." and not verified.is_error, claim
        scored = await client.call_tool("score_answer", row)
        assert scored.structured_content["reward"] == 10, scored
    async with Client(f"{DOWN_URL}/mcp") as client:
        failed = (await client.call_tool("score_answer", row)).structured_content
        assert failed["reward"] is None and failed["status"] == "unscored", failed


asyncio.run(main())
print("tools listed, an answer verified and scored; no reward while the judge is down")
