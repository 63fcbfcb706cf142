"""Calls that load a capability, to be copied: they work as they are, with the key in them or in `CAP_KEY`."""

from __future__ import annotations

import json
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.urls import is_valid_path
from django.utils.translation import gettext as _

_SCHEME: Final = "Bearer"


def build_load_snippets(request: HttpRequest, capability_id: str, key: str = "") -> list[tuple[str, str]]:
    """`(label, text)` for curl, Python and, where it is served, MCP, with the address that agents reach this server by.

    Without a key to show they read it from the variable `CAP_KEY`.
    """
    origin = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    given = json.dumps(key) if key else 'os.environ["CAP_KEY"]'
    curl = (
        f"curl -G {origin}/api/v1/capability_skill_load \\\n"
        f'  -H "Authorization: {_SCHEME} {key or "$CAP_KEY"}" \\\n'
        f"  -d capability_id={capability_id}"
    )
    python = "" if key else "import os\n"
    python += (
        "from capability_client import Registry\n\n"
        f'registry = Registry("{origin}", {given})\n'
        f'bundle = registry.load("{capability_id}")\n'
        "print(bundle.skill_doc)"
    )
    shown = [(_("curl"), curl), (_("Python"), python)]
    if not is_valid_path("/mcp"):
        return shown
    headers = {"Authorization": f"{_SCHEME} {key or '${CAP_KEY}'}"}
    server = {"type": "http", "url": f"{origin}/mcp", "headers": headers}
    mcp = json.dumps({"mcpServers": {"capability-studio": server}}, indent=2)
    return [*shown, (_("MCP"), mcp)]
