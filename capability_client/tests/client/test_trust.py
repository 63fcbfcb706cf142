"""`trusted_keys` over a socket: what is asked, how often, and what is remembered."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from capability_client import AsyncRegistry, Registry
from capability_client.tests.registries import Asked, FakeRegistry, Given, fake_registry, listing, load_answer
from capability_kit.errors import (
    LockMismatch,
    RegistryForked,
    RegistryRolledBack,
    RegistryUnreachable,
    SignatureInvalid,
    SignatureMissing,
    SigningKeyUnknown,
)
from capability_kit.signatures.dsse import PublicKey, encode_pae
from capability_kit.signatures.statements import CHECKPOINT_TYPE, GENESIS, REVISION_TYPE
from tests.event_loop import run_async
from tests.sweeps import check_each

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PublicKey(KEY.public_key().public_bytes_raw())
PINNED = [str(PUBLIC)]
Json = dict[str, Any]


def _seal(kind: str, payload: Any, key: Ed25519PrivateKey = KEY) -> Json:
    raw = rfc8785.dumps(payload)
    keyid = PublicKey(key.public_key().public_bytes_raw()).keyid
    sig = base64.b64encode(key.sign(encode_pae(kind, raw))).decode()
    payload = base64.b64encode(raw).decode()
    return {"payloadType": kind, "payload": payload, "signatures": [{"keyid": keyid, "sig": sig}]}


def _signature(answer: Json, key: Ed25519PrivateKey = KEY, **changed: Any) -> Given:
    signed = {
        "capability_id": answer["capability_id"],
        "revision": answer["revision"],
        "digest": answer["digest"],
        "read_only_digest": answer["digest"],
        "files": {row["path"]: row["digest"] for row in answer.get("files", [])},
        **changed,
    }
    envelope = _seal(REVISION_TYPE, signed, key)
    return Given(200, {"capability_id": "weights", "revision": 1, "envelope": envelope}, {"ETag": '"s"'})


class History:
    """Checkpoints as a registry serves them."""

    def __init__(self, count: int, *, salt: str = "", **changed: Any) -> None:
        self.envelopes: list[Json] = []
        previous = GENESIS
        for number in range(1, count + 1):
            facts = {
                "number": number,
                "registry_revision": number,
                "audit_rows": number,
                "audit_id": number,
                "audit_hash": hashlib.sha256(f"{salt}{number}".encode()).hexdigest(),
                "releases": number,
                "release_id": number,
                "releases_hash": GENESIS,
                "previous": previous,
                "created_at": "2026-01-01T00:00:00+00:00",
            }
            facts |= changed if number == count else {}
            self.envelopes.append(_seal(CHECKPOINT_TYPE, facts))
            previous = hashlib.sha256(rfc8785.dumps(facts)).hexdigest()  # type: ignore[arg-type]

    def __call__(self, request: Asked) -> Given:
        if "after" not in request.query:
            return Given(200, {"checkpoints": self.envelopes[-1:], "next_after": None})
        after = int(request.query["after"])
        page = self.envelopes[after : after + 2]
        following = after + 2 if after + 2 < len(self.envelopes) else None
        return Given(200, {"checkpoints": page, "next_after": following})


def _asked(fake: FakeRegistry, operation: str) -> int:
    return sum(1 for request in fake.asked if request.path.endswith(operation))


def _answers(history: Any = None, **changed: Any) -> Json:
    answer = load_answer()
    return {
        "capability_skill_load": Given(200, answer, {"ETag": '"b"'}),
        "capability_signature": _signature(answer),
        "registry_checkpoints": history or History(3),
        "capability_registry_list": Given(200, listing("weights", revision=3)),
        **changed,
    }


def test_a_signed_bundle_is_loaded_and_its_signature_asked_once() -> None:
    with fake_registry(**_answers()) as fake, Registry(fake.url, trusted_keys=PINNED) as registry:
        assert registry.load("weights").revision == 1
        assert registry.load("weights").revision == 1
        assert len(registry.list()) == 1
        assert (_asked(fake, "capability_signature"), _asked(fake, "registry_checkpoints")) == (1, 1)


def test_without_trusted_keys_nothing_more_is_asked() -> None:
    with fake_registry(**_answers()) as fake, Registry(fake.url) as registry:
        registry.load("weights")
        registry.list()
        assert [request.path.rpartition("/")[2] for request in fake.asked] == [
            "capability_skill_load",
            "capability_registry_list",
        ]


def test_the_asynchronous_client_does_the_same() -> None:
    async def load(url: str) -> int:
        async with AsyncRegistry(url, trusted_keys=PINNED) as registry:
            return (await registry.load("weights")).revision

    with fake_registry(**_answers()) as fake:
        assert run_async(load(fake.url)) == 1
        fake.answers["capability_signature"] = _signature(load_answer(), revision=2)
        with pytest.raises(SignatureInvalid, match="revision 1, and 2 was signed"):
            run_async(load(fake.url))


def test_what_no_trusted_key_signed_is_refused() -> None:
    answer, stranger = load_answer(), Ed25519PrivateKey.generate()
    no_signature = Given(404, {"error": {"code": "SIGNATURE_NOT_FOUND", "message": "Published before"}})
    checkpoints = History(3)
    forged = json.loads(json.dumps(checkpoints.envelopes))
    forged[-1]["payload"] = forged[0]["payload"]
    cases: list[tuple[Json, type[Exception]]] = [
        ({"capability_signature": _signature(answer, digest="sha256:" + "0" * 64)}, SignatureInvalid),
        ({"capability_signature": _signature(answer, revision=2)}, SignatureInvalid),
        ({"capability_signature": _signature(answer, capability_id="meals")}, SignatureInvalid),
        ({"capability_signature": _signature(answer, files={"a.md": "sha256:"})}, SignatureInvalid),
        ({"capability_signature": _signature(answer, stranger)}, SigningKeyUnknown),
        ({"capability_signature": no_signature}, SignatureMissing),
        ({"capability_signature": Given(200, {"envelope": None})}, SignatureMissing),
        ({"capability_signature": Given(404, {"error": {"code": "NOT_FOUND", "message": "No"}})}, SignatureMissing),
        ({"capability_skill_load": Given(200, load_answer(status="draft"))}, SignatureMissing),
        ({"registry_checkpoints": Given(404, {"error": {"code": "NOT_FOUND", "message": "No"}})}, SignatureMissing),
        ({"registry_checkpoints": Given(200, {"checkpoints": forged[-1:], "next_after": None})}, SignatureInvalid),
        ({"registry_checkpoints": Given(200, {"checkpoints": [{}], "next_after": None})}, SignatureMissing),
    ]

    def check(case: tuple[Json, type[Exception]]) -> None:
        with (
            fake_registry(**_answers(**case[0])) as fake,
            Registry(fake.url, trusted_keys=PINNED) as registry,
            pytest.raises(case[1]),
        ):
            registry.load("weights")

    check_each(cases, check, name=lambda case: (case[1].__name__, next(iter(case[0]))))


def test_a_refused_bundle_does_not_get_into_the_lock_file(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    changed = {"capability_signature": _signature(load_answer(), revision=2)}
    with (
        fake_registry(**_answers(**changed)) as fake,
        Registry(fake.url, lock=lock, trusted_keys=PINNED) as registry,
        pytest.raises(SignatureInvalid),
    ):
        registry.load("weights")
    assert not lock.exists()


def test_a_history_that_grew_is_followed_page_by_page(tmp_path: Path) -> None:
    with fake_registry(**_answers(History(2))) as fake:
        with Registry(fake.url, cache_dir=tmp_path, trusted_keys=PINNED) as registry:
            registry.load("weights")
        fake.answers["registry_checkpoints"] = History(7)
        with Registry(fake.url, cache_dir=tmp_path, trusted_keys=PINNED) as registry:
            registry.load("weights")
            assert [request.query.get("after") for request in fake.asked if "checkpoints" in request.path] == [
                None, "1", "3", "5",
            ]  # fmt: skip
    (kept,) = tmp_path.glob("*.trust")
    assert json.loads(kept.read_text())["checkpoint"]["number"] == 7


def test_a_process_that_has_seen_less_takes_nothing_back(tmp_path: Path) -> None:
    with fake_registry(**_answers(History(5))) as fake:
        slow = Registry(fake.url, cache_dir=tmp_path, trusted_keys=PINNED)
        with Registry(fake.url, cache_dir=tmp_path, trusted_keys=PINNED) as fast:
            fast.load("weights")
        fake.answers["registry_checkpoints"] = History(4)
        slow.load("weights")
        slow.close()
    (kept,) = tmp_path.glob("*.trust")
    assert json.loads(kept.read_text())["checkpoint"]["number"] == 5


def test_another_history_is_refused(tmp_path: Path) -> None:
    torn = History(5)
    torn.envelopes[3] = History(4, salt="other").envelopes[3]
    cases: list[tuple[Any, type[Exception], str]] = [
        (History(2), RegistryRolledBack, "has no checkpoint 3"),
        (History(0), RegistryRolledBack, "has no checkpoint 3"),
        (History(3, salt="other"), RegistryForked, "is not the checkpoint 3 that was seen"),
        (History(9, salt="other"), RegistryForked, "is not the checkpoint 3 that was seen"),
        (torn, RegistryForked, "Checkpoint 4 of the registry does not follow checkpoint 3"),
        (History(4, audit_rows=2), RegistryRolledBack, "audit_rows is 2 after 3"),
        (History(4, registry_revision=1), RegistryRolledBack, "registry_revision is 1 after 3"),
        (History(4, releases=0), RegistryRolledBack, "releases is 0 after 3"),
    ]

    def check(case: tuple[Any, type[Exception], str]) -> None:
        folder = tmp_path / str(cases.index(case))
        with fake_registry(**_answers(History(3))) as fake:
            with Registry(fake.url, cache_dir=folder, trusted_keys=PINNED) as registry:
                registry.load("weights")
            fake.answers["registry_checkpoints"] = case[0]
            with Registry(fake.url, cache_dir=folder, trusted_keys=PINNED) as registry:
                for ask in (lambda: registry.load("weights"), registry.list, lambda: registry.reload("weights")):
                    with pytest.raises(case[1], match=case[2]):
                        ask()

    check_each(cases, check, name=lambda case: case[2])


def test_a_list_older_than_the_checkpoint_is_asked_again_and_refused() -> None:
    behind = Given(200, listing("weights", revision=2))
    good = Given(200, listing("weights", revision=3))
    with (
        fake_registry(**_answers(capability_registry_list=[behind, good])) as fake,
        Registry(fake.url, trusted_keys=PINNED) as registry,
    ):
        assert registry.list().registry_revision == 3
        fake.answers["capability_registry_list"] = behind
        with pytest.raises(RegistryRolledBack, match="lists revision 2, and its checkpoint 3 had 3"):
            registry.list()


def test_the_first_keys_are_trusted_and_kept_beside_the_lock_file(tmp_path: Path) -> None:
    keys = Given(200, {"keys": [{"algorithm": "ed25519", "public_key": str(PUBLIC)}]})
    answers = _answers(**{"capability-studio-keys.json": keys})
    lock = tmp_path / "lock.json"
    with fake_registry(**answers) as fake:
        with Registry(fake.url, lock=lock, trusted_keys="first_use") as registry:
            registry.load("weights")
        assert json.loads((tmp_path / "lock.json.trust").read_text())["keys"] == PINNED
        with Registry(fake.url, lock=lock, trusted_keys="first_use") as registry:
            registry.load("weights")
        assert _asked(fake, "capability-studio-keys.json") == 1
        fake.answers["capability_signature"] = _signature(load_answer(), Ed25519PrivateKey.generate())
        with (
            Registry(fake.url, lock=lock, trusted_keys="first_use") as registry,
            pytest.raises(SigningKeyUnknown, match="not trusted here"),
        ):
            registry.load("weights")


def test_a_registry_without_keys_cannot_be_trusted_at_the_first_use() -> None:
    with (
        fake_registry(**_answers()) as fake,
        Registry(fake.url, trusted_keys="first_use") as registry,
        pytest.raises(SigningKeyUnknown, match="names no public keys"),
    ):
        registry.load("weights")


def test_keys_of_another_form_are_refused_at_once() -> None:
    def check(keys: Any) -> None:
        with pytest.raises(ValueError, match="public key"):
            Registry("http://127.0.0.1:1", trusted_keys=keys)

    check_each([[], "x", str(PUBLIC), ["x"], ["ed25519:AAAA"]], check)


def test_a_trust_file_that_cannot_be_read_protects_nothing_and_is_refused(tmp_path: Path) -> None:
    def check(text: str) -> None:
        (tmp_path / "lock.json.trust").write_text(text)
        with pytest.raises(LockMismatch, match="cannot be read"):
            Registry("http://127.0.0.1:1", lock=tmp_path / "lock.json", trusted_keys=PINNED)

    check_each(["", "[]", '{"format": 2}', '{"format": 1, "keys": ["x"]}', '{"format": 1, "keys": []}'], check)


def test_an_outage_is_survived_by_what_was_verified(tmp_path: Path) -> None:
    with fake_registry(**_answers()) as fake:
        with Registry(fake.url, cache_dir=tmp_path, trusted_keys=PINNED) as registry:
            registry.load("weights")
        url = fake.url
    with Registry(url, cache_dir=tmp_path, trusted_keys=PINNED) as registry:
        assert registry.load("weights").is_stale
    with (
        Registry(url, cache_dir=tmp_path, trusted_keys=PINNED, max_stale=0.0) as registry,
        pytest.raises(RegistryUnreachable),
    ):
        registry.load("weights")
