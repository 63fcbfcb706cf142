"""Small components that a template names in one word: icons, avatars, tiles, and the blocks around a few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from zlib import crc32

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from registry.catalog.facets import list_facets
from registry.models import Proposal, Review
from studio.pages.actions import undo_of
from studio.pages.lists import TableColumn

register = template.Library()
register.filter("undo_of", undo_of)
_AVATARS: Final = 5
# Icons that point along the line, and so the other way where it is written from right to left.
_POINTING: Final = frozenset(
    {"arrow-left", "arrow-right", "arrow-up-right", "chevron-left", "chevron-right", "log-out"}
)
_TILES: Final = 8
# For each status of a capability, review or proposal: the tone of its badge.
_STATUS_TONES: Final = {
    "published": "success",
    "deprecated": "outline",
    "retired": "outline",
    "quarantined": "danger",
    "failing": "danger",
    "scheduled": "plan",
    "in_review": "info",
    "changes_requested": "warning",
}


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """An icon of the sprite, beside words that say the same; `size` is `sm`, `lg` or `xl`."""
    return format_html(
        '<svg class="icon{}{}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        f" icon--{size}" if size else "",
        " icon--points" if name in _POINTING else "",
        static("studio/icons/sprite.svg"),
        name,
    )


@register.simple_tag
def avatar(name: str, size: str = "") -> SafeString:
    """The initials of a person or team, in a color that the name decides; `size` is `sm` or `lg`."""
    return format_html(
        '<span class="avatar avatar--{}{}" aria-hidden="true">{}</span>',
        crc32(name.encode()) % _AVATARS + 1,
        f" avatar--{size}" if size else "",
        initials(name),
    )


@register.simple_tag
def tile(capability_id: str, emoji: str = "", size: str = "", name: str = "") -> SafeString:
    """A capability's emoji, or the first letter of its name, on a tint that the id decides; `size` is `sm` or `lg`."""
    return format_html(
        '<span class="tile tile--{}{}" aria-hidden="true">{}</span>',
        crc32(capability_id.encode()) % _TILES + 1,
        f" tile--{size}" if size else "",
        emoji or (name or capability_id)[:1].upper(),
    )


@register.filter
def initials(name: str) -> str:
    """At most two letters: of the first two words, or the first of the only one."""
    words = [word for word in name.replace("-", " ").replace("_", " ").replace(".", " ").split() if word]
    return "".join(word[0] for word in words[:2]).upper()


@register.filter
def status_tone(status: str) -> str:
    """The tone of a status's badge; empty for the neutral one."""
    return _STATUS_TONES.get(status, "")


@register.filter
def display_name(texts: Review | Proposal) -> str:
    """What a review's or a proposal's own capability.json calls the capability, else its id."""
    return list_facets(texts.capability_json).name_or(texts.capability.capability_id)


@register.filter
def emoji(texts: Review | Proposal) -> str:
    """That of a review's or a proposal's own capability.json; empty where it has none."""
    return list_facets(texts.capability_json).emoji


@register.filter
def name_in(capability_id: str, names: Mapping[str, str]) -> str:
    """The name of a capability among those that were looked up, else its id."""
    return names.get(capability_id, capability_id)


@register.simple_block_tag
def banner(content: str, words: str, tone: str = "", icon: str = "info", title: str = "", role: str = "") -> str:
    """The state of the page that lasts: a sentence, after `title` in bold. Its actions are between the two tags;
    `role` is `status` or `alert` where it answers what was just done."""
    shown = {"words": words, "tone": tone, "icon": icon, "title": title, "role": role, "actions": content}
    return render_to_string("components/banner.html", shown)


@register.simple_block_tag
def blank_state(content: str, words: str, icon: str = "circle", title: str = "") -> str:
    """A list without items: what will be here. A button, if any, is between the two tags."""
    return render_to_string("components/empty.html", {"words": words, "icon": icon, "title": title, "actions": content})


@register.filter
def th(kind: str, words: str) -> dict[str, str]:
    """The head of a column for `data_table`, with a class such as `num`, or read aloud only (`unseen`)."""
    return {"kind": kind, "words": words}


@register.filter
def only_if(head: object, is_shown: object) -> object:
    """The head of a column for `data_table`, None where the column is not shown."""
    return head if is_shown else None


@register.simple_block_tag
def data_table(
    content: str,
    *heads: str | dict[str, str] | None,
    columns: Sequence[TableColumn] = (),
    caption: str = "",
    css: str = "",
) -> str:
    """A table whose rows, between the two tags, are cards where it is narrow. The heads of `columns`, which sort, stand
    before the others; those that are None are left out; `caption` is read aloud only."""
    shown = {
        "rows": content,
        "heads": [head for head in heads if head is not None],
        "columns": columns,
        "caption": caption,
        "css": css,
    }
    return render_to_string("components/data_table.html", shown)
