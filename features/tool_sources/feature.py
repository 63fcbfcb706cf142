"""Tools from OpenAPI documents, MCP servers and definitions of model vendors, and a watch on their drift."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.core.jobs.celery_dispatch import IMPORTS
from registry.feature import Feature, SectionTab

_RELEASE_VERBS: Final = ("publish", "rollback", "restore", "retire", "quarantine")
_VERBS: Final = ("add", "check", "fail", "remove", "take_over", "use")

FEATURE: Final = Feature(
    name="tool_sources",
    requires=("credentials",),
    events=tuple(EventType(f"tool_source.{verb}") for verb in _VERBS),
    job_handlers={"tool_source.check": "features.tool_sources.watch.check_all"},
    job_queues={"tool_source.check": IMPORTS},
    daily_jobs=("tool_source.check",),
    audit_observers={
        "draft.save": ("features.tool_sources.watch.follow_renames",),
        "draft.import": ("features.tool_sources.watch.follow_renames",),
        "credential.end": ("features.tool_sources.drift.stop_without_credential",),
        "tool_source.check": ("features.tool_sources.email.write_to_members",),
        **{f"capability.{verb}": ("features.tool_sources.drift.follow_release",) for verb in _RELEASE_VERBS},
    },
    findings="features.tool_sources.drift.find_drift",
    finding_codes=("TOOL_SOURCE_CHANGED", "TOOL_SOURCE_BROKEN"),
    pages="features.tool_sources.urls",
    section_tabs=(SectionTab("studio:capability_list", gettext_lazy("Tool sources"), "studio:tool_source_list"),),
    operator_api={
        name: f"features.tool_sources.api.{name}"
        for name in ("tool_source_read", "tool_source_import", "tool_source_check", "tools_export")
    },
    panels={
        "capability.ways": "features.tool_sources.panels.draw_way",
        "capability.overview": "features.tool_sources.panels.draw_changes",
        "draft.outline": "features.tool_sources.panels.draw_outline",
        "capability.tools": "features.tool_sources.panels.draw_bindings",
    },
    secret_fields=("header_secret", "query_secret"),
    rows_kept={"tool_sources_toolbinding": "tools that came from a source, which is watched"},
)
