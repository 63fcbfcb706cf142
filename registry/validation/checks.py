"""Which checks there are. Heavy on first import: the security rules' patterns and the A2UI catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from registry.validation import codes, security, ui
from registry.validation.capability import check_capability, check_front_matter, profile_of
from registry.validation.deadline import NEVER, Deadline
from registry.validation.documents import BUNDLE_FILES, Documents
from registry.validation.mentions import check_mentions, mentioned_schema_ids
from registry.validation.problems import Problem, Severity
from registry.validation.published import Published
from registry.validation.sections import check_sections
from registry.validation.supporting import supporting_of
from registry.validation.tools import check_collisions, check_tools

Check = tuple[str, Callable[[], Iterable[Problem]]]


@cache
def severities() -> dict[str, Severity]:
    """The severity of each code where a problem does not say its own."""
    return codes.severities()


def all_checks(documents: Documents, published: Published, deadline: Deadline = NEVER) -> Iterator[Check]:
    """Every check by its name, in the order in which a reader wants to hear of them; none runs before it is called."""
    capability = documents.value("capability.json")
    facts: dict[str, Any] = capability if isinstance(capability, dict) else {}
    tools, entries = documents.items("tools.json"), documents.items("ui_schemas.json")
    skill = documents.skill
    if "capability.json" in documents.json and documents.json["capability.json"].readable:
        yield "capability.json", lambda: check_capability(capability)
    # Of a text that could not be read nobody can say what it lacks.
    if "skill.md" in documents.files and "skill.md" not in documents.unreadable:
        yield "front matter", lambda: check_front_matter(skill, capability)
        yield "sections", lambda: check_sections(skill, profile_of(capability), tools, entries)
        yield "mentions", lambda: check_mentions(skill, tools, entries, facts)
    yield "tools.json", lambda: check_tools(tools, deadline)
    yield "tool names", lambda: check_collisions(tools, published.tool_owners, facts.get("capability_id"))
    yield "ui_schemas.json", lambda: _check_ui(documents)
    yield "security of texts", lambda: security.check_texts(_author_texts(documents))
    yield "security of policies", lambda: security.check_policies(tools)
    yield "security of names", lambda: security.check_identity(facts, published.capability_ids)


def _check_ui(documents: Documents) -> list[Problem]:
    document = documents.json.get("ui_schemas.json")
    tools = [tool for tool in documents.items("tools.json") if isinstance(tool, dict)]
    problems: list[Problem] = []
    if document is not None and document.readable:
        mentioned = mentioned_schema_ids(documents.skill)
        if "skill.md" in documents.unreadable:
            mentioned = _schema_ids(documents.items("ui_schemas.json"))
        problems += ui.check_ui_schemas(
            document.value, tools, mentioned_schema_ids=mentioned, map_form=document.written == "map"
        )
    return [*problems, *ui.check_tool_ui(documents.items("tools.json"), documents.items("ui_schemas.json"))]


def _schema_ids(entries: list[Any]) -> frozenset[str]:
    ids = (entry.get("schema_id") for entry in entries if isinstance(entry, dict))
    return frozenset(name for name in ids if isinstance(name, str))


def _author_texts(documents: Documents) -> Iterable[security.AuthorText]:
    for name in BUNDLE_FILES:
        if name == "skill.md" and name in documents.files:
            yield security.AuthorText(name, (), documents.files[name], is_key=False)
        elif name in documents.json and documents.json[name].readable:
            yield from security.json_texts(name, documents.json[name].value)
    for path, text in supporting_of(documents.files).items():
        yield security.AuthorText(path, (), text, is_key=False)
