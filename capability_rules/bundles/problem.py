"""What a check reports before it is given a line and a column.

Checks work on parsed values and know nothing of texts, lines or JSON escapes. They yield `RawFinding`s; the one place
that has the texts (`capability_rules.bundles.parsed_bundle`) turns each into a `Finding` with its exact place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, get_args

# A note blocks nothing and stands in no list of findings: reviewers see it.
Severity = Literal["error", "warning", "note"]
FileName = Literal["capability.json", "skill.md", "tools.json", "ui_schemas.json"]
BUNDLE_FILES: Final[tuple[FileName, ...]] = get_args(FileName)
PathStep = str | int
Path = tuple[PathStep, ...]

# All findings at once, up to this many of one code in one file; the last of them says how many more there are.
PER_CODE_MAX: Final = 1000
# This many are examined to count them. A file with a million errors is reported well enough by then.
EXAMINED_MAX: Final = 5000


# The subject of a note about a passage that the text around it makes an example.
EXCUSED: Final = "excused"
# The code of a note whose subject is a language that the classifier does not judge.
UNJUDGED_CODE: Final = "SEC_LANGUAGE_NOT_JUDGED"
# Of a check for which there was no time: it says nothing of the texts.
UNFINISHED_CODE: Final = "CHECK_UNFINISHED"


@dataclass(frozen=True, slots=True)
class RawFinding:
    """One error or warning, with the place in the parsed document where it was found.

    `path` leads through the *normalized* document: tools.json and ui_schemas.json are lists there, whatever wrapper or
    map the author wrote. In skill.md it is the heading texts from the H1 down; `()` is the file as a whole.
    `at_key` points at the last step of the path as a key (an unknown key, the second of two duplicate keys).
    `offset` counts code points: into the string at `path`, or, in skill.md, into the whole normalized text.
    `severity` is None where the catalog's own applies.
    `subject` names what it is about where a quick fix needs it: the missing key or section, the key that was meant.
    `more_follow` says that the check stopped here and that there are more of its kind.
    `certainty` is how far above its threshold the classifier found what it alone found.
    """

    code: str
    file: str
    path: Path
    message: str
    hint: str = ""
    at_key: bool = False
    offset: int | None = None
    severity: Severity | None = None
    subject: str = ""
    more_follow: bool = False
    certainty: float = 0.0


def collect_findings(*checks: Iterable[RawFinding], most: int = EXAMINED_MAX) -> list[RawFinding]:
    """The first `most` that each check finds; where it finds more, the last one of it says so."""
    collected: list[RawFinding] = []
    for found in map(iter, checks):
        collected += islice(found, most)
        if next(found, None) is not None:
            collected[-1] = replace(collected[-1], more_follow=True)
    return collected


@dataclass(frozen=True, slots=True)
class FindingCode:
    """One row of schemas/findings.toml: what a code means to the person who reads it.

    `example` is the shortest text that raises it; `fix` says what to write in its place.
    """

    code: str
    severity: Severity
    cause: str
    example: str
    fix: str
