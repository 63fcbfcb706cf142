"""Several intents in one message: its clauses are matched apart (docs/contract.md 4, docs/matching.md).

A message is cut at its marks and conjunctions. Each run of neighboring clauses is matched as a message of its own, and
the cut counts whose parts fit best, each another capability. It is accepted where each part is close enough alone, and
the parts together fit clearly better than the whole: "between paris and rome" is one intent, "book a flight and play
some jazz" is two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Final

from capability_kit.text.tokenizer import has_words, tokenize
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.matcher import TOP_DEFAULT, TRIGGERS_SHOWN_MAX, Match, Matcher, MatchResult
from registry.matching.ngram_index import Floats

CLAUSES_MAX: Final = 6
# Longer messages are read as one: each part costs a vector.
LENGTH_MAX: Final = 500
# Clauses that may form one part, by the number of clauses: 16 texts at most are matched.
_PART_CLAUSES_MAX: Final = {2: 1, 3: 2, 4: 3, 5: 2, 6: 2}
# A part this short may lack what the first clause said: "log my workout and weigh-in".
_ELLIPSIS_WORDS_MAX: Final = 3
# Chosen on learned sentences, joined by two and alone (docs/matching.md). All are shares of the threshold, but for the
# share of the whole message's score.
_PART_FROM: Final = 0.86
_WHOLE_SHARE: Final = 0.53
_MEAN_FROM: Final = 0.56
# Sentences that follow each other often tell of one thing: "I lost my card. Can you freeze it?"
_MEAN_FROM_SENTENCES: Final = 0.76
_PART_COST: Final = 0.5
# With fewer capabilities it is rarer that a clause is close to another one by chance.
_CAUTIOUS_FROM: Final = 75

_JOINTS: Final = r"(?:and|then|also|plus|as\s+well\s+as|after\s+that)"
_SENTENCE_END: Final = re.compile(r"[.!?]\s+\S")
_SEPARATOR: Final = re.compile(
    rf"(?:\s*[,;.!?]+(?=\s)|\s*\n|[\u3001\u3002\uff0c\uff1b\uff01\uff1f]|\s+(?={_JOINTS}\s)|\s+&\s)(?:[\s,]*\b{_JOINTS}\b)*[\s,]*",
    re.IGNORECASE,
)

# The vectors of texts, None without an embedder.
Embed = Callable[[list[str]], Floats | None]
Counter = Callable[[CapabilityProfile, Floats | None], float]
Span = tuple[int, int]


def match_message(
    matcher: Matcher,
    message: str,
    embed: Embed,
    *,
    top: int = TOP_DEFAULT,
    takes: Callable[[CapabilityProfile], bool] | None = None,
    counter: Counter | None = None,
) -> MatchResult:
    """As `Matcher.match`, with `needed` naming several capabilities where the message asks for several.

    `counter` says how near a message with this vector is to a sentence that must not lead to a capability, 0 to 1.
    """

    def match(text: str, vector: Floats | None, top: int) -> MatchResult:
        held_back = None if counter is None else lambda one: counter(one, vector)
        return matcher.match(text, vector, top=top, takes=takes, counter=held_back)

    whole_vector = embed([message])
    whole = match(message, None if whole_vector is None else whole_vector[0], top)
    clauses = split_clauses(message)
    if len(clauses) < 2 or not whole.matches:
        return whole

    def match_parts(texts: Sequence[str]) -> list[MatchResult] | None:
        vectors = embed([*texts]) if texts else None
        if texts and vectors is None and whole_vector is not None:
            return None
        return [match(text, None if vectors is None else vectors[row], 2) for row, text in enumerate(texts)]

    parts = _read_parts(_part_texts(message, clauses), match_parts, matcher.threshold)
    if parts is None:
        return whole
    caution = min(1.0, len(matcher.known) / _CAUTIOUS_FROM)
    cost = matcher.threshold * (1 + _PART_COST * caution)
    best = _best_cut(len(clauses), parts, cost, matcher.are_duplicates)
    mean_from = caution * (_MEAN_FROM_SENTENCES if _SENTENCE_END.search(message) else _MEAN_FROM)
    if best is None or not _is_accepted(best, whole.matches[0].score, matcher.threshold, mean_from):
        return whole
    return _joined(matcher, message, best, whole, top)


def split_clauses(message: str) -> list[Span]:
    """Where the clauses of a message begin and end, at most `CLAUSES_MAX`: what follows belongs to the last."""
    if len(message) > LENGTH_MAX:
        return []
    places = [(match.start(), match.end()) for match in _SEPARATOR.finditer(message)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(message)]
    found = [(start, end) for start, end in zip(starts, ends, strict=True) if has_words(message[start:end])]
    last = [(found[CLAUSES_MAX - 1][0], found[-1][1])] if len(found) >= CLAUSES_MAX else []
    return [*found[: CLAUSES_MAX - len(last)], *last]


def _part_texts(message: str, clauses: Sequence[Span]) -> dict[Span, list[str]]:
    """For each run of clauses its text, and for a short clause the text with what it may lack."""
    longest = _PART_CLAUSES_MAX[len(clauses)]
    begin, end = clauses[0]
    first = tokenize(message[begin:end])
    found = {}
    for place, last in combinations_with_replacement(range(len(clauses)), 2):
        if last - place >= longest:
            continue
        text = message[clauses[place][0] : clauses[last][1]]
        found[place, last] = [text]
        words = len(tokenize(text, most=_ELLIPSIS_WORDS_MAX + 1))
        if 0 < place == last and words <= _ELLIPSIS_WORDS_MAX and words < len(first):
            found[place, last].append(message[begin : begin + first[-words].start] + text)
    return found


def _read_parts(
    texts: Mapping[Span, list[str]],
    match_parts: Callable[[Sequence[str]], list[MatchResult] | None],
    threshold: float,
) -> dict[Span, MatchResult] | None:
    """What each part asks for, None where no cut can be accepted or one has no vector.

    A vector costs most of all. Each cut begins with one of the first parts: where none of them is close enough, the
    others are not read; a part that is clear as it stands is not read with what it may lack.
    """
    parts: dict[Span, MatchResult] = {}
    for is_first in (True, False):
        spans = [span for span in texts if (span[0] == 0) is is_first]
        found = match_parts([texts[span][0] for span in spans])
        if found is None:
            return None
        parts |= zip(spans, found, strict=True)
        if is_first and not any(_is_close(one, threshold) for one in found):
            return None
    short = [span for span in texts if len(texts[span]) > 1 and parts[span].decision == "none"]
    found = match_parts([texts[span][1] for span in short])
    if found is None:
        return None
    return parts | {span: one for span, one in zip(short, found, strict=True) if one.decision != "none"}


def _best_cut(
    count: int, parts: Mapping[Span, MatchResult], cost: float, are_duplicates: Callable[[str, str], bool]
) -> list[MatchResult] | None:
    """The parts whose scores are the greatest, each less its cost; neighbors are for different intents."""
    best, best_worth = None, float("-inf")
    for cut in _cuts(count):
        found = [parts[span] for span in cut if span in parts and parts[span].matches]
        tops = [one.matches[0] for one in found]
        names = [one.capability_id for one in tops]
        if len(tops) < len(cut) or any(one == two or are_duplicates(one, two) for one, two in pairwise(names)):
            continue
        worth = sum(one.score - cost for one in tops)
        if worth > best_worth:
            best, best_worth = found, worth
    return best


def _cuts(count: int) -> Iterator[list[Span]]:
    """Every way to cut so many clauses into two parts or more."""
    for parts in range(1, count):
        for places in combinations(range(1, count), parts):
            yield [(start, end - 1) for start, end in pairwise((0, *places, count))]


def _is_close(part: MatchResult, threshold: float) -> bool:
    return bool(part.matches) and part.matches[0].score >= _PART_FROM * threshold


def _is_accepted(parts: Sequence[MatchResult], whole: float, threshold: float, mean_from: float) -> bool:
    scores = [one.matches[0].score for one in parts]
    mean = sum(scores) / len(scores)
    return all(_is_close(one, threshold) for one in parts) and mean >= _WHOLE_SHARE * whole + mean_from * threshold


def _joined(matcher: Matcher, message: str, parts: Sequence[MatchResult], whole: MatchResult, top: int) -> MatchResult:
    """What the parts ask for, as far as `top` goes, then other readings of the whole; ambiguous where one part is."""
    hits = matcher.hits(message)
    asked: dict[str, Match] = {}
    unclear = next((part for part in parts if part.decision == "ambiguous"), None)
    for one in (one for part in parts for one in part.matches[: 2 if part is unclear else 1]):
        triggers = tuple(hits.get(one.capability_id, ())[:TRIGGERS_SHOWN_MAX])
        shown = replace(one, triggers=triggers, is_below_threshold=False)
        asked[one.capability_id] = max(shown, asked.get(one.capability_id, shown), key=lambda each: each.score)
    rows = sorted(asked.values(), key=lambda one: -one.score)
    rows += [one for one in whole.matches if one.capability_id not in asked]
    matches = tuple(sorted(rows[:top], key=lambda one: -one.score))
    if unclear is not None:
        return MatchResult("ambiguous", matches, unclear.reason)
    names = [f"'{capability_id}'" for capability_id in asked]
    both = "both " if len(names) == 2 else ""
    reason = f"The message asks for {both}{', '.join(names[:-1])} and {names[-1]}."
    return MatchResult("match", matches, reason, tuple(asked))
