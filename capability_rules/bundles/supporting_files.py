"""Supporting files: the texts that an Agent Skill keeps beside its SKILL.md, and a bundle beside its four files.

They are in `references/`, `scripts/` and `assets/`, the folders that the Agent Skills format names, or wherever
`metadata.supporting_files` of capability.json names them, one path per line. Agents fetch them one by one. The
digest of a bundle is over the four bundle files alone, as the contract says; each of these has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from capability_kit.bundles import supporting_files
from capability_kit.bundles.skill_mapping import SUPPORTING_FILES_KEY
from capability_kit.bundles.supporting_files import describe_files
from capability_rules.bundles import json_reader
from capability_rules.bundles.file_pointer import parse_pointer
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.text import FILE_BYTES_MAX, decode_text, size_bytes

FOLDERS: Final = ("references", "scripts", "assets")
FOLDERS_TEXT: Final = ", ".join(f"{folder}/" for folder in FOLDERS)
# Cases for evaluations, and results of them (docs/evaluations.md): they travel with a bundle, and no agent gets them.
EVALUATION_FILES: Final = ("evals/evals.json", "evals/results.json")
# The key below `metadata` of capability.json that names those outside of the folders.
METADATA_KEY: Final = SUPPORTING_FILES_KEY
COUNT_MAX: Final = supporting_files.COUNT_MAX
PATH_MAX: Final = supporting_files.PATH_MAX
# What tools leave behind; no author meant it to be part of a bundle, and no reader looks into it.
# What systems and git leave in a folder, with no meaning for a bundle.
JUNK_FILES: Final = frozenset(
    {"__MACOSX", ".DS_Store", "Thumbs.db", ".git", ".gitignore", ".gitattributes", ".gitkeep", ".keep"}
)
IGNORED_FOLDERS: Final = JUNK_FILES | {"node_modules", ".venv", "__pycache__"}
# What an export of ours puts there (capability_rules/agent_skills/embedded_files.py).
RESERVED: Final = frozenset(
    f"references/{name}" for name in ("capability.json", "tools.json", "ui_schemas.json", "skill-front-matter.yaml")
)
Content = TypeVar("Content", str, bytes | str)


def is_in_folder(name: str) -> bool:
    """Whether a file of this name is a supporting one wherever it comes from; others have to be named."""
    return name.partition("/")[0] in FOLDERS and "/" in name


def named_paths(capability: Any) -> dict[str, int]:
    """What the list in a parsed capability.json names, each once, in its order, with its offset in the list; nothing
    where it has no mark. Spaces around a path, empty lines and repeated ones have no meaning."""
    metadata = capability.get("metadata") if isinstance(capability, dict) else None
    said = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    found: dict[str, int] = {}
    at = 0
    for line in said.split("\n") if isinstance(said, str) else ():
        if line.strip():
            found.setdefault(line.strip(), at + len(line) - len(line.lstrip()))
        at += len(line) + 1
    return found


def paths_named_in(content: bytes | str) -> tuple[str, ...]:
    """The paths of `named_paths`, of capability.json as it came: nothing where it cannot be read."""
    if size_bytes(content) > FILE_BYTES_MAX:
        return ()
    text, fault = decode_text(content)
    if fault is not None or (METADATA_KEY not in text and "\\u" not in text):
        return ()
    return tuple(named_paths(json_reader.read_json(text).value))


def list_named_paths(content: bytes | str) -> frozenset[str]:
    """The paths of `paths_named_in` at which a file can be looked for, whatever an author wrote there."""
    return frozenset(name for name in paths_named_in(content) if not path_error(name))


def is_part(name: str, named: Collection[str]) -> bool:
    """Whether a file of this name is a part of a bundle whose capability.json names those."""
    return name in BUNDLE_FILES or is_in_folder(name) or name in named


def split_path(files: Mapping[str, Content]) -> dict[str, Content]:
    """Those among files that are a part of the bundle that they make."""
    if all(is_part(name, ()) for name in files):
        return dict(files)
    named = paths_named_in(files.get("capability.json", ""))
    return {name: content for name, content in files.items() if is_part(name, named)}


def find_supporting_files(files: Mapping[str, str]) -> dict[str, str]:
    """The supporting files among the files of a bundle, by path."""
    return {name: files[name] for name in sorted(files) if name not in BUNDLE_FILES}


def path_error(name: str) -> str:
    """Why a supporting file cannot have this path; empty where it can."""
    fault = supporting_files.path_fault(name)
    if not fault and name.lower() in RESERVED:
        fault = "an export puts a file of its own there"
    return fault or ("" if is_in_folder(name) else _fault_outside(name, name.split("/")))


def describe_path_error(name: str, fault: str) -> str:
    """The message for a path with this error; characters that are not ASCII are escaped."""
    return f"No file can have the path {name[:PATH_MAX]!a}: {fault}"


def _fault_outside(name: str, steps: Sequence[str]) -> str:
    """What is wrong with a path in none of the folders alone."""
    if name.lower() in BUNDLE_FILES:
        return "it is one of the four files of a bundle"
    if steps[-1].lower() == "skill.md":
        return "a SKILL.md makes its folder a skill of its own"
    junk = next((step for step in steps if step in IGNORED_FOLDERS), "")
    return f"what is called {junk} is passed over by every import" if junk else ""


def find_collisions(names: Sequence[str]) -> list[str]:
    """Names that are another one's, or a folder of another one's, on a file system that takes A for a."""
    folded = {name: name.lower() for name in names}
    count = Counter(folded.values())
    folders = {one[:at] for one in count for at, letter in enumerate(one) if letter == "/"}
    inside = {one for one in count if any(one[:at] in count for at, letter in enumerate(one) if letter == "/")}
    return [name for name in sorted(names) if count[folded[name]] > 1 or folded[name] in folders | inside]


def build_file_facts(files: Mapping[str, str]) -> list[dict[str, Any]]:
    """`path`, `digest` and `size` in bytes of each, by path; of what is kept by its digest also `type`, and `contains`
    where something in it may run or is hidden."""
    return [
        {"path": path, **pointer.facts()} if (pointer := parse_pointer(text)) else describe_files({path: text})[0]
        for path, text in find_supporting_files(files).items()
    ]
