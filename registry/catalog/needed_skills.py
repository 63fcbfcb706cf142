"""Capabilities that name each other, beside what is published; what a retirement leaves."""

from __future__ import annotations

from collections.abc import Collection

from capability_rules.bundles.finding import Finding
from capability_rules.validation import Report, needs
from registry.core.published_index import INDEX


def find_need_findings(report: Report, beside: Collection[str] = ()) -> list[Finding]:
    """As `needs.find_need_findings`; `beside` are the ids of bundles that come with it."""
    index = INDEX.refreshed()
    return needs.find_need_findings(
        report, is_loadable=lambda skill: skill in beside or index.is_loadable(skill), needs_of=index.get_skills
    )


def list_needing(capability_id: str) -> list[str]:
    """The ids of the capabilities that agents can load and that say that they need this one."""
    return INDEX.refreshed().list_needing(capability_id)
