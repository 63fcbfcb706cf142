"""The whole registry in one file, for either database, and back (docs/adr/0005)."""
