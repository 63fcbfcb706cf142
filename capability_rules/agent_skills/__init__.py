"""The Agent Skills format (a folder with SKILL.md): imported leniently, exported strictly (docs/contract.md 5, 6)."""
