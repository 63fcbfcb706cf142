"""Forms and approvals for the users of assistants, through MCP."""
