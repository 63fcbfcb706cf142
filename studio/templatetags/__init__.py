"""Template tags and filters of the pages, one module per subject."""
