"""`mcp_python_clients.py URL`, run by an environment with `mcp` and `fastmcp`: what their clients see, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client as FastMcp
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.skills import SkillsClientExtension
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

LOAD = {"capability_id": "weights"}


async def sdk(url: str, mode: str) -> dict[str, Any]:
    """The official SDK in one of its modes."""
    async with Client(streamable_http_client(url), mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        loaded = await client.call_tool("capability_skill_load", LOAD)
        refused = await client.call_tool("capability_skill_load", {"capability_id": "nobody"})
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt(prompts[-1].name, {"arguments": "of today"})
        resources = (await client.list_resources()).resources
        return {
            "tools": tools,
            "loaded": json.loads(loaded.content[0].text)["capability_id"],
            "refused": [refused.is_error, refused.structured_content["error"]["code"]],
            "prompts": len(prompts),
            "prompt": "of today" in prompt.messages[0].content.text,
            "resources": len(resources),
        }


async def fast(url: str) -> dict[str, Any]:
    """FastMCP with its skills extension."""
    async with FastMcp(StreamableHttpTransport(url), extensions=[SkillsClientExtension()]) as client:
        skills = await client.list_skills()
        loaded = await client.call_tool("capability_skill_load", LOAD)
        uri = next(skill.uri for skill in skills if "weights" in str(skill.uri))
        skill = await client.get_skill(uri)
        return {
            "skills": len(skills),
            "skill": skill.frontmatter["name"] if isinstance(skill.frontmatter, dict) else skill.frontmatter.name,
            "loaded": json.loads(loaded.content[0].text)["capability_id"],
        }


async def main(url: str) -> None:
    """Each client after the other."""
    found: dict[str, Any] = {mode: await sdk(url, mode) for mode in ("legacy", "auto", "2026-07-28")}
    print(json.dumps({**found, "fastmcp": await fast(url)}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
