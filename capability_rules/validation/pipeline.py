"""Which checks there are. Heavy on first import: the security rules' patterns and the A2UI catalogue."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from capability_rules.bundles.deadline import NEVER, Deadline
from capability_rules.bundles.parsed_bundle import ParsedBundle
from capability_rules.bundles.problem import BUNDLE_FILES, RawFinding
from capability_rules.bundles.supporting_files import find_supporting_files
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation import a2ui
from capability_rules.validation.evaluation_files import check_evaluation_files
from capability_rules.validation.rules.capability import check_capability, check_front_matter, get_profile
from capability_rules.validation.rules.cross_references import check_cross_references, find_mentioned_schema_ids
from capability_rules.validation.rules.sections import check_sections, guess_profile
from capability_rules.validation.rules.tools import check_collisions, check_tools
from capability_rules.validation.security.detectors.claimed_status import check_claimed_status
from capability_rules.validation.security.detectors.confusables import check_identity
from capability_rules.validation.security.detectors.policy_mismatch import check_policies
from capability_rules.validation.security.scanner import check_paths, check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

Check = tuple[str, Callable[[], Iterable[RawFinding]]]

# The files that would have to be read before this could be checked for another one.
_SAID_AFTER_READING: Final[Mapping[str, frozenset[str]]] = {
    "TOOL_NOT_DEFINED": frozenset({"tools.json"}),
    "EXAMPLE_WORD_UNKNOWN": frozenset({"capability.json", "tools.json", "ui_schemas.json"}),
    "UI_ACTION_TOOL_UNKNOWN": frozenset({"tools.json"}),
    "UI_DOC_REF_UNKNOWN": frozenset({"ui_schemas.json"}),
    "UI_TOOL_REF_UNKNOWN": frozenset({"ui_schemas.json"}),
    "UI_SCHEMA_UNREFERENCED": frozenset({"skill.md", "tools.json"}),
}


def list_checks(documents: ParsedBundle, published: ValidationContext, deadline: Deadline = NEVER) -> Iterator[Check]:
    """Every check by its name, in the order in which a reader wants to see them; none runs before it is called.

    They skip what is in a file that could not be read: its own finding comes first.
    """
    unread = documents.unread
    for name, check in _checks(documents, published, deadline):
        yield name, partial(_known_of, check, unread)


def _known_of(check: Callable[[], Iterable[RawFinding]], unread: Collection[str]) -> Iterator[RawFinding]:
    for problem in check():
        if _SAID_AFTER_READING.get(problem.code, frozenset()).isdisjoint(unread):
            yield problem


def _checks(documents: ParsedBundle, published: ValidationContext, deadline: Deadline) -> Iterator[Check]:
    capability = documents.value("capability.json")
    facts: dict[str, Any] = capability if isinstance(capability, dict) else {}
    tools, entries = documents.items("tools.json"), documents.items("ui_schemas.json")
    skill = documents.skill
    if "capability.json" in documents.json and documents.json["capability.json"].readable:
        yield "capability.json", lambda: check_capability(capability)
    if "skill.md" in documents.files and "skill.md" not in documents.unread:
        yield "front matter", lambda: check_front_matter(skill, capability)
        profile = guess_profile(skill) if "capability.json" in documents.unread else get_profile(capability)
        yield "sections", lambda: check_sections(skill, profile, tools, entries)
        yield "mentions", lambda: check_cross_references(skill, tools, entries, facts)
    yield "tools.json", lambda: check_tools(tools, deadline)
    yield "tool names", lambda: check_collisions(tools, published, facts.get("capability_id"))
    yield "ui_schemas.json", lambda: _check_ui(documents)
    yield "security of texts", lambda: check_texts(_author_texts(documents))
    yield "security of paths", lambda: check_paths(find_supporting_files(documents.files))
    yield "security of policies", lambda: check_policies(tools)
    yield "security of names", lambda: check_identity(facts, published)
    yield "evaluation files", lambda: check_evaluation_files(documents.beside)
    yield "claims of names", lambda: check_claimed_status(facts, tools)


def _check_ui(documents: ParsedBundle) -> list[RawFinding]:
    document = documents.json.get("ui_schemas.json")
    tools = [tool for tool in documents.items("tools.json") if isinstance(tool, dict)]
    problems: list[RawFinding] = []
    if document is not None and document.readable:
        mentioned = find_mentioned_schema_ids(documents.skill)
        is_map = document.written == "map"
        problems += a2ui.check_ui_schemas(document.value, tools, mentioned_schema_ids=mentioned, map_form=is_map)
    return [*problems, *a2ui.check_tool_ui(documents.items("tools.json"), documents.items("ui_schemas.json"))]


def _author_texts(documents: ParsedBundle) -> Iterable[AuthorText]:
    for name in BUNDLE_FILES:
        if name == "skill.md" and name in documents.files:
            yield AuthorText(name, (), documents.files[name], is_key=False)
        elif name in documents.json and documents.json[name].readable:
            yield from find_json_texts(name, documents.json[name].value)
    for path, text in find_supporting_files(documents.files).items():
        yield AuthorText(path, (), text, is_key=False)
