"""The computer that an agent runs on, and what a capability needs of it."""
