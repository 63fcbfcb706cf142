"""Calls that load a capability, to be copied: they work as they are, with the key in them or in `CAP_KEY`."""

from __future__ import annotations

import json
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.urls import is_valid_path
from django.utils.translation import gettext as _

from registry.core.chosen_settings import is_public_read
from registry.models import Capability, Visibility

_SCHEME: Final = "Bearer"


def needs_key(capability: Capability) -> bool:
    """Whether nobody reads it without an API key."""
    return capability.visibility == Visibility.UNLISTED or not is_public_read()


def build_load_snippets(request: HttpRequest, capability: Capability, key: str = "") -> list[tuple[str, str]]:
    """`(label, text)` for curl, Python and, where it is served, MCP, with the address that agents reach this server by.

    Without a key to show they read it from the variable `CAP_KEY`, where one is needed.
    """
    capability_id, sends_key = capability.capability_id, bool(key) or needs_key(capability)
    origin = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    given = json.dumps(key) if key else 'os.environ["CAP_KEY"]'
    header = f'  -H "Authorization: {_SCHEME} {key or "$CAP_KEY"}" \\\n' if sends_key else ""
    curl = f"curl -G {origin}/api/v1/capability_skill_load \\\n{header}  -d capability_id={capability_id}"
    python = "import os\n" if sends_key and not key else ""
    python += (
        "from capability_client import Registry\n\n"
        f'registry = Registry("{origin}"{f", {given}" if sends_key else ""})\n'
        f'bundle = registry.load("{capability_id}")\n'
        "print(bundle.skill_doc)"
    )
    shown = [(_("curl"), curl), (_("Python"), python)]
    if not is_valid_path("/mcp"):
        return shown
    headers = {"headers": {"Authorization": f"{_SCHEME} {key or '${CAP_KEY}'}"}} if sends_key else {}
    server = {"type": "http", "url": f"{origin}/mcp"} | headers
    mcp = json.dumps({"mcpServers": {"capability-studio": server}}, indent=2)
    return [*shown, (_("MCP"), mcp)]
