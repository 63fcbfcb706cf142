"""What a session knows and decides, without input or output (docs/contract.md 7).

Where the registry, a tool or a person is needed, a method is a generator: it yields what to call, is sent what that
returned, and returns its own result. `Session` and `AsyncSession` do the calling.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Self, TypedDict, TypeVar

from agent_client.bundles.bundle import Bundle, ListingEntry, is_capability_id
from agent_client.bundles.tool_export import Vendor, export_tools
from agent_client.bundles.tool_names import wire_name
from agent_client.environment.probe import Environment
from agent_client.environment.readiness import Readiness, check_readiness
from agent_client.errors import CapabilityNotFound, CapabilityQuarantined, RegistryError, Unavailable
from agent_client.prompt import Prompt, PromptContext, render_prompt
from agent_client.session import own_tools, serialization
from agent_client.session.active_skills import ActiveSkill, ActiveSkills
from agent_client.session.hints import Hint, hints_from_match, local_hints
from agent_client.session.introduction import ConversationStart, Introduction
from agent_client.session.invocations import SkillIndex, canonical_name, complete_name, read_mentions
from agent_client.session.messages import Message, Model, ModelCall, ModelReply
from agent_client.session.operations import Operation, OperationKind, Tracer, no_trace
from agent_client.session.options import ARGUMENTS_MAX, EVENTS_MAX, MESSAGES_MAX, Event, EventKind, SessionOptions, User
from agent_client.session.system_prompt import build_system_prompt, notes_of
from agent_client.session.tool_gate import (
    AnswerRequired,
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallResult,
    SkillNotReady,
    ToolCall,
    ToolCallGate,
    Tools,
    ToolUnknown,
    ToolWithheld,
    check_arguments,
    check_result,
    find_tool,
    is_tool_of,
)
from agent_client.text.sanitize import one_line, strip_surrogates
from agent_client.ui.ask import AskForm

T = TypeVar("T")
Json = dict[str, Any]
Matcher = Callable[[str], Any]
Executor = Callable[[ToolCall], Any]
Approver = Callable[[ToolCall], Any]
Asker = Callable[[AskForm], Any]
# Yields what to call, is sent what that returned (or thrown what it raised), and returns a T.
Steps = Generator["Operation | Message", Any, T]
TOO_MANY_STEPS: Final = "I could not finish that; please ask me in smaller steps."
logger = logging.getLogger("agent_client.session")


@dataclass(frozen=True)
class Turn:
    """What one message of the user led to. `message` is without the `$name`s that were removed from it."""

    number: int
    message: str
    hints: tuple[Hint, ...]
    active: tuple[ActiveSkill, ...]
    events: tuple[Event, ...]


class SessionSettings(TypedDict, total=False):
    """The settings of a session, as `SessionCore` explains them."""

    user: User | None
    environment: Environment | None
    roles: Iterable[str]
    options: SessionOptions | None
    session_id: str | None
    on_event: Callable[[Event], None] | None
    trace: Tracer | None


class SessionCore:
    """The state of one conversation. Not for several threads or tasks at once."""

    def __init__(
        self,
        source: Any,
        *,
        user: User | None = None,
        environment: Environment | None = None,
        roles: Iterable[str] = (),
        options: SessionOptions | None = None,
        matcher: Matcher | None = None,
        session_id: str | None = None,
        on_event: Callable[[Event], None] | None = None,
        trace: Tracer | None = None,
    ) -> None:
        """`source` is where capabilities come from, `roles` what the host program says that the user has.

        `environment` is this computer where it is left out. `matcher` replaces the source's `match`. `on_event` is
        called with each event, and `trace` around each call of the source, a tool, the model or a person: its context
        manager is entered before it and left after it (operations.py). Raises `TypeError` for an argument of another
        type.
        """
        _check_types(user=(user, User), environment=(environment, Environment), options=(options, SessionOptions))
        if isinstance(roles, str):
            raise TypeError("roles is a list of texts, such as ['member'], not one text")
        self.source = source
        self.user = user or User()
        self.environment = environment or Environment.probe()
        self.options = options or SessionOptions()
        self.session_id = session_id or secrets.token_hex(8)
        if self.options.matches_by_triggers and matcher is not None:
            raise ValueError("A matcher and SessionOptions(matches_by_triggers=True) exclude each other")
        self.matcher = None if self.options.matches_by_triggers else matcher or getattr(source, "match", None)
        self.on_event = on_event
        self.trace = trace or no_trace
        self.gate = ToolCallGate(roles)
        self.introduction = Introduction()
        self.number = 0
        self.events: list[Event] = []
        self.messages: list[Message] = []
        self.disabled: set[str] = set()
        self.active = ActiveSkills(self.options)
        self.bundles: dict[str, Bundle] = {}
        self.pins: dict[str, str] = {}
        # Those of the options, and what an answer of the matcher told.
        self.exclusive_groups = set(self.options.exclusive_groups)
        self._hints: tuple[Hint, ...] = ()
        self._index = SkillIndex()
        self._is_user_given = user is not None

    # What there is.

    def _known_entries(self) -> dict[str, ListingEntry]:
        found = self._index.entries
        return {name: found[name] for name in found if name not in self.disabled} if self.disabled else found

    def _need_list(self) -> Steps[None]:
        if not self._index.is_read:
            yield from self._read_list()

    def _read_list(self) -> Steps[None]:
        """While the registry is away, the session goes on with what it knows."""
        try:
            listing = yield Operation("list", partial(self.source.list))
        except Unavailable as error:
            self._note("index", "", f"The list of capabilities could not be read: {error.message}")
            return
        if listing.is_stale:
            words = f"The registry is away; the list of capabilities is {listing.age_seconds:,.0f} seconds old"
            self._note("index", "", words)
        listed = {entry.capability_id for entry in listing.entries}
        if self._index.is_read:
            self._note_changes(listed)
        self._index.accept(listing)
        if not listing.is_stale:
            yield from self._recheck(name for name in sorted(self.bundles) if name not in listed)

    def _recheck(self, names: Iterable[str]) -> Steps[None]:
        """Ask about what is loaded and no longer listed: a quarantined skill is dropped, any other stays."""
        for name in names:
            try:
                yield Operation("load", partial(self.source.load, name, digest=self.pins.get(name)), name)
            except CapabilityQuarantined as error:
                self._give_up(name, error)
            except RegistryError:
                logger.debug("%s is not listed any more", name, exc_info=True)

    def _give_up(self, name: str, error: CapabilityQuarantined) -> None:
        """Leave nothing of a quarantined skill in the session; calls of its tools that wait are rejected."""
        self.bundles.pop(name, None)
        self.pins.pop(name, None)
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)
        self.gate.reject_all_of(name)
        if self.active.drop(name):
            self._note("dropped", name, error.message)

    def _note_changes(self, ids: set[str]) -> None:
        """What came and what went since the list was read before; what went is not offered any more."""
        known = set(self._index.entries)
        for name in sorted(ids - known):
            self._note("index", name, "it is new")
        for name in sorted(known - ids):
            self._note("index", name, "it is no longer there")
            self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)

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

    def _autocompleted(self, typed: str) -> Steps[list[ListingEntry]]:
        yield from self._need_list()
        return complete_name(typed, self._known_entries().values())

    # The conversation.

    def _started(self, first_run: str | None, history: Iterable[str]) -> Steps[ConversationStart]:
        if first_run is None:
            yield from self._need_list()
        wanted = first_run or self._index.first_run
        refused = self.introduction.refusal(self.user, wanted, history)
        if refused is not None:
            return refused
        self.introduction.begin(wanted)
        try:
            yield from self._loaded(wanted, explicit=True)
        except RegistryError as error:
            self.introduction.state = "none"
            return ConversationStart("skipped", f"The introduction could not be loaded: {error.message}")
        self._note("introduced", wanted, "the user is new and the conversation empty")
        return ConversationStart("introduced", "The user is new.", capability_id=wanted)

    def _turned(self, message: str) -> Steps[Turn]:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        if not isinstance(message, str):
            raise TypeError(f"The message is a text, not {type(message).__name__}")
        message = strip_surrogates(message)
        before = self._event_count()
        self.number += 1
        self._count_message()
        if not self.options.carry:
            self._drop_all("skills do not stay from one turn to the next")
        yield from self._need_list()
        rest, about = yield from self._invoked(message)
        self._hints = yield from self._found_hints(about)
        # After matching: what the message is about is in use, and does not expire at this very moment.
        for gone in self.active.expire(self.number):
            self._note("expired", gone.capability_id, f"it was not used for {gone.ttl_turns} turns")
        events = tuple(event for event in self.events if event.event_id > before)
        return Turn(self.number, rest, self._hints, tuple(self.active), events)

    def record_reply(self) -> None:
        """Record that the agent has replied; messages of both sides count for the end of an introduction."""
        self._count_message()

    @property
    def is_introduced(self) -> bool:
        """Whether the host should remember that this user was introduced."""
        return self.user.is_known or self.introduction.state == "over"

    def profile(self) -> User:
        """The user as the host should keep them now (profiles.py): with the introduction that has taken place."""
        return replace(self.user, is_introduced=self.is_introduced)

    def _count_message(self) -> None:
        if self.introduction.count_message():
            words = f"{self.introduction.messages} messages were said: it never starts by itself again"
            self._note("introduced", self.introduction.capability_id, words)

    def _drop_all(self, why: str) -> None:
        for each in list(self.active):
            self.active.drop(each.capability_id)
            self._note("dropped", each.capability_id, why)

    def _invoked(self, message: str) -> Steps[tuple[str, str]]:
        """Load what the user named; the message before the first name, and the message to be matched."""
        mentions = read_mentions(message, self._known_entries())
        for written, near in mentions.misspellings:
            self._note("not_loaded", near, f"there is no skill ${one_line(written, most=64)}; the nearest is ${near}")
        named = {each.capability_id: each.arguments for each in mentions.invocations}
        if self.options.takes_plain_mentions:
            found = [name for name in self._index.names.find(mentions.message) if name not in self.disabled]
            named |= {name: "" for name in found if name not in named}
        # The first one named is the most important; it is used last, and so stands first.
        for capability_id in reversed(list(named)):
            try:
                yield from self._loaded(capability_id, arguments=named[capability_id], explicit=True)
            except RegistryError as error:
                self._note("not_loaded", capability_id, error.message)
        return mentions.message, mentions.without_names

    def _found_hints(self, message: str) -> Steps[tuple[Hint, ...]]:
        found = []
        matched = yield from self._matched(message)
        for hint in matched:
            if hint.capability_id in self.disabled:
                continue
            if self.active.get(hint.capability_id):
                self.active.refresh(hint.capability_id, self.number)
                continue
            entry = self._index.entries[hint.capability_id]
            judged = check_readiness(entry, self.environment)
            if judged.status == "UNAVAILABLE":
                self._note("left_out", hint.capability_id, judged.reason)
                continue
            found.append(replace(hint, notes=notes_of(entry, judged)))
        for hint in found[self.options.hints_max :]:
            words = f"at most {self.options.hints_max} are hinted, and others have a higher priority"
            self._note("left_out", hint.capability_id, words)
        kept = found[: self.options.hints_max]
        for hint in kept:
            led = f"because of {hint.triggers[0]!r}" if hint.triggers else "by its meaning"
            self._note("hinted", hint.capability_id, led)
        return tuple(kept)

    def _matched(self, message: str) -> Steps[list[Hint]]:
        if self.matcher is None or not message.strip():
            return local_hints(message, self._index.triggers, self._index.entries)
        try:
            answer = yield Operation("match", partial(self.matcher, message))
        except RegistryError as error:
            self._note("index", "", f"Matching by the registry failed, by triggers instead: {error.message}")
            return local_hints(message, self._index.triggers, self._index.entries)
        if not isinstance(answer, Mapping) or "decision" not in answer:
            raise TypeError("A matcher returns the response of capability_match, such as registry.match does")
        groups = answer.get("exclusive_groups")
        if isinstance(groups, list):
            self.exclusive_groups.update(group for group in groups if isinstance(group, str))
        return hints_from_match(answer, self._index.entries)

    # Loading.

    def _loaded(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Steps[Bundle]:
        name = yield from self._loadable(capability_id)
        bundle = self.bundles.get(name)
        if bundle is None:
            try:
                bundle = yield Operation("load", partial(self.source.load, name, digest=self.pins.get(name)), name)
            except CapabilityNotFound as error:
                if error.available_capabilities:
                    raise
                yield from self._need_list()
                raise self._not_found(capability_id) from None
            except CapabilityQuarantined as error:
                self._give_up(name, error)
                raise
            self.bundles[name], self.pins[name] = bundle, bundle.digest
        yield from self._use(bundle, arguments, explicit=explicit)
        return bundle

    def _reloaded(self, capability_id: str) -> Steps[Bundle]:
        name = yield from self._loadable(capability_id)
        try:
            bundle: Bundle = yield Operation("reload", partial(self.source.reload, name), name)
        except CapabilityQuarantined as error:
            self._give_up(name, error)
            raise
        self.bundles[bundle.capability_id], self.pins[bundle.capability_id] = bundle, bundle.digest
        yield from self._use(bundle, "", explicit=True)
        return bundle

    def _loadable(self, capability_id: str) -> Steps[str]:
        """The id as it is asked for. Raises `CapabilityNotFound` for what is none, and for what is disabled here."""
        name = canonical_name(str(capability_id))
        if name in self.disabled or not is_capability_id(name):
            yield from self._need_list()
            raise self._not_found(capability_id)
        return name

    def unload(self, capability_id: str) -> bool:
        """Remove a skill from the prompt. Returns False if it was not in it."""
        gone = self.active.drop(canonical_name(capability_id))
        if gone is not None:
            self._note("dropped", gone.capability_id, "it was unloaded")
        return gone is not None

    def _use(self, bundle: Bundle, arguments: str, *, explicit: bool) -> Steps[None]:
        is_new = self.active.get(bundle.capability_id) is None
        if bundle.skill_groups and not self._index.is_read:
            try:
                yield from self._read_list()
            except RegistryError:
                logger.debug("exclusive groups are not known", exc_info=True)
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
        names = list(self._known_entries())
        data = {"available_capabilities": names[:100], "available_total": len(names)}
        shown = one_line(str(wanted), most=64)
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

    def _system_prompted(self) -> Steps[Prompt]:
        yield from self._need_list()
        return build_system_prompt(list(self._known_entries().values()), self.options, self.environment)

    def tools(
        self, vendor: Vendor = "openai", *, strict: bool = False, with_own: bool = True, deferred: bool = False
    ) -> list[dict[str, Any]]:
        """The tools of what is active and ready, in a vendor's form, and the session's own (`with_own`).

        With `deferred` the vendor's own tool search brings in those of the skills; add its search tool to the request.
        """
        of_skills = {name: tool for name, (_, tool) in self._tools().items()}
        named = of_skills | (self.own_tools() if with_own else {})
        exported = export_tools(named, vendor, strict=strict, deferred=of_skills if deferred else ())
        for name, why in exported.left_out.items():
            self._note("left_out", "", f"the tool {name}: {why}")
        return exported.tools

    def own_tools(self) -> dict[str, Json]:
        """The tools by which a model uses the session itself, by name: those that the source can answer."""
        has_files = any(each.bundle.files for each in self.active) and hasattr(self.source, "file")
        usable = set(self.options.own_tools)
        usable -= {own_tools.SEARCH} if not hasattr(self.source, "search") else set()
        usable -= {own_tools.FEEDBACK} if not hasattr(self.source, "feedback") else set()
        usable -= {own_tools.FILE} if not has_files else set()
        return own_tools.build_own_tools(usable, [hint.capability_id for hint in self._hints])

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

    def open_call(self, tool: str, arguments: Any, *, from_form: bool = False) -> ToolCall:
        """A skill's tool call of the model, or of a form (`from_form`: strings become numbers), checked and ready.

        `run_call` runs it. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        bundle, contract = self._find_tool(tool)
        try:
            call = self.gate.open(bundle, contract, arguments, from_form=from_form, turn=self.number)
        except CallRefused as error:
            call_id = getattr(error, "call_id", "")
            self._note("call", bundle.capability_id, f"{contract['name']}: {error.code}", call_id=call_id)
            raise
        return call

    def _find_tool(self, tool: str) -> tuple[Bundle, Mapping[str, Any]]:
        """Raises `ToolUnknown`, or what says better why there is no such tool now."""
        try:
            return find_tool(self._tools(), tool)
        except ToolUnknown:
            judged = self.readiness()
            for each in self.active:
                name, names = each.capability_id, {one["name"] for one in each.bundle.tools}
                if is_tool_of(name, each.bundle.withheld_tools, tool):
                    raise ToolWithheld(f"{tool} of {name} is not for this key: it only gets tools that read") from None
                if is_tool_of(name, names, tool) and not judged[name].is_ready:
                    words = f"{name} is {judged[name].status}: {judged[name].user_message()}"
                    raise SkillNotReady(words) from None
            raise

    def needs_approval(self, tool: str) -> bool:
        """Whether a person decides about each call of this tool; False for a tool that does not exist now."""
        try:
            _, contract = find_tool(self._tools(), tool)
        except ToolUnknown:
            return False
        return contract["policy"].get("requires_approval") is True

    def approve(self, call_id: str, *, by: str) -> ToolCall:
        """A person approves a waiting call, exactly as it is; `run_call` runs it then."""
        call = self.gate.approve(call_id, by=by)
        self._note_call(call, f"approved by {one_line(by, most=60)}")
        return call

    def reject(self, call_id: str) -> ToolCall:
        """A person refuses a waiting call; the model is not asked about it again in this turn."""
        call = self.gate.reject(call_id, turn=self.number)
        self._note_call(call, "rejected")
        return call

    def _called(
        self, tool: str, arguments: Any, run: Executor | None, *, from_form: bool
    ) -> Steps[CallResult | ToolCall]:
        own = self.own_tools().get(tool)
        if own is not None:
            return (yield from self._ran_own(tool, own, arguments))
        call = self.open_call(tool, arguments, from_form=from_form)
        return call if run is None else (yield from self._ran(call.call_id, run))

    def _ran(self, call_id: str, run: Executor) -> Steps[CallResult]:
        """Run an open call once, and check its result. Where `run` raises, the call is `failed` and may run again.

        Roles are the caller's: a session that was resumed with others than those that opened the call refuses it.
        """
        call = self.gate.find(call_id)
        bundle = self.bundles.get(call.capability_id)
        contract = next((tool for tool in bundle.tools if tool["name"] == call.tool), None) if bundle else None
        if bundle is not None and contract is not None:
            self.gate.check_role(bundle, contract)
        self.gate.take(call_id)
        try:
            result = yield _of_call("execute_tool", run, call)
        except BaseException as error:
            call.state = "failed"
            self._note_call(call, f"failed: {type(error).__name__}")
            raise
        call.state = "done"
        self._note_call(call, "done")
        if contract is not None:
            check_result(contract, result)
        return CallResult(call, result)

    # The session's own tools.

    def _ran_own(self, tool: str, contract: Json, arguments: Any) -> Steps[CallResult]:
        """What the model gets is a result, also where the registry refuses. Raises `ArgumentsInvalid`."""
        given = check_arguments(contract, arguments, from_form=False)
        call = ToolCall(f"call_{secrets.token_hex(8)}", "", tool, given, contract["policy"]["kind"], "done")
        if tool == own_tools.ASK:
            call.state = "waiting"
            questions = _questions(call)
            self.gate.keep(call)
            self._note_call(call, "the user is asked")
            raise AnswerRequired(call, questions)
        try:
            result = yield from self._own(tool, given)
        except RegistryError as error:
            result = _error(error.error_code, error.user_message())
        self._note_call(call, "refused" if "error" in result else "done")
        return CallResult(call, result)

    def _own(self, tool: str, given: Json) -> Steps[Json]:
        if tool == own_tools.LIST:
            yield from self._read_list()
            return own_tools.list_result(self._known_entries().values(), self.environment, given.get("group"))
        if tool == own_tools.SEARCH:
            need = partial(self.source.search, given["query"], top_k=given.get("limit"))
            return own_tools.search_result((yield Operation("search", need)))
        if tool == own_tools.LOAD:
            bundle = yield from self._loaded(given["capability_id"], arguments=given.get("arguments", ""))
            judged = check_readiness(bundle, self.environment)
            return {"loaded": bundle.capability_id, "status": judged.status, "missing": judged.user_message()}
        if tool == own_tools.RELOAD:
            before = self.pins.get(canonical_name(given["capability_id"]))
            bundle = yield from self._reloaded(given["capability_id"])
            return {"loaded": bundle.capability_id, "digest": bundle.digest, "is_changed": bundle.digest != before}
        if tool == own_tools.FEEDBACK:
            yield from self._reported(given["outcome"], [canonical_name(given["capability_id"])])
            return {"recorded": True}
        active = self.active.get(canonical_name(given["capability_id"]))
        if active is None:
            raise self._not_found(given["capability_id"])
        need = partial(self.source.file, active.bundle, given["path"])
        text = yield Operation("file", need, active.capability_id)
        return own_tools.file_result(given["path"], text, given.get("offset", 0))

    def answer(self, call_id: str, reply: Any) -> CallResult:
        """The user's reply to `ask_user`: a form's context, or typed words where there is one question.

        Raises `CallNotOpen`, or `ReplyNotUnderstood` with a sentence for the user; the question stays open then.
        """
        call = self.gate.find(call_id)
        if call.tool != own_tools.ASK or call.state != "waiting":
            raise CallNotOpen("This call waits for no answer")
        answers = _questions(call).read(reply)
        call.state = "done"
        self._note_call(call, "answered")
        return CallResult(call, {"answers": answers})

    def _reported(self, outcome: str, capability_ids: Iterable[str] | None = None) -> Steps[list[Json]]:
        """Report an outcome for each skill that was used in this turn, or for the active ones that are named."""
        used = [
            each.bundle
            for each in self.active
            if (each.last_turn == self.number if capability_ids is None else each.capability_id in capability_ids)
        ]
        if capability_ids is not None and not used:
            raise self._not_found(", ".join(capability_ids))
        sent = []
        for bundle in used:
            key = f"{self.session_id}-{self.number}-{bundle.capability_id}"[:200]
            name, revision = bundle.capability_id, bundle.revision or None
            need = partial(self.source.feedback, name, outcome, revision=revision, idempotency_key=key)
            sent.append((yield Operation("feedback", need, name)))
            self._note("feedback", name, outcome)
        return sent

    # One whole turn.

    def _messages_of_turn(
        self, text: str, model: Model, run: Executor, approve: Approver, ask: Asker | None
    ) -> Steps[None]:
        """Yields each message of the turn, beside what is to be called."""
        yield from self._turned(text)
        yield self._record(Message("user", text))
        for _ in range(self.options.steps_max):
            reply = yield Operation("model", partial(model, self, tuple(self.messages)))
            if not isinstance(reply, ModelReply):
                raise TypeError(f"A model returns a ModelReply, not {type(reply).__name__}")
            yield self._record(Message("agent", reply.text, reply.calls))
            if not reply.calls:
                return
            question = ""
            for call in reply.calls:
                try:
                    result = yield from self._result_for_model(call, run, approve, ask)
                except AnswerRequired as waiting:
                    question = waiting.ask.plain()
                    result = {"asked": question, "note": "The user's next message is the answer."}
                    self.gate.find(waiting.call_id).state = "done"
                yield self._record(Message("tool", json.dumps(result, ensure_ascii=False), call_id=call.call_id))
            if question:
                yield self._record(Message("agent", question))
                return
        yield self._record(Message("agent", TOO_MANY_STEPS))

    def _record(self, message: Message) -> Message:
        if message.role == "agent" and not message.calls:
            self.record_reply()
        self.messages.append(message)
        del self.messages[:-MESSAGES_MAX]
        return message

    def _result_for_model(self, call: ModelCall, run: Executor, approve: Approver, ask: Asker | None) -> Steps[Any]:
        """What the model reads, with what waits for a person decided. Raises `AnswerRequired` without `ask`."""
        try:
            return (yield from self._result_of(call.name, call.arguments, run))
        except ApprovalRequired as waiting:
            if (yield _of_call("approve", approve, waiting.call)) is not True:
                return self.result_of_rejected(waiting.call_id)
            return (yield from self._result_of_approved(waiting.call_id, run, self.user.name or "the user"))
        except AnswerRequired as waiting:
            if ask is None:
                raise
            return self.answer(
                waiting.call_id, (yield Operation("ask", partial(ask, waiting.ask), call_id=waiting.call_id))
            ).result

    def _result_of(self, tool: str, arguments: Any, run: Executor) -> Steps[Any]:
        try:
            done = yield from self._called(tool, arguments, None, from_form=False)
        except (ApprovalRequired, AnswerRequired):
            raise
        except CallRefused as error:
            return _error(error.code, str(error))
        return done.result if isinstance(done, CallResult) else (yield from self._ran_for_model(done.call_id, run))

    def _result_of_approved(self, call_id: str, run: Executor, by: str) -> Steps[Any]:
        try:
            self.approve(call_id, by=by)
        except CallRefused as error:
            return _error(error.code, str(error))
        return (yield from self._ran_for_model(call_id, run))

    def result_of_rejected(self, call_id: str) -> Json:
        """What a model reads of a waiting call that a person refuses now. Raises `CallNotOpen`."""
        self.reject(call_id)
        return _error("CALL_REJECTED", "The user said no to this call; do not call it again for this message.")

    def _ran_for_model(self, call_id: str, run: Executor) -> Steps[Any]:
        try:
            return (yield from self._ran(call_id, run)).result
        except CallRefused as error:
            return _error(error.code, str(error))
        except Exception as error:
            logger.warning("a tool failed", exc_info=True)
            return _error("TOOL_FAILED", one_line(f"{type(error).__name__}: {error}", most=300))

    # Between two processes.

    def state(self) -> Json:
        """The session in short: `{"session_id", "user_id", "loaded_skills", "context"}`."""
        return {
            "session_id": self.session_id,
            "user_id": self.user.user_id,
            "loaded_skills": [each.capability_id for each in self.active],
            "context": dict(self.user.context),
        }

    def to_json(self, *, secret: bytes | None = None) -> str:
        """The session as text (serialization.py); with a `secret`, no one else can make a file that is accepted."""
        return serialization.serialize_session(self, secret=secret)

    @classmethod
    def from_json(cls, text: str, source: Any, *, secret: bytes | None = None, **settings: Any) -> Self:
        """A session from its text; `settings` as for a new one. Raises `SessionFileRefused` with a sentence."""
        session = cls(source, **settings)
        serialization.restore_session(session, text, secret=secret, with_user="user" not in settings)
        return session

    def _event_count(self) -> int:
        return self.events[-1].event_id if self.events else 0

    def _note_call(self, call: ToolCall, words: str) -> None:
        self._note("call", call.capability_id, f"{call.tool}: {words}", call_id=call.call_id)

    def _note(self, kind: EventKind, capability_id: str, words: str, *, call_id: str = "") -> None:
        event = Event(self.number, kind, capability_id, strip_surrogates(words), self._event_count() + 1, call_id)
        self.events.append(event)
        del self.events[:-EVENTS_MAX]
        logger.info("%s %s%s", kind, f"{capability_id}: " if capability_id else "", event.words)
        if self.on_event is not None:
            self.on_event(event)


def _of_call(kind: OperationKind, run: Callable[[ToolCall], Any], call: ToolCall) -> Operation:
    return Operation(kind, partial(run, call), call.capability_id, call.tool, call.call_id)


def _check_types(**given: tuple[Any, type]) -> None:
    for name, (value, wanted) in given.items():
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"{name} is a {wanted.__name__}, not {type(value).__name__}")


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def _questions(call: ToolCall) -> AskForm:
    try:
        return own_tools.questions_of(call.arguments["questions"], call.call_id)
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentsInvalid(f"The arguments of {call.tool} do not fit: {error}") from None
