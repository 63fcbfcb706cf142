"""skill.md as a page, for the preview: nothing in it can run, load or lead anywhere."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import nh3
from django.utils.html import escape
from markdown_it import MarkdownIt

# Longer texts are shown as they are: rendering them takes seconds.
CHARACTERS_MAX: Final = 100_000
_TAGS: Final = frozenset(
    [
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote"),
        *("ul", "ol", "li"),
        *("pre", "code", "em", "strong", "s", "span"),
        *("div", "table", "thead", "tbody", "tr", "th", "td"),
    ]
)
_ATTRIBUTES: Final = {"ol": {"start"}, "span": {"class", "title"}, "div": {"class", "tabindex"}}


def render_page(text: str, *, heading_level: int = 1) -> str:
    """The HTML of its body, whose highest heading is of that level at least. Links and pictures are shown as text with
    their URL; HTML in the text is shown as text."""
    if len(text) > CHARACTERS_MAX:
        cut = escape(text[:CHARACTERS_MAX])
        return f"<p><em>Only the first {CHARACTERS_MAX:,} characters are shown, as text.</em></p><pre>{cut}</pre>"
    tokens = _renderer().parse(text)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    lower = max(heading_level - min(levels), 0) if levels else 0
    for token in tokens:
        if lower and token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + lower, 6)}"
    return nh3.clean(
        _renderer().renderer.render(tokens, _renderer().options, {}),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        link_rel=None,
        url_schemes=set(),
    )


@cache
def _renderer() -> MarkdownIt:
    # Twenty levels of lists and quotes are more than anybody reads, and each costs time.
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    markdown.add_render_rule("link_open", _link)
    markdown.add_render_rule("link_close", lambda *_: "</span>")
    markdown.add_render_rule("image", _image)
    # A table is as wide as its words. It moves in a box of its own, which the keyboard reaches too.
    markdown.add_render_rule("table_open", lambda *_: '<div class="table-wrap" tabindex="0"><table>')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    return markdown


def _link(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    return f'<span class="link" title="{escape(str(tokens[index].attrGet("href") or ""))}">'


def _image(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    address = escape(str(tokens[index].attrGet("src") or ""))
    return f'<span class="image" title="{address}">picture: {escape(tokens[index].content or "without words")}</span>'
