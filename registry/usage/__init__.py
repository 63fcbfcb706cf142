"""Usage of capabilities: loads, feedback, and unmet requests."""
