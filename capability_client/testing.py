"""`FakeRegistry`: bundles in memory in the place of a registry, to test an agent without a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry
from capability_kit.bundles.digest import bundle_digest
from capability_kit.errors import (
    CapabilityNotFound,
    CapabilityQuarantined,
    RegistryUnreachable,
    RevisionNotFound,
    SupportingFileNotFound,
    SupportingFileNotText,
)

Json = dict[str, Any]


def build_bundle(
    capability_id: str,
    *,
    skill_doc: str = "",
    tools: Iterable[Json] = (),
    ui_schemas: Iterable[Json] = (),
    **capability: Any,
) -> Bundle:
    """A bundle as a registry would return it; `capability` are keys of capability.json. Raises `ResponseRejected`."""
    name = capability_id.replace("_", " ").title()
    parts: Json = {
        "skill_doc": skill_doc or f"# {name}\n\nDo what the user asks for.\n",
        "tools": list(tools),
        "ui_schemas": list(ui_schemas),
        "capability": {"capability_id": capability_id, "name": name, "description": f"{name}.", **capability},
    }
    answer = {"capability_id": capability_id, "revision": 1, "status": "published", "digest": bundle_digest(**parts)}
    return Bundle.from_answer({**answer, **parts})


class FakeRegistry:
    """A source for `Session` and `AsyncSession`. `requests` keeps what was called: `(method, arguments)`.

    `publish` changes it while a test runs; `is_away` True makes every method raise `RegistryUnreachable`. Messages are
    matched by the triggers of the bundles.
    """

    def __init__(
        self,
        bundles: Iterable[Bundle] = (),
        *,
        first_run: str | None = None,
        files: Mapping[tuple[str, str], str | bytes] | None = None,
    ) -> None:
        """`files` are texts, or bytes, by `(capability_id, path)`."""
        self.bundles: dict[str, Bundle] = {each.capability_id: each for each in bundles}
        self.first_run = first_run
        self.files: dict[tuple[str, str], str | bytes] = dict(files or {})
        self.exclusive_groups: tuple[str, ...] = ()
        self.is_away = False
        self.requests: list[tuple[str, Json]] = []
        self.registry_revision: int = len(self.bundles)
        self._quarantined: set[str] = set()
        self._releases = {each.digest: each for each in self.bundles.values()}

    def publish(self, bundle: Bundle) -> None:
        """From now on this is the newest release; sessions that loaded an older one can still have it."""
        self.registry_revision += 1
        self._quarantined.discard(bundle.capability_id)
        self.bundles[bundle.capability_id] = bundle
        self._releases[bundle.digest] = bundle

    def retire(self, capability_id: str) -> None:
        """Take a capability away."""
        self.registry_revision += 1
        del self.bundles[capability_id]

    def quarantine(self, capability_id: str) -> None:
        """Hold a capability back: it is not listed, and a load raises `CapabilityQuarantined`."""
        self.registry_revision += 1
        del self.bundles[capability_id]
        self._quarantined.add(capability_id)

    def list(self) -> Listing:
        """As `Registry.list`."""
        self._request("list")
        entries = tuple(ListingEntry.of_bundle(each) for each in self.bundles.values())
        return Listing(
            entries, self.registry_revision, first_run=self.first_run, exclusive_groups=self.exclusive_groups
        )

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """As `Registry.load`."""
        self._request("load", capability_id=capability_id, digest=digest)
        if capability_id in self._quarantined:
            raise CapabilityQuarantined(f"'{capability_id}' is quarantined", data={"capability_id": capability_id})
        found = self.bundles.get(capability_id)
        if found is None:
            data = {"available_capabilities": list(self.bundles), "available_total": len(self.bundles)}
            words = f"No capability found for ID '{capability_id}'"
            raise CapabilityNotFound(words, data=data, capability_id=capability_id)
        if digest is None or digest == found.digest:
            return found
        if digest not in self._releases:
            raise RevisionNotFound(f"'{capability_id}' has no release {digest}")
        return self._releases[digest]

    def reload(self, capability_id: str) -> Bundle:
        """As `Registry.reload`."""
        return self.load(capability_id)

    def file(self, bundle: Bundle, path: str) -> str:
        """As `Registry.file`."""
        found = self._find_file("file", bundle, path)
        if isinstance(found, bytes):
            raise SupportingFileNotText(f"'{path}' is not text")
        return found

    def content(self, bundle: Bundle, path: str) -> bytes:
        """As `Registry.content`."""
        found = self._find_file("content", bundle, path)
        return found if isinstance(found, bytes) else found.encode()

    def _find_file(self, operation: str, bundle: Bundle, path: str) -> str | bytes:
        self._request(operation, capability_id=bundle.capability_id, path=path)
        if (bundle.capability_id, path) not in self.files:
            paths = [one.path for one in bundle.files]
            words = f"'{bundle.capability_id}' has no file '{path}'"
            raise SupportingFileNotFound(words, data={"available_files": paths})
        return self.files[bundle.capability_id, path]

    def feedback(
        self,
        capability_id: str,
        outcome: str,
        *,
        revision: int | None = None,
        idempotency_key: str | None = None,
        **why: Any,
    ) -> Json:
        """As `Registry.feedback`; `why` are its reason, failed call and conversation."""
        given = {"capability_id": capability_id, "outcome": outcome, "revision": revision, **why}
        self._request("feedback", **given, idempotency_key=idempotency_key)
        return {"capability_id": capability_id, "confidence": {"score": 0.5, "uses": 1, "confirmed": 0}, "event_id": 1}

    def _request(self, method: str, **arguments: Any) -> None:
        self.requests.append((method, arguments))
        if self.is_away:
            raise RegistryUnreachable("The registry cannot be reached")
