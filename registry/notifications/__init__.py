"""Notifications of events: webhooks and e-mail to operators."""
