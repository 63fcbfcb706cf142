"""The same published bytes by other doors: what clients of other formats ask for (CONTRACT 6)."""
