"""A page of `docs/` as HTML: headings with ids, links and pictures that lead to addresses of the Studio."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from studio.pages import markdown
from studio.pages.documentation.catalog import (
    DocsPage,
    find_target,
    get_pages,
    list_shown_files,
    resolve_path,
    title_of_link,
)
from studio.pages.documentation.markup import PICTURE, map_prose, without_comments

_TAGS: Final = {"a", "img"}
_EMPTY_HEADER: Final = re.compile(r"<th[^>]*>\s*</th>")
_ATTRIBUTES: Final = {
    "a": {"href"},
    "img": {"src", "alt", "class", "loading"},
    "pre": {"tabindex"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
}


@dataclass(frozen=True)
class DocsHeading:
    """A heading below the title."""

    level: int
    anchor: str
    title: str


@dataclass(frozen=True)
class RenderedDocs:
    """A page without its title, which its frame shows."""

    title: str
    html: SafeString
    headings: tuple[DocsHeading, ...]


@lru_cache(maxsize=128)
def render_docs(slug: str) -> RenderedDocs:
    """The page with this slug; KeyError where there is none."""
    page = get_pages()[slug]
    environment: dict[str, Any] = {"page": page}
    tokens = _parser().parse(prepare_text(page.text), environment)
    headings = identify_headings(tokens)
    title = page.title
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title = _words_of(tokens[1])
        tokens = tokens[3:]
    _name_links(tokens, page)
    html = _parser().renderer.render(tokens, _parser().options, environment)
    # The corner of a table with a first column of names heads nothing.
    html = _EMPTY_HEADER.sub("<td></td>", html)
    html = markdown.clean_html(html, more_tags=_TAGS, more_attributes=_ATTRIBUTES)
    shown = tuple(heading for heading in headings if heading.level > 1)
    return RenderedDocs(title, SafeString(html), shown)


def prepare_text(text: str) -> str:
    """The Markdown without what code hosts alone understand; a picture in two themes is `![words](light "dark")`."""
    return map_prose(lambda prose: PICTURE.sub(r'![\3](\2 "\1")', without_comments(prose)), text)


def identify_headings(tokens: Sequence[Token]) -> list[DocsHeading]:
    """Give each heading the id that code hosts give it; returns them all."""
    found: list[DocsHeading] = []
    times: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        words = _words_of(tokens[place + 1])
        name = re.sub(r"[^\w -]", "", words.lower()).strip().replace(" ", "-")
        count = times[name] = times.get(name, -1) + 1
        anchor = f"{name}-{count}" if count else name
        token.attrSet("id", anchor)
        found.append(DocsHeading(int(token.tag[1]), anchor, words))
    return found


def _name_links(tokens: Sequence[Token], page: DocsPage) -> None:
    """A link whose words are the name of a file has the title of the page."""
    for inline in (token for token in tokens if token.type == "inline"):
        for link, words in pairwise(inline.children or ()):
            if link.type == "link_open" and words.type == "text":
                path = resolve_path(str(link.attrGet("href") or "").partition("#")[0], page)
                words.content = title_of_link(words.content, path)


def _words_of(inline: Token) -> str:
    return "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))


@cache
def _parser() -> MarkdownIt:
    parser = markdown.build_parser()
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("link_close", _close_link)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("text", _text)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _open_link(_renderer: Any, tokens: Any, index: int, _options: Any, environment: Any) -> str:
    given = str(tokens[index].attrGet("href") or "")
    address = _address_of(given, environment)
    tokens[index].meta["address"] = address
    # What the product does not bring, such as its tests, is named.
    return f'<a href="{escape(address)}">' if address else f'<span title="{escape(given)}">'


def _close_link(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    depth = 0
    for token in reversed(tokens[: index + 1]):
        depth += {"link_close": 1, "link_open": -1}.get(token.type, 0)
        if depth == 0:
            return "</a>" if token.meta.get("address") else "</span>"
    return ""


def _address_of(link: str, environment: Any) -> str:
    """Where a link of a page leads; empty where the product has nothing there."""
    parts = urlsplit(link)
    if parts.scheme:
        return link if parts.scheme in ("http", "https") else ""
    if not parts.path:
        return link
    page: DocsPage = environment["page"]
    kind, name = find_target(resolve_path(parts.path, page))
    if kind == "page":
        return reverse("studio:docs_show", args=[name]) + (f"#{parts.fragment}" if parts.fragment else "")
    if kind == "index":
        return reverse("studio:docs_list")
    if kind == "schema":
        return f"/{name}"
    return reverse("studio:docs_file", args=[name]) if kind == "file" else ""


def _file_address(path: str) -> str:
    return reverse("studio:docs_file", args=[path]) if path in list_shown_files() else ""


def _image(_renderer: Any, tokens: Any, index: int, _options: Any, environment: Any) -> str:
    token = tokens[index]
    dark = str(token.attrGet("title") or "")
    pictures = [(str(token.attrGet("src") or ""), "docs-light" if dark else ""), (dark, "docs-dark")]
    found = [(_file_address(resolve_path(source, environment["page"])), name) for source, name in pictures]
    drawn = [
        format_html('<img src="{}" alt="{}" class="{}" loading="lazy">', address, token.content, name)
        for address, name in found
        if address
    ]
    # One from elsewhere is not a picture: nothing is loaded from another host.
    return "".join(drawn) or f"<span>{escape(token.content)}</span>"


def _text(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    # The one element of HTML that our tables use.
    return escape(tokens[index].content).replace("&lt;br&gt;", "<br>")


def _code(_renderer: Any, tokens: Any, index: int, _options: Any, _environment: Any) -> str:
    # It scrolls where it is wide, which the keyboard reaches too.
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'
