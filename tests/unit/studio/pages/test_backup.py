"""The backup as a download: for admins who have shown who they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.common.errors import BackupRefused
from registry.common.rate_limits import RateLimited
from registry.models import AuditEvent
from registry.operations.backup import download
from registry.operations.backup.archive import check_archive
from tests.factories import publish
from tests.sessions import confirm_identity
from tests.unit.studio.conftest import PASSWORD, SignIn

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/settings/backup/"


def test_an_admin_gets_the_file(signed_in: SignIn, tmp_path: Path) -> None:
    publish()
    response = signed_in().post(URL, {"download": "yes"})
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    name = re.fullmatch(r'attachment; filename="(capability-studio-\w+\.zip)"', response["Content-Disposition"])
    assert name is not None
    assert "no-store" in response["Cache-Control"]
    copy = tmp_path / name[1]
    copy.write_bytes(response.getvalue())
    assert int(response["Content-Length"]) == copy.stat().st_size
    assert check_archive(copy).rows > 5
    assert AuditEvent.objects.get(verb="registry.backup").actor_name == "the-admin"


def test_a_wrong_password_gives_nothing(signed_in: SignIn) -> None:
    client = signed_in()
    confirm_identity(client, seconds_ago=3600)
    response = client.post(URL, {"download": "yes", "identity_password": "wrong"})
    assert response.status_code == 403
    assert b"Your password is incorrect." in response.content
    assert not AuditEvent.objects.filter(verb="registry.backup").exists()
    assert client.post(URL, {"download": "yes", "identity_password": PASSWORD}).getvalue().startswith(b"PK")


def test_too_many_downloads_and_a_full_disk_are_said(signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in()

    def refuse(**_: object) -> None:
        raise BackupRefused("The backup cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("studio.pages.views.backup.open_backup", refuse)
        response = client.post(URL, {"download": "yes"})
    assert (response.status_code, b"No space left on device" in response.content) == (409, True)
    monkeypatch.setattr(download, "_require_turn", _too_many)
    response = client.post(URL, {"download": "yes"})
    assert (response.status_code, response["Retry-After"]) == (429, "90")


def _too_many() -> None:
    raise RateLimited(90)


def test_the_page_names_the_secrets(signed_in: SignIn) -> None:
    page = signed_in().get(URL).content.decode()
    assert "A backup contains secrets." in page
    assert "Secrets of webhooks and sources" in page
