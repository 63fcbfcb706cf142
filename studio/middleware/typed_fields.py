"""What a person typed into a form that cannot be accepted now, so that a page can show it."""

from __future__ import annotations

import re
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.middleware.time_zones import ZONE_SUFFIX, typed_zone, zone_name

# What a form carries besides what a person has typed. Everything else must not be lost.
TECHNICAL_FIELDS: Final = frozenset(
    (
        "csrfmiddlewaretoken",
        "based_on",
        "draft_version",
        "step",
        "next",
        "back",
        "round",
        "query",
        "paths",
        "entry",
        "chosen",
    )
)
_LABELS: Final = {
    "capability_json": gettext_lazy("Details"),
    "skill_md": gettext_lazy("Instructions"),
    "tools_json": gettext_lazy("Tools"),
    "ui_schemas_json": gettext_lazy("Forms"),
    "capability_id": gettext_lazy("ID"),
    "triggers": gettext_lazy("Trigger phrases"),
    "sentences": gettext_lazy("Example messages"),
    "due_at": gettext_lazy("Date and time"),
    "url": gettext_lazy("URL"),
}
_TOOL_FIELD: Final = re.compile(r"tool-(?P<tool>[0-9]{1,4})-(?:arg-(?P<argument>[0-9]{1,4})-)?(?P<field>[a-z_]+)")
_TOOL_LABELS: Final = {
    "name": gettext_lazy("Name"),
    "does": gettext_lazy("Description"),
    "kind": gettext_lazy("Access"),
    "form": gettext_lazy("Generate a form"),
}
_ARGUMENT_LABELS: Final = {
    "name": gettext_lazy("Name"),
    "kind": gettext_lazy("Type"),
    "choices": gettext_lazy("Options"),
    "meaning": gettext_lazy("Description"),
}
_NEVER_SHOWN: Final = re.compile(r"password|secret|token")
_CSRF_FIELD: Final = "csrfmiddlewaretoken"


def typed_fields(sent: QueryDict) -> list[tuple[str, str]]:
    """`(field, text)` of each field that a person filled in, in the order of the page, without secrets. A time has the
    zone in which it was typed."""
    return [
        (_field_words(name, sent), "\n".join(texts))
        for name, texts in sent.lists()
        if any(texts)
        and name not in TECHNICAL_FIELDS
        and not _NEVER_SHOWN.search(name)
        and not name.endswith(ZONE_SUFFIX)
    ]


def fields_to_resubmit(sent: QueryDict) -> list[tuple[str, str]] | None:
    """`(name, value)` of everything that a form carried, to send it once more; None where it had a secret, which is
    typed again."""
    if any(texts and any(texts) and _NEVER_SHOWN.search(name) for name, texts in sent.lists() if name != _CSRF_FIELD):
        return None
    return [(name, text) for name, texts in sent.lists() if name != _CSRF_FIELD for text in texts]


def _field_words(name: str, sent: QueryDict) -> str:
    zone = typed_zone(sent, name)
    words = _label(name)
    return f"{words} ({zone_name(zone)})" if zone else words


def _label(name: str) -> str:
    """As the form names the field; of a guided form with the number of the tool and of the argument."""
    found = _TOOL_FIELD.fullmatch(name)
    if not found:
        return str(_LABELS.get(name, name.replace("_", " ").replace("-", " ").capitalize()))
    tool, argument, field = int(found["tool"]) + 1, found["argument"], found["field"]
    labels = _ARGUMENT_LABELS if argument else _TOOL_LABELS
    label = labels.get(field, field.replace("_", " ").capitalize())
    if not argument:
        return _("Tool %(tool)s: %(label)s") % {"tool": tool, "label": label}
    numbers = {"tool": tool, "argument": int(argument) + 1, "label": label}
    return _("Tool %(tool)s, argument %(argument)s: %(label)s") % numbers
