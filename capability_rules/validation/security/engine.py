# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""What a rule consists of, and the one loop that runs the rules over a view.

Every rule starts from fixed words (`keywords`), found with `str.find`; only there is its pattern tried, and what it
`requires` besides is searched in a short window around it. Patterns have no nested quantifier and only bounded gaps, so
one try costs a bounded number of steps; a `ScanBudget` bounds the number of tries. A text that uses the budget up was
written to: it is reported as not fully checked, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from capability_rules.bundles.problem import PER_CODE_MAX, Severity
from capability_rules.validation.security.literals import LiteralIndex, LiteralPlaces
from capability_rules.validation.security.normalization import TextView, normalize_character

# phrase: an example of an attack in a teaching text is not a finding. command: there it is still a warning.
# markup: shown in a fence or between backticks it does nothing: a warning, in a lesson no finding. tag: the same, and
# none where it is a place to fill in.
# never: stays what it is, wherever it occurs.
HITS_COUNTED_MAX = 2 * PER_CODE_MAX
ContextPolicy = Literal["phrase", "command", "markup", "tag", "never"]


@dataclass(frozen=True, slots=True)
class SecurityRule:
    """One rule of rules/*.toml. `description` is for the finding's message: what was seen, or what it may be read as.

    `pattern`, `requires` and `excludes` are sources for `compile_pattern`. All of `requires` must be found between
    `before` characters before the match and `after` behind it, in the same paragraph; `excludes` must not. With
    `same_sentence` only the sentence counts. With `unless_negated`, "never ... without asking" is not a finding. `cost`
    grows with how far the pattern may reach.
    """

    code: str
    description: str
    keywords: tuple[str, ...]
    pattern: str
    requires: tuple[str, ...] = ()
    excludes: str = ""
    before: int = 0
    after: int = 160
    same_sentence: bool = False
    unless_negated: bool = False
    severity: Severity = "warning"
    context_policy: ContextPolicy = "phrase"
    cost: int = 1


@dataclass(frozen=True, slots=True)
class RuleHit:
    """Something seen between two offsets of the document's own text.

    `severity`: "error" refuses the bundle, for what is a matter of form alone; "warning" holds it until a person has
    decided; "note" is for reviewers. `certainty` is how far above its threshold the classifier found it; None where
    something else did.
    """

    code: str
    says: str
    start: int
    end: int
    severity: Severity = "warning"
    discount: ContextPolicy = "never"
    disguise: str = ""
    quote: str | None = None
    certainty: float | None = None
    subject: str = ""

    @property
    def is_scored(self) -> bool:
        """Whether the classifier alone found it."""
        return self.certainty is not None


@dataclass(slots=True)
class ScanBudget:
    """What the patterns of one document may cost: a try its rule's `cost`, a look around by its width and patterns."""

    left: int
    spent: bool = field(default=False)

    def take(self, cost: int) -> bool:
        self.left -= cost
        self.spent = self.spent or self.left < 0
        return not self.spent


_BLANK, _MAYBE_BLANK = r"[^\S\n\0]{1,4}", r"[^\S\n\0]{0,4}"
_BLANKS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]| \??")


@cache
def compile_pattern(source: str) -> re.Pattern[str]:
    """Compile a rule's pattern. A blank means one to four blanks of any kind, a blank and `?` for none to four.

    Inside a character class a blank is a blank, and so is `\\ `. Views are folded already, so there is no case to mind.
    Compiled when it is first needed: most texts have the keywords of few rules.
    """

    def spell(match: re.Match[str]) -> str:
        return {" ": _BLANK, " ?": _MAYBE_BLANK}.get(match.group(), match.group())

    return re.compile(_BLANKS.sub(spell, fold_pattern(source)), re.MULTILINE)


def fold_pattern(source: str) -> str:
    """Words of other scripts as the folded text spells them: a Thai `am` is two characters there."""
    return (
        source
        if source.isascii()
        else "".join(char if char.isascii() else normalize_character(char) for char in source)
    )


def estimate_cost(source: str) -> int:
    """What one try of a pattern costs: one, and one more for each 40 characters that its long gaps may take."""
    gaps = sum(int(most) for most in re.findall(r"\{\d+,(\d+)\}", source) if int(most) >= 40)
    return 1 + gaps // 40


class SearchedText:
    """One view's text, with what is known about it: which keywords occur in it, where which patterns match."""

    def __init__(self, view: TextView, index: LiteralIndex, like: SearchedText | None = None) -> None:
        """`like` is the same text with its lines broken otherwise: the same words are at the same places."""
        self.view = view
        self.text = view.text
        self.literals: LiteralPlaces = like.literals if like else LiteralPlaces(view.text, index)
        self._places: dict[str, list[int]] = {}
        self._matches: dict[tuple[tuple[str, ...], str], list[tuple[int, int]]] = {}

    def matches(self, each: SecurityRule, budget: ScanBudget) -> list[tuple[int, int]]:
        """Where a rule's pattern matches at one of its keywords; rules that differ in nothing else share it."""
        key = each.keywords, each.pattern
        if key not in self._matches:
            self._matches[key] = [
                place
                for keyword in self.literals.keep_possible(each.keywords)
                for place in self._at(each, keyword, budget)
            ]
        return self._matches[key]

    def _at(self, each: SecurityRule, keyword: str, budget: ScanBudget) -> Iterator[tuple[int, int]]:
        past, match = -1, compile_pattern(each.pattern).match
        for at in self.standing(keyword, budget):
            if at <= past:
                continue
            if not budget.take(each.cost):
                return
            found = match(self.text, at)
            if found:
                yield found.span()
                past = at if each.requires else found.end() - 2

    def standing(self, keyword: str, budget: ScanBudget) -> list[int]:
        """Where a keyword occurs: more places than the budget has tries left are of no use."""
        places = self._places.get(keyword)
        if places is None:
            places = self._places[keyword] = self.literals.find(keyword, self.text)
        return places if len(places) <= budget.left + 1 else places[: max(budget.left, 0) + 1]


def run_rules(rules: Iterable[SecurityRule], searched: SearchedText, budget: ScanBudget) -> Iterator[RuleHit]:
    """Every place where a rule matches. Stops when the budget is spent."""
    view = searched.view
    for each in rules:
        kept = 0
        for start, end in searched.matches(each, budget):
            if budget.spent or kept == HITS_COUNTED_MAX:
                break
            if _holds(each, searched.text, start, end, budget):
                kept += 1
                says, policy = each.description, each.context_policy
                yield RuleHit(each.code, says, *view.span_of(start, end), each.severity, policy, view.disguise)
        if budget.spent:
            return


def _holds(each: SecurityRule, text: str, start: int, end: int, budget: ScanBudget) -> bool:
    if each.unless_negated and is_negated(text, start):
        return False
    if not each.requires and not each.excludes:
        return True
    cuts = _ENDS if each.same_sentence else _BREAKS
    window = surrounding_text(text, start, end, each.before, each.after, cuts)
    for required in each.requires:
        # A long list of alternatives is slower at every character.
        cost = 1 + len(window) * (2 + required.count("|") // 30) // 32
        if not (budget.take(cost) and compile_pattern(required).search(window)):
            return False
    return not (each.excludes and compile_pattern(each.excludes).search(window))


_BREAKS = ("\n\n", "\0")
_ENDS = ("\n", "\0", ". ", "。", "! ", "！", "? ", "；")


def surrounding_text(text: str, start: int, end: int, back: int, reach: int, cuts: tuple[str, ...]) -> str:
    """The text around a match, cut at an empty line and at the string's own ends, or where the sentence ends."""
    before = text[max(start - back, 0) : start]
    after = text[end : end + reach]
    for cut in cuts:
        before = before.rpartition(cut)[2]
        after = after.partition(cut)[0]
    return before + text[start:end] + after


# "Never delete without asking": the clause before says no. A comma or a full stop ends the clause, so that
# "Never mind, delete it without asking" is still seen.
_NEGATION = re.compile(
    r"(?:\b(?:never|not|cannot|avoid|no|nor|none|nothing|nobody|forbidden to|prohibited from|rather than|instead of|"
    r"nie|niemals|nicht|jamais|ne|nunca|jamas|no se debe|не|никогда)\b|n't|不要|不得|禁止|切勿|勿|不能|别)"
    r"[^.,;:!?\n\0，。；：！？、]{0,70}\Z"
)
_MIND = re.compile(
    r"\b(?:never mind|not only|do not (?:hesitate|wait|worry|forget|bother|stop|fail)|don't (?:hesitate|wait|worry))\b"
)


def is_negated(text: str, start: int) -> bool:
    """Whether the clause before `start` forbids what comes after it."""
    clause = text[max(start - 80, 0) : start]
    return bool(_NEGATION.search(clause)) and not _MIND.search(clause)
