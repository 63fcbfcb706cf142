"""The front matter of a SKILL.md or skill.md, with the place of everything in it: the only reader of it.

`split_front_matter` reads strictly, for the skill.md of a bundle (docs/contract.md 1.2). `read_front_matter` reads what
other people wrote (docs/contract.md 5): YAML that is broken is read line by line, and what YAML leaves out without a
word is remarked upon. Scalars stay text in both. Neither ever raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from capability_kit.bundles.front_matter_remarks import Remark, find_remarks
from capability_kit.bundles.front_matter_rescue import rescue
from capability_kit.bundles.yaml_tree import (
    LostKey,
    Path,
    ValueReader,
    YamlFeature,
    YamlTree,
    YamlUnreadable,
    compose_tree,
)

FRONT_MATTER_BYTES_MAX: Final = 16 * 1024
_FENCE: Final = re.compile(r"---[ \t]*$")
_CLOSING: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_NEARLY_FENCE: Final = re.compile(r"^(?:---.*|[ \t]*[-\u2010-\u2015=.]{2,}[ \t]*)$", re.MULTILINE)
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\n)+(?=---[ \t]*\n)")
_CARRIAGE_RETURN: Final = re.compile(r"\r\n?")
_BOM: Final = "\ufeff"
_BLANK_REMARK: Final = Remark(
    "odd", "Empty lines stand before the front matter, where some readers find none", "Begin the file with ---.", 0
)


@dataclass(frozen=True, slots=True)
class FrontMatterError:
    """An error's message and its offset in the whole text."""

    message: str
    hint: str
    offset: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`body_offset` is where the text below it begins; 0 where there is no front matter. `source` is the YAML.

    Offsets are into the text that was read. `faults` are what makes it unusable; `remarks` what a lenient reading has
    to tell. `places` has the offset of each key by the keys above it. `root` are the nodes of the values.
    """

    values: dict[str, Any] = field(default_factory=dict)
    body_offset: int = 0
    faults: tuple[FrontMatterError, ...] = ()
    places: Mapping[Path, int] = field(default_factory=dict)
    source: str = ""
    remarks: tuple[Remark, ...] = ()
    root: yaml.MappingNode | None = None


@dataclass(frozen=True, slots=True)
class _Fenced:
    source: str
    start: int
    body_offset: int


def normalize_skill_text(text: str) -> str:
    """A SKILL.md without a byte order mark and with LF alone: CRLF is LF, and CR is where the first line ends with one,
    as on an old Macintosh."""
    text = text.removeprefix(_BOM)
    first = re.search(r"[\r\n]", text)
    is_old = first is not None and text.startswith("\r", first.start()) and not text.startswith("\r\n", first.start())
    return _CARRIAGE_RETURN.sub("\n", text) if is_old else text.replace("\r\n", "\n")


def split_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a normalized skill.md; aliases, custom tags and keys that appear twice are faults."""
    fenced = _find_fences(text)
    if not isinstance(fenced, _Fenced):
        return fenced
    values = ValueReader()
    try:
        tree = compose_tree(fenced.source, fenced.start)
        fault = _find_forbidden(tree)
        value = values.read(tree.root) if tree.root is not None and fault is None else {}
    except YamlUnreadable as error:
        return _unusable(fenced, FrontMatterError(error.message, error.hint, error.offset))
    if fault is None and not isinstance(value, dict):
        fault = _not_a_map(fenced)
    if fault is not None:
        return _unusable(fenced, fault)
    faults = tuple(map(_lost_key_fault, values.lost))
    root = tree.root if isinstance(tree.root, yaml.MappingNode) else None
    return FrontMatter(value, fenced.body_offset, faults, values.places, fenced.source, root=root)


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a SKILL.md that `normalize_skill_text` has returned.

    There are `faults` only where nothing of it can be used.
    """
    blank = _BLANK_LINES.match(text)
    fenced = _find_fences(text, blank.end() if blank else 0)
    if not isinstance(fenced, _Fenced):
        return fenced
    remarks: tuple[Remark, ...] = (_BLANK_REMARK,) if blank else ()
    tree = _compose_whole(fenced)
    if isinstance(tree, FrontMatterError):
        rescued = rescue(fenced.source, fenced.start, tree.message, tree.offset)
        if rescued is None:
            return _unusable(fenced, tree)
        tree, more = rescued
        remarks += more
    return _read_leniently(text, fenced, tree, remarks)


def _compose_whole(fenced: _Fenced) -> YamlTree | FrontMatterError:
    """The nodes, or why they cannot be read as YAML alone: a tag of the author's own is more likely a word."""
    try:
        tree = compose_tree(fenced.source, fenced.start)
    except YamlUnreadable as error:
        return FrontMatterError(error.message, error.hint, error.offset)
    if tree.root is not None and not isinstance(tree.root, yaml.MappingNode):
        return _not_a_map(fenced)
    custom = next((feature for feature in tree.features if feature.kind == "custom_tag"), None)
    return _forbidden_tag(custom) if custom else tree


def _read_leniently(text: str, fenced: _Fenced, tree: YamlTree, remarks: tuple[Remark, ...]) -> FrontMatter:
    values = ValueReader()
    try:
        value = values.read(tree.root) if tree.root is not None else {}
    except YamlUnreadable as error:
        return _unusable(fenced, FrontMatterError(error.message, error.hint, error.offset))
    root = tree.root if isinstance(tree.root, yaml.MappingNode) else None
    found = [*remarks, *map(_remark_on_lost_key, values.lost), *find_remarks(text, fenced.source, fenced.start, tree)]
    found.sort(key=lambda remark: remark.offset)
    return FrontMatter(value, fenced.body_offset, (), values.places, fenced.source, tuple(found), root)


def _remark_on_lost_key(lost: LostKey) -> Remark:
    fault = _lost_key_fault(lost)
    message = f"{fault.message}; {'the last one counts' if lost.name else 'it is left out'}"
    return Remark("lost_key", message, fault.hint, fault.offset, lost.path)


def _find_fences(text: str, start: int = 0) -> _Fenced | FrontMatter:
    """The source between the fences, or what to return where there is none that can be read."""
    first, _, _ = text[start:].partition("\n")
    if not _FENCE.match(first):
        return FrontMatter()
    begin = start + len(first) + 1
    closing = _CLOSING.search(text, begin)
    if closing is None:
        return FrontMatter(
            faults=(FrontMatterError("The front matter is never closed", _closing_hint(text, begin), start),)
        )
    body_offset = min(closing.end() + 1, len(text))
    source = text[begin : closing.start()]
    if len(source.encode("utf-8", "surrogatepass")) > FRONT_MATTER_BYTES_MAX:
        fault = FrontMatterError("The front matter is over 16 KB", "Move long texts below it.", start)
        return FrontMatter(body_offset=body_offset, faults=(fault,))
    return _Fenced(source, begin, body_offset)


def _closing_hint(text: str, begin: int) -> str:
    hint = "End it with a line of three dashes: ---"
    nearly = _NEARLY_FENCE.search(text, begin)
    if nearly is None:
        return hint
    line = text.count("\n", 0, nearly.start()) + 1
    return f"{hint}; line {line} is {nearly[0].strip()[:20]!r}"


def _unusable(fenced: _Fenced, fault: FrontMatterError) -> FrontMatter:
    return FrontMatter(body_offset=fenced.body_offset, faults=(fault,), source=fenced.source)


def _not_a_map(fenced: _Fenced) -> FrontMatterError:
    message = "The front matter is not a list of keys and values"
    return FrontMatterError(message, "Write lines such as name: value.", fenced.start)


def _find_forbidden(tree: YamlTree) -> FrontMatterError | None:
    for feature in tree.features:
        if feature.kind == "alias":
            return FrontMatterError(f"The alias *{feature.name} is not allowed", "Write the value out.", feature.offset)
        if feature.kind == "custom_tag":
            return _forbidden_tag(feature)
    return None


def _forbidden_tag(feature: YamlFeature) -> FrontMatterError:
    return FrontMatterError(f"The tag !{feature.name} is not allowed", "Remove the tag.", feature.offset)


def _lost_key_fault(lost: LostKey) -> FrontMatterError:
    if lost.path:
        return FrontMatterError(f"The key '{lost.name[:80]}' appears twice", "Remove one of the two.", lost.offset)
    return FrontMatterError("A key must be a plain word", "Quote it, or write it on one line.", lost.offset)
