"""One module per command of `manage.py` (docs/command-line.md)."""
