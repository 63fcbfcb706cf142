"""Docstrings, comments, messages and docs use the standard words: none of tests/retired_words.txt."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import ROOT

_WORDS = [
    line
    for line in (ROOT / "tests" / "retired_words.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
RETIRED = re.compile(rf"(?<![\w-])(?:{'|'.join(f'(?:{word})' for word in _WORDS)})(?!\w)", re.IGNORECASE)
PACKAGES = (
    "agent_api",
    "capability_client",
    "capability_kit",
    "capability_rules",
    "features",
    "registry",
    "studio",
    "bench",
    "deploy",
)
# A name in quotes, such as a key of JSON, is not a sentence.
_IDENTIFIER = re.compile(r"""[rbfu]*(["'])[\w./:-]*\1""", re.IGNORECASE)
# Code within a text: a name in backticks, an expression of an f-string.
_CODE = re.compile(r"`[^`]*`|\{[^{}]*\}")
# Fixed by the format of skill.md, and read by models.
_EXEMPT = ("Default behaviour",)
# The sentences of scripts, each of which is written in a script too, and a list of words.
_EXEMPT_FILES = ("capability_kit/text/stop_words.py",)
_TEXT_TOKENS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _python_files() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = [path for path in found if "tests" not in path.parts and str(path.relative_to(ROOT)) not in _EXEMPT_FILES]
    return sorted([*found, ROOT / "manage.py", ROOT / "run.py"])


def _documents() -> list[Path]:
    return sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "schemas").glob("*.md")])


def _texts_of_python(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _TEXT_TOKENS and not _IDENTIFIER.fullmatch(token.string):
            yield from enumerate(token.string.split("\n"), start=token.start[0])


def _retired(lines: Iterator[tuple[int, str]]) -> list[str]:
    texts = ((number, _CODE.sub("", line)) for number, line in lines if not any(text in line for text in _EXEMPT))
    return [f"{number}: {found[0]}" for number, line in texts for found in RETIRED.finditer(line)]


def test_the_words_are_found() -> None:
    source = 'x = "mend"  # mends\nraise ValueError("Mend it")\n"""One a line."""\ny = f"{x} is no text"\n'
    assert _retired(_texts_of_python(source)) == ["1: mends", "2: Mend", "3: One a line", "4: is no text"]
    assert not RETIRED.search("amend, recommended, a-mend, has no text, organization, colored")


@pytest.mark.parametrize("package", [*PACKAGES, "manage.py", "run.py"])
def test_python_has_no_retired_words(package: str) -> None:
    found = {
        str(path.relative_to(ROOT)): words
        for path in _python_files()
        if path.relative_to(ROOT).parts[0] == package
        if (words := _retired(_texts_of_python(path.read_text("utf-8"))))
    }
    assert not found


def test_documents_have_no_retired_words() -> None:
    found = {
        str(path.relative_to(ROOT)): words
        for path in _documents()
        if (words := _retired(iter(enumerate(path.read_text("utf-8").splitlines(), start=1))))
    }
    assert not found


def test_tables_have_no_retired_words() -> None:
    """Of the security rules what people read: patterns and keywords are those of authors."""
    rules = sorted((ROOT / "capability_rules").rglob("*.toml"))
    assert rules
    found = {
        str(path.relative_to(ROOT)): words
        for path in [ROOT / "schemas" / "findings.toml", *rules]
        if (
            words := _retired(
                (number, line)
                for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
                if path not in rules or line.startswith(("#", "description"))
            )
        )
    }
    assert not found
