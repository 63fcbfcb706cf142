"""The matching index is there before the first message."""

from __future__ import annotations

import pytest

from registry.matching import warm_up
from registry.matching.index import PUBLISHED_INDEX
from registry.snapshot import STORE
from tests.factories import publish


@pytest.mark.django_db(transaction=True)
def test_the_index_is_built_once_the_registry_has_been_read() -> None:
    publish()
    PUBLISHED_INDEX.forget()
    STORE.refresh()
    thread = warm_up.start()
    assert thread.daemon, "a server that ends does not wait for it"
    thread.join(60)
    assert PUBLISHED_INDEX.index is not None


@pytest.mark.django_db(transaction=True)
def test_an_empty_registry_needs_none() -> None:
    PUBLISHED_INDEX.forget()
    STORE.refresh()
    warm_up.start().join(60)
    assert PUBLISHED_INDEX.index is None
