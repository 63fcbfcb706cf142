"""A playground without a model: type what a user would say, and see what a session makes of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, TextIO

from capability_client import ApprovalRequired, CallRefused, CallResult, FormRequired, Session, SkillForm, ToolCall
from capability_client.session.invocations import canonical_name
from capability_kit.bundles.form_data import fill_form
from capability_kit.errors import RegistryError
from capability_kit.text.sanitize import one_line
from capability_kit.ui.form_text import set_value

HELP = """Type what a user would say. $name args invokes a skill.
/load ID        as the model would after a hint     /reply TEXT   what the agent answers
/call TOOL JSON as the model would                  /approve ID   a person approves a waiting call (/reject ID)
/set [FORM] PATH VALUE  /press [FORM] BUTTON    /close [FORM]: in a form that /call form_open JSON has drawn
/prompt  /system  /tools  /skills [word]            /enable ID  /disable ID  /unload ID  /refresh
/help  /quit"""


class Chat:
    """One conversation over two streams."""

    def __init__(self, session: Session, stdin: TextIO, stdout: TextIO) -> None:
        self._session = session
        self._in, self._out = stdin, stdout
        self._shown = len(session.events)
        # What the user has entered in the forms, by the id of each.
        self._entered: dict[str, dict[str, Any]] = {}
        self._verbs: dict[str, Callable[[str], None]] = {
            "/load": self._load,
            "/reply": self._reply,
            "/call": self._call,
            "/approve": lambda text: self._run(text, approve=True),
            "/reject": lambda text: self._run(text, approve=False),
            "/set": self._set_value,
            "/press": self._press,
            "/close": lambda text: self._print_result(self._session.close_form(self._named_form(text)[0].call_id)),
            "/prompt": lambda _: self._prompt(),
            "/system": lambda _: self._print(self._session.system_prompt().prompt),
            "/tools": lambda _: self._tools(),
            "/skills": self._skills,
            "/enable": lambda text: self._switch(text, on=True),
            "/disable": lambda text: self._switch(text, on=False),
            "/unload": self._unload,
            "/refresh": lambda _: self._session.refresh(),
            "/help": lambda _: self._print(HELP),
        }

    def run(self, *, first_run: str | None = None) -> None:
        """Until `/quit` or the end of the input."""
        if self._session.number == 0:
            self._start(first_run)
        while True:
            self._out.write("> ")
            self._out.flush()
            line = self._in.readline()
            if not line or line.strip() == "/quit":
                self._print("" if line else "\n", end="")
                return
            if not self._in.isatty():
                # A transcript shows what was typed.
                self._print(line.rstrip("\n"))
            self._take(line.strip())

    def _start(self, first_run: str | None) -> None:
        begun = self._session.start(first_run=first_run)
        if begun.kind == "greeted":
            self._print(f"agent: {begun.greeting}")
        elif begun.kind == "introduced":
            self._print(f"[{begun.capability_id} was loaded by hand: the user is new and the conversation empty]")
        self._events()
        self._active()

    def _take(self, line: str) -> None:
        if not line:
            return
        verb, _, rest = line.partition(" ")
        try:
            if verb in self._verbs:
                self._verbs[verb](rest.strip())
            elif line.startswith("/"):
                self._print(f"There is no {verb}; /help names what there is.")
            else:
                self._turn(line)
        except (RegistryError, CallRefused) as error:
            self._print(
                f"agent: {error.user_message()}" if isinstance(error, RegistryError) else f"[{error.code}: {error}]"
            )
        self._events()

    def _turn(self, message: str) -> None:
        if message.startswith("$") and not message[1:].strip():
            self._skills(message)
            return
        turn = self._session.turn(message)
        for hint in turn.hints:
            self._print(f"hint: {hint.line()}")
        named = message.split(maxsplit=1)[0].removeprefix("$") if message.startswith("$") else ""
        if named and not any(each.capability_id == canonical_name(named) for each in turn.active):
            self._print(f"there is no skill ${one_line(named, most=80)}; $ alone lists what there is")
        elif not turn.hints and not turn.active:
            self._print("no skill fits; nothing is added to the prompt")
        self._active()

    def _active(self) -> None:
        judged = self._session.readiness()
        for each in self._session.active:
            left = each.turns_left(self._session.number)
            status = judged[each.capability_id].status
            given = f", ARGUMENTS: {one_line(each.arguments, most=80)}" if each.arguments else ""
            self._print(f"active: {each.capability_id} ({status}, {left} more turns without use{given})")

    def _load(self, capability_id: str) -> None:
        self._session.load(capability_id)
        self._active()

    def _reply(self, text: str) -> None:
        self._print(f"agent: {text}")
        self._session.record_reply()

    def _switch(self, capability_id: str, *, on: bool) -> None:
        name = canonical_name(capability_id)
        if name not in self._session.entries and name not in self._session.catalog.disabled:
            self._print(f"There is no {one_line(capability_id, most=64) or 'name'}; /skills names what there is.")
            return
        (self._session.enable if on else self._session.disable)(name)
        self._print(f"{name} is {'enabled' if on else 'disabled'}")

    def _unload(self, capability_id: str) -> None:
        if not self._session.unload(capability_id):
            self._print(f"{one_line(capability_id, most=64) or 'Nothing'} is not active.")

    def _call(self, text: str) -> None:
        tool, _, raw = text.partition(" ")
        try:
            arguments = json.loads(raw or "{}")
        except ValueError as error:
            self._print(f"The arguments are not JSON: {error}")
            return
        self._run_until_waiting(lambda: self._session.call(tool, arguments))

    def _run_until_waiting(self, call: Callable[[], CallResult | ToolCall]) -> None:
        """A call, or what a form sends: the gate decides what comes next."""
        try:
            done = call()
        except ApprovalRequired as waiting:
            self._print(f"waits: {waiting.call.summary()}\n       /approve {waiting.call_id}")
        except FormRequired as waiting:
            self._draw(waiting.form)
        else:
            self._print_result(done)

    def _print_result(self, done: CallResult | ToolCall) -> None:
        if isinstance(done, CallResult):
            self._print(f"result: {json.dumps(done.result, ensure_ascii=False)}")
            return
        self._print(f"would run: {done.summary()}")
        self._session.gate.take(done.call_id).state = "done"

    # Forms.

    def _draw(self, form: SkillForm) -> None:
        data = self._entered.setdefault(form.call_id, copy.deepcopy(form.data))
        self._print(f"form {form.schema_id} of {form.capability_id}: {form.call_id}")
        self._print("\n".join(f"  | {line}" for line in form.plain(data).splitlines()))

    def _set_value(self, text: str) -> None:
        form, rest = self._named_form(text)
        path, _, value = rest.partition(" ")
        data = copy.deepcopy(self._entered.get(form.call_id, form.data))
        try:
            set_value(data, path, value)
            # As the widgets keep it: a choice is a list.
            tools = self._session.bundles[form.capability_id].tools
            self._entered[form.call_id] = fill_form(form.entry, data, tools=tools, request_id=form.call_id)
        except ValueError as error:
            self._print(f"[{error}]")
            return
        self._draw(form)

    def _press(self, text: str) -> None:
        form, button = self._named_form(text)
        try:
            event = form.press(button, self._entered.get(form.call_id))
        except ValueError as error:
            self._print(f"[{error}]")
            return
        self._run_until_waiting(lambda: self._session.submit(form.call_id, event))

    def _named_form(self, text: str) -> tuple[SkillForm, str]:
        """The form that a line begins with, else the latest one, and the rest of the line. Raises `CallNotOpen`."""
        first, _, rest = text.partition(" ")
        if first.startswith("form_"):
            return self._session.form(first), rest.strip()
        latest = next(reversed(self._session.opened.by_id), "")
        return self._session.form(latest), text

    def _run(self, call_id: str, *, approve: bool) -> None:
        if not approve:
            self._session.reject(call_id)
            return
        call = self._session.approve(call_id, by="the person at the terminal")
        self._print(f"would run: {call.summary()}")
        self._session.gate.take(call_id).state = "done"

    def _prompt(self) -> None:
        prompt = self._session.prompt()
        self._print(prompt.prompt or "(nothing)")
        self._print(f"[{prompt.characters:,} characters, about {prompt.tokens_estimate:,} tokens]")
        for name, reason in prompt.omitted:
            self._print(f"[left out: {name}: {reason}]")

    def _tools(self) -> None:
        tools: list[dict[str, Any]] = list(self._session.tools("mcp"))
        for tool in tools:
            kind = "read" if tool["annotations"]["readOnlyHint"] else "write"
            self._print(f"{tool['name']} ({kind}): {tool['description']}")

    def _skills(self, typed: str) -> None:
        found = self._session.autocomplete(typed)
        if not found:
            self._print("No skill begins so." if typed.strip("$ ") else "There are no skills.")
        for entry in found:
            self._print(f"${entry.capability_id}: {one_line(entry.description, most=120)}")

    def _events(self) -> None:
        """What happened since, in words."""
        for event in self._session.events[self._shown :]:
            if event.kind != "hinted":
                self._print(f"  {event.kind}: {event.capability_id + ': ' if event.capability_id else ''}{event.words}")
        self._shown = len(self._session.events)

    def _print(self, text: str, *, end: str = "\n") -> None:
        self._out.write(text + end)
        self._out.flush()
