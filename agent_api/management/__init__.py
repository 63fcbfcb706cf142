"""Commands of the agent API."""
