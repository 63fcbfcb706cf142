"""A set as the files of a client's plugin (docs/contract.md 6.1). Pure: the same values make the same bytes.

Shapes: Agent Plugins 1.0.0 (agent-plugins.org/schemas/1.0.0), Claude Code's plugins reference, Codex' build guide for
plugins, and cursor.com/schemas/cursor-plugin.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.front_matter import read_front_matter
from capability_kit.bundles.skill_names import is_skill_name, skill_name_of
from capability_kit.http_address import HttpAddress
from capability_rules.agent_skills.embedded_files import FOLDER
from features.sets.set_document import SetDocument

_AGENT_PLUGINS: Final = "https://agent-plugins.org/schemas/1.0.0"
# What a client asks its environment for, since no secret is in a plugin.
KEY_VARIABLE: Final = "CAPABILITY_STUDIO_KEY"


@dataclass(frozen=True, slots=True)
class SkillFiles:
    """One member: its Agent Skill, by path below the folder of the skill."""

    capability_id: str
    revision: int
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class PluginSource:
    """All that a plugin is made of; `base_url` is where its reader finds the registry, without a slash at the end."""

    document: SetDocument
    version: str
    author: str
    base_url: str
    needs_key: bool
    skills: Sequence[SkillFiles]

    @property
    def name(self) -> str:
        """The name of the plugin, in the form that all clients take."""
        return skill_name_of(self.document.set_id)


@dataclass(frozen=True, slots=True)
class SkillLoss:
    """What a client gets of a member as text only, and what else it cannot hold; `renamed` is a name in SKILL.md that
    another member has too."""

    capability_id: str
    tools: int = 0
    approvals: int = 0
    forms: int = 0
    renamed: str = ""

    @property
    def is_any(self) -> bool:
        """Whether anything is lost."""
        return bool(self.tools or self.approvals or self.forms or self.renamed)


def build_plugin(source: PluginSource, form: str) -> dict[str, bytes]:
    """The files by path, in a fixed order. Raises KeyError for an unknown form."""
    return FORMS[form](source)


def _agent_plugin(source: PluginSource) -> dict[str, bytes]:
    manifest = {"$schema": f"{_AGENT_PLUGINS}/plugin.schema.json", **_manifest(source)}
    files = {"plugin.json": _json(manifest), "README.md": _readme(source)}
    if has_server(source):
        server = {"type": "streamable-http", "url": f"{source.base_url}/mcp"}
        files["mcp.json"] = _json({"$schema": f"{_AGENT_PLUGINS}/mcp.schema.json", "mcpServers": {"registry": server}})
    return files | dict(list_skill_files(source))


def _claude(source: PluginSource) -> dict[str, bytes]:
    files = {".claude-plugin/plugin.json": _json(_manifest(source)), "README.md": _readme(source)}
    return files | _claude_server(source) | dict(list_skill_files(source))


def _claude_server(source: PluginSource) -> dict[str, bytes]:
    if not has_server(source):
        return {}
    server: dict[str, Any] = {"type": "http", "url": f"{source.base_url}/mcp"}
    if source.needs_key:
        server["headers"] = {"Authorization": f"Bearer ${{{KEY_VARIABLE}:-}}"}
    return {".mcp.json": _json({"mcpServers": {source.name: server}})}


def describe_repository(source: PluginSource) -> dict[str, bytes]:
    """What Claude Code adds a repository by whose root is the plugin: a marketplace of this one."""
    entry = {"name": source.name, "source": "./", "description": source.document.description, "version": source.version}
    document = {
        "name": source.name,
        "owner": {"name": source.author},
        "metadata": {"description": source.document.description},
        "plugins": [entry],
    }
    return {".claude-plugin/marketplace.json": _json(document)}


def _codex(source: PluginSource) -> dict[str, bytes]:
    """A folder that `codex plugin marketplace add` takes, with one plugin in it."""
    root = f"plugins/{source.name}"
    entry = {
        "name": source.name,
        "source": {"source": "local", "path": f"./{root}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
        "category": "Productivity",
    }
    marketplace = {
        "name": source.name,
        "interface": {"displayName": source.document.name},
        "plugins": [entry],
    }
    manifest = _manifest(source) | {"skills": "./skills/"}
    interface = {"displayName": source.document.name, "shortDescription": source.document.description[:120]}
    files = {".agents/plugins/marketplace.json": _json(marketplace)}
    if has_server(source):
        manifest["mcpServers"] = "./.mcp.json"
        server: dict[str, Any] = {"url": f"{source.base_url}/mcp"}
        if source.needs_key:
            server["bearer_token_env_var"] = KEY_VARIABLE
        files[f"{root}/.mcp.json"] = _json({"mcpServers": {source.name: server}})
    files[f"{root}/README.md"] = _readme(source)
    files[f"{root}/.codex-plugin/plugin.json"] = _json(manifest | {"interface": interface})
    return files | {f"{root}/{path}": content for path, content in list_skill_files(source)}


def _cursor(source: PluginSource) -> dict[str, bytes]:
    manifest = _manifest(source) | {"displayName": source.document.name}
    files = {".cursor-plugin/plugin.json": _json(manifest), "README.md": _readme(source)}
    if has_server(source):
        server = {"url": f"{source.base_url}/mcp"}
        files["mcp.json"] = _json({"mcpServers": {source.name: server}})
    return files | dict(list_skill_files(source))


FORMS: Final[Mapping[str, Callable[[PluginSource], dict[str, bytes]]]] = {
    "agent-plugin": _agent_plugin,
    "claude": _claude,
    "codex": _codex,
    "cursor": _cursor,
}


def _readme(source: PluginSource) -> bytes:
    """What people read before they install it: what it has, and what the client does not do."""
    lines = [f"# {source.document.name}", "", source.document.description, "", "It has these skills:", ""]
    lines += [f"- {folder}" for folder in list_folders(source.skills)]
    lines += [
        "",
        f"This is version {source.version} of the set `{source.document.set_id}`, made by a Capability Studio. Its",
        "skills are text: this client checks no argument, enforces no approval and draws no form of the tools that",
        "they name. A capability that is withdrawn there leaves with the next update of this plugin.",
    ]
    if has_server(source):
        lines += ["", "The MCP server in it answers from the registry itself, with what is published there now."]
        if source.needs_key:
            lines += [
                f"It takes an API key of the registry, in the variable {KEY_VARIABLE} where the client reads one."
            ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _manifest(source: PluginSource) -> dict[str, Any]:
    """What all forms say in the same words."""
    return {
        "name": source.name,
        "version": source.version,
        "description": source.document.description,
        "author": {"name": source.author},
        "keywords": ["capability-studio"],
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def list_skill_files(source: PluginSource) -> Iterator[tuple[str, bytes]]:
    """The skills alone, each in a folder of its name, below skills/."""
    for skill, folder in zip(source.skills, list_folders(source.skills), strict=True):
        for path, content in skill.files.items():
            yield f"skills/{folder}/{path}", content


def list_folders(skills: Sequence[SkillFiles]) -> list[str]:
    """The name in SKILL.md, which the format wants to be the folder's; of several with one name that of the id."""
    names = [_written_name(skill) for skill in skills]
    own = {skill_name_of(skill.capability_id) for skill in skills}
    return [
        name
        if names.count(name) == 1 and (name == skill_name_of(skill.capability_id) or name not in own)
        else skill_name_of(skill.capability_id)
        for name, skill in zip(names, skills, strict=True)
    ]


def _written_name(skill: SkillFiles) -> str:
    found = read_front_matter(skill.files["SKILL.md"].decode("utf-8")).values.get("name")
    return found if isinstance(found, str) and is_skill_name(found) else skill_name_of(skill.capability_id)


def has_server(source: PluginSource) -> bool:
    """Whether clients may be pointed at the registry: by HTTPS, or on their own machine."""
    return is_reachable_origin(source.base_url)


def is_reachable_origin(base_url: str) -> bool:
    """Whether an address is one that Agent Plugins allows for an MCP server."""
    address = HttpAddress.parse(base_url)
    return address is not None and (address.scheme == "https" or address.is_loopback)


def list_losses(source: PluginSource) -> list[SkillLoss]:
    """Of each member that loses something, in the order of the set."""
    pairs = zip(source.skills, list_folders(source.skills), strict=True)
    found = (_loss(skill, folder) for skill, folder in pairs)
    return [loss for loss in found if loss.is_any]


def _loss(skill: SkillFiles, folder: str) -> SkillLoss:
    tools = _listed(skill, "tools.json")
    written = _written_name(skill)
    return SkillLoss(
        skill.capability_id,
        tools=len(tools),
        approvals=sum(bool((tool.get("policy") or {}).get("requires_approval")) for tool in tools),
        forms=len(_listed(skill, "ui_schemas.json")),
        renamed=written if written != folder else "",
    )


def _listed(skill: SkillFiles, name: str) -> list[dict[str, Any]]:
    text = skill.files.get(f"{FOLDER}/{name}")
    found = json.loads(text) if text else []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
