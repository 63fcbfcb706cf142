"""The agent API: list, load, match, search, feedback, proposals, install codes and prompts (docs/contract.md 4)."""
