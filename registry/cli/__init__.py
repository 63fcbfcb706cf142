"""Findings as a person at a terminal, a pipeline, and a code host read them."""
