"""The settings of a registry that is asked over HTTP (docs/contract.md 4)."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Generic, TypeVar

from capability_client.client.disk_cache import DiskCache
from capability_client.client.lockfile import LockFile
from capability_client.client.requester import Limits
from capability_client.client.requests import MAX_STALE_SECONDS, RegistryProtocol
from capability_client.client.transport import AsyncWire, SyncWire
from capability_client.client.trust import HistoryGuard, TrustedKeys, trust_path

W = TypeVar("W", SyncWire, AsyncWire)
Verify = bool | ssl.SSLContext


class RegistryConnection(Generic[W]):
    """What both kinds of registries have: the settings, the protocol and the wire."""

    _wire_class: type[W]

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        cache_dir: Path | str | None = None,
        lock: LockFile | Path | str | None = None,
        limits: Limits | None = None,
        max_stale: float = MAX_STALE_SECONDS,
        verify: Verify = True,
        proxy: str | None = None,
        trusted_keys: TrustedKeys | None = None,
    ) -> None:
        """`url` is the registry's URL without `/api/v1`, `key` an agent key.

        `cache_dir` keeps responses over restarts; without it they are cached in memory. While the registry is
        unreachable, a cached response not older than `max_stale` seconds is served, with `is_stale` and `age_seconds`.
        `lock` is a lock file: a bundle that differs from it is refused. With `trusted_keys` (public keys, or
        "first_use" for those that the registry names at the first use) a bundle that none of them has signed is
        refused, and so is a registry whose history is not the one that was seen before; what was seen is kept in
        `cache_dir`, else beside the lock file. Raises `ValueError` for an invalid URL or key, and
        `VerificationUnavailable` for trusted keys without the extra `verify`.
        """
        held = LockFile(lock) if isinstance(lock, Path | str) else lock
        self.core: RegistryProtocol = RegistryProtocol(
            url, key, limits or Limits(), DiskCache(cache_dir), held, max_stale
        )
        if trusted_keys is not None:
            path = trust_path(self.core.url, cache_dir, held.path if held is not None else None)
            clock = self.core.clock
            self.core.guard = HistoryGuard.of(trusted_keys, path, max_stale=max_stale, clock=clock)
        # Reading the certificates of all authorities takes longer than a request to a registry that uses none.
        needs_tls = self.core.url.startswith("https:") or proxy is not None
        trust = verify if needs_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._wire: W = self._wire_class(verify=trust, proxy=proxy)

    @property
    def url(self) -> str:
        """The address of the registry, without the path of its API."""
        return self.core.url
