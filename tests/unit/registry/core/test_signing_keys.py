"""The signing key: made once, outside of the database, and never replaced in silence."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from registry.common import caches
from registry.common.errors import SigningKeyUnusable
from registry.core.signing_keys import build_key_list, get_signing_keys


@pytest.fixture
def path(settings: Any, tmp_path: Path) -> Path:
    caches.reset_all()
    settings.SIGNING_KEY_FILE = tmp_path / "data" / "signing_key.pem"
    return tmp_path / "data" / "signing_key.pem"


def _pem(key: Any) -> str:
    return str(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def _public_pem(key: Any) -> str:
    return str(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def test_it_is_made_once_for_its_owner_alone(path: Path) -> None:
    first = get_signing_keys()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["signing_key.pem"]
    caches.reset_all()
    assert get_signing_keys().public == first.public


def test_processes_that_start_at_once_agree(path: Path) -> None:
    def read(_: int) -> Any:
        caches.reset_all()
        return get_signing_keys().public

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(read, range(8)))) == 1


def test_keys_of_before_follow_the_one_that_signs(path: Path) -> None:
    now, before, oldest = (Ed25519PrivateKey.generate() for _ in range(3))
    path.parent.mkdir()
    path.write_text(f"# since today\n{_pem(now)}# before\n{_public_pem(before)}{_pem(oldest)}")
    keys = get_signing_keys()
    assert [key.raw for key in keys.public] == [each.public_key().public_bytes_raw() for each in (now, before, oldest)]
    keyid, signature = keys.sign(b"words")
    assert keyid == keys.public[0].keyid
    now.public_key().verify(signature, b"words")
    assert [row["status"] for row in build_key_list()["keys"]] == ["active", "former", "former"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "does not begin with an Ed25519 private key"),
        (_public_pem(Ed25519PrivateKey.generate()), "does not begin with an Ed25519 private key"),
        (_pem(X25519PrivateKey.generate()), "of another kind: expected Ed25519"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be read"),
        ("Grüße", "cannot be used"),
    ],
    ids=["empty", "public", "other kind", "damaged", "not ascii"],
)
def test_a_file_that_is_no_key_is_refused_and_left_alone(path: Path, text: str, words: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(SigningKeyUnusable, match=words):
        get_signing_keys()
    assert path.read_text() == text


def test_without_a_file_it_follows_from_the_secret_key(settings: Any) -> None:
    settings.SIGNING_KEY_FILE, settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = None, "a" * 50, []
    caches.reset_all()
    first = get_signing_keys().public
    # Another host, or a release later: the derivation must never change.
    assert str(first[0]) == "ed25519:u98Cpj6loT16pVLnwbTrG/mF6nVqjHEQI60NFX7/ARI="
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "b" * 50, ["a" * 50]
    caches.reset_all()
    now = get_signing_keys().public
    assert now[1:] == first
    assert now[0] != first[0]
