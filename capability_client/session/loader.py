"""Loading skills, and what a model reads and gets of those that are active."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from capability_client.session import own_tools
from capability_client.session.catalog import WITHDRAWN, SessionCatalog
from capability_client.session.invocations import canonical_name
from capability_client.session.list_order import order_entries
from capability_client.session.operations import Operation
from capability_client.session.options import ARGUMENTS_MAX
from capability_client.session.steps import Steps
from capability_client.session.system_prompt import build_system_prompt
from capability_client.session.toolbox import ToolsNotImplemented
from capability_kit.bundles.bundle import Bundle, ToolContract, is_capability_id
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.readiness import Readiness, check_readiness
from capability_kit.errors import CapabilityNotFound, CapabilityQuarantined, ModelInvocationDisabled, RegistryError
from capability_kit.prompt import Prompt, PromptContext, find_included, render_prompt
from capability_kit.text.sanitize import strip_surrogates
from capability_kit.tool_gate import Tools

logger: logging.Logger = logging.getLogger("capability_client.session")


class SkillLoader(SessionCatalog):
    """The active skills: how they come and go, their prompt, their tools."""

    def _loaded(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Steps[Bundle]:
        name = yield from self._loadable(capability_id)
        bundle = self.bundles.get(name)
        if bundle is None:
            try:
                bundle = yield Operation("load", partial(self._source.load, name, digest=self.pins.get(name)), name)
            except CapabilityNotFound as error:
                if error.available_capabilities:
                    raise
                yield from self._need_list()
                raise self._not_found(capability_id) from None
            except CapabilityQuarantined as error:
                self._withdraw(name, error.message)
                raise
            self._require_tools(bundle)
            self._keep(bundle)
        yield from self._use(bundle, arguments, explicit=explicit)
        return bundle

    def _reloaded(self, capability_id: str) -> Steps[Bundle]:
        name = yield from self._loadable(capability_id)
        try:
            bundle: Bundle = yield Operation("reload", partial(self._source.reload, name), name)
        except (CapabilityQuarantined, CapabilityNotFound) as error:
            self._withdraw(name, error.message if isinstance(error, CapabilityQuarantined) else WITHDRAWN)
            raise
        self._require_tools(bundle)
        self._keep(bundle)
        yield from self._use(bundle, "", explicit=True)
        return bundle

    def _require_tools(self, bundle: Bundle) -> None:
        """Raises `ToolsNotImplemented` where the toolbox lacks the function of a tool."""
        missing = self.toolbox.missing(bundle) if self.toolbox is not None else []
        if missing:
            raise ToolsNotImplemented.of(bundle.capability_id, missing)

    def _keep(self, bundle: Bundle) -> None:
        name = bundle.capability_id
        if self.pins.get(name) not in (None, bundle.digest):
            self._shut_forms(name, f"another release of {name} was loaded; open it again")
        self.bundles[name], self.pins[name] = bundle, bundle.digest
        # Redeeming an install code shows a capability to a key, and the revision of the list stays: it is read again.
        self.index.is_complete = self.index.is_complete and name in self.index.entries

    def _loadable(self, capability_id: str) -> Steps[str]:
        """The id as it is asked for. Raises `CapabilityNotFound` for what is none, and for what is disabled here."""
        name = canonical_name(str(capability_id))
        if name in self.disabled or not is_capability_id(name):
            yield from self._need_list()
            raise self._not_found(capability_id)
        return name

    def _require_open(self, capability_id: str) -> Steps[None]:
        """Raises `ModelInvocationDisabled` where the model asks for what the user alone starts and has not started."""
        name = canonical_name(str(capability_id))
        yield from self._need_list()
        entry = self.index.entries.get(name)
        if entry is not None and entry.is_closed_to_model and name not in self.bundles:
            raise ModelInvocationDisabled(f"The author of '{name}' leaves it to the user to start it")

    def unload(self, capability_id: str) -> bool:
        """Remove a skill from the prompt. Returns False if it was not in it."""
        name = canonical_name(capability_id)
        self.layout_state.forget(name)
        return self._drop(name, "it was unloaded")

    def _use(self, bundle: Bundle, arguments: str, *, explicit: bool) -> Steps[None]:
        is_new = self.active.get(bundle.capability_id) is None
        if bundle.skill_groups and not self.index.is_read:
            try:
                yield from self._read_list()
            except RegistryError:
                logger.debug("exclusive groups are not known", exc_info=True)
        told = self.index.exclusive_groups if bundle.skill_groups else ()
        exclusive = frozenset({*self.exclusive_groups, *told})
        kept = strip_surrogates(arguments)[:ARGUMENTS_MAX]
        dropped = self.active.use(bundle, self.number, is_explicit=explicit, arguments=kept, exclusive=exclusive)
        how = "by hand" if explicit else "by the model"
        stale = f", a kept copy of {bundle.age_seconds:,.0f} seconds ago" if bundle.is_stale else ""
        self._note("loaded" if is_new else "refreshed", bundle.capability_id, f"{how}, {bundle.digest[:19]}{stale}")
        if len(arguments) > ARGUMENTS_MAX:
            self._note("left_out", bundle.capability_id, f"arguments after {ARGUMENTS_MAX:,} characters were cut off")
        for each, why in dropped:
            self._note_dropped(each.capability_id, why)
            if not exclusive & {*each.bundle.skill_groups} & {*bundle.skill_groups}:
                # It made room; of a group, only the one that was chosen may be followed.
                self.layout_state.expired[each.capability_id] = self.number
        self.withdrawn.pop(bundle.capability_id, None)
        self.layout_state.expired.pop(bundle.capability_id, None)
        self._mark_used(bundle)
        self._drop_hint(bundle.capability_id)

    def _drop_all(self, why: str) -> None:
        for each in list(self.active):
            self._drop(each.capability_id, why)

    def _mark_used(self, bundle: Bundle) -> None:
        """A skill is used by a load, a message that leads to it, a call of its tools, a file that is read."""
        self.used.pop(bundle.capability_id, None)
        self.used[bundle.capability_id] = bundle
        if self.active.get(bundle.capability_id):
            self.active.refresh(bundle.capability_id, self.number)

    def _expire(self) -> None:
        for each in self.active.expire(self.number):
            why = f"it was not used for {each.ttl_turns} turns"
            self.layout_state.expired[each.capability_id] = self.number
            self.gone[each.capability_id] = f"{each.capability_id} expired; load it again: {why}"
            self._note("expired", each.capability_id, why)

    def _why_inactive(self, name: str) -> str:
        """What a model reads that uses a skill which is loaded and not active; empty for any other."""
        if name not in self.bundles or name in self.disabled:
            return ""
        if self.active.get(name):
            return f"{name} is left out of the prompt for want of room; load it again"
        return self.gone.get(name, f"{name} is no longer active; load it again")

    def prompt(self, *, with_skills: bool = True) -> Prompt:
        """For this turn: active skills, their tools, hints, user context; nothing of what no message needs.

        `with_skills` False: without the active ones, for a runtime whose model keeps what it has read of them.
        """
        active = list(self.active) if with_skills else []
        return self._rendered([(each.bundle, each.arguments) for each in active])

    def _included(self, judged: Mapping[str, Readiness]) -> list[str]:
        """The active skills that are ready and fit into a prompt."""
        active = list(self.active)
        return find_included(
            [each.bundle for each in active],
            judged,
            arguments={each.capability_id: each.arguments for each in active},
            characters_max=self.options.characters_max,
            variables=self.options.variables,
        )

    def _rendered(self, skills: Sequence[tuple[Bundle, str]], **extras: Any) -> Prompt:
        """The prompt for these skills, each with its arguments; `extras` are fields of `PromptContext`."""
        context = PromptContext(
            preamble=self.options.preamble,
            hints=tuple(hint.line() for hint in self._hints),
            near_misses=tuple(hint.short_line() for hint in self._near_misses),
            user_context=self.user.context,
            variables=self.options.variables,
            withdrawn=tuple(f"{name}: {why}" for name, why in self.withdrawn.items()),
            reads_files=hasattr(self._source, "file") and own_tools.FILE in self.options.own_tools,
            opens_forms=own_tools.FORM in self.options.own_tools,
            form_news=self._form_news(),
        )
        bundles = [bundle for bundle, _ in skills]
        return render_prompt(
            bundles,
            {each.capability_id: check_readiness(each, self.environment) for each in bundles},
            arguments={bundle.capability_id: arguments for bundle, arguments in skills},
            characters_max=self.options.characters_max,
            extras=replace(context, **extras),
        )

    def _form_news(self) -> tuple[str, ...]:
        """What the prompt says of forms since the last turn; forms.py overrides it."""
        return ()

    def _system_prompted(self) -> Steps[Prompt]:
        yield from self._need_list()
        entries = order_entries(self._known_entries().values(), self.layout_state, has_begun=self.number > 0)
        return build_system_prompt(entries, self.options, self.environment)

    def own_tools(self, *, ahead: bool = False) -> dict[str, ToolContract]:
        """The tools by which a model uses the session itself, by name: those that the source can answer.

        `ahead`: as a runtime needs them that reads its tools once, before there is a skill with files.
        """
        known = [*self.bundles.values(), *(each.bundle for each in self.active)]
        has_files = (ahead or any(each.files for each in known)) and hasattr(self._source, "file")
        usable = set(self.options.own_tools)
        usable -= {own_tools.SEARCH} if not hasattr(self._source, "search") else set()
        usable -= {own_tools.INSTALL} if not hasattr(self._source, "install") else set()
        usable -= {own_tools.FEEDBACK} if not hasattr(self._source, "feedback") else set()
        usable -= {own_tools.FILE} if not has_files else set()
        usable -= set() if ahead or any(each.ui_schemas for each in known) else {own_tools.FORM}
        return own_tools.build_own_tools(usable)

    def _tools(self) -> Tools:
        judged = self.readiness()
        shown = set(self._included(judged))
        return {
            wire_name(each.capability_id, tool["name"]): (each.bundle, tool)
            for each in self.active
            if judged[each.capability_id].is_ready and each.capability_id in shown
            for tool in each.bundle.tools
        }
