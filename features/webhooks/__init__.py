"""Notifications of other systems: signed HTTP calls, retried until they arrive (docs/webhooks.md)."""
