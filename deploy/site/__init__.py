"""A static site of the pages in `docs/`: `make site`."""
