"""The Agent Skills format (a folder with SKILL.md): taken in forgivingly, given out to the letter (CONTRACT 5, 6)."""
