"""What markup hides from the reader of the page or makes of it: comments, invisible elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from capability_kit.json_text import parse_json
from capability_rules.validation.security.context import Context
from capability_rules.validation.security.engine import HITS_COUNTED_MAX, RuleHit, ScanBudget
from capability_rules.validation.security.normalization import normalize_text
from capability_rules.validation.security.rule_loader import load_phrases
from capability_rules.validation.security.text_corpus import ScannedDocument

_LINK_COMMENT = re.compile(r"^\[[^\]\n]{1,30}\]: ?(?:#|<>) ?[(\"']([^\n]{1,1000})[)\"']\s{0,20}$", re.MULTILINE)
_TAG = re.compile(r"<\w{1,12}\s[^<>]{0,400}>")
_HIDING, _ADDRESS, _RISKY = load_phrases("markup", "hiding", "address", "risky")


def find_markup(document: ScannedDocument, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    """Hidden passages of a Markdown document that speak to the agent, and hidden elements as such."""
    text = document.text
    if "<!--" in text or "]:" in text:
        yield from islice(_comments(text, context, budget), HITS_COUNTED_MAX)
    if "<" in text and ("style" in text.lower() or "hidden" in text.lower()):
        yield from islice(_invisible(text, context, budget), HITS_COUNTED_MAX)


def _comments(text: str, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    at = text.find("<!--")
    while at >= 0 and budget.take(5):
        closing = text.find("-->", at + 4)
        end = closing + 3 if closing >= 0 else len(text)
        is_shown = context.in_fence(at) or context.in_code_span(at)
        if not is_shown and _speaks_to_agent(text[at + 4 : end]):
            yield _ordering_comment(at, end, text[at + 4 : at + 80].strip())
        # One that is shown as code hides nothing after it.
        at = text.find("<!--", at + 4 if is_shown else end)
    for match in _LINK_COMMENT.finditer(text):
        if not context.in_fence(match.start()) and _speaks_to_agent(match.group(1)):
            yield _ordering_comment(match.start(), match.end(), match.group(1))


def _ordering_comment(start: int, end: int, quote: str) -> RuleHit:
    says = "a comment with orders for the agent"
    return RuleHit("SEC_HIDDEN_INSTRUCTION", says, start, end, discount="phrase", quote=quote)


def _invisible(text: str, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    for match in _TAG.finditer(text):
        is_hidden = budget.take(1) and _HIDING.search(match.group()) and budget.take(20)
        if not is_hidden or context.is_marked(*match.span()):
            continue
        said = re.sub(r"<[^<>]{0,200}>", " ", text[match.end() : match.end() + 600].partition("\n\n")[0])
        said = " ".join(said.partition("\0")[0].split())
        if _speaks_to_agent(said):
            says = "an invisible element with orders for the agent"
            yield RuleHit("SEC_HIDDEN_INSTRUCTION", says, *match.span(), quote=said)
        elif len(said) >= 20 and "</" in text[match.end() : match.end() + 600]:
            yield RuleHit("SEC_HIDDEN_MARKUP", "text that the page does not show", *match.span(), quote=said)


def _speaks_to_agent(said: str) -> bool:
    folded = normalize_text(said[:20_000])
    return bool(_ADDRESS.search(folded)) and bool(_RISKY.search(folded))


def find_embedded_tools(document: ScannedDocument) -> Iterator[tuple[int, dict[str, object]]]:
    """Tool contracts written out in JSON inside a fence of skill.md: (offset of the fence's body, the tool)."""
    if "args_schema" not in document.text and '"policy"' not in document.text:
        return
    for match in re.finditer(r"^```[a-z]{0,10}\n([\[{].{2,20000}?)\n```", document.text, re.DOTALL | re.MULTILINE):
        value = parse_json(match.group(1))
        for tool in value if isinstance(value, list) else [value]:
            if isinstance(tool, dict) and "policy" in tool:
                yield match.start(1), tool
