"""Fixtures of the core's tests."""

from tests.feature_fixtures import api, closed, fresh_process, manage, signed_in

__all__ = ["api", "closed", "fresh_process", "manage", "signed_in"]
