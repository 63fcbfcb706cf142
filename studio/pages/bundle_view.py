"""What a page draws of a bundle: its instructions, its tools and its forms."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import mark_safe

from capability_rules.bundles.bundle import SkillBundle
from studio.pages.drawn_forms import draw_forms
from studio.pages.markdown import render_page


def build_bundle_context(bundle: SkillBundle) -> dict[str, Any]:
    """Return what `capability_instructions.html`, `capability_tools.html` and `capability_forms.html` need.

    The bundle has passed the checks: what has not cannot be drawn.
    """
    forms, writes = list(draw_forms(bundle)), len(bundle.write_tool_names)
    return {
        "bundle": bundle,
        "forms": forms,
        "form_data": [{"title": form.title, "messages": form.messages} for form in forms],
        "writes": writes,
        "reads": len(bundle.tools) - writes,
        # Sanitized: no element of the text becomes one of the page.
        "instructions": mark_safe(render_page(bundle.skill_doc, heading_level=3)),  # noqa: S308
    }
