"""What the checks of a bundle ask about all the others that are published: who has a tool name, an id, a trigger, who
needs whom.

Kept in each process, and moved on by the releases since: a publish costs the same in a registry of fifty capabilities
and of fifty thousand (bench/publishing.py).
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from capability_kit.json_text import parse_json
from capability_rules.bundles.needed_skills import get_needed_skills
from capability_rules.bundles.profile import profile_from_json, trigger_form
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.security.detectors.confusables import IdIndex
from registry.common import caches
from registry.core.queries import LOADABLE_STATUSES
from registry.models import Capability, RegistryState, Release, ToolName

# Beyond so many changed capabilities it is quicker to read all of them.
_CHANGES_MAX: Final = 500


class PublishedIndex:
    """Equal to the database when `refreshed` returns it. Several threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        """Forget everything, until it is asked for again."""
        with self._lock:
            self._tool_owners: dict[str, str] = {}
            self._tool_names: dict[str, list[str]] = {}
            self._ids = IdIndex()
            self._trigger_owners: dict[str, set[str]] = {}
            self._trigger_forms: dict[str, set[str]] = {}
            self._skills: dict[str, tuple[str, ...]] = {}
            self._needed_by: dict[str, set[str]] = {}
            self._epoch: str | None = None
            # The newest release in it. Its time tells it from one that was rolled back and had the same number.
            self._last: tuple[int, datetime] | None = None

    @property
    def context(self) -> ValidationContext:
        """For `validate_bundle`; it moves on with the registry."""
        return ValidationContext(tool_owners=self._tool_owners, capability_ids=self._ids)

    def owners_of_trigger(self, trigger: str) -> Collection[str]:
        """The capabilities with a trigger that the same messages find."""
        return frozenset(self._trigger_owners.get(trigger_form(trigger), ()))

    def is_loadable(self, capability_id: str) -> bool:
        return capability_id in self._skills

    def get_skills(self, capability_id: str) -> tuple[str, ...]:
        """The capabilities that it says it needs; empty for what agents cannot load."""
        return self._skills.get(capability_id, ())

    def list_needing(self, capability_id: str) -> list[str]:
        """The capabilities that say that they need it, ordered by id."""
        return sorted(self._needed_by.get(capability_id, ()))

    def refreshed(self) -> PublishedIndex:
        """Itself, with the releases since."""
        with self._lock:
            epoch = RegistryState.objects.values_list("epoch", flat=True).first() or ""
            since = self._last[0] if self._last else 0
            newer = Release.objects.filter(registry_revision__gte=since).order_by("registry_revision")
            rows = list(newer.values_list("registry_revision", "at", "capability_id")[: _CHANGES_MAX + 2])
            # None where nothing is published, as in an index that is new.
            known = rows[0][:2] if rows and self._last else None
            if epoch != self._epoch or known != self._last or len(rows) > _CHANGES_MAX + 1:
                self.clear()
                # First the release, then the rows: what another process commits between is read again the next time.
                last = Release.objects.order_by("-registry_revision").values_list("registry_revision", "at").first()
                self._add(Capability.objects.filter(status__in=LOADABLE_STATUSES), ToolName.objects.all())
                self._epoch, self._last = epoch, last
            elif changed := {row[2] for row in rows[1 if self._last else 0 :]}:
                found = Capability.objects.filter(pk__in=changed)
                for capability_id in found.values_list("capability_id", flat=True):
                    self._remove(capability_id)
                self._add(found.filter(status__in=LOADABLE_STATUSES), ToolName.objects.filter(capability__in=changed))
                self._last = rows[-1][:2]
            return self

    def _add(self, capabilities: QuerySet[Capability], names: QuerySet[ToolName]) -> None:
        for name, owner in names.values_list("name", "capability__capability_id").iterator():
            self._tool_owners[name] = owner
            self._tool_names.setdefault(owner, []).append(name)
        rows = capabilities.values_list("capability_id", "published_revision__capability_json")
        for capability_id, text in rows.iterator():
            self._ids.add(capability_id)
            facts = parse_json(text)
            facts = facts if isinstance(facts, dict) else {}
            profile = profile_from_json(facts)
            # A damaged row has no triggers that could be trusted.
            triggers = profile.triggers if profile.capability_id == capability_id else ()
            forms = self._trigger_forms[capability_id] = {trigger_form(trigger) for trigger in triggers}
            for form in forms:
                self._trigger_owners.setdefault(form, set()).add(capability_id)
            self._skills[capability_id] = get_needed_skills(facts)
            for skill in self._skills[capability_id]:
                self._needed_by.setdefault(skill, set()).add(capability_id)

    def _remove(self, capability_id: str) -> None:
        self._ids.discard(capability_id)
        for name in self._tool_names.pop(capability_id, ()):
            if self._tool_owners.get(name) == capability_id:
                del self._tool_owners[name]
        for skill in self._skills.pop(capability_id, ()):
            self._needed_by[skill].discard(capability_id)
            if not self._needed_by[skill]:
                del self._needed_by[skill]
        for form in self._trigger_forms.pop(capability_id, ()):
            self._trigger_owners[form].discard(capability_id)
            if not self._trigger_owners[form]:
                del self._trigger_owners[form]


INDEX: Final = PublishedIndex()


def get_validation_context() -> ValidationContext:
    """What validation needs to know of the rest of the registry."""
    return INDEX.refreshed().context


@caches.register
def clear_index() -> None:
    """Begin again, as in a new process."""
    INDEX.clear()
