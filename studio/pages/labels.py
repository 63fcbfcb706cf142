"""Labels of statuses, roles, kinds and states.

They are stored and spoken by the API in English; a page may show them in the reader's language.
"""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

WORDS: Final = {
    # Of a capability.
    "draft": gettext_lazy("Draft"),
    "published": gettext_lazy("Published"),
    "deprecated": gettext_lazy("Deprecated"),
    "retired": gettext_lazy("Retired"),
    "quarantined": gettext_lazy("Quarantined"),
    # Of a person.
    "viewer": gettext_lazy("Viewer"),
    "author": gettext_lazy("Author"),
    "publisher": gettext_lazy("Publisher"),
    "admin": gettext_lazy("Admin"),
    # Of a tool and of a finding.
    "read": gettext_lazy("Read"),
    "write": gettext_lazy("Write"),
    "error": gettext_lazy("Error"),
    "warning": gettext_lazy("Warning"),
    # How a capability fared against a message.
    "match": gettext_lazy("Match"),
    "ambiguous": gettext_lazy("Ambiguous"),
    "none": gettext_lazy("No match"),
    "fits": gettext_lazy("Match"),
    "tie": gettext_lazy("Ambiguous"),
    "near miss": gettext_lazy("Below threshold"),
    "no match": gettext_lazy("Not a match"),
    # Profiles and what a capability depends on.
    "capability": gettext_lazy("Capability"),
    "playbook": gettext_lazy("Playbook"),
    "runbook": gettext_lazy("Runbook"),
    "agent_skill": gettext_lazy("Agent Skill"),
    "builtin": gettext_lazy("No setup"),
    "lightweight": gettext_lazy("Auto-installed package"),
    "external": gettext_lazy("Manual install"),
    "cloud_api": gettext_lazy("Cloud account"),
    "common": gettext_lazy("Any"),
    "darwin": "macOS",
    "win32": gettext_lazy("Windows"),
    "linux": gettext_lazy("Linux"),
    # Whether an agent's environment has what a capability depends on.
    "READY": gettext_lazy("Ready"),
    "NEED_SETUP": gettext_lazy("Setup required"),
    "NEED_AUTH": gettext_lazy("Sign-in required"),
    "UNAVAILABLE": gettext_lazy("Unavailable"),
    # How a use of a capability ended.
    "confirmed_success": gettext_lazy("Confirmed success"),
    "likely_success": gettext_lazy("Likely success"),
    "likely_failure": gettext_lazy("Likely failure"),
    "confirmed_failure": gettext_lazy("Confirmed failure"),
    "used": gettext_lazy("Used"),
    # What usage is counted by.
    "key": gettext_lazy("API key"),
    "revision": gettext_lazy("Revision"),
    # Where work stands: reviews, proposals, imports, deliveries.
    "open": gettext_lazy("Open"),
    "approved": gettext_lazy("Approved"),
    "sent_back": gettext_lazy("Changes requested"),
    "withdrawn": gettext_lazy("Closed"),
    "rejected": gettext_lazy("Declined"),
    "superseded": gettext_lazy("Superseded"),
    "all": gettext_lazy("All"),
    "waiting": gettext_lazy("Queued"),
    "fetching": gettext_lazy("Cloning"),
    "checking": gettext_lazy("Checking"),
    "stored": gettext_lazy("Imported"),
    "refused": gettext_lazy("Not imported"),
    "failed": gettext_lazy("Failed"),
    "queued": gettext_lazy("Queued"),
    "delivered": gettext_lazy("Delivered"),
    "parked": gettext_lazy("Failed permanently"),
}


def label(word: object) -> str:
    """A closed word in the reader's language; anything else as it is."""
    return str(WORDS.get(str(word), word))
