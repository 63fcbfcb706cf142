"""Arguments checked against JSON Schema, within bounds."""
