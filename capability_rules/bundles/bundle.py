"""The files in, one frozen `Bundle` out (docs/contract.md 1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from capability_kit.bundles.digest import bundle_digest, text_digest
from capability_rules.bundles.supporting_files import build_file_facts, find_supporting_files


@dataclass(frozen=True)
class SkillBundle:
    """One capability bundle, parsed and normalized.

    `files` are the author's texts, UTF-8 with LF; `capability` is the whole of capability.json, utterances included.
    The values are shared, not copied: no caller may change them.
    """

    files: Mapping[str, str]
    capability: dict[str, Any]
    skill_doc: str
    tools: list[Any]
    ui_schemas: list[Any]

    @property
    def capability_id(self) -> str:
        return str(self.capability.get("capability_id", ""))

    @property
    def public_capability(self) -> dict[str, Any]:
        """capability.json as agents see it: utterances are evidence for the registry and stay here."""
        return {key: value for key, value in self.capability.items() if key != "utterances"}

    @cached_property
    def digest(self) -> str:
        """`sha256:` + hex, see schemas/README.md."""
        return self._digest_with(self.public_capability)

    def _digest_with(self, capability: dict[str, Any]) -> str:
        return bundle_digest(
            capability=capability, skill_doc=self.skill_doc, tools=self.tools, ui_schemas=self.ui_schemas
        )

    @cached_property
    def content_digest(self) -> str:
        """As `digest`, with the utterances and the supporting files: distinguishes two releases for their author."""
        if "utterances" not in self.capability and not self.supporting_files:
            return self.digest
        of_four = self._digest_with(self.capability)
        if not self.supporting_files:
            return of_four
        beside = [[facts["path"], facts["digest"]] for facts in build_file_facts(self.supporting_files)]
        return text_digest(json.dumps([of_four, beside]))

    @cached_property
    def supporting_files(self) -> dict[str, str]:
        """The supporting files, as `{path: text}`."""
        return find_supporting_files(self.files)

    @property
    def tool_names(self) -> list[str]:
        """The names of its tools; of a damaged row, those that can be read."""
        names = [tool.get("name") for tool in self.tools if isinstance(tool, dict)]
        return [name for name in names if isinstance(name, str)]

    @property
    def write_tool_names(self) -> list[str]:
        """What `without_write_tools` leaves out, by name."""
        return [str(tool.get("name")) if isinstance(tool, dict) else "" for tool in self.tools if not _only_reads(tool)]

    def without_write_tools(self) -> SkillBundle:
        """The bundle with the tools alone that read; one whose policy does not say so is left out."""
        tools = [tool for tool in self.tools if _only_reads(tool)]
        return self if len(tools) == len(self.tools) else replace(self, tools=tools)


def _only_reads(tool: Any) -> bool:
    policy = tool.get("policy") if isinstance(tool, dict) else None
    return isinstance(policy, dict) and policy.get("kind") == "read"
