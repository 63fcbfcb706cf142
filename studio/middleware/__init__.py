"""Middleware of Django, and the endpoints that answer before it."""
