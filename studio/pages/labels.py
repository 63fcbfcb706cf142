"""Labels of statuses, roles, kinds and states.

They are stored and spoken by the API in English; a page may show them in the reader's language.
"""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

WORDS: Final = {
    # Of a capability.
    "draft": gettext_lazy("draft"),
    "published": gettext_lazy("published"),
    "deprecated": gettext_lazy("deprecated"),
    "retired": gettext_lazy("retired"),
    # Of a person.
    "viewer": gettext_lazy("viewer"),
    "author": gettext_lazy("author"),
    "publisher": gettext_lazy("publisher"),
    "admin": gettext_lazy("admin"),
    # Of a tool and of a finding.
    "read": gettext_lazy("read"),
    "write": gettext_lazy("write"),
    "error": gettext_lazy("error"),
    "warning": gettext_lazy("warning"),
    # How a capability fared against a message.
    "match": gettext_lazy("match"),
    "ambiguous": gettext_lazy("ambiguous"),
    "none": gettext_lazy("none"),
    "fits": gettext_lazy("fits"),
    "tie": gettext_lazy("tie"),
    "near miss": gettext_lazy("near miss"),
    # Profiles and what a capability depends on.
    "capability": gettext_lazy("capability"),
    "playbook": gettext_lazy("playbook"),
    "runbook": gettext_lazy("runbook"),
    "agent_skill": gettext_lazy("agent skill"),
    "builtin": gettext_lazy("builtin"),
    "lightweight": gettext_lazy("lightweight"),
    "external": gettext_lazy("external"),
    # What usage is counted by.
    "key": gettext_lazy("key"),
    "revision": gettext_lazy("revision"),
    # Where work stands: reviews, proposals, imports, deliveries.
    "open": gettext_lazy("open"),
    "approved": gettext_lazy("approved"),
    "sent_back": gettext_lazy("sent back"),
    "withdrawn": gettext_lazy("withdrawn"),
    "rejected": gettext_lazy("rejected"),
    "superseded": gettext_lazy("superseded"),
    "all": gettext_lazy("all"),
    "waiting": gettext_lazy("waiting"),
    "fetching": gettext_lazy("fetching"),
    "checking": gettext_lazy("checking"),
    "stored": gettext_lazy("stored"),
    "refused": gettext_lazy("refused"),
    "failed": gettext_lazy("failed"),
    "queued": gettext_lazy("queued"),
    "delivered": gettext_lazy("delivered"),
    "parked": gettext_lazy("parked"),
}


def label(word: object) -> str:
    """A closed word in the reader's language; anything else as it is."""
    return str(WORDS.get(str(word), word))
