"""Nothing that one test left in memory reaches the next."""

import pytest

from tests import factories

fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)
