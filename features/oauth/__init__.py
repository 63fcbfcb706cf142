"""Assistants sign in: an OAuth authorization server for `/mcp`."""
