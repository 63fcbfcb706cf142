"""The registry's responses as values: an entry of the list, a list, a bundle. Frozen, and validated when parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NotRequired, TypedDict

import rfc8785

from capability_kit.bundles.digest import bytes_digest, digest_of_load, text_digest
from capability_kit.bundles.invocation_rules import list_invocation_facts
from capability_kit.errors import DigestMismatch, ResponseRejected
from capability_kit.text.languages import get_stemmed_language
from capability_kit.text.trigger_matching import list_main_languages

CAPABILITY_ID: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
TOOL_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
Json = dict[str, Any]


def is_capability_id(value: object) -> bool:
    """Whether it is a text that can be the id of a capability (docs/contract.md 1.1)."""
    return isinstance(value, str) and len(value) <= 64 and CAPABILITY_ID.fullmatch(value) is not None


class ToolPolicy(TypedDict):
    """Who may call a tool, and whether a person decides about each call."""

    kind: Literal["read", "write"]
    requires_approval: NotRequired[bool]
    allowed_roles: NotRequired[list[str]]


class ToolContract(TypedDict):
    """A tool of a bundle, as its author wrote it (schemas/tools.schema.json)."""

    name: str
    description: str
    args_schema: dict[str, object]
    policy: ToolPolicy
    result_schema: NotRequired[dict[str, object] | bool]


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """One capability of the list: enough to match, to hint and to say what it needs, not to use."""

    capability_id: str
    name: str
    description: str
    intent_triggers: tuple[str, ...] = ()
    digest: str = ""
    status: str = "published"
    replaced_by: str | None = None
    skill_groups: tuple[str, ...] = ()
    os: tuple[str, ...] = ("common",)
    dependency_level: object = "builtin"
    priority: int = 0
    dependencies: dict[str, object] = field(default_factory=dict)
    confidence: dict[str, object] | None = None
    # The user alone starts it: no message leads to it.
    is_closed_to_model: bool = False
    # It is not offered to users by its name.
    is_off_menu: bool = False
    # A BCP 47 tag, where capability.json names one.
    language: str = ""

    @classmethod
    def from_answer(cls, row: object) -> ListingEntry:
        """Read one entry of `capability_registry_list`. Raises `ResponseRejected`."""
        if not isinstance(row, dict) or not is_capability_id(row.get("capability_id")):
            raise ResponseRejected("An entry of the list has no capability_id")
        priority = row.get("priority", 0)
        replaced_by = row.get("replaced_by")
        return cls(
            capability_id=row["capability_id"],
            name=_text(row, "name"),
            description=_text(row, "description"),
            intent_triggers=_texts(row, "intent_triggers"),
            digest=_text(row, "digest", default=""),
            status=_text(row, "status", default="published"),
            replaced_by=replaced_by if isinstance(replaced_by, str) else None,
            skill_groups=_texts(row, "skill_groups"),
            os=_texts(row, "os") or ("common",),
            dependency_level=row.get("dependency_level", "builtin"),
            priority=priority if isinstance(priority, int) else 0,
            dependencies=needed if isinstance(needed := row.get("dependencies"), dict) else {},
            confidence=score if isinstance(score := row.get("confidence"), dict) else None,
            is_closed_to_model=row.get("disable_model_invocation") is True,
            is_off_menu=row.get("user_invocable") is False,
            language=language if isinstance(language := row.get("language"), str) else "",
        )

    @classmethod
    def of_bundle(cls, bundle: Bundle) -> ListingEntry:
        """What the list would say of a bundle."""
        known = {"digest": bundle.digest, "status": bundle.status, "replaced_by": bundle.replaced_by}
        facts = list_invocation_facts(bundle.capability)
        return cls.from_answer({**bundle.capability, **known, **facts, "confidence": bundle.confidence})


@dataclass(frozen=True, slots=True)
class Listing:
    """The list, all pages of it. Stale: the registry was unreachable and this is its response of `age_seconds` ago.

    Partial: of several sources one did not answer, and what it has is not in here.
    """

    entries: tuple[ListingEntry, ...]
    registry_revision: int
    removed: tuple[str, ...] = ()
    first_run: str | None = None
    is_stale: bool = False
    age_seconds: float = 0.0
    exclusive_groups: tuple[str, ...] = ()
    is_partial: bool = False

    def __iter__(self) -> Iterator[ListingEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def list_open_triggers(entries: Iterable[ListingEntry]) -> Iterator[tuple[str, str, str]]:
    """`(capability_id, phrase, language)` of all triggers by which a message may lead to something, in the form of
    `TriggerIndex`: the language is that which the capability declares, where it is stemmed."""
    open_entries = [entry for entry in entries if not entry.is_closed_to_model]
    stemmed = {tag: get_stemmed_language(tag) for tag in {entry.language for entry in open_entries} if tag}
    languages = list_main_languages(stemmed.get(entry.language, "") for entry in open_entries)
    for entry in open_entries:
        language = stemmed.get(entry.language, "")
        language = language if language in languages else ""
        yield from ((entry.capability_id, phrase, language) for phrase in entry.intent_triggers)


@dataclass(frozen=True, slots=True)
class SupportingFile:
    """A file beside the four, to be fetched with `Registry.file`, or where it is not text with `Registry.content`.

    `size` is in bytes; `type` is empty for a text, else its media type by content; `contains` names what may run, or is
    hidden, in it.
    """

    path: str
    digest: str
    size: int
    type: str = ""
    contains: tuple[str, ...] = ()

    def is_of(self, content: str | bytes) -> bool:
        """Whether the digest is that of this text, or of these bytes."""
        found = text_digest(content) if isinstance(content, str) else bytes_digest(content)
        return found == self.digest

    def as_answer(self) -> dict[str, object]:
        """As in `files` of a load response."""
        facts: dict[str, object] = {"path": self.path, "digest": self.digest, "size": self.size}
        facts |= {"type": self.type} if self.type else {}
        return facts | ({"contains": list(self.contains)} if self.contains else {})


@dataclass(frozen=True, slots=True)
class Bundle:
    """One complete capability. The digest was recomputed over the contents."""

    capability_id: str
    digest: str
    skill_doc: str
    tools: tuple[ToolContract, ...]
    ui_schemas: tuple[dict[str, object], ...]
    capability: dict[str, object]
    revision: int = 0
    status: str = "published"
    replaced_by: str | None = None
    confidence: dict[str, object] | None = None
    files: tuple[SupportingFile, ...] = ()
    withheld_tools: tuple[str, ...] = ()
    is_stale: bool = field(default=False, compare=False)
    age_seconds: float = field(default=0.0, compare=False)

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.capability["name"])

    @property
    def profile(self) -> str:
        """The `skill_profile` of capability.json."""
        return str(self.capability.get("skill_profile", "capability"))

    @property
    def skill_groups(self) -> tuple[str, ...]:
        """The groups that it belongs to."""
        return _texts(self.capability, "skill_groups")

    @property
    def max_turns(self) -> int:
        """For how many turns it stays active; 0 is the session's default."""
        found = self.capability.get("max_turns", 0)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    @classmethod
    def from_answer(cls, answer: object, *, is_stale: bool = False, age_seconds: float = 0.0) -> Bundle:
        """Parse a response of `capability_skill_load` and recompute its digest.

        Raises `ResponseRejected` for another shape, `DigestMismatch` where content and digest disagree.
        """
        row = _checked_parts(answer)
        check_digest(row)
        confidence, revision = row.get("confidence"), row.get("revision", 0)
        replaced_by = row.get("replaced_by")
        return cls(
            capability_id=row["capability_id"],
            digest=row["digest"],
            skill_doc=row["skill_doc"],
            tools=tuple(row["tools"]),
            ui_schemas=tuple(row["ui_schemas"]),
            capability=row["capability"],
            revision=revision if isinstance(revision, int) else 0,
            status=_text(row, "status", default="published"),
            replaced_by=replaced_by if isinstance(replaced_by, str) else None,
            confidence=confidence if isinstance(confidence, dict) else None,
            files=tuple(map(_supporting_file, _objects(row, "files"))) if "files" in row else (),
            withheld_tools=_texts(row, "withheld_tools"),
            is_stale=is_stale,
            age_seconds=age_seconds,
        )

    def as_answer(self) -> dict[str, object]:
        """The response that it was parsed from, to be cached."""
        return {
            "capability_id": self.capability_id,
            "version": "latest",
            "revision": self.revision,
            "digest": self.digest,
            "status": self.status,
            "replaced_by": self.replaced_by,
            "skill_doc": self.skill_doc,
            "tools": list(self.tools),
            "ui_schemas": list(self.ui_schemas),
            "capability": self.capability,
            **({"confidence": self.confidence} if self.confidence is not None else {}),
            **({"files": [one.as_answer() for one in self.files]} if self.files else {}),
            **({"withheld_tools": list(self.withheld_tools)} if self.withheld_tools else {}),
        }


def _supporting_file(row: Json) -> SupportingFile:
    size = row.get("size")
    if not DIGEST.fullmatch(_text(row, "digest")) or not isinstance(size, int) or isinstance(size, bool):
        raise ResponseRejected("A file of the bundle has no digest or no size")
    kind, contains = row.get("type"), row.get("contains")
    return SupportingFile(
        _text(row, "path"),
        row["digest"],
        size,
        kind if isinstance(kind, str) else "",
        tuple(each for each in contains if isinstance(each, str)) if isinstance(contains, list) else (),
    )


def check_digest(answer: Mapping[str, Any]) -> None:
    """Recompute the digest of a load response. Raises `DigestMismatch`, also where it cannot be computed."""
    try:
        found = digest_of_load(dict(answer))
    except (rfc8785.CanonicalizationError, KeyError, TypeError, ValueError, RecursionError):
        raise DigestMismatch("The bundle holds values that no digest can be computed over") from None
    if found != answer["digest"]:
        raise DigestMismatch(f"The bundle has the digest {found}, and the registry says {answer['digest']}")


def _checked_parts(answer: object) -> Json:
    """The response, where it has the parts of a bundle."""
    if not isinstance(answer, dict) or not is_capability_id(answer.get("capability_id")):
        raise ResponseRejected("The answer is not a bundle: it has no capability_id")
    if not isinstance(answer.get("digest"), str) or not DIGEST.fullmatch(answer["digest"]):
        raise ResponseRejected("The answer is not a bundle: it has no digest")
    capability = answer.get("capability")
    if not isinstance(capability, dict) or capability.get("capability_id") != answer["capability_id"]:
        raise ResponseRejected("The answer is not a bundle: its capability is of another id")
    _text(capability, "name"), _text(capability, "description")
    for tool in _objects(answer, "tools"):
        _check_tool(tool)
    _text(answer, "skill_doc"), _objects(answer, "ui_schemas")
    return answer


def _check_tool(tool: Json) -> None:
    name, policy = tool.get("name"), tool.get("policy")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise ResponseRejected("A tool of the bundle has no usable name")
    if not isinstance(tool.get("args_schema"), dict) or not isinstance(tool.get("description"), str):
        raise ResponseRejected(f"The tool '{name}' has no args_schema or no description")
    if not isinstance(policy, dict) or policy.get("kind") not in ("read", "write"):
        raise ResponseRejected(f"The tool '{name}' has no policy")


def _text(values: Mapping[str, Any], name: str, *, default: str | None = None) -> str:
    value = values.get(name, default)
    if not isinstance(value, str):
        raise ResponseRejected(f"{name} is not a string")
    return value


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = values.get(name)
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(item for item in found if isinstance(item, str))


def _objects(values: Mapping[str, Any], name: str) -> list[Json]:
    value = values.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ResponseRejected(f"{name} is not an array of objects")
    return value
