"""What readers of a bundle see before and after a change: its instructions as a page, and its forms drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from capability_rules.bundles.bundle import SkillBundle
from registry.core.queries import load_checked_bundle
from studio.pages.drawn_forms import DrawnForm, draw_forms
from studio.pages.markdown import render_page


@dataclass(frozen=True)
class RenderedForm:
    """A form drawn before and after; None where it was not there, or is there no longer."""

    schema_id: str
    before: DrawnForm | None
    after: DrawnForm | None

    @property
    def is_changed(self) -> bool:
        return self.before is None or self.after is None or self.before.messages != self.after.messages


@dataclass(frozen=True)
class RenderedComparison:
    """The instructions as HTML and the forms that changed, before and after; `form_data` draws the forms, those before
    first. `before` is None where nothing was there."""

    before: SafeString | None
    after: SafeString
    forms: tuple[RenderedForm, ...]

    @property
    def is_same_text(self) -> bool:
        """Whether the instructions read the same."""
        return self.before == self.after

    @property
    def drawn(self) -> list[DrawnForm]:
        """Every form that is drawn, in the order of `form_data`."""
        return [form for pair in self.forms for form in (pair.before, pair.after) if form is not None]

    @property
    def form_data(self) -> list[dict[str, Any]]:
        """What the script of the page draws, by number."""
        return [{"title": form.title, "messages": form.messages} for form in self.drawn]

    @property
    def pairs(self) -> list[tuple[RenderedForm, int, int]]:
        """Each changed form with the numbers of its drawings in `form_data`."""
        numbered, number = [], 0
        for pair in self.forms:
            after = number + (pair.before is not None)
            numbered.append((pair, number, after))
            number = after + (pair.after is not None)
        return numbered


def build_rendered_comparison(before: Mapping[str, str] | None, after: Mapping[str, str]) -> RenderedComparison:
    """Return both sides, of texts that passed the checks when they were stored."""
    old, new = load_checked_bundle(before) if before is not None else None, load_checked_bundle(after)
    forms_before = {form.schema_id: form for form in draw_forms(old)} if old else {}
    forms_after = {form.schema_id: form for form in draw_forms(new)}
    pairs = (
        RenderedForm(name, forms_before.get(name), forms_after.get(name))
        for name in dict.fromkeys([*forms_after, *forms_before])
    )
    return RenderedComparison(
        _page(old) if old else None,
        _page(new),
        tuple(pair for pair in pairs if pair.is_changed),
    )


def _page(bundle: SkillBundle) -> SafeString:
    # Sanitized: no element of the text becomes one of the page.
    return mark_safe(render_page(bundle.skill_doc, heading_level=4))  # noqa: S308
