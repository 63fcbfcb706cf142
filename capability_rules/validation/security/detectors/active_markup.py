"""Markup that runs where a page is shown: scripts, event handlers, embedded pages, script addresses.

The Studio shows none of it, but other hosts render skill.md and descriptions as Markdown, and pictures as they are.
Code fences, code spans and comments are shown as text anywhere, and are left alone; so are files that are programs or
pages themselves.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, islice
from typing import Final

from capability_rules.bundles.markdown_outline import LineKind, parse_outline
from capability_rules.validation.security.context import Context
from capability_rules.validation.security.engine import HITS_COUNTED_MAX, RuleHit, ScanBudget
from capability_rules.validation.security.text_corpus import ScannedDocument

_CODE: Final = "SEC_ACTIVE_MARKUP"
_TAG: Final = re.compile(r"<([a-zA-Z][a-zA-Z0-9:-]{0,30})(?=[\s/>])[^<>]{0,1000}")
# Those that browsers have; `{` after it is a component's property in JSX, which is a program.
_HANDLER: Final = re.compile(
    r"[\s/\"']on(?:load\w{0,9}|error|abort|unload|begin|end|repeat|(?:dbl|aux)?click|mouse\w{1,6}|pointer\w{1,18}|touch\w{1,6}"
    r"|key\w{1,5}|focus(?:in|out)?|blur|change|input|submit|reset|select\w{0,6}|toggle|wheel|scroll(?:end)?|drag\w{0,6}|drop"
    r"|copy|cut|paste|animation\w{1,9}|transition\w{1,6}|before\w{1,12}|after\w{1,8}|hashchange|message|page(?:show|hide)"
    r"|popstate|resize|storage|play(?:ing)?|canplay\w{0,7}|durationchange|ended|progress|show)\s{0,4}=\s{0,4}(?![{\s>])",
    re.IGNORECASE,
)
# Elements that bring a page or a program of somebody else, by the attribute that names it.
_EMBEDDED: Final = {
    "iframe": re.compile(r"[\s/\"'](?:src|srcdoc)\s{0,4}=", re.IGNORECASE),
    "object": re.compile(r"[\s/\"']data\s{0,4}=", re.IGNORECASE),
    "embed": re.compile(r"[\s/\"']src\s{0,4}=", re.IGNORECASE),
}
_SOURCE: Final = re.compile(r"[\s/\"'](?:src|href|xlink:href)\s{0,4}=", re.IGNORECASE)
_ADDRESS: Final = re.compile(
    r"[\s/\"'](?:href|src|action|formaction|xlink:href|data)\s{0,4}=\s{0,4}[\"']?([^\"'<>]{1,200})", re.IGNORECASE
)
_LINK: Final = re.compile(
    r"\]\(\s{0,10}<?([^()<>\n]{1,200})|^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,10}<?([^<>\n]{1,200})", re.MULTILINE
)
_AUTOLINK: Final = re.compile(r"<([a-zA-Z]{1,10}script:[^<>\s]{1,200})>")
_RUNNING: Final = re.compile(r"(?:javascript|vbscript):|data:text/html[;,]")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCRIPT_END: Final = re.compile(r"</script", re.IGNORECASE)
_CONTENT: Final = re.compile(r">?\s*[^\s\0]")
# How far back the beginning of a comment is looked for.
_COMMENT_REACH: Final = 20_000
# Values of JSON files that a page shows.
_SHOWN_KEYS: Final = frozenset({"description", "name", "title"})


def find_active_markup(document: ScannedDocument, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    """What would run in a document that others render: Markdown, SVG, and the descriptions in JSON files."""
    is_drawing = document.file.endswith(".svg")
    if not (document.is_markdown or is_drawing or document.file.endswith(".json")):
        return
    shown = _ShownText(document, context)
    candidates = (hit for hit in _candidates(document.text, budget) if budget.take(5))
    yield from islice((hit for hit in candidates if is_drawing or shown.is_rendered(hit.start)), HITS_COUNTED_MAX)


def _candidates(text: str, budget: ScanBudget) -> Iterator[RuleHit]:
    closings = [match.start() for match in _SCRIPT_END.finditer(text)]
    for match in _TAG.finditer(text) if "<" in text else ():
        if not budget.take(1):
            return
        says = _describe_element(match, closings)
        if says:
            yield RuleHit(_CODE, says, match.start(), match.end() + text.startswith(">", match.end()), "error")
    for match in _LINK.finditer(text) if "](" in text or "]:" in text else ():
        if _is_running(match[1] or match[2]):
            yield RuleHit(_CODE, "a link that runs a script", *match.span(), "error")
    for match in _AUTOLINK.finditer(text) if "<" in text else ():
        if _is_running(match[1]):
            yield RuleHit(_CODE, "a link that runs a script", *match.span(), "error")


def _describe_element(match: re.Match[str], closings: list[int]) -> str:
    """What runs with an element, in a few words; empty where nothing does for certain."""
    tag, name = match[0], match[1].lower()
    if name == "script" and (_SOURCE.search(tag) or _has_body(match, closings)):
        return "a script"
    if name in _EMBEDDED and _EMBEDDED[name].search(tag):
        return f"an embedded page or program (<{name}>)"
    if "=" not in tag:
        return ""
    if _HANDLER.search(tag):
        return "an event handler in an element"
    if any(_is_running(found[1]) for found in _ADDRESS.finditer(tag)):
        return "a link that runs a script"
    return ""


def _has_body(match: re.Match[str], closings: list[int]) -> bool:
    """Whether a script element is closed, with something in it: "the <script> tag" in a sentence is not."""
    following = bisect_right(closings, match.end())
    content = _CONTENT.match(match.string, match.end())
    return content is not None and following < len(closings) and content.end() <= closings[following]


def _is_running(address: str) -> bool:
    """Whether a browser takes an address for a script: it ignores blanks and control characters in the scheme, and
    reads character references; Markdown takes backslashes away."""
    plain = html.unescape(_ESCAPED.sub(r"\1", address))
    return bool(_RUNNING.match("".join(char for char in plain if char > " ").lower()))


class _ShownText:
    """Which places of a document a renderer makes markup of."""

    def __init__(self, document: ScannedDocument, context: Context) -> None:
        self._document, self._context = document, context

    def is_rendered(self, offset: int) -> bool:
        """Whether markup at this place is markup to a renderer."""
        part, inside = self._document.part_at(offset)
        if not self._document.is_markdown and (part.is_key or not part.path or part.path[-1] not in _SHOWN_KEYS):
            return False
        is_code = _is_shown_as_it_is(part.text, inside) or self._context.in_fence(offset)
        return not (is_code or self._is_in_comment(offset) or self._context.in_code_span(offset))

    def _is_in_comment(self, offset: int) -> bool:
        before = self._document.text[max(offset - _COMMENT_REACH, 0) : offset]
        return before.rfind("<!--") > before.rfind("-->")


def _is_shown_as_it_is(text: str, offset: int) -> bool:
    """Whether a place is in a line of a code block or of a comment."""
    kinds, starts = _outline(text)
    return kinds[bisect_right(starts, offset) - 1] in ("code", "comment")


@lru_cache(maxsize=8)
def _outline(text: str) -> tuple[list[LineKind], list[int]]:
    """What each line of a Markdown text is part of, and where it begins."""
    lengths = (len(line) + 1 for line in text.split("\n"))
    return parse_outline(text).kinds, [0, *accumulate(lengths)]
