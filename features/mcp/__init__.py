"""The Model Context Protocol at `/mcp`: stateless JSON over HTTP, both eras, tools, resources and skills.

Written by hand and not with the SDK: without sessions and streams the protocol is a table of methods, the server stays
WSGI beside the hot path, and no further dependency comes in.
"""
