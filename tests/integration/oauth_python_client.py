"""`oauth_python_client.py URL USERNAME PASSWORD [DOCUMENT]`, run by an environment with `mcp`: a person who has no key
signs in by the official SDK's client; what they saw, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp_types import ElicitResult

from tests.integration.oauth_person import Person

CALLBACK = "http://127.0.0.1:51999/callback"


class Memory:
    """What the SDK keeps of a sign-in."""

    tokens: Any = None
    client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


async def fill_in(_context: Any, params: Any) -> ElicitResult:
    """The person who fills in what they are asked, and approves it."""
    if "approve" in params.requested_schema["properties"]:
        return ElicitResult(action="accept", content={"approve": True})
    entered = {"measured_on": "2026-11-30", "weight": 187.6, "unit": "lb", "note": ""}
    return ElicitResult(action="accept", content=entered)


async def main(url: str, username: str, password: str, document: str | None = None) -> None:
    """Sign in, call, renew the token, call again."""
    person, memory = Person(url, username, password), Memory()
    answers: list[dict[str, str]] = []

    async def go_to(link: str) -> None:
        query = parse_qs(urlsplit(person.allow(link)).query)
        answers.append({name: values[0] for name, values in query.items()})

    async def come_back() -> AuthorizationCodeResult:
        got = answers.pop()
        return AuthorizationCodeResult(code=got["code"], state=got.get("state"), iss=got.get("iss"))

    metadata = OAuthClientMetadata(redirect_uris=[CALLBACK], client_name="Official SDK")
    provider = OAuthClientProvider(f"{url}/mcp", metadata, memory, go_to, come_back, client_metadata_url=document)
    found: dict[str, Any] = {}
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30) as http,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=http), mode="2026-07-28", elicitation_callback=fill_in
        ) as client,
    ):
        found["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        matched = await client.call_tool("capability_match", {"message": "I just weighed 187.6 lbs"})
        found["needed"] = json.loads(matched.content[0].text)["needed"]
        said = {"capability_id": "weights", "outcome": "likely_success"}
        await client.call_tool("capability_feedback", said)
        before = memory.tokens.access_token
        # As if ten minutes had gone by.
        provider.context.token_expiry_time = 1.0
        form = await client.call_tool("form_open", {"capability_id": "weights", "schema_id": "WeightEntryForm.v1"})
        found["form"] = json.loads(form.content[0].text)
        found["again"] = (await client.call_tool("capability_feedback", said)).is_error
        found["renewed"] = memory.tokens.access_token != before
    found["scope"] = memory.tokens.scope
    found["client_id"] = memory.client.client_id if memory.client else provider.context.client_info.client_id
    found["asked"] = "Official SDK" in person.words or "Documented" in person.words
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
