"""`Session`: one conversation of one user with the capabilities of one registry (docs/requirements.md A, B, C, E).

It decides nothing for the model: it finds what a message may be about (hints), keeps what was loaded at the release of
its first load, drops it after its turns, writes the prompt, and lets tools run only through the gate.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

from agent_client.bundles.bundle import Bundle, ListingEntry, is_capability_id
from agent_client.bundles.tool_export import Vendor, export_tools
from agent_client.bundles.tool_names import wire_name
from agent_client.environment.probe import Environment
from agent_client.environment.readiness import Readiness, check_readiness
from agent_client.errors import CapabilityNotFound, RegistryError
from agent_client.prompt import Prompt, PromptContext, render_prompt
from agent_client.session import serialization
from agent_client.session.active_skills import ActiveSkills
from agent_client.session.capability_index import SkillIndex
from agent_client.session.hints import Hint, hints_from_match, local_hints
from agent_client.session.introduction import ConversationStart, Introduction
from agent_client.session.invocations import canonical_name, complete_name, read_mentions
from agent_client.session.options import ARGUMENTS_MAX, EVENTS_MAX, Event, EventKind, SessionOptions, Source, User
from agent_client.session.system_prompt import build_loader_tool, build_system_prompt
from agent_client.session.tool_gate import (
    CallRefused,
    CallResult,
    ToolCall,
    ToolCallGate,
    Tools,
    check_result,
    find_tool,
)
from agent_client.session.turn import Turn
from agent_client.text.sanitize import one_line, strip_surrogates

LOADER: Final = "capability_skill_load"
Json = dict[str, Any]
Matcher = Callable[[str], Mapping[str, Any]]
Executor = Callable[[ToolCall], Any]


class Session:
    """One conversation. Not for several threads at once; for asyncio call it in `asyncio.to_thread`."""

    def __init__(
        self,
        source: Source,
        *,
        user: User | None = None,
        environment: Environment | None = None,
        roles: Iterable[str] = (),
        options: SessionOptions | None = None,
        matcher: Matcher | None = None,
        session_id: str | None = None,
    ) -> None:
        """`source` is a Registry or LocalSkills; `matcher`, such as `registry.match`, replaces the local triggers.

        `environment` is this computer where it is left out; `roles` are what the host program says that the user has.
        """
        self.source = source
        self.user = user or User()
        self.environment = environment or Environment.probe()
        self.options = options or SessionOptions()
        self.session_id = session_id or secrets.token_hex(8)
        self.matcher = matcher
        self.gate = ToolCallGate(roles)
        self.introduction = Introduction()
        self.number = 0
        self.events: list[Event] = []
        self.disabled: set[str] = set()
        self.active = ActiveSkills(self.options)
        self.bundles: dict[str, Bundle] = {}
        self.pins: dict[str, str] = {}
        # Those of the options, and what an answer of the matcher told.
        self.exclusive_groups = set(self.options.exclusive_groups)
        self._hints: tuple[Hint, ...] = ()
        self._index = SkillIndex(source, lambda words: self._note("index", "", words))

    # What there is.

    @property
    def entries(self) -> dict[str, ListingEntry]:
        """The list as this session sees it, read once; `refresh_list()` reads it again. Disabled ones are left out."""
        found = self._index.entries
        return {name: found[name] for name in found if name not in self.disabled} if self.disabled else found

    def refresh_list(self) -> None:
        """Read the list again: something was published. What is loaded stays at its release."""
        self._index.refresh()

    def refresh(self) -> None:
        """Probe the computer again, after something was installed or allowed."""
        self.environment.refresh()

    def enable(self, capability_id: str) -> None:
        """Enable a disabled capability."""
        self.disabled.discard(canonical_name(capability_id))

    def disable(self, capability_id: str) -> None:
        """Leave a capability out of this session: no hint, no load, and out of the prompt at once."""
        name = canonical_name(capability_id)
        self.disabled.add(name)
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)
        if self.active.drop(name):
            self._note("dropped", name, "it was disabled")

    def autocomplete(self, typed: str) -> list[ListingEntry]:
        """What may follow a typed `$`."""
        return complete_name(typed, self.entries.values())

    # The conversation.

    def start(self, *, first_run: str | None = None, history: Iterable[str] = ()) -> ConversationStart:
        """Begin: a new user in an empty conversation is introduced, a known one greeted.

        `first_run` is the capability of the introduction; left out, the one that the registry names. `history` are
        messages of the conversation so far; those that a runtime wrote by itself do not count.
        """
        wanted = first_run or self._index.first_run
        refused = self.introduction.refusal(self.user, wanted, history)
        if refused is not None:
            return refused
        self.introduction.begin(wanted)
        try:
            self.load(wanted, explicit=True)
        except RegistryError as error:
            self.introduction.state = "none"
            return ConversationStart("skipped", f"The introduction could not be loaded: {error.message}")
        self._note("introduced", wanted, "the user is new and the conversation empty")
        return ConversationStart("introduced", "The user is new.", capability_id=wanted)

    def turn(self, message: str) -> Turn:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        message = strip_surrogates(message)
        before = len(self.events)
        self.number += 1
        self._count_message()
        if not self.options.carry:
            self._drop_all("skills do not stay from one turn to the next")
        rest = self._invoke(message)
        self._hints = self._find_hints(rest)
        # After matching: what the message is about is in use, and does not expire at this very moment.
        for gone in self.active.expire(self.number):
            self._note("expired", gone.capability_id, f"it was not used for {gone.ttl_turns} turns")
        return Turn(self.number, rest, self._hints, tuple(self.active), tuple(self.events[before:]))

    def record_reply(self) -> None:
        """Record that the agent has replied; messages of both sides count for the end of an introduction."""
        self._count_message()

    @property
    def is_introduced(self) -> bool:
        """Whether the host should remember that this user was introduced."""
        return self.user.is_known or self.introduction.state == "over"

    def _count_message(self) -> None:
        if self.introduction.count_message():
            words = f"{self.introduction.messages} messages were said: it never starts by itself again"
            self._note("introduced", self.introduction.capability_id, words)

    def _drop_all(self, why: str) -> None:
        for each in list(self.active):
            self.active.drop(each.capability_id)
            self._note("dropped", each.capability_id, why)

    def _invoke(self, message: str) -> str:
        """Load what the user named; the message without it."""
        mentions = read_mentions(message, self.entries)
        for written, near in mentions.misspellings:
            self._note("not_loaded", near, f"there is no skill ${one_line(written, most=64)}; the nearest is ${near}")
        named = {each.capability_id: each.arguments for each in mentions.invocations}
        if self.options.takes_plain_mentions:
            found = [name for name in self._index.names.find(mentions.message) if name not in self.disabled]
            named |= {name: "" for name in found if name not in named}
        # The first one named is the most important; it is used last, and so stands first.
        for capability_id in reversed(list(named)):
            self._try_load(capability_id, named[capability_id])
        return mentions.message

    def _try_load(self, capability_id: str, arguments: str) -> None:
        try:
            self.load(capability_id, arguments=arguments, explicit=True)
        except RegistryError as error:
            self._note("not_loaded", capability_id, error.message)

    def _find_hints(self, message: str) -> tuple[Hint, ...]:
        found = []
        for hint in self._matched(message):
            if hint.capability_id in self.disabled:
                continue
            if self.active.get(hint.capability_id):
                self.active.refresh(hint.capability_id, self.number)
                continue
            judged = check_readiness(self._index.entries[hint.capability_id], self.environment)
            if judged.status == "UNAVAILABLE":
                self._note("left_out", hint.capability_id, judged.reason)
                continue
            found.append(hint)
        for hint in found[self.options.hints_max :]:
            words = f"at most {self.options.hints_max} are hinted, and others have a higher priority"
            self._note("left_out", hint.capability_id, words)
        kept = found[: self.options.hints_max]
        for hint in kept:
            led = f"because of {hint.triggers[0]!r}" if hint.triggers else "by its meaning"
            self._note("hinted", hint.capability_id, led)
        return tuple(kept)

    def _matched(self, message: str) -> list[Hint]:
        if self.matcher is None or not message.strip():
            return local_hints(message, self._index.triggers, self._index.entries)
        try:
            answer = self.matcher(message)
        except RegistryError as error:
            self._note("index", "", f"Matching by the registry failed, by triggers instead: {error.message}")
            return local_hints(message, self._index.triggers, self._index.entries)
        groups = answer.get("exclusive_groups")
        if isinstance(groups, list):
            self.exclusive_groups.update(group for group in groups if isinstance(group, str))
        return hints_from_match(answer, self._index.entries)

    # Loading.

    def load(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Bundle:
        """Make a capability active, at the release of this session's first load of it.

        `explicit`: the user asked for it, so that it stays longer. Raises a `RegistryError`; `CapabilityNotFound`, with
        what there is instead, also for one that is disabled here.
        """
        name = self._loadable(capability_id)
        bundle = self.bundles.get(name)
        if bundle is None:
            try:
                bundle = self.source.load(name, digest=self.pins.get(name))
            except CapabilityNotFound as error:
                raise error if error.available_capabilities else self._not_found(capability_id) from None
            self.bundles[name], self.pins[name] = bundle, bundle.digest
        self._use(bundle, arguments, explicit=explicit)
        return bundle

    def reload(self, capability_id: str) -> Bundle:
        """Load the newest release into this session (rare: user or operator ask for it). Raises `RegistryError`."""
        bundle = self.source.reload(self._loadable(capability_id))
        self.bundles[bundle.capability_id], self.pins[bundle.capability_id] = bundle, bundle.digest
        self._use(bundle, "", explicit=True)
        return bundle

    def _loadable(self, capability_id: str) -> str:
        """The id as it is asked for. Raises `CapabilityNotFound` for what is none, and for what is disabled here."""
        name = canonical_name(capability_id)
        if name in self.disabled or not is_capability_id(name):
            raise self._not_found(capability_id)
        return name

    def unload(self, capability_id: str) -> bool:
        """Remove a skill from the prompt. Returns False if it was not in it."""
        gone = self.active.drop(canonical_name(capability_id))
        if gone is not None:
            self._note("dropped", gone.capability_id, "it was unloaded")
        return gone is not None

    def _use(self, bundle: Bundle, arguments: str, *, explicit: bool) -> None:
        is_new = self.active.get(bundle.capability_id) is None
        told = self._index.exclusive_groups if bundle.skill_groups else ()
        exclusive = frozenset({*self.exclusive_groups, *told})
        kept = strip_surrogates(arguments)[:ARGUMENTS_MAX]
        dropped = self.active.use(bundle, self.number, is_explicit=explicit, arguments=kept, exclusive=exclusive)
        how = "by hand" if explicit else "by the model"
        stale = f", a kept copy of {bundle.age_seconds:,.0f} seconds ago" if bundle.is_stale else ""
        self._note("loaded" if is_new else "refreshed", bundle.capability_id, f"{how}, {bundle.digest[:19]}{stale}")
        if len(arguments) > ARGUMENTS_MAX:
            self._note("left_out", bundle.capability_id, f"arguments after {ARGUMENTS_MAX:,} characters were cut off")
        for each, why in dropped:
            self._note("dropped", each.capability_id, why)
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != bundle.capability_id)

    def _not_found(self, wanted: str) -> CapabilityNotFound:
        names = list(self.entries)
        data = {"available_capabilities": names[:100], "available_total": len(names)}
        shown = one_line(wanted, most=64)
        return CapabilityNotFound(f"No capability found for ID '{shown}'", data=data, capability_id=shown)

    def readiness(self) -> dict[str, Readiness]:
        """Of each active skill, as the computer is now known."""
        return {each.capability_id: check_readiness(each.bundle, self.environment) for each in self.active}

    # The prompt.

    def prompt(self) -> Prompt:
        """For this turn: active skills, their tools, hints, user context; nothing of what no message needs."""
        extras = PromptContext(
            preamble=self.options.preamble,
            hints=tuple(hint.line() for hint in self._hints),
            user_context=self.user.context,
            variables=self.options.variables,
        )
        active = list(self.active)
        arguments = {each.capability_id: each.arguments for each in active}
        return render_prompt(
            [each.bundle for each in active],
            self.readiness(),
            arguments=arguments,
            characters_max=self.options.characters_max,
            extras=extras,
        )

    def system_prompt(self) -> Prompt:
        """For the whole conversation: which skills there are, and the rules by which they are used."""
        return build_system_prompt(list(self.entries.values()), self.options)

    def tools(
        self, vendor: Vendor = "openai", *, strict: bool = False, with_loader: bool = True
    ) -> list[dict[str, Any]]:
        """The tools of what is active and ready, in a vendor's form, and the one that loads a skill."""
        named = {name: tool for name, (_, tool) in self._tools().items()}
        if with_loader:
            named[LOADER] = build_loader_tool(hint.capability_id for hint in self._hints)
        exported = export_tools(named, vendor, strict=strict)
        for name, why in exported.left_out.items():
            self._note("left_out", "", f"the tool {name}: {why}")
        return exported.tools

    def _tools(self) -> Tools:
        judged = self.readiness()
        shown = set(self.prompt().included)
        return {
            wire_name(each.capability_id, tool["name"]): (each.bundle, tool)
            for each in self.active
            if judged[each.capability_id].is_ready and each.capability_id in shown
            for tool in each.bundle.tools
        }

    # The gate.

    def call(
        self, tool: str, arguments: Any, *, run: Executor | None = None, from_form: bool = False
    ) -> CallResult | ToolCall:
        """A tool call of the model, or of a form (`from_form`: strings become numbers, see coercion.py).

        With `run` the tool runs and its result is checked; without it the open `Call` is returned, to be passed to
        `run_call`. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        if tool == LOADER:
            return self._call_loader(arguments)
        bundle, contract = find_tool(self._tools(), tool)
        try:
            call = self.gate.open(bundle, contract, arguments, from_form=from_form)
        except CallRefused as error:
            self._note("call", bundle.capability_id, f"{contract['name']}: {error.code}")
            raise
        return call if run is None else self.run_call(call.call_id, run)

    def approve(self, call_id: str, *, by: str) -> ToolCall:
        """A person approves a waiting call, exactly as it is; `run_call` runs it then."""
        call = self.gate.approve(call_id, by=by)
        self._note("call", call.capability_id, f"{call.tool}: approved by {one_line(by, most=60)}")
        return call

    def reject(self, call_id: str) -> ToolCall:
        """A person refuses a waiting call."""
        call = self.gate.reject(call_id)
        self._note("call", call.capability_id, f"{call.tool}: rejected")
        return call

    def run_call(self, call_id: str, run: Executor) -> CallResult:
        """Run an open call once, and check its result. Raises `CallRefused`, or what `run` raises."""
        call = self.gate.take(call_id)
        result = run(call)
        bundle = self.bundles.get(call.capability_id)
        contract = next((tool for tool in bundle.tools if tool["name"] == call.tool), None) if bundle else None
        self._note("call", call.capability_id, f"{call.tool}: done")
        if contract is not None:
            check_result(contract, result)
        return CallResult(call, result)

    def _call_loader(self, arguments: Any) -> CallResult:
        """The model loads a skill: what it gets is a result, never an exception."""
        wanted = arguments.get("capability_id") if isinstance(arguments, dict) else None
        given = arguments.get("arguments") if isinstance(arguments, dict) else None
        call = ToolCall("call_load", "", LOADER, {"capability_id": wanted}, "read", "done")
        try:
            bundle = self.load(str(wanted), arguments=given if isinstance(given, str) else "")
        except RegistryError as error:
            return CallResult(call, {"error": {"code": error.error_code, "message": error.user_message()}})
        judged = check_readiness(bundle, self.environment)
        return CallResult(
            call, {"loaded": bundle.capability_id, "status": judged.status, "missing": judged.user_message()}
        )

    # Between two processes.

    def to_json(self, *, secret: bytes | None = None) -> str:
        """The session as text (serialization.py); with a `secret`, no one else can make a file that is accepted."""
        return serialization.serialize_session(self, secret=secret)

    @classmethod
    def from_json(cls, text: str, source: Source, *, secret: bytes | None = None, **settings: Any) -> Self:
        """A session from its text; `settings` as for a new one. Raises `SessionFileRefused` with a sentence."""
        session = cls(source, **settings)
        serialization.restore_session(session, text, secret=secret)
        return session

    def _note(self, kind: EventKind, capability_id: str, words: str) -> None:
        self.events.append(Event(self.number, kind, capability_id, strip_surrogates(words)))
        del self.events[:-EVENTS_MAX]
