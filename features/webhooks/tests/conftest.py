"""Fixtures of the core's tests."""

from tests.feature_fixtures import api, closed, fresh_process, manage, signed_in
from tests.unit.registry.common.net.conftest import certificate, receiver

__all__ = ["api", "certificate", "closed", "fresh_process", "manage", "receiver", "signed_in"]
