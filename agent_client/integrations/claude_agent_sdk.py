"""Claude Agent SDK: the session's tools as a server inside of the program, and its gate as the permission callback.

    skills = SkillServer(session, run, approve)
    options = ClaudeAgentOptions(
        system_prompt=await skills.system_prompt(),
        mcp_servers={"skills": skills.server},
        can_use_tool=skills.can_use_tool,
    )

The SDK reads a server's tools once. So the tools of skills that are loaded later are called by one tool,
`capability_tool_call`, with the name that the skill's instructions give.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from functools import partial
from typing import Any, Final

from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, SdkMcpTool, create_sdk_mcp_server

from agent_client.integrations.errors import question_in_words
from agent_client.session import AnswerRequired, ApprovalRequired, AsyncSession, CallRefused
from agent_client.session.steps import Approver, Executor

CALL: Final = "capability_tool_call"
SERVER: Final = "skills"
_CALL_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "The tool's name, as the list of available tools has it."},
        "arguments": {"type": "object", "description": "The tool's arguments."},
    },
    "required": ["tool", "arguments"],
}


class SkillServer:
    """`run` does a tool's own work, `approve(call)` asks the person; both may be coroutine functions."""

    def __init__(self, session: AsyncSession, run: Executor, approve: Approver, *, by: str = "the user") -> None:
        self.session = session
        self._run = run
        self._approve = approve
        self._by = by
        self._lock = asyncio.Lock()
        own = session.own_tools()
        self.tools = [
            SdkMcpTool(name, each["description"], each["args_schema"], partial(self._call, name))
            for name, each in own.items()
        ]
        words = "Call a tool of a loaded skill. The result of loading a skill says which tools there are."
        self.tools.append(SdkMcpTool(CALL, words, _CALL_SCHEMA, self._call_skill_tool))
        self.server = create_sdk_mcp_server(SERVER, tools=self.tools)

    async def system_prompt(self) -> str:
        """What there is, and how it is used."""
        return (await self.session.system_prompt()).prompt

    async def can_use_tool(self, name: str, given: dict[str, Any], context: Any) -> Any:
        """The SDK's permission callback: tools of this server pass the session's gate, others are not its business."""
        if name != f"mcp__{SERVER}__{CALL}" or not self.session.needs_approval(str(given.get("tool"))):
            return PermissionResultAllow()
        async with self._lock:
            try:
                self.session.open_call(str(given.get("tool")), given.get("arguments"))
            except ApprovalRequired as waiting:
                said = self._approve(waiting.call)
                if (await said if inspect.isawaitable(said) else said) is True:
                    self.session.approve(waiting.call_id, by=self._by)
                    return PermissionResultAllow()
                self.session.reject(waiting.call_id)
                return PermissionResultDeny(message="The user said no to this call; do not call it again.")
            except CallRefused as error:
                return PermissionResultDeny(message=f"{error.code}: {error}")
        return PermissionResultAllow()

    async def _call_skill_tool(self, given: dict[str, Any]) -> dict[str, Any]:
        return await self._call(str(given.get("tool")), given.get("arguments") or {})

    async def _call(self, name: str, given: Any) -> dict[str, Any]:
        async with self._lock:
            before = {each.capability_id for each in self.session.active}
            try:
                result = await self.session.result_of(name, given, run=self._run)
            except ApprovalRequired as waiting:
                # Without the permission callback nobody was asked: nothing runs then.
                result = {"error": {"code": waiting.code, "message": str(waiting)}}
            except AnswerRequired as waiting:
                result = question_in_words(waiting)
            is_new = {each.capability_id for each in self.session.active} != before
        text = json.dumps(result, ensure_ascii=False, default=str)
        if is_new:
            text += f"\n\n{self.session.prompt().prompt}"
        is_error = isinstance(result, dict) and set(result) == {"error"}
        return {"content": [{"type": "text", "text": text}], "is_error": is_error}
