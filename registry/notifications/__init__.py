"""Notifications of events: e-mail to operators."""
