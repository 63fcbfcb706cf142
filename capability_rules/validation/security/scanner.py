"""All rules over all texts: gather, look at every view, weigh, cap, and say it.

Order: hidden characters and secrets on the author's own text; then the rules of rules/*.toml and the classifier on the
plain view and on every view that takes a disguise off. What refuses a bundle is a matter of form alone; what doubts a
meaning is held for a person. An order that is encoded or written backwards is form: nobody writes an honest one so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from capability_rules.bundles.problem import EXCUSED, PER_CODE_MAX, UNJUDGED_CODE, RawFinding, Severity
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security import decoding
from capability_rules.validation.security.context import Context
from capability_rules.validation.security.detectors import (
    active_markup,
    hidden_characters,
    markup,
    multi_step_download,
    policy_mismatch,
    secrets,
)
from capability_rules.validation.security.engine import (
    HITS_COUNTED_MAX,
    RuleHit,
    ScanBudget,
    SearchedText,
    run_rules,
)
from capability_rules.validation.security.followed_files import find_followed_files
from capability_rules.validation.security.normalization import (
    TextView,
    build_disguised_views,
    build_plain_view,
    find_spaced_words,
    quote_excerpt,
    unwrap_lines,
)
from capability_rules.validation.security.rule_loader import load_literal_index, load_rules
from capability_rules.validation.security.second_signs import has_second_sign
from capability_rules.validation.security.sentences import Span, split_sentences
from capability_rules.validation.security.text_corpus import AuthorText, ScannedDocument, list_documents

MOST_PER_CODE = PER_CODE_MAX
# Whether a passage teaches is asked of so many of a code.
_WEIGHED_MAX = 200
# A sentence that is held is quoted whole where it has room.
_LONGEST_SENTENCE = 240
# Boundaries between the words of a path: characters that are neither letters nor digits, and camel case.
_WORD_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_NEAR = 60
# A line that goes on from the one before, as in a list item; none goes on from a heading.
_GOES_ON = re.compile(r"^(#{1,6} [^\n]*\n)|\n(?=[ \t>]{0,8}[^\W\d_])", re.MULTILINE)
# So near to what a rule found, a sentence that only resembles an attack adds nothing.
_SAME_PASSAGE = 160
_SPACED_OUT = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\w{0,12}(?:previous|prior|above|earlier|system|all)\w{0,10}"
    r"(?:instruction|rule|prompt|guideline)"
    r"|donottelltheuser|donttelltheuser|revealthesystemprompt|revealyoursystemprompt|withoutasking|curlhttp|rmrf"
    r"|password|credential|conversation|privatekey|seedphrase|systemprompt|donotask|neverask|sendthe|sendall|deleteall"
    r"|transferthe|transfermoney|uploadthe|uploadall|apikey|skipapproval|hidethis|secretly"
)


def check_texts(texts: Iterable[AuthorText]) -> list[RawFinding]:
    """Every pattern seen in the author's texts, per file in the order of the text.

    At most `MOST_PER_CODE` findings per code and file; the last of them says how many more there are.
    """
    documents = list_documents(texts)
    followed = find_followed_files(documents)
    return [
        problem
        for document in documents
        for problem in _check(replace(document, is_followed=document.file in followed))
    ]


def check_paths(paths: Iterable[str]) -> list[RawFinding]:
    """Every pattern seen in the paths of supporting files, as written and as words, each code once per path.

    A model reads `ignore-all-previous-instructions.md` as words. Unlike a passage of text, a path is never taken for an
    example in a page about attacks.
    """
    found: dict[tuple[str, str], RawFinding] = {}
    for document in list_documents(AuthorText("", (path,), said) for path in paths for said in _readings_of(path)):
        context = Context(document)
        hits = [replace(hit, discount="never") for hit in _hits(document, context)]
        for hit in sorted(_weigh(hits, context), key=lambda h: h.severity != "error"):
            problem = _problem(hit, 0, document)
            path = str(problem.path[0])
            found.setdefault((path, hit.code), _of_path(problem, path))
    return list(found.values())


def _readings_of(path: str) -> Iterator[str]:
    """The path as written, and as words."""
    yield path
    yield " ".join(_WORD_BOUNDARY.sub(" ", path).split())


def _of_path(problem: RawFinding, path: str) -> RawFinding:
    message = problem.message.replace(":", " in the path:", 1)
    return replace(problem, file=path, path=(), offset=None, message=message, hint="Rename the file.")


def _check(document: ScannedDocument) -> Iterator[RawFinding]:
    context = Context(document)
    weighed = list(_weigh(_hits(document, context), context))
    passages = _list_passages([hit for hit in weighed if hit.severity != "note"], document.text)
    judged = [_judge(hit, document.text) for hit in passages]
    notes = [hit for hit in weighed if hit.severity == "note"]
    for hit, more in _capped([*judged, *_distinct(notes, document.text)]):
        yield _problem(hit, more, document)


def _judge(hit: RuleHit, text: str) -> RuleHit:
    """What the classifier alone found is a note, unless the passage has a second sign."""
    if not hit.is_scored:
        return hit
    # A finding with a certainty is one of the classifier alone: a registry drops it with what it alone found.
    if hit.severity == "error" or hit.disguise or has_second_sign(text, hit.start, hit.end):
        return replace(hit, certainty=None)
    return replace(hit, severity="note")


def _hits(document: ScannedDocument, context: Context) -> list[RuleHit]:
    budget = ScanBudget(left=40_000 + len(document.text) // 4)
    hits = list(_hits_within(budget, document, context))
    if budget.spent:
        says = "so many beginnings of patterns that not all could be checked"
        hits.append(RuleHit("SEC_CHECK_INCOMPLETE", says, 0, 0, "error", quote=""))
    return hits


def _hits_within(budget: ScanBudget, document: ScannedDocument, context: Context) -> Iterator[RuleHit]:
    text = document.text
    yield from islice(secrets.find_secrets(text), HITS_COUNTED_MAX)
    yield from hidden_characters.find_hidden_characters(text)
    yield from markup.find_markup(document, context, budget)
    yield from active_markup.find_active_markup(document, context, budget)
    if document.is_markdown:
        yield from _embedded_policies(document)
    plain = build_plain_view(text)
    yield from _read(plain, budget, document)
    for offset, said in find_spaced_words(plain):
        if _SPACED_OUT.search(said):
            at = plain.origin(offset)
            yield RuleHit(
                "SEC_INSTRUCTION_OVERRIDE", "an order spelled letter by letter", at, at + len(said) * 2, "error"
            )
    for view in build_disguised_views(plain):
        yield from _read(view, budget, document)
    pieces = list(decoding.find_decoded_pieces(text))
    decoded = decoding.build_decoded_view(pieces)
    for other in (*decoding.build_escape_views(text), *((decoded,) if decoded else ())):
        yield from _read(other, budget, document)
    yield from _encoded_texts(text, pieces)


def _read(view: TextView, budget: ScanBudget, document: ScannedDocument) -> Iterator[RuleHit]:
    # It imports numpy, for which a command that reads no text has no time.
    from capability_rules.validation.security.suspicion import find_suspicious_sentences

    literals = load_literal_index()
    prose = SearchedText(unwrap_lines(view), literals)
    yield from run_rules(load_rules("prose"), prose, budget)
    # Without a break to unwrap both are one text, and what was found of it applies to both.
    lines = prose if prose.text == view.text else SearchedText(view, literals, prose)
    yield from run_rules(load_rules("lines"), lines, budget)
    yield from find_suspicious_sentences(prose.view, document.file, is_followed=document.is_followed)
    yield from multi_step_download.find_downloads_started_later(view, budget)
    budget.spent = budget.spent or view.is_cut


def _embedded_policies(document: ScannedDocument) -> Iterator[RuleHit]:
    for offset, tool in markup.find_embedded_tools(document):
        seen = policy_mismatch.find_contradiction(tool)
        if seen is not None:
            code = "SEC_POLICY_LIE" if seen[0] == "error" else "SEC_POLICY_DOUBT"
            yield RuleHit(code, 'a tool declared "read" that says it changes something', offset, offset, quote=seen[1])


_DATA_URI = re.compile(r"data:[\w/+.-]{1,60};base64,\Z|integrity=[\"']?sha\d{3}-\Z|eyJ\Z")


def _encoded_texts(text: str, pieces: list[tuple[int, int, str]]) -> Iterator[RuleHit]:
    """Encoded passages that say something in words: nobody reads them, so the author is asked to write them out."""
    for start, end, said in pieces:
        is_words = len(said) >= 30 and len(said.split()) >= 4
        is_data = _DATA_URI.search(text[max(start - 80, 0) : start]) or said.lstrip().startswith(("{", "<", "["))
        if is_words and not is_data:
            yield RuleHit("SEC_ENCODED_TEXT", "an encoded passage", start, end, discount="phrase", quote=said)


def _weigh(hits: list[RuleHit], context: Context) -> Iterator[RuleHit]:
    """Give every hit its severity; drop what is an example in a passage that teaches.

    Only as many as could be reported are examined closely: a text made of ten thousand attacks costs no more than one
    made of twenty. What comes after those is counted as it is.
    """
    looked_at: dict[str, int] = {}
    for hit in hits:
        seen = looked_at[hit.code] = looked_at.get(hit.code, 0) + 1
        if hit.disguise in decoding.ENCODED:
            yield replace(hit, severity="error")
            continue
        is_weighed = hit.discount != "never" and seen <= _WEIGHED_MAX
        settled = _discounted(hit, hit.severity, context) if is_weighed else hit.severity
        # What was excused is kept: turned round, the text around it no longer excuses it.
        yield replace(hit, severity=settled or "note", subject=hit.subject if settled else EXCUSED)


def _discounted(hit: RuleHit, severity: Severity, context: Context) -> Severity | None:
    # Of a whole sentence it is the sentence itself that may say so.
    is_taught = context.is_taught(hit.start, hit.start if hit.is_scored else hit.end)
    is_marked = context.is_marked(hit.start, hit.end)
    if hit.discount == "tag" and context.is_placeholder(hit.start, hit.end):
        return None
    if hit.discount in ("markup", "tag") and is_marked:
        return None if is_taught or severity == "warning" else "warning"
    if not is_taught:
        return severity
    if severity == "warning":
        return None
    return None if hit.discount == "phrase" and is_marked else "warning"


def _list_passages(hits: list[RuleHit], text: str) -> list[RuleHit]:
    """One finding per passage: what is held beside something that is refused, or that was held already, is left out,
    and so is what only the classifier says near either. Secrets and hidden characters are findings of their own."""
    apart = [hit for hit in hits if hit.discount == "never"]
    said = [hit for hit in hits if hit.discount != "never"]
    kept = _distinct([hit for hit in said if hit.severity == "error"], text)
    for is_scored, margin in ((False, _NEAR), (True, _SAME_PASSAGE)):
        covered = _Covered(kept, margin)
        more = [hit for hit in said if hit.severity != "error" and hit.is_scored == is_scored and hit not in covered]
        kept += _distinct(more, text, by_code=False)
    return sorted([*_distinct(apart, text), *kept], key=lambda hit: hit.start)


class _Covered:
    """The stretches of a text that hits cover, with a margin: `hit in covered`."""

    def __init__(self, hits: list[RuleHit], margin: int = _NEAR) -> None:
        self._stretches: list[list[int]] = []
        for start, end in sorted((hit.start - margin, hit.end + margin) for hit in hits):
            if self._stretches and start <= self._stretches[-1][1]:
                self._stretches[-1][1] = max(self._stretches[-1][1], end)
            else:
                self._stretches.append([start, end])

    def __contains__(self, hit: RuleHit) -> bool:
        index = bisect_left(self._stretches, [hit.end, 0]) - 1
        return index >= 0 and self._stretches[index][1] > hit.start


def _distinct(hits: Iterable[RuleHit], text: str, *, by_code: bool = True) -> list[RuleHit]:
    """One finding per place, or per code and place: of those that overlap or are close on one line the gravest, then
    the first."""
    kept: list[RuleHit] = []
    for hit in sorted(hits, key=lambda h: (h.code if by_code else "", h.start, h.severity != "error", h.disguise)):
        last = kept[-1] if kept else None
        if last is None or (by_code and last.code != hit.code) or not _is_same_place(last, hit, text):
            kept.append(hit)
        elif hit.severity == "error" != last.severity:
            kept[-1] = hit
    return sorted(kept, key=lambda h: h.start)


def _is_same_place(last: RuleHit, hit: RuleHit, text: str) -> bool:
    if hit.start < max(last.end, last.start + 1):
        return True
    return hit.start - last.end < _NEAR and "\n" not in text[last.end : hit.start]


def _capped(hits: list[RuleHit]) -> Iterator[tuple[RuleHit, int]]:
    """The first findings of each code, errors before warnings; with the last of a code, how many more there are."""
    count: dict[str, int] = {}
    for hit in hits:
        count[hit.code] = count.get(hit.code, 0) + 1
    shown: dict[str, int] = {}
    for hit in sorted(hits, key=lambda h: (h.severity != "error", h.start)):
        shown[hit.code] = shown.get(hit.code, 0) + 1
        if shown[hit.code] <= MOST_PER_CODE:
            yield hit, count[hit.code] - MOST_PER_CODE if shown[hit.code] == MOST_PER_CODE else 0


def _problem(hit: RuleHit, more: int, document: ScannedDocument) -> RawFinding:
    part, offset = document.part_at(hit.start)
    code = list_codes()[hit.code]
    message = _say(hit, document.text)
    if more > 0:
        at_least = "At least " if more >= HITS_COUNTED_MAX - MOST_PER_CODE else ""
        message += f" {at_least}{more} more of this kind in this file."
    severity = None if hit.severity == code.severity else hit.severity
    return RawFinding(
        hit.code, document.file, part.path, message, code.fix, part.is_key, part.base_offset + offset, severity,
        subject=hit.subject, certainty=hit.certainty or 0.0,
    )  # fmt: skip


def _say(hit: RuleHit, text: str) -> str:
    """What was seen where it is refused; the sentence, and what it may be read as, where it is held."""
    if hit.code == UNJUDGED_CODE:
        return f"What sentences in this language mean is not judged: {hit.subject}."
    says = hit.says + (f" ({hit.disguise})" if hit.disguise else "")
    if hit.severity == "error" or hit.discount == "never":
        quote = quote_excerpt(text[hit.start : hit.end] if hit.quote is None else hit.quote)
        return f"Seen: {says}" + (f': "{quote}".' if quote else ".")
    start, end = _sentence_around(text, hit.start, hit.end)
    said = text[start:end] if hit.quote is None else hit.quote
    return f'"{quote_excerpt(said, _LONGEST_SENTENCE)}" may be read as {says}.'


def _sentence_around(text: str, start: int, end: int) -> Span:
    """The sentences that a hit stands in, with the lines of a paragraph that they run over; the hit itself where that
    is longer than a message has room for."""
    low = max(start - _LONGEST_SENTENCE, 0)
    low = max(
        low, *(text.rfind(mark, low, start) + len(mark) for mark in ("\n\n", "\0") if mark in text[low:start]), low
    )
    paragraph = text[low : end + _LONGEST_SENTENCE].partition("\n\n")[0].partition("\0")[0]
    paragraph = _GOES_ON.sub(lambda match: match[1] or " ", paragraph)
    spans = [span for span in split_sentences(paragraph) if span[1] > start - low and span[0] < end - low]
    found = (low + spans[0][0], low + spans[-1][1]) if spans else (start, end)
    return found if found[1] - found[0] <= _LONGEST_SENTENCE else (start, end)
