"""The matching index is there before the first message."""

from __future__ import annotations

from typing import Any

import pytest

from registry.matching import warm_up
from registry.matching.embedders import get_embedder
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
def test_the_model_is_loaded_before_the_first_message(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDER = "multilingual"
    publish()
    PUBLISHED_INDEX.forget()
    get_embedder.cache_clear()
    chosen = get_embedder()
    assert chosen is not None
    PUBLISHED_INDEX.kept.make_vectors(STORE.refresh(), seconds=600)
    PUBLISHED_INDEX.forget()
    loaded: list[bool] = []
    monkeypatch.setattr(type(chosen), "load", lambda _: loaded.append(True))
    warm_up.start().join(60)
    assert loaded == [True]


@pytest.mark.django_db(transaction=True)
def test_an_empty_registry_needs_none() -> None:
    PUBLISHED_INDEX.forget()
    STORE.refresh()
    warm_up.start().join(60)
    assert PUBLISHED_INDEX.index is None
