"""`mcp_server.py PORT`, run by an environment with `fastmcp`: a server with two tools."""

import sys

from fastmcp import FastMCP

server = FastMCP("Desk")


def desk_find(room: str, floor: int = 1) -> list[str]:
    """Finds free desks in a room."""
    return [f"{room} {floor}"]


def desk_book(desk: str) -> str:
    """Books a desk."""
    return desk


server.tool(desk_find, annotations={"readOnlyHint": True})
server.tool(desk_book)
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
