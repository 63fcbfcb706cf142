"""Detectors that look at characters, markup, secrets and policies."""
