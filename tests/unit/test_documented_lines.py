"""What the documentation says to type exists: programs, their commands, and every option."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from django.core.management import get_commands, load_command_class

from capability_client.cli import commands as client
from capability_rules.lint import command_line as lint
from studio.launcher import commands, installed
from tests.servers import ROOT
from tests.sweeps import check_each

# Not the changelogs: they say what was typed then.
PAGES: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted([*ROOT.glob("capability_*/README.md"), *ROOT.glob("features/*/README.md"), *(ROOT / "docs").rglob("*.md")]),
]
# A block of code, or code in a sentence; a line that ends with a backslash goes on.
_CODE: Final = re.compile(r"^```[^\n]*\n(.*?)^```|((?:^ {4}[^\n]*\n)+)|`([^`\n]+)`", re.DOTALL | re.MULTILINE)
_MANAGE: Final = re.compile(r"(?:\bmanage\.py|\brun\.py manage|\bstudio-manage|\bcapability-studio manage) +(.+)")
_RUN: Final = re.compile(r"\brun\.py +(?!manage\b)(.+)")
_CLIENT: Final = re.compile(r"(?:(?<![\w/-])capability-client|-m capability_client) +(.+)")
_LINT: Final = re.compile(r"(?<![\w/-])capability-lint +(.+)")
_INSTALLED: Final = re.compile(r"^(?:\$ )?capability-studio +(?!manage\b)(.+)")
# What ends a command: another one, its output, a comment. A `|` between brackets is a choice.
_END: Final = re.compile(r" \|\| | && |;(?= |$)| ?\d?>>? | <(?= )| #|\)(?=$|[\s\"'.,])")
# An example of what one fills in.
_PLACEHOLDER: Final = re.compile(r"[A-Z_]+|.*[./:$<{'\"\\].*|-|\d+")


class NotThere(AssertionError):
    """A line names what a program does not have."""


def _lines(page: Path) -> Iterator[str]:
    for found in _CODE.finditer(page.read_text("utf-8")):
        text = next(group for group in found.groups() if group is not None)
        yield from text.replace("\\\n", " ").splitlines()


def _words(rest: str) -> list[str]:
    """Of one command, without the brackets of a synopsis."""
    rest = _END.split(rest, maxsplit=1)[0]
    plain, depth = "", 0
    for place, character in enumerate(rest):
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth and rest[place - 1 : place + 2] == " | ":
            break
        plain += " " if character in "[]()" or rest[max(0, place - 1) : place + 2] == " | " else character
    return re.findall(r'"[^"]*"|\'[^\']*\'|\S+', plain)


def _check(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Raises `NotThere` for a command or an option that a parser does not have."""
    parsers = [parser]
    for word in words:
        if word.startswith("--"):
            name = word.partition("=")[0].rstrip(".,")
            if not any(name in one._option_string_actions for one in parsers):
                raise NotThere(f"{parsers[-1].prog} has no {name}")
            continue
        choices = _subcommands(parsers[-1])
        if not choices or word.startswith("-"):
            continue
        named = word.strip(".,").split("|")
        if missing := [one for one in named if one not in choices and not _PLACEHOLDER.fullmatch(one)]:
            raise NotThere(f"{parsers[-1].prog} has no {missing}")
        if len(named) == 1 and named[0] in choices:
            parsers.append(choices[named[0]])


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return next((dict(one.choices) for one in found), {})


@cache
def _manage_parser(name: str) -> argparse.ArgumentParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def check_manage(words: list[str]) -> None:
    names = [name for name in words[0].strip(".,").split("|") if not _PLACEHOLDER.fullmatch(name)]
    if missing := [name for name in names if name not in get_commands()]:
        raise NotThere(f"manage.py has no {missing}")
    for name in names:
        _check(_manage_parser(name), words[1:])


def check_run(words: list[str]) -> None:
    """By its own page of help."""
    if words[0].strip(".,") not in set(re.findall(r"^python3 run\.py (\S+)", commands.HELP, re.MULTILINE)):
        raise NotThere(f"run.py has no {words[0]}")


def check_installed(words: list[str]) -> None:
    """As `check_run`; some commands of Django are its own too."""
    if words[0] in installed._SHORT:
        check_manage(words)
    elif words[0].strip(".,") not in set(re.findall(r"^capability-studio (\S+)", installed.HELP, re.MULTILINE)):
        raise NotThere(f"capability-studio has no {words[0]}")


PROGRAMS: Final[tuple[tuple[re.Pattern[str], Callable[[list[str]], None]], ...]] = (
    (_MANAGE, check_manage),
    (_RUN, check_run),
    (_CLIENT, lambda words: _check(client._parser(), words)),
    (_LINT, lambda words: _check(lint._parser(), words)),
    (_INSTALLED, check_installed),
)


def _calls(line: str) -> Iterator[tuple[int, list[str]]]:
    """Those of our programs, by their place, with their words."""
    for part in re.split(r" && | \|\| |; ", line):
        for place, (pattern, _check_words) in enumerate(PROGRAMS):
            if (found := pattern.search(part)) and (words := _words(found[1])):
                yield place, words


def test_what_is_to_be_typed_exists() -> None:
    calls = {
        (f"{page.relative_to(ROOT)}: {line.strip()}", place): (PROGRAMS[place][1], words)
        for page in PAGES
        for line in _lines(page)
        for place, words in _calls(line)
    }
    # It looks at lines, and at those of every program.
    assert len(calls) > 100
    assert {place for _, place in calls} == set(range(len(PROGRAMS)))

    def check_one(name: tuple[str, int]) -> None:
        check, words = calls[name]
        check(words)

    check_each(sorted(calls), check_one, name=lambda one: one[0])


@pytest.mark.parametrize(
    "line",
    [
        "python3 run.py tset --all",
        "manage.py bundel publish DIR",
        "$ manage.py bundle publsh DIR | jq .",
        "true && manage.py bundle publish DIR --nte 'First' > out",
        "studio-manage operator create|desable NAME",
        "capability-client evaluat DIR",
        "python -m capability_client --url URL stubs weights --form x",
        "capability-lint bundles [--changed-sinc REVISION]",
        "capability-studio bundels",
    ],
)
def test_a_word_that_no_program_has_is_found(line: str) -> None:
    ((place, words),) = _calls(line)
    with pytest.raises(NotThere):
        PROGRAMS[place][1](words)
