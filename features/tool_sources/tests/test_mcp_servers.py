"""MCP servers of others, from npm and PyPI, as sources of tools."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from capability_kit.bundles.tool_export import VENDORS, export_tools
from capability_rules.validation.rules.tools import check_tools
from features.tool_sources.source_client import list_mcp_tools
from features.tool_sources.source_tools import ToolCatalog, read_tools
from tests import npm, pypi
from tests.servers import free_port

pytestmark = pytest.mark.rare


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)


@contextmanager
def _running(command: Sequence[str | Path], port: int) -> Iterator[str]:
    env = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen([*command], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


def _read(address: str) -> ToolCatalog:
    catalog = read_tools(list_mcp_tools(address))
    contracts = [tool.contract for tool in catalog.tools]
    assert {problem.code for problem in check_tools(contracts)} <= {"TOOL_PROPERTY_UNDESCRIBED", "TOOL_NAME_STYLE"}
    for vendor in VENDORS:
        assert not export_tools({tool["name"]: tool for tool in contracts}, vendor).left_out
    return catalog


def test_reference_server_from_npm_is_a_source(tmp_path: Path) -> None:
    node = npm.install(tmp_path, "@modelcontextprotocol/server-everything@2026.8.31")
    program = tmp_path / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    port = free_port()
    with _running([node, program, "streamableHttp"], port) as address:
        catalog = _read(address)
    assert {"echo", "get_sum"} <= {tool.name for tool in catalog.tools if tool.is_read}


def test_server_of_fastmcp_is_a_source(tmp_path: Path) -> None:
    python = pypi.install(tmp_path / "venv", "fastmcp==4.1.2")
    port = free_port()
    with _running([python, Path(__file__).with_name("mcp_server.py"), str(port)], port) as address:
        catalog = _read(address)
    tools = {tool.name: tool for tool in catalog.tools}
    assert tools["desk_find"].is_read
    assert not tools["desk_book"].is_read
    assert tools["desk_find"].contract["args_schema"]["required"] == ["room"]
