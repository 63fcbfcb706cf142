"""Claude Agent SDK: the session's tools as a server inside of the program, and its gate as the permission callback.

    skills = SkillServer(session, run, approve, otherwise=None)
    options = ClaudeAgentOptions(
        system_prompt=await skills.system_prompt(),
        mcp_servers={"skills": skills.server},
        can_use_tool=skills.can_use_tool,
        hooks=skills.hooks,
    )

`can_use_tool` is the only gate of an agent in the SDK's default mode. It decides about the tools of this server and
denies every other one, such as Bash or Write, unless `otherwise` says otherwise: your own callback, with the same
arguments. `hooks` begin a turn of the session with each message of the user (do not call `session.turn` yourself) and
give the model what the turn led to: hints, skills that the user named, skills that were taken out of use.

The SDK reads a server's tools once. So the tools of skills that are loaded later are called by one tool,
`capability_tool_call`, with the name that the skill's instructions give.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from claude_agent_sdk import (
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    SdkMcpTool,
    create_sdk_mcp_server,
)

from capability_client import AnswerRequired, ApprovalRequired, AsyncSession, CallRefused, FormRequired
from capability_client.integrations.form_results import question_in_words, result_of_shown, settled
from capability_client.session.steps import AsyncApprover, AsyncPresenter, Executor
from capability_kit.approvals import Approval

if TYPE_CHECKING:
    from claude_agent_sdk import McpSdkServerConfig

CALL: Final = "capability_tool_call"
SERVER: Final = "skills"
# As the SDK's own callback: `(tool name, its input, context) -> permission result`, perhaps as a coroutine.
PermissionCallback = Callable[[str, dict[str, Any], Any], Any]
_CALL_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "The tool's name, as the list of available tools has it."},
        "arguments": {"type": "object", "description": "The tool's arguments."},
    },
    "required": ["tool", "arguments"],
}


class SkillServer:
    """`run` does a tool's own work, `approve(call)` asks the person; both may be coroutine functions.

    `otherwise` decides about tools that are not of this server, such as the SDK's own: your permission callback, or
    None to deny them all. `show(form)` shows a form that the model opens, and returns its event, or None where the user
    closed it. Raises `ValueError` for a session with the layout "append".
    """

    def __init__(
        self,
        session: AsyncSession,
        run: Executor,
        approve: AsyncApprover,
        *,
        otherwise: PermissionCallback | None,
        by: str = "the user",
        show: AsyncPresenter | None = None,
    ) -> None:
        if session.options.layout == "append":
            raise ValueError("SkillServer appends skills by itself: leave SessionOptions.layout as it is")
        self.session = session
        self._run = run
        self._approve = approve
        self._otherwise = otherwise
        self._by = by
        self._show = show
        self._lock = asyncio.Lock()
        # The active skills whose instructions the model has.
        self._shown: set[str] = set()
        self.tools: list[SdkMcpTool[Any]] = [
            SdkMcpTool(name, each["description"], each["args_schema"], partial(self._call, name))
            for name, each in session.own_tools(ahead=True).items()
        ]
        words = "Call a tool of a loaded skill. The result of loading a skill says which tools there are."
        self.tools.append(SdkMcpTool(CALL, words, _CALL_SCHEMA, self._call_skill_tool))
        self.server: McpSdkServerConfig = create_sdk_mcp_server(SERVER, tools=self.tools)
        # For `ClaudeAgentOptions(hooks=...)`.
        self.hooks: dict[Any, list[HookMatcher]] = {"UserPromptSubmit": [HookMatcher(hooks=[self.hear])]}

    async def system_prompt(self) -> str:
        """What there is, and how it is used."""
        return (await self.session.system_prompt()).prompt

    async def hear(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        """The SDK's hook for a message of the user: a turn begins, and the model reads what it led to."""
        async with self._lock:
            await self.session.turn(str(given["prompt"]))
            text = self._news()
        added = {"hookEventName": "UserPromptSubmit", "additionalContext": text}
        return {"hookSpecificOutput": added} if text else {}

    async def can_use_tool(self, name: str, given: dict[str, Any], context: Any) -> Any:
        """The SDK's permission callback: tools of this server pass the session's gate, all others need `otherwise`."""
        if name not in {f"mcp__{SERVER}__{each.name}" for each in self.tools}:
            return await self._decide_other(name, given, context)
        if name != f"mcp__{SERVER}__{CALL}" or not self.session.needs_approval(str(given.get("tool"))):
            return PermissionResultAllow()
        async with self._lock:
            try:
                self.session.open_call(str(given.get("tool")), given.get("arguments"))
            except ApprovalRequired as waiting:
                said = await settled(self._approve(waiting.call))
                if said is True or isinstance(said, Approval):
                    self.session.approve(waiting.call_id, said if isinstance(said, Approval) else None, by=self._by)
                    return PermissionResultAllow()
                self.session.reject(waiting.call_id)
                return PermissionResultDeny(message="The user said no to this call; do not call it again.")
            except CallRefused as error:
                return PermissionResultDeny(message=f"{error.code}: {error}")
        return PermissionResultAllow()

    async def _decide_other(self, name: str, given: dict[str, Any], context: Any) -> Any:
        if self._otherwise is None:
            words = f"{name} is not a tool of the skills, and this program allows no others. Do not call it again."
            return PermissionResultDeny(message=words)
        return await settled(self._otherwise(name, given, context))

    async def _call_skill_tool(self, given: dict[str, Any]) -> dict[str, Any]:
        return await self._call(str(given.get("tool")), given.get("arguments") or {})

    async def _call(self, name: str, given: Any) -> dict[str, Any]:
        async with self._lock:
            try:
                result = await self.session.result_of(name, given, run=self._run)
            except ApprovalRequired as waiting:
                # Without the permission callback nobody was asked: nothing runs then.
                result = {"error": {"code": waiting.code, "message": str(waiting)}}
            except FormRequired as waiting:
                result = await result_of_shown(
                    self.session, waiting.form, self._run, self._show, self._approve, self._by
                )
            except AnswerRequired as waiting:
                result = question_in_words(waiting)
            news = self._news() if self._has_new_skills() else ""
        text = json.dumps(result, ensure_ascii=False, default=str) + (f"\n\n{news}" if news else "")
        is_error = isinstance(result, dict) and set(result) == {"error"}
        return {"content": [{"type": "text", "text": text}], "is_error": is_error}

    def _has_new_skills(self) -> bool:
        return any(each.capability_id not in self._shown for each in self.session.active)

    def _news(self) -> str:
        """What the model has not read: with a new skill the whole prompt, else hints and what was taken out of use."""
        found = self.session.prompt(with_skills=self._has_new_skills()).prompt
        self._shown = {each.capability_id for each in self.session.active}
        return found
