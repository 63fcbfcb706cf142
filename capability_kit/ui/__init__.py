"""Forms that a runtime shows to a user."""
