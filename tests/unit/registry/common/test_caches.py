import pytest

from registry.common import caches
from registry.common.rate_limits import RATE_LIMITER
from registry.snapshot import STORE, current_snapshot
from registry.usage import usage_counters
from tests.factories import publish


def test_what_is_registered_is_called_and_nothing_else_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_CLEARS", [])
    called: list[str] = []

    @caches.register
    def clear() -> None:
        called.append("clear")

    caches.register(lambda: called.append("another"))
    caches.reset_all()
    clear()
    assert called == ["clear", "another", "clear"]


@pytest.mark.django_db
def test_a_process_begins_again() -> None:
    publish()
    assert current_snapshot().entries
    STORE.is_watched = True
    usage_counters.count_miss("nobody")
    RATE_LIMITER.consume("match", "10.0.0.1", count=1, seconds=60)
    caches.reset_all()
    assert (STORE.snapshot.entries, STORE.has_read, STORE.is_watched) == ({}, False, False)
    assert not RATE_LIMITER.is_exhausted("match", "10.0.0.1", count=1, seconds=60)
    usage_counters.flush()
    from registry.models import UnknownCapabilityRequest

    assert not UnknownCapabilityRequest.objects.exists()
