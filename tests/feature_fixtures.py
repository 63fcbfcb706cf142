"""Fixtures of the core's tests, for the `conftest.py` of each feature's."""

from tests.unit.agent_api.conftest import api, closed
from tests.unit.registry.cli.conftest import manage
from tests.unit.studio.conftest import fresh_process, signed_in

__all__ = ["api", "closed", "fresh_process", "manage", "signed_in"]
