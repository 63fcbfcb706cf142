"""Published capabilities as resources `skill://NAME/...`, and the extension that lists them as skills (SEP-2640)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from agent_api.integrations.access import ReaderContext
from capability_kit.bundles.front_matter import split_front_matter
from capability_kit.bundles.skill_names import capability_id_of
from features.mcp.protocol import INVALID_PARAMS, McpError, get_string_param, take_page
from registry.common.errors import CapabilityQuarantined, SkillMalformed
from registry.snapshot import SnapshotEntry
from registry.snapshot.skill_artifacts import ArtifactFile, SkillFacts, get_skill_facts, load_artifact

EXTENSION: Final = "io.modelcontextprotocol/skills"
_SCHEME: Final = "skill://"
_TYPES: Final = {"md": "text/markdown", "json": "application/json", "yaml": "application/yaml"}


def list_resources(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`resources/list`: every file of every skill, a page of skills at a time."""
    page, following = _page(visitor, params)
    return {
        "resources": [_resource(facts, file) for facts in page for file in facts.files],
        **following,
    }


def list_skills(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`skills/list`: one page of the skills that the key sees."""
    page, following = _page(visitor, params)
    return {"skills": [_skill(visitor, facts) for facts in page], **following}


def get_skill(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`skills/get`: one of them by the address of its SKILL.md."""
    uri = get_string_param(params, "uri")
    facts, path = _find(visitor, uri)
    if path != "SKILL.md":
        raise _unknown(uri)
    return {"skill": _skill(visitor, facts)}


def read_resource(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`resources/read`: one file of a skill, as text, or as `blob` in base64 where it is kept by its digest."""
    uri = get_string_param(params, "uri")
    facts, path = _find(visitor, uri)
    file = next((file for file in facts.files if file.path == path), None)
    if file is None:
        raise _unknown(uri)
    content = _content(visitor, facts, path)
    if file.media_type:
        told = {"mimeType": file.media_type, "blob": base64.b64encode(content).decode()}
    else:
        told = {"mimeType": _type(path), "text": content.decode("utf-8")}
    return {"contents": [{"uri": uri, **told}]}


def read_directory(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`resources/directory/read`: the direct children of a folder."""
    uri = get_string_param(params, "uri")
    facts, folder = _find(visitor, uri)
    uri, folder = uri.rstrip("/"), folder.rstrip("/")
    prefix = f"{folder}/" if folder else ""
    below = [file for file in facts.files if file.path.startswith(prefix)]
    if not below:
        raise _unknown(uri)
    children: dict[str, dict[str, Any]] = {}
    for file in below:
        name, _, rest = file.path.removeprefix(prefix).partition("/")
        own = _resource(facts, file)
        step = {"uri": f"{uri}/{name}", "name": name, "mimeType": "inode/directory"}
        children.setdefault(name, step if rest else own)
    return {"resources": list(children.values())}


def _page(visitor: ReaderContext, params: Mapping[str, Any]) -> tuple[list[SkillFacts], dict[str, Any]]:
    page, following = take_page(params, visitor.entries())
    return get_skill_facts(visitor.snapshot, page), following


def _find(visitor: ReaderContext, uri: str) -> tuple[SkillFacts, str]:
    """The skill and the path below it. Raises `McpError`."""
    name, _, path = uri.removeprefix(_SCHEME).partition("/")
    try:
        entry = visitor.entry(capability_id_of(name)) if uri.startswith(_SCHEME) and "_" not in name else None
    except CapabilityQuarantined as error:
        data = {"uri": uri[:1000], "code": error.code, **error.extra}
        raise McpError(INVALID_PARAMS, error.message, data=data) from None
    found = get_skill_facts(visitor.snapshot, [entry]) if entry is not None else []
    if not found:
        raise _unknown(uri)
    return found[0], path


def _unknown(uri: str) -> McpError:
    return McpError(INVALID_PARAMS, "Resource not found", data={"uri": uri[:1000]})


def _uri(facts: SkillFacts, path: str) -> str:
    return f"{_SCHEME}{facts.name}/{path}"


def _type(path: str) -> str:
    return _TYPES.get(path.rpartition(".")[2], "text/plain")


def _resource(facts: SkillFacts, file: ArtifactFile) -> dict[str, Any]:
    path = file.path
    if path == "SKILL.md":
        named = {"name": facts.name, "description": facts.description}
    else:
        named = {"name": f"{facts.name}/{path}"}
    return {"uri": _uri(facts, path), **named, "mimeType": file.media_type or _type(path), "size": file.size}


def _skill(visitor: ReaderContext, facts: SkillFacts) -> dict[str, Any]:
    return {
        "uri": _uri(facts, "SKILL.md"),
        "frontmatter": split_front_matter(_content(visitor, facts, "SKILL.md").decode("utf-8")).values,
        "resources": [
            {"uri": _uri(facts, file.path), "digest": file.digest, "size": file.size} for file in facts.files
        ],
    }


def _content(visitor: ReaderContext, facts: SkillFacts, path: str) -> bytes:
    entry: SnapshotEntry = visitor.snapshot.entries[facts.capability_id]
    try:
        return load_artifact(visitor.snapshot, entry.revision_id, path).identity
    except SkillMalformed:
        raise _unknown(_uri(facts, path)) from None
