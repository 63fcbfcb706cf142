"""What a bundle may do: whom it talks to, what it writes, what it fetches, keeps, asks for and runs.

These are the powers that an operator grants by publishing it. None is wrong by itself, and a list without one says
nothing about what code does that a script brings along: the texts are read for what they say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from capability_kit.bundles.front_matter import split_front_matter
from capability_kit.json_text import as_mapping, as_string, as_strings
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.file_description import HIDDEN_TEXT, has_scripts, is_markup
from capability_rules.bundles.file_pointer import parse_pointer
from capability_rules.bundles.json_locations import build_pointer, locate_pointers
from capability_rules.bundles.json_reader import iterate_places
from capability_rules.bundles.problem import Path
from capability_rules.bundles.text import Lines
from capability_rules.semantic_diff.hosts import find_host_mentions
from capability_rules.validation.security.power_sentences import find_power_sentences
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

PowerKind = Literal["host", "write_tool", "remote_text", "persistence", "credential", "program"]
# In the order in which they are shown.
POWER_KINDS: Final[tuple[PowerKind, ...]] = (
    "host", "write_tool", "remote_text", "persistence", "credential", "program",
)  # fmt: skip
# Of one kind, by name; and places of one power.
POWERS_MAX: Final = 500
PLACES_MAX: Final = 5
_SECRET_ARGUMENT: Final = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|secret|token|api_?key|private_?key|credentials?|otp|pin|cvv)(?:$|_)",
    re.IGNORECASE,
)
# `!` before a code span, or as the language of a fence.
_LOAD_COMMAND: Final = re.compile(
    r"(?<![\w\\!`])!`([^`\n]{1,2000})`|^ {0,3}```!\s{0,4}\n((?:(?! {0,3}```).*\n){1,200})", re.MULTILINE
)
_HOOK_KEYS: Final = ("command", "url", "prompt")
_COMMAND_LENGTH_MAX: Final = 200
_WEB_ARGUMENT: Final = re.compile(r"(?:^|_)(?:url|uri|href|link|endpoint|webhook)(?:$|_)", re.IGNORECASE)
_NEEDS: Final[tuple[tuple[str, PowerKind, str], ...]] = (
    ("bins", "program", "the program"),
    ("apps", "program", "the application"),
    ("python", "program", "the Python package"),
    ("mcp_servers", "program", "the MCP server"),
    ("env", "credential", "the environment variable"),
    ("permissions", "credential", "the permission"),
)


@dataclass(frozen=True, slots=True)
class PowerPlace:
    """Where a power comes from. `pointer` is a JSON Pointer, empty for a text; lines and columns count from 1."""

    file: str
    pointer: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Power:
    """One thing that a bundle may do. `name` is the host, the tool, the program or the words of the sentence.

    `requires_approval` is None for what is not a tool. Two powers are the same if all but the places are.
    """

    kind: PowerKind
    name: str
    detail: str
    requires_approval: bool | None = None
    places: tuple[PowerPlace, ...] = ()

    @property
    def identity(self) -> tuple[str, str, str, bool | None]:
        """What makes it the same power in another release."""
        return self.kind, self.name, self.detail, self.requires_approval

    def as_dict(self) -> dict[str, Any]:
        """The shape of a power in schemas/api/bundle_powers.schema.json."""
        row: dict[str, Any] = {"kind": self.kind, "name": self.name, "detail": self.detail}
        if self.requires_approval is not None:
            row["requires_approval"] = self.requires_approval
        return row | {"places": [asdict(place) for place in self.places]}


@dataclass(frozen=True, slots=True)
class PowerComparison:
    """The powers of a bundle, and what came and went since the release before."""

    powers: tuple[Power, ...] = ()
    added: tuple[Power, ...] = ()
    removed: tuple[Power, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """`{"powers", "added", "removed"}`; both lists are empty for a first release."""
        lists = {"powers": self.powers, "added": self.added, "removed": self.removed}
        return {key: [power.as_dict() for power in powers] for key, powers in lists.items()}


# The file, the path in its parsed value, and the offset in a text.
_Place = tuple[str, Path, int]
_Found = tuple[Power, str, Path, int]


def powers_of(bundle: SkillBundle) -> tuple[Power, ...]:
    """What the bundle may do, by kind and name, at most `POWERS_MAX` of a kind; each with at most `PLACES_MAX` places.

    The bundle may be a damaged row or a draft with errors: what can be read is listed.
    """
    gathered: dict[tuple[str, str, str, bool | None], tuple[Power, list[_Place]]] = {}
    for power, file, path, offset in _find_powers(bundle):
        _, places = gathered.setdefault(power.identity, (power, []))
        if len(places) < PLACES_MAX and (file, path, offset) not in places:
            places.append((file, path, offset))
    chosen: list[tuple[Power, list[_Place]]] = []
    for kind in POWER_KINDS:
        rows = sorted((row for row in gathered.values() if row[0].kind == kind), key=lambda row: row[0].name)
        chosen += rows[:POWERS_MAX]
    located = _locate(bundle, [place for _, places in chosen for place in places])
    return tuple(replace(power, places=tuple(located[place] for place in places)) for power, places in chosen)


def compare_powers(old: SkillBundle | None, new: SkillBundle) -> PowerComparison:
    """The powers of `new`, against those of the release before, if there was one."""
    after = powers_of(new)
    if old is None:
        return PowerComparison(after)
    before = powers_of(old)
    known, kept = {power.identity for power in before}, {power.identity for power in after}
    return PowerComparison(
        powers=after,
        added=tuple(power for power in after if power.identity not in known),
        removed=tuple(power for power in before if power.identity not in kept),
    )


def _find_powers(bundle: SkillBundle) -> Iterator[_Found]:
    for mention in find_host_mentions(bundle):
        yield Power("host", mention.host, ""), mention.file, mention.path, mention.offset
    for index, tool in enumerate(bundle.tools):
        if isinstance(tool, dict) and as_string(tool.get("name")):
            yield from _powers_of_tool(index, tool)
    yield from _needs(as_mapping(bundle.capability))
    yield from _secret_fields(bundle.ui_schemas)
    yield from _runs_by_itself(bundle)
    for path in sorted(bundle.supporting_files):
        if path.startswith("scripts/"):
            yield Power("program", path, "a script of the bundle"), path, (), 0
        yield from _active_content(path, bundle.supporting_files[path])
    yield from _sentences(bundle)


def _active_content(path: str, text: str) -> Iterator[_Found]:
    """What a program that opens the file would run or fetch, of one that is kept by its digest, or of SVG and HTML."""
    pointer = parse_pointer(text)
    contains = pointer.contains if pointer else ("scripts",) if is_markup(text) and has_scripts(text) else ()
    for what in contains:
        if what == "external references":
            yield Power("remote_text", path, "a file that refers to others elsewhere"), path, (), 0
        elif what != HIDDEN_TEXT:
            yield Power("program", path, f"a file with {what} in it" if what != "program" else "a program"), path, (), 0


def _powers_of_tool(index: int, tool: dict[str, Any]) -> Iterator[_Found]:
    name, policy = tool["name"], as_mapping(tool.get("policy"))
    if policy.get("kind") != "read":
        approval = policy.get("requires_approval") is True
        detail = "each call needs approval" if approval else "without approval"
        yield Power("write_tool", name, detail, approval), "tools.json", (index, "policy"), 0
    properties = as_mapping(as_mapping(tool.get("args_schema")).get("properties"))
    for key, schema in properties.items():
        path = (index, "args_schema", "properties", key)
        if _SECRET_ARGUMENT.search(key):
            yield Power("credential", f"{name}({key})", "an argument of a tool"), "tools.json", path, 0
        elif _WEB_ARGUMENT.search(key) or as_mapping(schema).get("format") in ("uri", "url"):
            words = "a tool that is given an address"
            yield Power("remote_text", f"{name}({key})", words), "tools.json", path, 0


def _needs(capability: dict[str, Any]) -> Iterator[_Found]:
    dependencies = as_mapping(capability.get("dependencies"))
    for key, kind, words in _NEEDS:
        names = dependencies.get(key)
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str):
                path = ("dependencies", key, index)
                yield Power(kind, name, words), "capability.json", path, 0
    allowed = capability.get("allowed_tools")
    for name in as_strings(allowed) if isinstance(allowed, list) else dict.fromkeys(as_string(allowed).split()):
        yield Power("program", name, "a tool of the runtime"), "capability.json", ("allowed_tools",), 0


def _runs_by_itself(bundle: SkillBundle) -> Iterator[_Found]:
    """Commands that a client runs without the model: hooks, and those of skill.md whose output the model reads."""
    written = bundle.files.get("skill.md", "")
    front_matter = split_front_matter(written)
    for file, path, hooks in (
        ("capability.json", ("metadata", "hooks"), as_mapping(bundle.capability.get("metadata")).get("hooks")),
        ("skill.md", (), front_matter.values.get("hooks")),
    ):
        for event, command in _list_hooks(hooks):
            yield Power("program", command, f"a hook that the client runs by itself: {event}"), file, path, 0
    for match in _LOAD_COMMAND.finditer(bundle.skill_doc):
        command = (match[1] or match[2]).strip()[:_COMMAND_LENGTH_MAX]
        yield Power("program", command, "a command that runs before the model reads"), "skill.md", (), match.start()


def _list_hooks(hooks: object) -> Iterator[tuple[str, str]]:
    """The events and commands of hooks, as a value or as its JSON; hooks that say no command are named themselves."""
    if isinstance(hooks, str):
        try:
            hooks = json.loads(hooks)
        except (ValueError, RecursionError):
            hooks = {"hooks": {"command": hooks}}
    for event, value in as_mapping(hooks).items():
        places = [as_mapping(inner) for _, inner in iterate_places(value)]
        commands = [as_string(inner.get(key)) for inner in places for key in _HOOK_KEYS]
        for command in dict.fromkeys(filter(None, commands)) or ["hook"]:
            yield str(event)[:80], command[:_COMMAND_LENGTH_MAX]


def _secret_fields(forms: list[Any]) -> Iterator[_Found]:
    """Fields of forms that hide what is typed."""
    for path, value in iterate_places(forms):
        one = as_mapping(value)
        if one.get("component") == "TextField" and one.get("variant") == "obscured":
            name = as_string(one.get("label")) or as_string(one.get("id"))
            yield Power("credential", name, "a hidden field of a form"), "ui_schemas.json", path, 0


def _sentences(bundle: SkillBundle) -> Iterator[_Found]:
    for found in find_power_sentences(_author_texts(bundle)):
        kind: PowerKind = next(each for each in POWER_KINDS if each == found.kind)
        yield Power(kind, found.quote, found.description), found.file, found.path, found.offset


def _author_texts(bundle: SkillBundle) -> Iterator[AuthorText]:
    yield AuthorText("skill.md", (), bundle.skill_doc)
    yield from find_json_texts("tools.json", bundle.tools)
    yield from find_json_texts("ui_schemas.json", bundle.ui_schemas)
    for path, text in sorted(bundle.supporting_files.items()):
        yield AuthorText(path, (), text)


def _locate(bundle: SkillBundle, places: list[_Place]) -> dict[_Place, PowerPlace]:
    """Each place in the author's own text, each file walked once: of a string in JSON, where it begins."""
    by_file: dict[str, list[_Place]] = {}
    for place in places:
        by_file.setdefault(place[0], []).append(place)
    located: dict[_Place, PowerPlace] = {}
    for file, of_file in by_file.items():
        text = bundle.files.get(file, "")
        lines, start = Lines(text), max(0, text.find(bundle.skill_doc)) if file == "skill.md" else 0
        written = {place: _as_written(bundle, file, place[1], text) for place in of_file if place[1] and text}
        spans = locate_pointers(text, written.values()) if written else {}
        for place in of_file:
            at = spans[written[place]].start if place in written else start + place[2]
            pointer = build_pointer(written[place]) if place in written else ""
            located[place] = PowerPlace(file, pointer, *lines.place(at))
    return located


def _as_written(bundle: SkillBundle, file: str, path: Path, text: str) -> Path:
    """The path in the author's file, which may hold its list in an object."""
    if file == "capability.json" or not text.lstrip().startswith("{"):
        return path
    if file == "tools.json":
        return ("tools", *path)
    form = as_mapping(bundle.ui_schemas[int(path[0])])
    inner = path[2:] if path[1:2] == ("definition",) else path[1:]
    return (as_string(form.get("schema_id")), *inner)
