"""The client of the agent API: requests, transport and cache."""
