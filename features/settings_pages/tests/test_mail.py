"""The mail server of a page: what may be chosen, where its password goes, and that every e-mail goes through it."""

from __future__ import annotations

import smtplib
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any, Final

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.serializers import serialize

from features.credentials.models import Credential
from features.settings_pages import mail_connection, mail_test, settings_store
from features.settings_pages.settings_store import MailChoice, SettingRefused
from registry.access.operators import create_operator, set_email
from registry.common.actors import Actor
from registry.common.errors import Forbidden, SourceMisconfigured
from registry.core.jobs import queue
from registry.models import AuditEvent, Operator, RegistryState
from registry.notifications import email
from registry.notifications.mail_connection import open_connection
from tests.factories import OLGA
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db
BY: Final = Actor("command_line", "root")
CANARY: Final = "canary-password"
BACKEND: Final = "registry.notifications.mail_connection.open_connection"


class LoopbackMail:
    """A server on loopback that takes what it is given, without encryption; `commands` are what came."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.commands: list[str] = []
        self.offers = ""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _address = self.socket.accept()
            except OSError:
                return
            with peer, peer.makefile("rwb") as stream:
                self._talk(stream)

    def _talk(self, stream: Any) -> None:
        def say(text: str) -> None:
            stream.write(text.encode() + b"\r\n")
            stream.flush()

        say("220 here")
        for raw in stream:
            line = raw.decode().strip()
            self.commands.append(line)
            if line.startswith("ehlo"):
                say(f"250-here{self.offers}\r\n250 8BITMIME")
            elif line == "data":
                say("354 go on")
                while (part := stream.readline()) != b".\r\n":
                    self.commands.append(part.decode().strip())
                say("250 taken")
            else:
                say("221 bye" if line == "quit" else "250 ok")


@pytest.fixture
def server(settings: Any) -> Iterator[LoopbackMail]:
    settings.EMAIL_BACKEND, settings.EMAIL_ALLOWED_NETWORKS = BACKEND, (ip_network("127.0.0.0/8"),)
    found = LoopbackMail()
    yield found
    found.socket.close()


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are not looked up: those of example.com are public ones."""
    from ipaddress import ip_address

    def resolve(host: str, port: int, seconds: float) -> list[Any]:
        return [ip_address(host if host[0].isdigit() else "93.184.216.34")]

    monkeypatch.setattr("registry.common.net.guarded_client.resolve", resolve)


def choose(**more: Any) -> None:
    given = {"host": "smtp.example.com", "user": "studio", "password": CANARY, "sender": "Studio <s@example.com>"}
    settings_store.choose_mail(choice=MailChoice(**(given | more)), by=BY)


def choose_local(server: LoopbackMail, **more: Any) -> None:
    given = {"host": "127.0.0.1", "port": server.port, "encryption": "none", "user": "", "password": ""}
    choose(**(given | more))


def test_every_email_of_the_product_goes_through_it(server: LoopbackMail) -> None:
    choose_local(server)
    create_operator(username="vera", password="Correct-horse-battery-9", role="viewer", by=OLGA)
    set_email(username="vera", email="vera@example.com", by=OLGA)
    letter = {"operator_id": Operator.objects.get(username="vera").pk, "subject": "News", "words": "Read", "path": "/"}
    queue.enqueue(email.KIND, letter)
    while queue.run_next_job() is not None:
        pass
    assert "From: Studio <s@example.com>" in server.commands
    assert "rcpt TO:<vera@example.com>" in server.commands
    assert mail_test.has_mail_server()
    assert mail.get_connection().host == "127.0.0.1"  # type: ignore[attr-defined]


def test_without_a_choice_emails_are_printed(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.EMAIL_BACKEND = BACKEND
    EmailMessage(subject="News", body="Read", to=["vera@example.com"]).send()
    assert "Subject: News" in capsys.readouterr().out
    assert not mail_test.has_mail_server()


def test_the_password_is_in_no_row_and_no_audit_event() -> None:
    choose()
    rows = [*RegistryState.objects.all(), *Credential.objects.all(), *AuditEvent.objects.all()]
    assert CANARY not in serialize("json", rows)
    event = AuditEvent.objects.get(verb="settings.mail")
    assert event.detail["key"] == "replaced"
    assert event.detail["after"]["EMAIL_URL"]["host"] == "smtp.example.com"
    opened = mail_connection.open_connection()
    assert opened is not None
    assert (opened.username, opened.password, opened.use_tls, opened.port) == ("studio", CANARY, True, 587)
    choose(host="")
    assert mail_connection.open_connection() is None
    assert Credential.objects.get().ended_at is not None


@pytest.mark.parametrize(
    "changed", [{"host": "other.example.com"}, {"port": 25}, {"user": "root"}, {"encryption": "tls"}]
)
def test_another_server_needs_the_password_again(changed: dict[str, Any]) -> None:
    choose()
    with pytest.raises(SettingRefused) as refused:
        choose(**changed, password="")
    assert refused.value.field == "password"
    choose(sender="Other <o@example.com>", password="")
    assert mail_connection.open_connection().password == CANARY  # type: ignore[union-attr]
    choose(**changed, password="another")
    assert mail_connection.open_connection().password == "another"  # type: ignore[union-attr]
    assert Credential.objects.filter(ended_at__isnull=True).count() == 1
    choose(**(changed | {"user": ""}), password="")
    assert not Credential.objects.filter(ended_at__isnull=True).exists()


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({"host": "smtp.example.com/x"}, "host"),
        ({"host": "name@smtp.example.com"}, "host"),
        ({"port": 0}, "host"),
        ({"host": "127.0.0.1"}, "host"),
        ({"host": "169.254.169.254"}, "host"),
        ({"encryption": "none", "user": "", "password": ""}, "host"),
        ({"encryption": "none"}, "encryption"),
        ({"encryption": "odd"}, "encryption"),
        ({"password": ""}, "password"),
        ({"password": "two\nlines"}, "password"),
    ],
)
def test_what_may_not_be_chosen_names_its_field(broken: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingRefused) as refused:
        choose(**broken)
    assert refused.value.field == field
    assert "_NETWORKS" not in refused.value.message
    assert not RegistryState.objects.filter(chosen_settings__isnull=False).exists()


def test_an_address_that_moves_inside_is_not_connected_to(server: LoopbackMail, settings: Any) -> None:
    choose_local(server)
    settings.EMAIL_ALLOWED_NETWORKS = ()
    with pytest.raises(OSError, match="EMAIL_ALLOWED_NETWORKS"):
        EmailMessage(subject="News", body="Read", to=["vera@example.com"]).send()
    assert server.commands == []


def test_encryption_that_was_chosen_is_never_left_out(server: LoopbackMail) -> None:
    choose_local(server, encryption="starttls", user="studio", password=CANARY)
    connection = mail.get_connection()
    with pytest.raises(smtplib.SMTPNotSupportedError):
        connection.send_messages([EmailMessage(subject="News", body="Read", to=["vera@example.com"])])
    connection.close()
    assert not [one for one in server.commands if not one.startswith(("ehlo", "quit"))]


def test_a_password_that_was_ended_stops_emails(signed_in: SignIn, settings: Any) -> None:
    from features.credentials import credential_store

    settings.EMAIL_BACKEND = BACKEND
    choose()
    credential_store.end_credential(name=Credential.objects.get().name, by=BY)
    with pytest.raises(SourceMisconfigured, match="ended"):
        open_connection()
    signed_in("admin")
    Operator.objects.update(email="admin@example.com")
    assert mail_test.send_test(by=Actor("operator", "the-admin")) == "password_unusable"


def test_variables_win(signed_in: SignIn, settings: Any) -> None:
    choose()
    settings.SET_BY_SERVER = frozenset({"EMAIL_URL", "EMAIL_FROM"})
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "own.example.com"
    page = signed_in("admin").get("/settings/mail/").content.decode()
    assert "own.example.com" in page
    assert page.count("data-set-by-server") == 2
    assert 'name="host"' not in page
    assert 'name="sender"' not in page
    choose(host="other.example.com", password="another", sender="x@example.com")
    assert Credential.objects.count() == 1
    assert mail.get_connection().host == "own.example.com"  # type: ignore[attr-defined]


def test_admins_alone_choose() -> None:
    create_operator(username="pub", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    for by in (Actor("operator", "pub"), Actor("agent_key", "ci")):
        with pytest.raises(Forbidden):
            settings_store.choose_mail(choice=MailChoice(), by=by)


def test_an_admin_sets_it_and_sends_a_test(signed_in: SignIn, server: LoopbackMail) -> None:
    client = signed_in("admin")
    Operator.objects.update(email="admin@example.com")
    form = form_with(client.get("/settings/mail/"), "Save")
    page = form.submit(client, host="127.0.0.1", port=str(server.port), encryption="starttls", user="x", password="")
    assert (page.status_code, 'id="id_password_error"' in page.content.decode()) == (400, True)
    refused = form.submit(client, host="127.0.0.1", port="25", encryption="none", sender="nobody")
    assert 'id="id_sender_error"' in refused.content.decode()
    sent = form.submit(client, host="127.0.0.1", port=str(server.port), encryption="none", sender="S <s@example.com>")
    assert sent.status_code == 302
    form_with(client.get("/settings/mail/"), "Send test mail").submit(client)
    assert "From: S <s@example.com>" in server.commands
    assert "To: admin@example.com" in server.commands
