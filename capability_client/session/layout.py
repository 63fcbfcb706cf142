"""Where in a request skills and tools stand, so that its beginning stays the same from one request to the next.

A vendor caches the part of a request that begins like the previous one: tools, then the system text, then the
messages. So tools keep their order and do not leave, a skill that has expired leaves the text when another one comes,
and what changes with each message stands last. With the layout "append" nothing before the messages changes at all: a
skill stands in the result of its load.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from capability_client.session import own_tools
from capability_client.session.active_skills import ActiveSkill
from capability_client.session.catalog import SkillCatalog
from capability_client.session.context import SessionContext
from capability_client.session.hints import TurnHints
from capability_client.session.history import MessageHistory
from capability_client.session.layout_state import LayoutState
from capability_client.session.list_order import order_entries
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.message_export import MessageVendor, export_messages
from capability_client.session.messages import Message, ModelCall
from capability_client.session.opened_forms import OpenedForms
from capability_client.session.steps import Json, Steps
from capability_client.session.system_prompt import build_system_prompt
from capability_kit.bundles.bundle import Bundle, ToolContract
from capability_kit.bundles.tool_export import ToolExport, Vendor, export_tools
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.readiness import check_readiness
from capability_kit.json_schema.portable import SchemaNotPortable, make_portable
from capability_kit.prompt import Prompt, PromptContext, render_prompt

# Of skills, among the tools of a request; vendors take 128 in all.
TOOLS_LISTED_MAX: Final = 64
EXPIRED_SHOWN_MAX: Final = 10
# Characters that a skill's text may have beside its skill doc: arguments, the header of a playbook.
ROOM_BESIDE: Final = 4_500


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What a model reads beside messages and tools, by how long it stays the same.

    `system` stays for the conversation and `skills` until one comes or goes; both stand before the messages. `turn` is
    for one request: put it behind them (`export_messages(messages, vendor, turn=parts.turn)`). Each may be empty.
    """

    system: str
    skills: str
    turn: str

    @property
    def before(self) -> str:
        """What stands before the messages."""
        return "\n".join(filter(None, [self.system, self.skills]))

    @property
    def text(self) -> str:
        """All of it, for a runtime that takes one text."""
        return "\n".join(filter(None, [self.system, self.skills, self.turn]))


@dataclass(eq=False, repr=False)
class RequestLayout:
    """The parts of a request, and the tools in their order; `state` is what a model has read of them."""

    _context: SessionContext
    _log: EventLog
    _catalog: SkillCatalog
    _hints: TurnHints
    _forms: OpenedForms
    _loader: SkillLoader
    _history: MessageHistory
    state: LayoutState
    _last_export: tuple[object, ToolExport] | None = field(default=None, init=False)

    @property
    def appends(self) -> bool:
        """Whether a skill stands in the result of its load."""
        return self._context.options.layout == "append"

    # The text.

    def prompt(self, *, with_skills: bool = True) -> Prompt:
        """For this turn: active skills, their tools, hints, user context; nothing of what no message needs."""
        active = list(self._loader.active) if with_skills else []
        return self._rendered([(each.bundle, each.arguments) for each in active])

    def system_prompt(self) -> Steps[Prompt]:
        """For the whole conversation: which skills there are, and the rules by which they are used."""
        entries = yield from self._catalog.needed()
        ordered = order_entries(entries.values(), self.state, has_begun=self._log.turn > 0)
        return build_system_prompt(ordered, self._context.options, self._context.environment)

    def parts(self) -> Steps[PromptParts]:
        """What a model reads beside messages and tools."""
        system = yield from self.system_prompt()
        skills = self._fixed_skills() if self.appends else self._lasting_skills()
        nonce = self._context.session_id if self.appends else ""
        lasting = self._rendered(skills, part="skills", nonce=nonce).prompt
        return PromptParts(system.prompt, lasting, self._passing_prompt())

    def messages_for(self, vendor: MessageVendor) -> list[dict[str, object]]:
        """The conversation as a vendor's API takes it, with what is of this request alone at its end."""
        if not self.appends:
            self._lasting_skills()
        return export_messages(self._history.messages, vendor, turn=self._passing_prompt())

    def _rendered(self, skills: Sequence[tuple[Bundle, str]], **extras: Any) -> Prompt:
        """The prompt for these skills, each with its arguments; `extras` are fields of `PromptContext`."""
        options, environment = self._context.options, self._context.environment
        context = PromptContext(
            preamble=options.preamble,
            hints=tuple(hint.line() for hint in self._hints.found),
            near_misses=tuple(hint.short_line() for hint in self._hints.near),
            user_context=self._context.user.context,
            variables=options.variables,
            withdrawn=tuple(f"{name}: {why}" for name, why in self._loader.withdrawn.items()),
            reads_files=hasattr(self._context.source, "file") and own_tools.FILE in options.own_tools,
            opens_forms=own_tools.FORM in options.own_tools,
            form_news=self._forms.news(),
        )
        bundles = [bundle for bundle, _ in skills]
        return render_prompt(
            bundles,
            {each.capability_id: check_readiness(each, environment) for each in bundles},
            arguments={bundle.capability_id: arguments for bundle, arguments in skills},
            characters_max=options.characters_max,
            extras=replace(context, **extras),
        )

    def _lasting_skills(self) -> list[tuple[Bundle, str]]:
        """The active skills that fit, in the order in which they came. One that has expired stays until the text
        changes anyway, since another one comes; longer if it expired only a few turns ago, since it may return."""
        state, judged = self.state, self._loader.readiness()
        included = set(self._loader.included(judged)) | {name for name, each in judged.items() if not each.is_ready}
        active = [each for each in self._loader.active if each.capability_id in included]
        wanted = {each.capability_id: (each.bundle.digest, each.arguments) for each in reversed(active)}
        over = {name: key for name, key in state.skills.items() if name not in wanted}
        is_same = all(state.skills.get(name) == key for name, key in wanted.items())
        if not is_same or not all(name in state.expired and self._is_known(name) for name in over):
            oldest = self._log.turn - self._context.options.ttl_turns
            went = {name: turn for name, turn in state.expired.items() if turn >= oldest}
            kept = {name for name in over if name in went and self._is_known(name)}
            stay = {name: wanted.get(name, key) for name, key in state.skills.items() if name in wanted or name in kept}
            state.skills = self._within_room(stay | wanted, kept)
        return [(self._loader.bundles[name], arguments) for name, (_, arguments) in state.skills.items()]

    def _within_room(self, skills: dict[str, tuple[str, str]], spare: set[str]) -> dict[str, tuple[str, str]]:
        """Without those of `spare`, the oldest first, that do not fit beside the others."""
        left = self._context.options.characters_max - sum(
            len(self._loader.bundles[name].skill_doc) for name in skills if name not in spare
        )
        for name in [name for name in reversed(skills) if name in spare]:
            # The reader's wording and heading add little.
            left -= len(self._loader.bundles[name].skill_doc) + ROOM_BESIDE
            if left < 0:
                del skills[name]
        return skills

    def _is_known(self, name: str) -> bool:
        return name in self._loader.bundles and self._loader.bundles[name].digest == self.state.skills[name][0]

    def _is_ready(self, bundle: Bundle) -> bool:
        return check_readiness(bundle, self._context.environment).is_ready

    def _passing_prompt(self) -> str:
        """What is of this request alone: hints, what became of skills and forms; and with the layout "append" the text
        of a skill that stands nowhere else."""
        read = {*self.state.appended, *self._fixed()} if self.appends else {*self.state.skills}
        expired = [name for name in self.state.expired if name in read][-EXPIRED_SHOWN_MAX:]
        active = [(each.bundle, each.arguments) for each in self._loader.active]
        text = self._rendered(active, part="turn", expired=tuple(expired)).prompt
        unread = [(each.bundle, each.arguments) for each in self._unread()] if self.appends else []
        if unread:
            skills = self._rendered(unread, part="skills", nonce=self._context.session_id).prompt
            text = skills + ("\n" + text if text else "")
        return text

    # Tools.

    def tools(
        self, vendor: Vendor = "openai", *, strict: bool = False, with_own: bool = True, deferred: bool = False
    ) -> list[dict[str, object]]:
        """The session's own tools (`with_own`) and those of skills, in a vendor's form, in the order of their coming.

        Those of a skill that expired stay, so that the vendor can keep them; a call of one is refused with the reason.
        With `deferred` the vendor's own tool search brings in those of the skills; add its search tool to the request.
        """
        own = self._own_of_layout()
        listed = self._listed_tools(own)
        of_skills = [name for name in listed if name not in own]
        named = {
            name: own_tools.shown_contract(tool) if name in own else tool
            for name, tool in listed.items()
            if with_own or name not in own
        }
        exported = self._exported(named, vendor, strict=strict, deferred=tuple(of_skills) if deferred else ())
        for name, why in exported.left_out.items():
            self._log.note("left_out", "", f"the tool {name}: {why}")
        # Of each a copy: hosts add to them, such as what a vendor is to keep.
        return [dict(each) for each in exported.tools]

    def _exported(
        self, named: dict[str, ToolContract], vendor: Vendor, *, strict: bool, deferred: tuple[str, ...]
    ) -> ToolExport:
        """Made again where a tool came, went or changed: each step of a model asks for them."""
        given = (vendor, strict, deferred, tuple(named.items()))
        if self._last_export is None or self._last_export[0] != given:
            self._last_export = (given, export_tools(named, vendor, strict=strict, deferred=deferred))
        return self._last_export[1]

    def own_tools(self, *, ahead: bool = False) -> dict[str, ToolContract]:
        """The tools by which a model uses the session itself, by name: those that the source can answer.

        `ahead`: as a runtime needs them that reads its tools once, before there is a skill with files.
        """
        source, loader = self._context.source, self._loader
        known = [*loader.bundles.values(), *(each.bundle for each in loader.active)]
        usable = set(self._context.options.own_tools)
        usable -= {tool for tool, method in own_tools.ASKED_OF_SOURCE.items() if not hasattr(source, method)}
        usable -= set() if ahead or any(each.files for each in known) else {own_tools.FILE}
        usable -= set() if ahead or any(each.ui_schemas for each in known) else {own_tools.FORM}
        return own_tools.build_own_tools(usable)

    def settle(self) -> None:
        """Before the session goes to another process, or to the next node of a graph: the order is that of now."""
        self._listed_tools(self._own_of_layout())
        if not self.appends:
            self._lasting_skills()

    def _own_of_layout(self) -> dict[str, ToolContract]:
        if not self.appends:
            return self.own_tools()
        return self.own_tools(ahead=True) | {own_tools.CALL: own_tools.CALL_CONTRACT}

    def _listed_tools(self, own: dict[str, ToolContract]) -> dict[str, ToolContract]:
        """All tools of a request by name, those that were there before first."""
        state = self.state
        usable, fixed = self._loader.tools(), self._fixed()
        for name in own:
            state.tools.setdefault(name, "")
        for each in reversed(self._loader.active):
            owner = each.capability_id
            for name in (wire_name(owner, tool["name"]) for tool in each.bundle.tools):
                if name in usable and (owner in fixed or not self.appends):
                    state.tools.setdefault(name, owner)
        self._limit_tools()
        known = {
            wire_name(owner, tool["name"]): tool
            for owner in dict.fromkeys(state.tools.values())
            if owner in self._loader.bundles
            for tool in self._loader.bundles[owner].tools
        } | own
        return {name: known[name] for name in state.tools if name in known}

    def _limit_tools(self) -> None:
        """Over the limit, those of skills that are not active go, the oldest first."""
        state = self.state
        of_skills = [name for name, owner in state.tools.items() if owner]
        for name in of_skills[: max(0, len(of_skills) - TOOLS_LISTED_MAX)]:
            if self._loader.active.get(state.tools[name]) is None:
                del state.tools[name]

    # The layout "append".

    def _fixed(self) -> dict[str, str]:
        """The skills that were active before the first message, with their arguments: they and their tools stand where
        they do in the other layout."""
        if self.state.fixed is not None:
            return self.state.fixed
        return {} if self._log.turn else {each.capability_id: each.arguments for each in reversed(self._loader.active)}

    def fix(self) -> None:
        """The first message is about to be heard: what is active now stays where it is."""
        if self.state.fixed is None and self.appends:
            self.state.fixed = self._fixed()

    def _fixed_skills(self) -> list[tuple[Bundle, str]]:
        bundles = self._loader.bundles
        return [(bundles[name], given) for name, given in self._fixed().items() if name in bundles]

    def _unread(self) -> list[ActiveSkill]:
        """Active skills whose text stands neither in the system text nor in the conversation, the oldest first."""
        fixed, appended = self._fixed(), self.state.appended
        return [
            each
            for each in reversed(self._loader.active)
            if each.capability_id not in fixed
            and appended.get(each.capability_id) != each.bundle.digest
            and self._is_ready(each.bundle)
        ]

    def skill_in_result(self, bundle: Bundle) -> Json:
        """What the result of a load says besides: the instructions and the tools, once."""
        name = bundle.capability_id
        active = self._loader.active.get(name)
        if not self.appends or not self._is_ready(bundle) or active is None or name in self._fixed():
            return {}
        given = {"arguments": active.arguments} if active.arguments else {}
        is_read = self.state.appended.get(name) == bundle.digest and self._stands_in_messages(name)
        self.state.appended[name] = bundle.digest
        if is_read:
            return given | {"note": "Its instructions and tools stand above, unchanged."}
        text = self._rendered(
            [(bundle, active.arguments)], part="skills", user_context={}, nonce=self._context.session_id
        ).prompt
        return given | {"instructions": text, "tools": list(_described_tools(bundle))}

    def _stands_in_messages(self, name: str) -> bool:
        return any(f"<skill {name} " in each.text for each in self._history.messages if each.role == "tool")

    def appended_loads(self) -> Iterator[Message]:
        """Present skills that the user or the program started as if the model had loaded them, for their text."""
        if not self.appends:
            return
        for each in self._unread():
            name = each.capability_id
            call_id = f"load_{name[:40]}_{len(self._history.messages)}"
            arguments = {"capability_id": name} | ({"arguments": each.arguments} if each.arguments else {})
            result = own_tools.load_result(each.bundle, self._context.environment) | self.skill_in_result(each.bundle)
            yield Message("agent", "", (ModelCall(call_id, own_tools.LOAD, arguments),))
            yield Message("tool", json.dumps(result, ensure_ascii=False), call_id=call_id)

    def forget_lost(self) -> None:
        """After messages are dropped, append again what was lost with them."""
        for name in [name for name in self.state.appended if not self._stands_in_messages(name)]:
            del self.state.appended[name]


def _described_tools(bundle: Bundle) -> Iterator[Json]:
    """Name and arguments; what each does stands in the instructions."""
    for tool in bundle.tools:
        try:
            schema = make_portable(tool["args_schema"])
        except SchemaNotPortable:
            continue
        yield {"name": wire_name(bundle.capability_id, tool["name"]), "args_schema": schema}
