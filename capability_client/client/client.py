"""`Registry` and `AsyncRegistry`: a Capability Studio registry over HTTP (docs/contract.md 4).

Both drive the generators of requests.py; nothing here decides anything.
"""

from __future__ import annotations

import ssl
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from capability_client.client.answers import (
    FeedbackAnswer,
    InstallAnswer,
    MatchAnswer,
    ProposalAnswer,
    ProposeAnswer,
    SearchAnswer,
)
from capability_client.client.disk_cache import DiskCache
from capability_client.client.lockfile import LockFile
from capability_client.client.messages import Outcome, Request, Step
from capability_client.client.requester import Limits
from capability_client.client.requests import MAX_STALE_SECONDS, RegistryProtocol
from capability_client.client.transport import AsyncWire, SyncWire
from capability_client.client.trust import HistoryGuard, TrustedKeys, trust_path
from capability_kit.bundles.bundle import Bundle, Listing

T = TypeVar("T")
W = TypeVar("W", SyncWire, AsyncWire)
Verify = bool | ssl.SSLContext


class _Questions(Generic[W]):
    """What both have in common: the settings."""

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


class Registry(_Questions[SyncWire]):
    """Blocking. Several threads may share one. Every method raises a `RegistryError` (errors.py)."""

    _wire_class = SyncWire

    def _run(self, steps: Generator[Step, Outcome, T]) -> T:
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Request):
                outcome = self._wire.send(step)
            else:
                self._wire.pause(step.seconds)
                outcome = None

    def list(
        self,
        *,
        group: str | None = None,
        os: str | None = None,
        updated_since_revision: int | None = None,
        limit: int | None = None,
    ) -> Listing:
        """Every capability, all pages; `limit` is the size of a page. A page that did not change costs a 304."""
        steps = self.core.list(group=group, os=os, updated_since_revision=updated_since_revision, limit=limit)
        return self._run(steps)

    def load(
        self, capability_id: str, *, digest: str | None = None, revision: int | None = None, renew_lock: bool = False
    ) -> Bundle:
        """One bundle, its digest recomputed; `digest` or `revision` pins a release."""
        return self._run(self.core.load(capability_id, digest=digest, revision=revision, renew_lock=renew_lock))

    def reload(self, capability_id: str, *, renew_lock: bool = False) -> Bundle:
        """Load a bundle from the registry itself, past every cache."""
        return self._run(self.core.reload(capability_id, renew_lock=renew_lock))

    def file(self, bundle: Bundle, path: str) -> str:
        """The text of one of `bundle.files`, of the release that was loaded; its digest is recomputed. Raises
        `SupportingFileNotText` for a file that has a `type`."""
        return self._run(self.core.file(bundle, path))

    def content(self, bundle: Bundle, path: str) -> bytes:
        """The bytes of one of `bundle.files`, whatever it is; their digest is recomputed."""
        return self._run(self.core.content(bundle, path))

    def match(
        self, message: str, *, top_k: int | None = None, group: str | None = None, os: str | None = None
    ) -> MatchAnswer:
        """The response of capability_match: `{"decision", "matches": [...], "skill_groups": [...]}`."""
        found: MatchAnswer = self._run(self.core.match(message, top_k=top_k, group=group, os=os))
        return found

    def search(
        self,
        q: str,
        *,
        top_k: int | None = None,
        min_score: float | None = None,
        group: str | None = None,
        ranking: str | None = None,
    ) -> SearchAnswer:
        """The response of capability_search: `{"results": [...], "ranking"}`."""
        steps = self.core.search(q, top_k=top_k, min_score=min_score, group=group, ranking=ranking)
        found: SearchAnswer = self._run(steps)
        return found

    def feedback(
        self,
        capability_id: str,
        outcome: str,
        *,
        revision: int | None = None,
        reason: str | None = None,
        failed_call: Mapping[str, str] | None = None,
        conversation: Sequence[Mapping[str, object]] | None = None,
        idempotency_key: str | None = None,
    ) -> FeedbackAnswer:
        """Say how it went: `{"capability_id", "confidence", "event_id"}`. Counts once for one idempotency key.

        `reason` is a sentence, `failed_call` `{"tool", "code", "missing"?}`, and `conversation` messages without what
        the registry must not see; of no effect where it keeps none.
        """
        why = {"reason": reason, "failed_call": failed_call, "conversation": conversation}
        told = {"capability_id": capability_id, "outcome": outcome, "revision": revision, **why}
        steps = self.core.feedback(idempotency_key, **told)
        found: FeedbackAnswer = self._run(steps)
        return found

    def install(self, code: str, *, idempotency_key: str | None = None) -> InstallAnswer:
        """Redeem `SKILL-XXXX-XXXX-XXXX`: `{"capability_id", "name", "digest"}`."""
        found: InstallAnswer = self._run(self.core.install(idempotency_key, code))
        return found

    def propose(
        self, files: Mapping[str, str], *, note: str | None = None, idempotency_key: str | None = None
    ) -> ProposeAnswer:
        """Submit a draft for review: returns `{"proposal_id", "capability_id", "status", "findings"}`."""
        found: ProposeAnswer = self._run(self.core.propose(idempotency_key, files, note))
        return found

    def proposal(self, proposal_id: str | int) -> ProposalAnswer:
        """What has become of a proposal."""
        found: ProposalAnswer = self._run(self.core.proposal(proposal_id))
        return found

    def close(self) -> None:
        """Close the connections to the registry, after the last call."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncRegistry(_Questions[AsyncWire]):
    """The same for asyncio; `Registry` documents what each method returns."""

    _wire_class = AsyncWire

    async def _run(self, steps: Generator[Step, Outcome, T]) -> T:
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            if isinstance(step, Request):
                outcome = await self._wire.send(step)
            else:
                await self._wire.pause(step.seconds)
                outcome = None

    async def list(
        self,
        *,
        group: str | None = None,
        os: str | None = None,
        updated_since_revision: int | None = None,
        limit: int | None = None,
    ) -> Listing:
        """As `Registry.list`."""
        steps = self.core.list(group=group, os=os, updated_since_revision=updated_since_revision, limit=limit)
        return await self._run(steps)

    async def load(
        self, capability_id: str, *, digest: str | None = None, revision: int | None = None, renew_lock: bool = False
    ) -> Bundle:
        """As `Registry.load`."""
        return await self._run(self.core.load(capability_id, digest=digest, revision=revision, renew_lock=renew_lock))

    async def reload(self, capability_id: str, *, renew_lock: bool = False) -> Bundle:
        """As `Registry.reload`."""
        return await self._run(self.core.reload(capability_id, renew_lock=renew_lock))

    async def file(self, bundle: Bundle, path: str) -> str:
        """As `Registry.file`."""
        return await self._run(self.core.file(bundle, path))

    async def content(self, bundle: Bundle, path: str) -> bytes:
        """As `Registry.content`."""
        return await self._run(self.core.content(bundle, path))

    async def match(
        self, message: str, *, top_k: int | None = None, group: str | None = None, os: str | None = None
    ) -> MatchAnswer:
        """As `Registry.match`."""
        return await self._run(self.core.match(message, top_k=top_k, group=group, os=os))

    async def search(
        self,
        q: str,
        *,
        top_k: int | None = None,
        min_score: float | None = None,
        group: str | None = None,
        ranking: str | None = None,
    ) -> SearchAnswer:
        """As `Registry.search`."""
        steps = self.core.search(q, top_k=top_k, min_score=min_score, group=group, ranking=ranking)
        return await self._run(steps)

    async def feedback(
        self,
        capability_id: str,
        outcome: str,
        *,
        revision: int | None = None,
        reason: str | None = None,
        failed_call: Mapping[str, str] | None = None,
        conversation: Sequence[Mapping[str, object]] | None = None,
        idempotency_key: str | None = None,
    ) -> FeedbackAnswer:
        """As `Registry.feedback`."""
        why = {"reason": reason, "failed_call": failed_call, "conversation": conversation}
        told = {"capability_id": capability_id, "outcome": outcome, "revision": revision, **why}
        steps = self.core.feedback(idempotency_key, **told)
        return await self._run(steps)

    async def install(self, code: str, *, idempotency_key: str | None = None) -> InstallAnswer:
        """As `Registry.install`."""
        return await self._run(self.core.install(idempotency_key, code))

    async def propose(
        self, files: Mapping[str, str], *, note: str | None = None, idempotency_key: str | None = None
    ) -> ProposeAnswer:
        """As `Registry.propose`."""
        return await self._run(self.core.propose(idempotency_key, files, note))

    async def proposal(self, proposal_id: str | int) -> ProposalAnswer:
        """As `Registry.proposal`."""
        return await self._run(self.core.proposal(proposal_id))

    async def close(self) -> None:
        """Close the connections to the registry, after the last call."""
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
