"""One conversation with the capabilities of a registry: core.py says what a session has."""
