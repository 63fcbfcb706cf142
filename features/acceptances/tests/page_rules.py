"""Who may open the pages of waivers, and what their forms do."""

from datetime import timedelta

from django.utils import timezone

from features.acceptances import waiver_store
from features.acceptances.models import Acceptance
from registry.common.actors import Actor
from registry.publishing.scan_results import store_scan_results
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """What a scanner found in alpha, waived."""
    by = Actor("command_line", "olga")
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": [{}]}]}
    store_scan_results(capability_id="alpha", log=log, by=by)
    until = timezone.now().date() + timedelta(days=9)
    waiver_store.create_waiver(
        capability_id="alpha", code="SCAN_RESULT", place="capability.json", reason="Größe", until=until, by=by
    )


PAGES = FeaturePages(
    roles={
        "waiver_create": ("publisher", "publisher"),
        "waiver_end": ("publisher", "publisher"),
        "decision_list": ("viewer", "publisher"),
        "decision_show": ("viewer", "publisher"),
    },
    confirmed={"waiver_end": lambda: {"waiver": str(Acceptance.waivers.get().pk)}},
    harmless={
        "waiver_create": "End waiver on the overview",
        "decision_list": "asks for a reason; a quarantine ends the decision",
        "decision_show": "asks for a reason; a quarantine ends the decision",
    },
    ordinary=frozenset({"waiver_end"}),
    furnish=furnish,
)
