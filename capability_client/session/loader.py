"""The skills of a session: how they come, how long they stay, and how they go."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from capability_client.session.active_skills import ActiveSkills
from capability_client.session.catalog import SkillCatalog
from capability_client.session.context import SessionContext
from capability_client.session.hints import TurnHints
from capability_client.session.invocations import canonical_name
from capability_client.session.layout_state import LayoutState
from capability_client.session.log import EventLog
from capability_client.session.opened_forms import OpenedForms
from capability_client.session.operations import Operation
from capability_client.session.options import ARGUMENTS_MAX
from capability_client.session.steps import Steps
from capability_client.session.toolbox import ToolsNotImplemented
from capability_kit.bundles.bundle import Bundle, ListingEntry, is_capability_id
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.readiness import Readiness, check_readiness
from capability_kit.errors import CapabilityNotFound, CapabilityQuarantined, ModelInvocationDisabled, RegistryError
from capability_kit.prompt import find_included
from capability_kit.text.sanitize import one_line, strip_surrogates
from capability_kit.tool_gate import SkillNotReady, ToolCallGate, Tools

logger: logging.Logger = logging.getLogger("capability_client.session")
WITHDRAWN: Final = "it was taken out of use (quarantined, retired or hidden)"
# Of those that a prompt names.
WITHDRAWN_MAX: Final = 20


@dataclass(eq=False, repr=False)
class SkillLoader:
    """The bundles that were loaded, at one release each, and which of them are active.

    `used` is what this turn used, by load, message, tool or file; `gone` what a call of a skill that is not active
    reads; `withdrawn` what was taken away while it was loaded, and why: the model reads that it is not to be followed.
    """

    _context: SessionContext
    _log: EventLog
    _catalog: SkillCatalog
    _hints: TurnHints
    _forms: OpenedForms
    _gate: ToolCallGate
    _layout: LayoutState
    bundles: dict[str, Bundle] = field(default_factory=dict, init=False)
    pins: dict[str, str] = field(default_factory=dict, init=False)
    used: dict[str, Bundle] = field(default_factory=dict, init=False)
    gone: dict[str, str] = field(default_factory=dict, init=False)
    withdrawn: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.active: ActiveSkills = ActiveSkills(self._context.options)
        # Those of the options, and what an answer of the matcher told.
        self.exclusive_groups: set[str] = set(self._context.options.exclusive_groups)
        self._catalog.on_change, self._catalog.on_complete = self._note_changes, self._withdraw_absent

    # How a skill comes.

    def load(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Steps[Bundle]:
        """Make a skill active, at the release of the first load of it."""
        name = yield from self._loadable(capability_id)
        bundle = self.bundles.get(name)
        if bundle is None:
            load = partial(self._context.source.load, name, digest=self.pins.get(name))
            try:
                bundle = yield Operation("load", load, name)
            except CapabilityNotFound as error:
                if error.available_capabilities:
                    raise
                yield from self._catalog.need()
                raise self._catalog.not_found(capability_id) from None
            except CapabilityQuarantined as error:
                self._withdraw(name, error.message)
                raise
            self._keep(bundle)
        yield from self.use(bundle, arguments, explicit=explicit)
        return bundle

    def reload(self, capability_id: str) -> Steps[Bundle]:
        """Make the newest release of a skill active."""
        name = yield from self._loadable(capability_id)
        try:
            bundle: Bundle = yield Operation("reload", partial(self._context.source.reload, name), name)
        except (CapabilityQuarantined, CapabilityNotFound) as error:
            self._withdraw(name, error.message if isinstance(error, CapabilityQuarantined) else WITHDRAWN)
            raise
        self._keep(bundle)
        yield from self.use(bundle, "", explicit=True)
        return bundle

    def _loadable(self, capability_id: str) -> Steps[str]:
        """The id as it is asked for. Raises `CapabilityNotFound` for what is none, and for what is disabled here."""
        name = canonical_name(str(capability_id))
        if name in self._catalog.disabled or not is_capability_id(name):
            yield from self._catalog.need()
            raise self._catalog.not_found(capability_id)
        return name

    def require_open(self, capability_id: str) -> Steps[None]:
        """Raises `ModelInvocationDisabled` where the model asks for what the user alone starts and has not started."""
        name = canonical_name(str(capability_id))
        yield from self._catalog.need()
        entry = self._catalog.index.entries.get(name)
        if entry is not None and entry.is_closed_to_model and name not in self.bundles:
            raise ModelInvocationDisabled(f"The author of '{name}' leaves it to the user to start it")

    def _keep(self, bundle: Bundle) -> None:
        """Raises `ToolsNotImplemented` where the toolbox lacks the function of a tool."""
        name, toolbox = bundle.capability_id, self._context.toolbox
        missing = toolbox.missing(bundle) if toolbox is not None else []
        if missing:
            raise ToolsNotImplemented.of(name, missing)
        if self.pins.get(name) not in (None, bundle.digest):
            self._forms.shut(name, f"another release of {name} was loaded; open it again")
        self.bundles[name], self.pins[name] = bundle, bundle.digest
        # Redeeming an install code shows a capability to a key, and the revision of the list stays: it is read again.
        index = self._catalog.index
        index.is_complete = index.is_complete and name in index.entries

    def use(self, bundle: Bundle, arguments: str, *, explicit: bool) -> Steps[None]:
        """Make a loaded skill the most recent one."""
        name = bundle.capability_id
        is_new = self.active.get(name) is None
        if bundle.skill_groups and not self._catalog.index.is_read:
            try:
                yield from self._catalog.read()
            except RegistryError:
                logger.debug("exclusive groups are not known", exc_info=True)
        told = self._catalog.index.exclusive_groups if bundle.skill_groups else ()
        exclusive = frozenset({*self.exclusive_groups, *told})
        kept = strip_surrogates(arguments)[:ARGUMENTS_MAX]
        dropped = self.active.use(bundle, self._log.turn, is_explicit=explicit, arguments=kept, exclusive=exclusive)
        how = "by hand" if explicit else "by the model"
        stale = f", a kept copy of {bundle.age_seconds:,.0f} seconds ago" if bundle.is_stale else ""
        self._log.note("loaded" if is_new else "refreshed", name, f"{how}, {bundle.digest[:19]}{stale}")
        if len(arguments) > ARGUMENTS_MAX:
            self._log.note("left_out", name, f"arguments after {ARGUMENTS_MAX:,} characters were cut off")
        for each, why in dropped:
            self._note_dropped(each.capability_id, why)
            if not exclusive & {*each.bundle.skill_groups} & {*bundle.skill_groups}:
                # It made room; of a group, only the one that was chosen may be followed.
                self._layout.expired[each.capability_id] = self._log.turn
        self.withdrawn.pop(name, None)
        self._layout.expired.pop(name, None)
        self.mark_used(bundle)
        self._hints.drop(name)

    def mark_used(self, bundle: Bundle) -> None:
        """A skill is used by a load, a message that leads to it, a call of its tools, a file that is read."""
        self.used.pop(bundle.capability_id, None)
        self.used[bundle.capability_id] = bundle
        if self.active.get(bundle.capability_id):
            self.active.refresh(bundle.capability_id, self._log.turn)

    # What can be used now.

    def readiness(self) -> dict[str, Readiness]:
        """Of each active skill, as the computer is now known."""
        return {each.capability_id: check_readiness(each.bundle, self._context.environment) for each in self.active}

    def is_disabled(self, capability_id: str) -> bool:
        """Whether the session leaves this capability out."""
        return capability_id in self._catalog.disabled

    def require_ready(self, bundle: Bundle) -> None:
        """Raises `SkillNotReady` where something is missing on this computer."""
        judged = check_readiness(bundle, self._context.environment)
        if not judged.is_ready:
            raise SkillNotReady.of(bundle.capability_id, judged)

    def included(self, judged: Mapping[str, Readiness]) -> list[str]:
        """The active skills that are ready and fit into a prompt."""
        active, options = list(self.active), self._context.options
        return find_included(
            [each.bundle for each in active],
            judged,
            arguments={each.capability_id: each.arguments for each in active},
            characters_max=options.characters_max,
            variables=options.variables,
        )

    def tools(self) -> Tools:
        """The tools of the skills that are included, by the name under which a model calls them."""
        judged = self.readiness()
        shown = set(self.included(judged))
        return {
            wire_name(each.capability_id, tool["name"]): (each.bundle, tool)
            for each in self.active
            if judged[each.capability_id].is_ready and each.capability_id in shown
            for tool in each.bundle.tools
        }

    def why_inactive(self, name: str) -> str:
        """What a model reads that uses a skill which is loaded and not active; empty for any other."""
        if name not in self.bundles or name in self._catalog.disabled:
            return ""
        if self.active.get(name):
            return f"{name} is left out of the prompt for want of room; load it again"
        return self.gone.get(name, f"{name} is no longer active; load it again")

    def not_active(self, capability_id: str) -> CapabilityNotFound:
        """The error for a skill that has to be active and is not."""
        name = canonical_name(capability_id)
        why = self.why_inactive(name)
        return CapabilityNotFound(why, capability_id=name) if why else self._catalog.not_found(capability_id)

    # How a skill goes.

    def unload(self, capability_id: str) -> bool:
        """Remove a skill from the prompt. Returns False if it was not in it."""
        name = canonical_name(capability_id)
        self._layout.forget(name)
        return self._drop(name, "it was unloaded")

    def disable(self, capability_id: str) -> None:
        """Leave a capability out of this session: no hint, no load, and out of the prompt at once."""
        name = canonical_name(capability_id)
        self._catalog.disabled.add(name)
        self._hints.drop(name)
        self._drop(name, "it was disabled")
        self._forms.shut(name, f"{name} was disabled")
        self._layout.forget(name)

    def expire(self) -> None:
        """Deactivate the skills that were not used for their number of turns."""
        for each in self.active.expire(self._log.turn):
            why = f"it was not used for {each.ttl_turns} turns"
            self._layout.expired[each.capability_id] = self._log.turn
            self.gone[each.capability_id] = f"{each.capability_id} expired; load it again: {why}"
            self._log.note("expired", each.capability_id, why)

    def drop_all(self, why: str) -> None:
        """Deactivate each skill."""
        for each in list(self.active):
            self._drop(each.capability_id, why)

    def _drop(self, name: str, why: str) -> bool:
        """Deactivate a skill. False where it is not active."""
        dropped = self.active.drop(name) is not None
        if dropped:
            self._note_dropped(name, why)
        return dropped

    def _note_dropped(self, name: str, why: str) -> None:
        self.gone[name] = f"{name} is no longer active ({one_line(why)}); load it again"
        self._log.note("dropped", name, why)

    def _withdraw_absent(self) -> None:
        """Give up what is loaded and not in the list, which is as it is now."""
        for name in sorted(self.bundles):
            if name not in self._catalog.index.entries:
                self._withdraw(name, WITHDRAWN)

    def _withdraw(self, name: str, why: str) -> None:
        """Leave nothing of a skill in the session: no copy, no pin, no hint; its calls that wait are rejected."""
        was_known = self.bundles.pop(name, None) is not None
        self.pins.pop(name, None)
        self.used.pop(name, None)
        self._hints.drop(name)
        self._layout.forget(name)
        self.active.drop(name)
        if was_known:
            self.withdrawn[name] = one_line(why)
            while len(self.withdrawn) > WITHDRAWN_MAX:
                self.withdrawn.pop(next(iter(self.withdrawn)))
            self._log.note("dropped", name, why)
        self._forms.shut(name, f"{name} was taken out of use")
        for call in self._gate.reject_all_of(name):
            self._log.note_call(call, "rejected: its skill was taken out of use")

    def _note_changes(self, before: Mapping[str, ListingEntry]) -> None:
        """What came, what went and what is deprecated since; what went is not offered any more."""
        now = self._catalog.index.entries
        for name in sorted(set(now) - set(before)):
            self._log.note("index", name, "it is new")
        for name in sorted(set(before) - set(now)):
            self._log.note("index", name, "it is no longer there")
            self._hints.drop(name)
        for name in sorted(set(self.bundles) & set(before) & set(now)):
            if now[name].digest != before[name].digest:
                words = "a newer release is there; this session keeps its own until it is reloaded"
                self._log.note("index", name, words)
            if now[name].status == "deprecated" != before[name].status:
                instead = one_line(now[name].replaced_by or "", most=64)
                self._log.note("index", name, "it is deprecated now" + (f"; use {instead} instead" if instead else ""))
