"""The Agent Skills format (a folder with SKILL.md): imported leniently, exported strictly (CONTRACT 5, 6)."""
