"""Faults for a running product, and whether its promises hold (docs/promises.md)."""
