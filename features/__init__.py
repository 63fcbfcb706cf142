"""Features that can be left out: one folder each (registry/feature.py)."""
