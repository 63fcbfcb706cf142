"""Fixtures of the core's tests; documents are read in the process of the test, as bundles are checked there."""

from tests.feature_fixtures import api, closed, fresh_process, manage, signed_in

__all__ = ["api", "closed", "fresh_process", "manage", "signed_in"]
