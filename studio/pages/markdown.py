"""skill.md as a page, for the preview: nothing in it can run, load or lead anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cache
from typing import Any, Final

import nh3
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.token import Token

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
_LABEL: Final = ["strong_open", "strong_close"]
_ATTRIBUTES: Final = {"ol": {"start"}, "span": {"class", "title"}, "div": {"class", "tabindex"}}


def render_page(text: str, *, heading_level: int = 1) -> str:
    """The HTML of its body, whose highest heading is of that level at least. Links and pictures are shown as text with
    their URL; HTML in the text is shown as text."""
    if len(text) > CHARACTERS_MAX:
        cut = escape(text[:CHARACTERS_MAX])
        return f"<p><em>Only the first {CHARACTERS_MAX:,} characters are shown, as text.</em></p><pre>{cut}</pre>"
    tokens = _renderer().parse(text)
    _break_labeled_lines(tokens)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    lower = max(heading_level - min(levels), 0) if levels else 0
    for token in tokens:
        if lower and token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + lower, 6)}"
    return clean_html(_renderer().renderer.render(tokens, _renderer().options, {}))


def _break_labeled_lines(tokens: Sequence[Token]) -> None:
    """Begin a line of its own where the author began one with a label: **User:**, **Agent:**, **Do:**. Markdown makes
    a space of the end of a line, which would run a dialogue into one sentence."""
    for token in tokens:
        inside = [one for one in token.children or [] if one.type != "text" or one.content]
        for at, one in enumerate(inside):
            if one.type == "softbreak" and [each.type for each in inside[at + 1 : at + 4 : 2]] == _LABEL:
                _mark, label, _end, *after = inside[at + 1 :]
                if label.content.endswith(":") or (after and after[0].content.startswith(":")):
                    one.type = "hardbreak"


def clean_html(
    html: str, *, more_tags: Set[str] = frozenset(), more_attributes: Mapping[str, Set[str]] | None = None
) -> str:
    """What may be on a page of ours alone: no script, no style, no form. Links only where `more_tags` has them."""
    return nh3.clean(
        html,
        tags={*_TAGS, *more_tags},
        attributes={name: set(values) for name, values in {**_ATTRIBUTES, **(more_attributes or {})}.items()},
        link_rel="noopener noreferrer" if "a" in more_tags else None,
        url_schemes={"http", "https"} if more_tags else set(),
    )


def build_parser() -> MarkdownIt:
    """A parser of the dialect of skill.md, tables included; HTML in the text is text."""
    # Twenty levels of lists and quotes are more than anybody reads, and each costs time.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    # A table is as wide as its words. It moves in a box of its own, which the keyboard reaches too.
    parser.add_render_rule("table_open", lambda *_: '<div class="table-wrap" tabindex="0"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser


@cache
def _renderer() -> MarkdownIt:
    parser = build_parser()
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("link_close", lambda *_: "</span>")
    parser.add_render_rule("image", _image)
    return parser


def _link(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    return f'<span class="link" title="{escape(str(tokens[index].attrGet("href") or ""))}">'


def _image(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    address = escape(str(tokens[index].attrGet("src") or ""))
    return f'<span class="image" title="{address}">picture: {escape(tokens[index].content or "without words")}</span>'
