"""Tools from what exists: OpenAPI documents, MCP servers and definitions in the form of a model vendor."""
