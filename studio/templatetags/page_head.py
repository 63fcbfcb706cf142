"""The head of a page: what it is, in a sentence what it is for, and what can be done from here."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.loader import render_to_string

register = template.Library()


@register.simple_block_tag(takes_context=True)
def page_head(context: dict[str, Any], content: str, title: str, about: str) -> str:
    """The page's actions, if any, are between the two tags; the tabs of its section follow."""
    tabs = context.get("section_tabs", ())
    return render_to_string(
        "components/page_head.html", {"title": title, "about": about, "actions": content, "section_tabs": tabs}
    )
