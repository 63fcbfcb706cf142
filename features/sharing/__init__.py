"""Who sees a capability beside the keys that see all: by install codes and share links (docs/agent-keys.md)."""
