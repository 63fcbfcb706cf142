"""Findings as people and programs read them: text for a terminal, SARIF, annotations of a code host."""
