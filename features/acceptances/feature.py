"""A finding that does not count for a time: what the product has of it beside the marks on findings."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import Feature

FEATURE: Final = Feature(
    name="acceptances",
    events=(
        EventType("waiver.create", gettext_lazy("Waived %(code)s until %(until)s"), in_timeline=True),
        EventType("waiver.end", gettext_lazy("Ended the waiver of %(code)s"), in_timeline=True),
        EventType("passage.hold", gettext_lazy("Not published: passages need a decision"), in_timeline=True),
        EventType("passage.accept", gettext_lazy("Decided that passages are fine: %(reason)s"), in_timeline=True),
        EventType("passage.decline", gettext_lazy("Passages were declined: %(reason)s"), in_timeline=True),
    ),
    job_handlers={"passage.prune": "features.acceptances.held_passages.prune_waiting"},
    daily_jobs=("passage.prune",),
    audit_observers={"capability.quarantine": ("features.acceptances.held_passages.end_decisions",)},
    pages="features.acceptances.urls",
    operator_api={name: f"features.acceptances.api.{name}" for name in ("waiver_create", "waiver_end", "waiver_list")},
    dangerous_actions="features.acceptances.dangerous_actions.ACTIONS",
    rights=("features.acceptances.rights.WAIVERS", "features.acceptances.rights.DECISIONS"),
    former_tables={
        "waiver": "features.acceptances.former_tables.restore_waiver",
        "heldpassage": "features.acceptances.former_tables.restore_held_passage",
    },
    panels={"capability.findings": "features.acceptances.panels.draw_waivers"},
)
