"""Calls that load a capability, to be copied: they work as they are once CAP_KEY holds an API key."""

from __future__ import annotations

import json

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _


def build_load_snippets(request: HttpRequest, capability_id: str) -> list[tuple[str, str]]:
    """`(label, text)` for curl, Python and MCP, with the address that agents reach this server by."""
    origin = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    curl = (
        f"curl -G {origin}/api/v1/capability_skill_load \\\n"
        '  -H "Authorization: Bearer $CAP_KEY" \\\n'
        f"  -d capability_id={capability_id}"
    )
    python = (
        "import os\n"
        "from agent_client import Registry\n\n"
        f'registry = Registry("{origin}", os.environ["CAP_KEY"])\n'
        f'bundle = registry.load("{capability_id}")\n'
        "print(bundle.skill_doc)"
    )
    server = {"type": "http", "url": f"{origin}/mcp", "headers": {"Authorization": "Bearer ${CAP_KEY}"}}
    mcp = json.dumps({"mcpServers": {"capability-studio": server}}, indent=2)
    return [(_("curl"), curl), (_("Python"), python), (_("MCP"), mcp)]
