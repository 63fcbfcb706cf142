"""The same published bytes by other doors: what clients of other formats ask for (docs/contract.md 6)."""
