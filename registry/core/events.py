"""Every verb of the audit log, once: how it is called in a capability's timeline, and as which event webhooks get it.

`audit.record` refuses a verb that has no row here or in a feature; audited_verbs.toml has those of which there is
nothing else to say. docs/webhooks.md and schemas/event.schema.json describe the public types; a test compares them.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import installed_features

if TYPE_CHECKING:
    from django.utils.functional import Promise


def _timeline(verb: str, label: str | Promise, *, public: str = "", opt_in: bool = False) -> EventType:
    return EventType(verb, label, public, in_timeline=True, opt_in=opt_in)


_PUBLIC: Final = (
    _timeline("capability.publish", gettext_lazy("Published as revision %(revision)s"), public="capability.published"),
    _timeline("capability.rollback", gettext_lazy("Rolled back to revision %(to)s"), public="capability.rolled_back"),
    _timeline("capability.deprecate", gettext_lazy("Deprecated"), public="capability.deprecated"),
    _timeline("capability.retire", gettext_lazy("Retired"), public="capability.retired"),
    _timeline("capability.quarantine", gettext_lazy("Quarantined"), public="capability.quarantined"),
    EventType(
        "capability.restore",
        gettext_lazy("Restored"),
        public="capability.restored",
        in_timeline=True,
        variants=(
            ("alone", gettext_lazy("Quarantine ended by one who published or edited it, without a second person")),
            ("ended_quarantine", gettext_lazy("Quarantine ended")),
        ),
    ),
    # An author saves every few minutes.
    EventType("draft.save", public="draft.saved", opt_in=True),
    _timeline("draft.import", gettext_lazy("Draft imported"), public="draft.saved", opt_in=True),
    EventType("proposal.create", public="proposal.created"),
    EventType("proposal.reject", public="proposal.rejected"),
    _timeline("incident.open", gettext_lazy("Incident opened"), public="incident.opened"),
    _timeline("incident.close", gettext_lazy("Incident closed"), public="incident.closed"),
    EventType("agent_key.create", public="agent_key.created", subject="agent_key"),
    EventType("agent_key.revoke", public="agent_key.revoked", subject="agent_key"),
    EventType("operator.create", public="operator.created", subject="operator"),
    EventType("operator.disable", public="operator.disabled", subject="operator"),
    EventType("job.park", public="job.parked", subject="job"),
    EventType("registry.restore", public="registry.restored", subject="registry"),
)
_TIMELINE: Final = (
    _timeline("capability.visibility", gettext_lazy("Made %(visibility)s")),
    _timeline("draft.discard", gettext_lazy("Draft discarded")),
    _timeline("draft.restore", gettext_lazy("Draft restored")),
    _timeline("review.ask", gettext_lazy("Submitted for review")),
    _timeline("review.approve", gettext_lazy("Approved")),
    _timeline("review.send_back", gettext_lazy("Changes requested")),
    _timeline("review.withdraw", gettext_lazy("Review canceled")),
    _timeline("release.schedule", gettext_lazy("Release scheduled for %(due_at)s")),
    _timeline("release.change", gettext_lazy("Release rescheduled")),
    _timeline("release.cancel", gettext_lazy("Scheduled release canceled")),
    _timeline("release.done", gettext_lazy("Scheduled release published, revision %(revision)s")),
    _timeline("release.fail", gettext_lazy("Scheduled release failed")),
)
_LABELED: Final = (
    EventType("review.reviewers", gettext_lazy("Reviewers changed")),
    EventType("review.comment", gettext_lazy("Commented in the review")),
    EventType("review.reply", gettext_lazy("Replied in the review")),
    EventType("review.resolve", gettext_lazy("Comment resolved")),
    EventType("review.reopen", gettext_lazy("Comment reopened")),
)
_AUDITED_ONLY: Final = tomllib.loads(Path(__file__).with_name("audited_verbs.toml").read_text("utf-8"))["verbs"]

_OF_FEATURES: Final = (event for feature in installed_features() for event in feature.events)
_ALL: Final = (*_PUBLIC, *_TIMELINE, *_LABELED, *map(EventType, _AUDITED_ONLY), *_OF_FEATURES)
EVENTS: Final[dict[str, EventType]] = {event.verb: event for event in _ALL}
TIMELINE_VERBS: Final = tuple(event.verb for event in EVENTS.values() if event.in_timeline)
