"""A registry over HTTP (docs/contract.md 4): it drives the generators of requests.py, and decides nothing.

registry.py is made of async_registry.py by `make sync`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

from capability_client.client.answers import (
    FeedbackAnswer,
    InstallAnswer,
    MatchAnswer,
    ProposalAnswer,
    ProposeAnswer,
    SearchAnswer,
)
from capability_client.client.connection import RegistryConnection
from capability_client.client.messages import Outcome, Request, Step
from capability_client.client.transport import SyncWire
from capability_kit.bundles.bundle import Bundle, Listing

T = TypeVar("T")


class Registry(RegistryConnection[SyncWire]):
    """A Capability Studio registry, blocking. Several threads may share one."""

    # Every method raises a `RegistryError` (errors.py).
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
        return self._run(self.core.match(message, top_k=top_k, group=group, os=os))

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
        return self._run(steps)

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
        return self._run(steps)

    def install(self, code: str, *, idempotency_key: str | None = None) -> InstallAnswer:
        """Redeem `SKILL-XXXX-XXXX-XXXX`: `{"capability_id", "name", "digest"}`."""
        return self._run(self.core.install(idempotency_key, code))

    def propose(
        self, files: Mapping[str, str], *, note: str | None = None, idempotency_key: str | None = None
    ) -> ProposeAnswer:
        """Submit a draft for review: returns `{"proposal_id", "capability_id", "status", "findings"}`."""
        return self._run(self.core.propose(idempotency_key, files, note))

    def proposal(self, proposal_id: str | int) -> ProposalAnswer:
        """What has become of a proposal."""
        return self._run(self.core.proposal(proposal_id))

    def close(self) -> None:
        """Close the connections to the registry, after the last call."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
