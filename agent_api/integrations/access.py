"""Who may come in, and what there is to see: by a key, without one where that is allowed, or by a share link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string
from rest_framework.request import Request

from agent_api.http.authentication import Caller, require_scope
from registry import snapshot
from registry.common import log_context, rate_limits
from registry.common.errors import NotFound
from registry.feature import installed_features
from registry.snapshot import Snapshot, SnapshotEntry, require_fresh
from registry.snapshot.visibility import may_load_all, require_released

# How an address at the root begins that is there below a share link too.
AT_ROOT_OR_SHARED: Final = r"^(?:share/(?P<token>[A-Za-z0-9_-]{20,100})/)?"


@dataclass(frozen=True, slots=True)
class ReaderContext:
    """Who asks, and of which snapshot. What there is to see is said by the caller's principal."""

    caller: Caller
    snapshot: Snapshot

    @property
    def shared_set(self) -> str:
        """The set that the share link shows alone; empty where there is none."""
        return self.caller.principal.sight.set_id

    def entries(self) -> list[SnapshotEntry]:
        """What this visitor sees, ordered by id."""
        return [entry for entry in self.snapshot.entries.values() if self._sees(entry)]

    def entry(self, capability_id: str) -> SnapshotEntry | None:
        """One of them. Raises `CapabilityQuarantined`, and `RegistryUnavailable` where it is not known and cannot be
        looked for."""
        entry = self.snapshot.entries.get(capability_id)
        if entry is not None and self._sees(entry):
            return entry
        require_released(self.snapshot, self.caller.principal, capability_id)
        require_fresh()
        return None

    def _sees(self, entry: SnapshotEntry) -> bool:
        return may_load_all(self.caller.principal, entry)


def authorize_reader(request: Request, token: str) -> ReaderContext:
    """By the token of a share link where there is one, else as any reader.

    Raises `NotFound` for a token that is unknown, revoked or past its end, and `RateLimited` for too many of those.
    """
    held = snapshot.current_snapshot()
    if not token:
        return ReaderContext(require_scope(request, held, "read"), held)
    paths = (feature.shared_readers for feature in installed_features() if feature.shared_readers)
    principal = next((found for path in paths if (found := import_string(path)(held, token))), None)
    if principal is None:
        rate_limits.consume("guess", rate_limits.guess_subject("share link", request.META.get("REMOTE_ADDR")))
        raise NotFound("There is nothing at this address: the share link is unknown, revoked or past its end")
    caller = Caller(principal)
    log_context.add_context(key=caller.key_name)
    return ReaderContext(caller, held)


def base_url(request: Request | HttpRequest, token: str = "") -> str:
    """Where a client finds this registry, without a slash at the end: the root, or the share link that it came by."""
    origin = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    return f"{origin}/share/{token}" if token else origin
