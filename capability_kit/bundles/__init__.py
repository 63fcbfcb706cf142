"""Skill bundles as a client sees them."""
