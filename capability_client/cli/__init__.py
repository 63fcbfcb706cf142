"""`python -m capability_client`: the registry and its skills from a terminal."""
