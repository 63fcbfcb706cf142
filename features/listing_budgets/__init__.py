"""What the model of an assistant reads of a list of skills (docs/contract.md 6.2)."""
