"""`python -m agent_client`: the registry and its skills from a terminal."""
