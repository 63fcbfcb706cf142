"""Many conversations in one process: a line of JSON in, lines of JSON out. `python -m docs.agents.asyncio_server`

{"conversation": "c1", "text": "I just weighed 187.6 lbs"}
{"approve": "weight_entry_save_batch of weights (write) with ..."}     answer: {"approved": true}
{"form": [A2UI messages]}                                              answer: {"event": {...}} or {"event": null}
{"said": "Saved."}
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx2

from capability_client import (
    AsyncRegistry,
    AsyncSession,
    AsyncSource,
    FileSessions,
    Message,
    ModelCall,
    ModelReply,
    SessionLocked,
    SkillForm,
    Source,
    ToolCall,
    User,
)
from docs.agents.weight_tools import tools

URL, KEY, MODEL = "http://127.0.0.1:11434/v1/chat/completions", "any", "qwen3"
HTTP = httpx2.AsyncClient(timeout=60)
SESSIONS = FileSessions("~/.agent/sessions")


async def model(session: AsyncSession, messages: Sequence[Message]) -> ModelReply:
    """One step of a model behind OpenAI's chat completions format."""
    system = {"role": "system", "content": (await session.prompt_parts()).before}
    body = {"model": MODEL, "messages": [system, *session.messages_for("openai")], "tools": session.tools("openai")}
    answer = await HTTP.post(URL, json=body, headers={"Authorization": f"Bearer {KEY}"})
    said = answer.raise_for_status().json()["choices"][0]["message"]
    calls = [(call["id"], call["function"]) for call in said.get("tool_calls") or ()]
    return ModelReply(
        said["content"] or "", tuple(ModelCall(i, f["name"], json.loads(f["arguments"])) for i, f in calls)
    )


async def converse(source: AsyncSource | Source, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, until it is closed."""

    async def ask(**question: object) -> dict[str, Any]:
        writer.write(json.dumps(question).encode() + b"\n")
        return dict(json.loads(await reader.readline() or "{}"))

    async def approve(call: ToolCall) -> bool:
        return (await ask(approve=call.summary())).get("approved") is True

    async def show(form: SkillForm) -> dict[str, object] | None:
        return (await ask(form=form.messages())).get("event")

    while line := await reader.readline():
        given = json.loads(line)
        try:
            user = User(user_id=given["conversation"], is_introduced=True)
            async with AsyncSession.stored(SESSIONS, user.user_id, source, user=user, toolbox=tools) as session:
                said = await session.say(given["text"], model, approve=approve, show=show)
        except SessionLocked as error:
            said = str(error)
        writer.write(json.dumps({"said": said}).encode() + b"\n")
    writer.close()


async def main() -> None:
    """Serve until the process ends."""
    async with AsyncRegistry("http://127.0.0.1:8000") as registry:
        server = await asyncio.start_server(lambda reader, writer: converse(registry, reader, writer), port=8765)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
