"""How our own sentences are shown."""

from __future__ import annotations

import re
from typing import Final

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
_CODE: Final = re.compile(r"`([^`\n]+)`")


@register.filter
def words(text: object) -> SafeString:
    """Escaped, with what stands in backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", conditional_escape(str(text))))  # noqa: S308 (escaped first)
