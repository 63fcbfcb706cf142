"""Cross-checks of skill.md: what it mentions must exist in the bundle, and the reverse (docs/contract.md 1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from capability_rules.bundles.json_reader import iterate_values
from capability_rules.bundles.markdown_outline import MarkdownLine
from capability_rules.bundles.problem import RawFinding, collect_findings
from capability_rules.bundles.skill_document import SkillDocument
from capability_rules.validation.rules.json_schema import SpellingSuggester
from capability_rules.validation.rules.sections import TOOLS

_WORD: Final = r"[A-Za-z][A-Za-z0-9_-]{0,99}"
_ANY_WORD: Final = re.compile(_WORD)
_IN_BACKTICKS: Final = re.compile(rf"`[ ]?({_WORD})(?:\([^`\n]*)?[ ]?`")
_LIST_ITEM: Final = re.compile(rf"[ \t]*(?:[-+*]|[0-9]{{1,9}}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?\**({_WORD})")
# What may stand before the tools that a line of a list or table is about, and between them.
_HEAD_GAP: Final = re.compile(r"(?:[\s|,/&*+\-]|[0-9]{1,9}[.)]|\[[ xX]\]|\band\b|\bor\b)*")
_LIST_OR_TABLE: Final = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)]|\|)[ \t]*")
_CALL: Final = re.compile(rf"(?<![\w.\-/$@])({_WORD})\(")
_PLURAL: Final = re.compile(r"\((?:s|es|n|en)\)")
_SNAKE: Final = re.compile(r"(?<![\w.\-/$@<{\\:])([a-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,12})(?![\w(/]|\.[a-z])")
_SCHEMA_ID: Final = re.compile(r"\b[A-Z]\w*\.v\d+\b")
_READ_OR_WRITE: Final = re.compile(r"(read|write)(?:[- ]only)?(?: tools?)?")
# A fence in one of these has words for the agent; in any other language it is a program.
_PROSE_FENCES: Final = frozenset({"", "text", "txt", "json", "jsonc", "yaml", "markdown", "md", "console", "plaintext"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A word of skill.md and where it is (line and column of skill_doc, from 1).

    `is_head`: a line about a tool begins with it. Other words may be arguments, or tools as well.
    """

    word: str
    line: int
    column: int
    is_head: bool = True


def check_cross_references(
    skill: SkillDocument, tools: list[Any], ui_schemas: list[Any], capability: dict[str, Any]
) -> list[RawFinding]:
    """All cross-checks between skill.md and the other files."""
    known = _KnownNames.of(tools, ui_schemas, capability)
    # An Agent Skill without a tools.json speaks of the tools of its host.
    is_of_host = capability.get("skill_profile") == "agent_skill" and not tools
    undefined = collect_findings(_undefined_tools(skill, known), _unknown_calls(skill, known))
    return [
        *((replace(one, severity="warning") for one in undefined) if is_of_host else undefined),
        *collect_findings(
            _undocumented_tools(skill, tools),
            _misplaced_tools(skill, known),
            _unknown_words(skill, known),
            _unknown_schemas(skill, known),
        ),
    ]


def find_mentioned_schema_ids(skill: SkillDocument) -> frozenset[str]:
    """Every `Name.vN` that occurs in skill.md."""
    return frozenset(_SCHEMA_ID.findall(skill.skill_doc))


@dataclass(frozen=True)
class _KnownNames:
    """The names that a bundle defines."""

    policies: dict[str, str]
    arguments: frozenset[str]
    schema_ids: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(cls, tools: list[Any], ui_schemas: list[Any], capability: dict[str, Any]) -> _KnownNames:
        names = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        schemas = [entry for entry in ui_schemas if isinstance(entry, dict)]
        arguments: set[str] = set()
        for tool in names:
            arguments |= _schema_words(tool.get("args_schema")) | _schema_words(tool.get("result_schema"))
        others = {word for entry in schemas for word in _entry_words(entry)} | _texts(capability)
        return cls(
            policies={tool["name"]: _policy_kind(tool) for tool in names},
            arguments=frozenset(arguments),
            schema_ids=frozenset(e["schema_id"] for e in schemas if isinstance(e.get("schema_id"), str)),
            others=frozenset(others),
        )

    @cached_property
    def tool_speller(self) -> SpellingSuggester:
        return SpellingSuggester(self.policies)

    @cached_property
    def schema_speller(self) -> SpellingSuggester:
        return SpellingSuggester(self.schema_ids)

    def explains(self, word: str) -> bool:
        return word in self.policies or word in self.arguments or word in self.others


def _policy_kind(tool: dict[str, Any]) -> str:
    policy = tool.get("policy")
    kind = policy.get("kind") if isinstance(policy, dict) else None
    return kind if isinstance(kind, str) else ""


def _schema_words(schema: Any) -> set[str]:
    """The property names and text values (enum, const) anywhere in a schema."""
    words: set[str] = set()
    for node in iterate_values(schema):
        if isinstance(node, dict):
            properties = node.get("properties")
            words.update(properties if isinstance(properties, dict) else ())
            for key in ("enum", "const", "required"):
                words |= _texts(node.get(key))
    return words


def _entry_words(entry: dict[str, Any]) -> set[str]:
    """Ids, event names and data keys of a UI schema."""
    return _texts(entry).union(*(node for node in iterate_values(entry) if isinstance(node, dict)))


def _texts(value: Any) -> set[str]:
    """Every string in a JSON value."""
    return {node for node in iterate_values(value) if isinstance(node, str)}


def _tool_mentions(lines: Iterable[MarkdownLine]) -> Iterator[Mention]:
    """Words in backticks and words at the start of a list item, outside fences."""
    for line in lines:
        if line.kind in ("code", "comment"):
            continue
        item = _LIST_ITEM.match(line.text)
        if item:
            yield Mention(item.group(1), line.number, item.start(1) + 1)
        is_head, end = _LIST_OR_TABLE.match(line.text) is not None, 0
        for match in _IN_BACKTICKS.finditer(line.text):
            is_head = is_head and _HEAD_GAP.fullmatch(line.text, end, match.start()) is not None
            end = match.end()
            yield Mention(match.group(1), line.number, match.start(1) + 1, is_head)


def _once(mentions: Iterator[Mention]) -> Iterator[Mention]:
    seen: set[str] = set()
    for mention in mentions:
        if mention.word not in seen:
            seen.add(mention.word)
            yield mention


def _at(skill: SkillDocument, code: str, mention: Mention, message: str, hint: str) -> RawFinding:
    return skill.problem(code, mention.line, message, hint, column=mention.column)


def _undefined_tools(skill: SkillDocument, known: _KnownNames) -> Iterator[RawFinding]:
    for mention in _once(_tool_mentions(skill.section_lines(*TOOLS.names))):
        word = mention.word
        if "_" in word and not known.explains(word):
            missing = f"The tool '{word}' is not" if mention.is_head else f"'{word}' is not a tool or an argument"
            yield _at(skill, "TOOL_NOT_DEFINED", mention, f"{missing} in tools.json", _tool_hint(word, known))


def _tool_hint(word: str, known: _KnownNames) -> str:
    close = known.tool_speller.hint(word) if known.policies else ""
    return f"{close} Otherwise define it in tools.json, or remove it here.".lstrip()


def _undocumented_tools(skill: SkillDocument, tools: list[Any]) -> Iterator[RawFinding]:
    if not skill.sections(*TOOLS.names):
        return
    words: set[str] = set()
    for line in skill.section_lines(*TOOLS.names):
        if line.kind != "comment":
            words.update(_ANY_WORD.findall(line.text))
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(name, str) and name and name not in words:
            message = f"The tool '{name}' is not mentioned in the section Tools of skill.md"
            hint = f"Add a line there, such as: - `{name}`: when to call it"
            yield RawFinding("TOOL_NOT_DOCUMENTED", "tools.json", (index, "name"), message, hint)


def _misplaced_tools(skill: SkillDocument, known: _KnownNames) -> Iterator[RawFinding]:
    for section in skill.sections(*TOOLS.names):
        for heading in skill.outline.inside(section):
            kind = _READ_OR_WRITE.fullmatch(heading.key) if heading.level == 3 else None
            if kind is None:
                continue
            for mention in _once(_tool_mentions(skill.outline.section(heading))):
                actual = known.policies.get(mention.word)
                if actual in ("read", "write") and actual != kind.group(1):
                    message = f"The {actual} tool '{mention.word}' stands under {heading.text}"
                    hint = f"Move it under {actual.capitalize()}, or change its policy.kind in tools.json."
                    yield _at(skill, "TOOL_POLICY_MISMATCH", mention, message, hint)


def _examples(skill: SkillDocument) -> Iterator[MarkdownLine]:
    for line in skill.section_lines("Examples"):
        if line.kind != "comment" and line.language in _PROSE_FENCES:
            yield line


def _unknown_calls(skill: SkillDocument, known: _KnownNames) -> Iterator[RawFinding]:
    for mention in _once(_calls(skill)):
        if mention.word not in known.policies:
            message = f"The example calls '{mention.word}', which is not in tools.json"
            yield _at(skill, "TOOL_NOT_DEFINED", mention, message, _tool_hint(mention.word, known))


def _calls(skill: SkillDocument) -> Iterator[Mention]:
    for line in _examples(skill):
        for match in _CALL.finditer(line.text) if "(" in line.text else ():
            if not _PLURAL.match(line.text, match.end() - 1):
                yield Mention(match.group(1), line.number, match.start(1) + 1)


def _unknown_words(skill: SkillDocument, known: _KnownNames) -> Iterator[RawFinding]:
    for mention in _once(_snake_words(skill)):
        if not known.explains(mention.word):
            message = f"'{mention.word}' is not a tool, argument, result or action of this bundle"
            hint = known.tool_speller.hint(mention.word) if known.policies else "Check the spelling."
            yield _at(skill, "EXAMPLE_WORD_UNKNOWN", mention, message, hint)


def _snake_words(skill: SkillDocument) -> Iterator[Mention]:
    for line in _examples(skill):
        for match in _SNAKE.finditer(line.text) if "_" in line.text else ():
            yield Mention(match.group(1), line.number, match.start(1) + 1)


def _unknown_schemas(skill: SkillDocument, known: _KnownNames) -> Iterator[RawFinding]:
    found = (Mention(match.group(), *skill.place(match.start())) for match in _SCHEMA_ID.finditer(skill.skill_doc))
    for mention in _once(found):
        if mention.word not in known.schema_ids:
            message = f"The UI schema '{mention.word}' is not in ui_schemas.json"
            hint = known.schema_speller.hint(mention.word) if known.schema_ids else "Add it, or remove the mention."
            yield _at(skill, "UI_DOC_REF_UNKNOWN", mention, message, hint)
