"""How a rule is written down, and the one loop that runs the rules over a view.

Every rule starts from fixed words (`anchors`), found with `str.find`; only there is its pattern tried, and its further
`needs` are searched in a short window around it. Patterns hold no nested quantifier and only bounded gaps, so one try costs
a bounded number of steps; a `Budget` bounds the number of tries. A text that uses the budget up was written to: it is
reported as not fully checked, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from registry.validation.problems import Severity
from registry.validation.security.folding import View

# phrase: an example of an attack in a teaching text is no finding. command: there it is still a warning.
# markup: shown in a fence or between backticks it does nothing: a warning, in a lesson no finding.
# never: stays what it is, wherever it stands.
Discount = Literal["phrase", "command", "markup", "never"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern. `severity` None means the code's own; `says` is what was seen, in a few words, for the message.

    `needs` must all be found between `back` characters before the match and `reach` after it, in the same paragraph;
    `lacks` must not. With `unless_negated`, "never ... without asking" is no finding.
    """

    code: str
    says: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    needs: tuple[re.Pattern[str], ...] = ()
    lacks: re.Pattern[str] | None = None
    reach: int = 160
    back: int = 0
    severity: Severity | None = None
    discount: Discount = "phrase"
    unless_negated: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """Something seen between two offsets of the document's own text."""

    code: str
    says: str
    start: int
    end: int
    severity: Severity | None = None
    discount: Discount = "never"
    disguise: str = ""
    quote: str | None = None


@dataclass(slots=True)
class Budget:
    """What the patterns of one document may cost, in tries; one that needs a look around counts for six."""

    left: int = 30_000
    spent: bool = field(default=False)

    def take(self, cost: int) -> bool:
        self.left -= cost
        self.spent = self.spent or self.left < 0
        return not self.spent


_BLANK, _MAYBE_BLANK = r"[^\S\n\0]{1,4}", r"[^\S\n\0]{0,4}"
_BLANKS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]| \??")


def pattern(source: str) -> re.Pattern[str]:
    """Compile a rule's pattern. A blank stands for one to four blanks of any kind, a blank and `?` for none to four.

    Inside a character class a blank is a blank. Views are folded already, so there is no case to mind.
    """

    def spell(match: re.Match[str]) -> str:
        return {" ": _BLANK, " ?": _MAYBE_BLANK}.get(match.group(), match.group())

    return re.compile(_BLANKS.sub(spell, source), re.MULTILINE)


def rule(code: str, says: str, anchors: str, source: str, **rest: object) -> Rule:
    """A rule from its words: `anchors` parted by `|` (`¦` stands for the bar itself), the pattern as in `pattern()`."""
    words = tuple(anchor.replace("¦", "|") for anchor in anchors.split("|"))
    if not all(words):
        raise ValueError(f"an empty anchor would be found everywhere: {anchors}")
    return Rule(code, says, words, pattern(source), **rest)  # type: ignore[arg-type]


def run(rules: Iterable[Rule], view: View, budget: Budget) -> Iterator[Hit]:
    """Every place where a rule holds. Stops when the budget is spent."""
    for each in rules:
        for start, end in _places(each, view.text, budget):
            first, last = sorted((view.origin(start), view.origin(max(end - 1, start))))
            yield Hit(each.code, each.says, first, last + 1, each.severity, each.discount, view.disguise)
        if budget.spent:
            return


def _places(each: Rule, text: str, budget: Budget) -> Iterator[tuple[int, int]]:
    for anchor in each.anchors:
        at = text.find(anchor)
        while at >= 0 and budget.take(1):
            found = each.pattern.match(text, at)
            if found and budget.take(5) and _holds(each, text, found.start(), found.end()):
                yield found.start(), found.end()
                at = max(found.end() - 1, at)
            at = text.find(anchor, at + 1)


def _holds(each: Rule, text: str, start: int, end: int) -> bool:
    if each.unless_negated and is_negated(text, start):
        return False
    if not each.needs and each.lacks is None:
        return True
    window = around(text, start, end, each.back, each.reach)
    if each.lacks is not None and each.lacks.search(window):
        return False
    return all(need.search(window) for need in each.needs)


def around(text: str, start: int, end: int, back: int, reach: int) -> str:
    """The text around a match, cut at an empty line and at the string's own ends."""
    before = text[max(start - back, 0) : start]
    after = text[end : end + reach]
    for cut in ("\n\n", "\0"):
        before = before.rpartition(cut)[2]
        after = after.partition(cut)[0]
    return before + text[start:end] + after


# "Never delete without asking": the clause before says no. A comma or a full stop ends the clause, so that
# "Never mind, delete it without asking" is still seen.
_NEGATION = re.compile(
    r"(?:\bnever|\bnot|n't|n’t|\bcannot|\bavoid|\bno|\bnor|\bforbidden to|\bprohibited from|\brather than|\binstead of"
    r"|\bnie(?:mals)?|\bnicht|\bjamais|\bne|\bnunca|\bjamas|\bno se debe|\bне|\bникогда|不要|不得|禁止|切勿|勿|不能|别)"
    r"[^.,;:!?\n\0，。；：！？、]{0,70}\Z"
)
_MIND = re.compile(r"\b(?:never mind|not only|do not (?:hesitate|wait|worry|forget|bother|stop|fail)|don't (?:hesitate|wait|worry))\b")


def is_negated(text: str, start: int) -> bool:
    """Whether the clause before `start` forbids what comes after it."""
    clause = text[max(start - 80, 0) : start]
    return bool(_NEGATION.search(clause)) and not _MIND.search(clause)
