"""The rules of rules/*.toml, read once. rules/README.md describes the files.

A file that breaks the format is refused with a `RuleFileError`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from capability_rules.bundles.problem import Severity
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.engine import (
    ContextPolicy,
    SecurityRule,
    compile_pattern,
    estimate_cost,
    fold_pattern,
)
from capability_rules.validation.security.literals import LiteralIndex

RULES_FOLDER = Path(__file__).parent / "rules"
# Parts of patterns that every file may use.
_SHARED_FILE = "fragments.toml"
_REFERENCE = re.compile(r"\(\?&(\w+)\)")
# Prose may be wrapped anywhere; a command ends with its line.
TextKind = Literal["prose", "lines"]

_FILE_KEYS: dict[str, type] = {
    "code": str,
    "text": str,
    "context_policy": str,
    "fragments": dict,
    "keyword_lists": dict,
    "rules": list,
    "examples": dict,
}
_RULE_KEYS: dict[str, type] = {
    "description": str,
    "keywords": object,
    "pattern": str,
    "requires": list,
    "excludes": str,
    "before": int,
    "after": int,
    "same_sentence": bool,
    "unless_negated": bool,
    "severity": str,
    "context_policy": str,
}
_EXAMPLE_KEYS: dict[str, type] = dict.fromkeys(("refused", "held", "missed", "passed"), list)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "severity": get_args(Severity),
    "context_policy": get_args(ContextPolicy),
    "text": get_args(TextKind),
}


class RuleFileError(ValueError):
    """A file of rules breaks the format; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file: the rules in their order."""

    name: str
    code: str
    text: TextKind
    rules: tuple[SecurityRule, ...]


@cache
def load_rule_files() -> tuple[RuleFile, ...]:
    """Every file of the folder, in the order of their names. Patterns are compiled when they are first needed."""
    paths = sorted(RULES_FOLDER.glob("*.toml"), key=lambda path: path.stem)
    return tuple(parse_rule_file(path.read_text("utf-8"), path.name) for path in paths if path.name != _SHARED_FILE)


@cache
def load_rules(text: TextKind) -> tuple[SecurityRule, ...]:
    """The rules for one kind of text, of all files."""
    return tuple(rule for each in load_rule_files() if each.text == text for rule in each.rules)


@cache
def load_literal_index() -> LiteralIndex:
    """Every fixed text that a rule begins at."""
    return LiteralIndex(each for file in load_rule_files() for rule in file.rules for each in rule.keywords)


@cache
def load_fragment(file: str, name: str) -> str:
    """One named part of the patterns of a file, for a detector that needs the same."""
    return _resolve(read_toml(RULES_FOLDER / file)["fragments"], _shared_fragments(), file)[name]


def parse_rule_file(text: str, name: str) -> RuleFile:
    """One file from its text. `name` is for the messages; fragments.toml is read beside it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleFileError(f"{name}: {error}") from None
    check_keys(table, _FILE_KEYS, name, required=("code", "text", "rules"))
    if table["code"] not in list_codes():
        raise RuleFileError(f"{name}: code: there is no finding {table['code']}")
    check_keys(table.get("examples", {}), _EXAMPLE_KEYS, f"{name}: examples")
    fragments = _resolve(table.get("fragments", {}), _shared_fragments(), name)
    rules = tuple(
        _read_rule(row, table, fragments, f"{name}: rule {number}") for number, row in enumerate(table["rules"], 1)
    )
    return RuleFile(name, table["code"], table["text"], rules)


def compile_rules(file: RuleFile) -> None:
    """Compile every pattern of a file, so that a faulty one is refused before a text meets it."""
    for rule in file.rules:
        for key, sources in (("pattern", (rule.pattern,)), ("requires", rule.requires), ("excludes", (rule.excludes,))):
            for source in sources:
                try:
                    compile_pattern(source)
                except re.error as error:
                    raise RuleFileError(f'{file.name}: rule "{rule.description}": {key}: {error}') from None


def read_toml(path: Path) -> dict[str, Any]:
    """A table of ours, which is not checked."""
    return tomllib.loads(path.read_text("utf-8"))


def load_phrases(table: str, *names: str) -> tuple[re.Pattern[str], ...]:
    """Patterns of phrases.toml by their names."""
    return tuple(re.compile(_join(_phrases()[table][name])) for name in names)


def load_words(table: str, *names: str) -> tuple[frozenset[str], ...]:
    """Lists of words of phrases.toml by their names."""
    return tuple(frozenset(_phrases()[table][name]) for name in names)


def load_languages() -> dict[str, list[str]]:
    """The short words of each language of phrases.toml."""
    return {language: words.split() for language, words in _phrases()["languages"].items()}


@cache
def _phrases() -> dict[str, Any]:
    return read_toml(Path(__file__).parent / "phrases.toml")


@cache
def _shared_fragments() -> dict[str, str]:
    return _resolve(read_toml(RULES_FOLDER / _SHARED_FILE)["fragments"], {}, _SHARED_FILE)


def _resolve(fragments: dict[str, Any], known: dict[str, str], file: str) -> dict[str, str]:
    """Fragments with those in their places that stand above them."""
    found = dict(known)
    for name, part in fragments.items():
        if not isinstance(part, str):
            raise RuleFileError(f"{file}: fragments.{name} must be a text")
        found[name] = _expand(_join(part), found, f"{file}: fragments.{name}")
    return found


def _read_rule(row: dict[str, Any], table: dict[str, Any], fragments: dict[str, str], where: str) -> SecurityRule:
    check_keys(row, _RULE_KEYS, where, required=("description", "keywords"))
    keywords = _read_keywords(row["keywords"], table, where)
    pattern = _expand(_join(row["pattern"]), fragments, f"{where}: pattern") if "pattern" in row else _any_of(keywords)
    return SecurityRule(
        code=table["code"],
        description=row["description"],
        keywords=tuple(map(fold_pattern, keywords)),
        pattern=pattern,
        cost=estimate_cost(pattern),
        **{"context_policy": table.get("context_policy", "phrase"), **_read_conditions(row, fragments, where)},
    )


def _read_conditions(row: dict[str, Any], fragments: dict[str, str], where: str) -> dict[str, Any]:
    found = {key: row[key] for key in _RULE_KEYS if key in row and key not in ("description", "keywords", "pattern")}
    if "requires" in found:
        found["requires"] = tuple(_expand(_join(each), fragments, f"{where}: requires") for each in found["requires"])
    if "excludes" in found:
        found["excludes"] = _expand(_join(found["excludes"]), fragments, f"{where}: excludes")
    return found


def _read_keywords(keywords: Any, table: dict[str, Any], where: str) -> list[str]:
    if isinstance(keywords, str):
        if keywords not in table.get("keyword_lists", {}):
            raise RuleFileError(f"{where}: keywords: there is not a list {keywords}")
        keywords = table["keyword_lists"][keywords]
    if not (isinstance(keywords, list) and keywords and all(isinstance(word, str) and word for word in keywords)):
        # An empty keyword would be found everywhere.
        raise RuleFileError(f"{where}: keywords must be a list of texts that are not empty, or the name of such a list")
    return keywords


def _any_of(keywords: list[str]) -> str:
    return "|".join(re.escape(word).replace("\\ ", " ") for word in keywords)


def _join(pattern: str) -> str:
    """A pattern written over several lines: breaks and the blanks beside them are not part of it."""
    return pattern if "\n" not in pattern else "".join(line.strip(" ") for line in pattern.split("\n"))


def _expand(pattern: str, fragments: dict[str, str], where: str) -> str:
    """Put the named fragments in their places, each as a group."""

    def take(match: re.Match[str]) -> str:
        if match[1] not in fragments:
            raise RuleFileError(f"{where}: there is no fragment {match[1]}")
        return f"(?:{fragments[match[1]]})"

    return _REFERENCE.sub(take, pattern)


def check_keys(row: Any, keys: dict[str, type], where: str, required: tuple[str, ...] = ()) -> None:
    """Raises `RuleFileError` for a key that is missing, is not among `keys`, or has another value than it may."""
    if not isinstance(row, dict):
        raise RuleFileError(f"{where} must be a table")
    for key in required:
        if key not in row:
            raise RuleFileError(f"{where}: {key} is missing")
    for key, value in row.items():
        if key not in keys:
            raise RuleFileError(f"{where}: {key} is not a key; there are {', '.join(sorted(keys))}")
        if not isinstance(value, keys[key]) or (keys[key] is int and isinstance(value, bool)):
            raise RuleFileError(f"{where}: {key} must be of type {keys[key].__name__}, not {value!r}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise RuleFileError(f"{where}: {key} must be one of {', '.join(map(str, _CHOICES[key]))}, not {value!r}")
        if key == "requires" and isinstance(value, list) and not all(isinstance(e, str) for e in value):
            raise RuleFileError(f"{where}: {key} must be a list of texts")
