"""Letters to members, handed to a real server by the real worker."""

from __future__ import annotations

import email
import socket
import socketserver
import threading
from collections.abc import Iterator
from email.message import Message
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.sources import source_sync
from registry.access import operators, teams
from registry.catalog import drafts
from registry.catalog.integrity import find_defect, report_defect
from registry.common.actors import Actor
from registry.common.errors import SourceMisconfigured
from registry.models import AuditEvent, Job, Revision
from registry.notifications import email as mail
from registry.operations.worker import Worker
from registry.publishing import publication, quarantine, reviewers, reviews
from tests.factories import OLGA, bundle, damage, publish

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")
ADA = Actor("operator", "ada")
PASSWORD = "Correct-horse-battery-9"


class _Session(socketserver.StreamRequestHandler):
    """As much of SMTP as a client needs that hands in one letter after another."""

    def handle(self) -> None:
        self._say("220 here")
        envelope: dict[str, str] = {}
        while line := self.rfile.readline().decode().strip():
            verb = line.upper()
            if verb.startswith("MAIL FROM"):
                envelope = {"from": line[10:].strip("<> ").split(">")[0]}
            elif verb.startswith("RCPT TO"):
                envelope["to"] = line[8:].strip("<> ")
            if verb == "DATA":
                self._say("354 go on")
                self._take(envelope)
            if verb == "QUIT":
                self._say("221 bye")
                return
            self._say("250 fine")

    def _take(self, envelope: dict[str, str]) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        self.server.letters.append((envelope, email.message_from_bytes(b"".join(lines))))  # type: ignore[attr-defined]

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.letters: list[tuple[dict[str, str], Message]] = []


@pytest.fixture
def server(settings: Any) -> Iterator[_Server]:
    """A mail server, and settings that lead to it."""
    with _Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.PUBLIC_URL = "https://studio.example.com"
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def members() -> None:
    """One of each role with an address, and a publisher without."""
    for name, role in (("olga", "author"), ("paul", "publisher"), ("ada", "admin"), ("vera", "viewer")):
        operators.create_operator(username=name, password=PASSWORD, role=role, by=OLGA)
        operators.set_email(username=name, email=f"{name}@example.com", by=OLGA)
    operators.create_operator(username="pia", password=PASSWORD, role="publisher", by=OLGA)


def _ask() -> int:
    draft = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    note = "Bitte ansehen: „größer“"
    return int(reviews.request_review(capability_id="alpha", draft_version=draft.version, by=OLGA, note=note).pk)


def _arrived(server: _Server) -> list[tuple[str, str]]:
    """Who got what."""
    Worker().run_due()
    found = sorted((envelope["to"], str(letter["Subject"])) for envelope, letter in server.letters)
    server.letters.clear()
    return found


def test_who_may_decide_hears_of_a_review_and_the_asker_of_its_end(server: _Server) -> None:
    review_id = _ask()
    Worker().run_due()
    body = server.letters[0][1].get_payload(decode=True)
    assert isinstance(body, bytes)
    assert "„größer“" in body.decode()
    assert f"https://studio.example.com/reviews/{review_id}/" in body.decode()
    subject = "[Studio] Submitted for review: alpha"
    assert _arrived(server) == [("ada@example.com", subject), ("paul@example.com", subject)]
    reviews.request_changes(review_id=review_id, round_seen=1, by=PAUL, words="Shorter")
    assert _arrived(server) == [("olga@example.com", "[Studio] Changes requested: alpha")]
    reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="x")
    assert len(_arrived(server)) == 2
    reviews.approve(review_id=review_id, round_seen=2, by=PAUL)
    assert _arrived(server) == [("olga@example.com", "[Studio] Approved: alpha")]


def test_a_reviewer_who_is_asked_by_name_hears_of_it(server: _Server) -> None:
    review_id = _ask()
    Worker().run_due()
    server.letters.clear()
    reviewers.add_reviewer(review_id=review_id, username="paul", by=OLGA)
    reviewers.add_reviewer(review_id=review_id, username="pia", by=OLGA)
    reviewers.remove_reviewer(review_id=review_id, username="paul", by=OLGA)
    assert _arrived(server) == [("paul@example.com", "[Studio] Your review is requested: alpha")]


def _published_by_two() -> None:
    """Olga writes two revisions, Paul publishes the second."""
    publish()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Two."), based_on=None, by=OLGA)
    publication.publish_draft(capability_id="alpha", by=PAUL)


def test_an_author_hears_of_what_is_taken_from_readers(server: _Server) -> None:
    _published_by_two()
    publication.rollback(capability_id="alpha", to=1, by=PAUL, note="Wrong „total“")
    Worker().run_due()
    ((envelope, letter),) = server.letters
    body = letter.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert (envelope["to"], str(letter["Subject"])) == ("olga@example.com", "[Studio] Rolled back: alpha")
    assert "paul rolled 'alpha' back from revision 2 to revision 1:\r\n\r\nWrong „total“" in body.decode()
    assert "https://studio.example.com/capabilities/alpha/" in body.decode()
    server.letters.clear()
    quarantine.quarantine(capability_id="alpha", by=ADA, note="Leaks")
    subject = "[Studio] Quarantined: alpha"
    # Paul has published what readers had before.
    assert _arrived(server) == [("olga@example.com", subject), ("paul@example.com", subject)]


def test_the_team_that_owns_it_hears_of_it_and_who_did_it_does_not(server: _Server) -> None:
    _published_by_two()
    team = teams.create_team(name="Desk", by=ADA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=ADA)
    for name in ("vera", "paul"):
        teams.add_member(key=team.pk, username=name, by=ADA)
    publication.retire(capability_id="alpha", by=PAUL)
    subject = "[Studio] Retired: alpha"
    assert _arrived(server) == [("olga@example.com", subject), ("vera@example.com", subject)]


def test_who_wrote_what_readers_keep_hears_of_no_rollback(server: _Server) -> None:
    publish()
    publication.publish(files=bundle(body="Two."), by=PAUL)
    publication.publish(files=bundle(body="Three."), by=ADA)
    publication.rollback(capability_id="alpha", to=2, by=ADA)
    assert _arrived(server) == []
    publication.rollback(capability_id="alpha", to=1, by=ADA)
    assert _arrived(server) == [("paul@example.com", "[Studio] Rolled back: alpha")]


def test_a_publisher_who_asks_is_not_written_to(server: _Server) -> None:
    draft = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=PAUL)
    reviews.request_review(capability_id="alpha", draft_version=draft.version, by=PAUL, note="x")
    assert _arrived(server) == [("ada@example.com", "[Studio] Submitted for review: alpha")]


def test_an_incident_is_told_to_those_who_can_mend_it(server: _Server) -> None:
    publish()
    damage(Revision.objects.get(), skill_md="nothing")
    revision = Revision.objects.get()
    fault = find_defect(revision)
    assert fault is not None
    report_defect(revision, fault)
    subject = "[Studio] Incident: alpha"
    assert _arrived(server) == [("ada@example.com", subject), ("paul@example.com", subject)]
    report_defect(revision, fault)
    assert _arrived(server) == []


def test_a_source_that_cannot_be_read_is_told_once_to_those_who_can_mend_it(server: _Server) -> None:
    source = source_sync.add_git_source(spec="https://10.0.0.1/a", mode="draft", every_minutes=60, by=OLGA)
    for _ in range(2):
        with pytest.raises(SourceMisconfigured):
            source_sync.sync_source(source_id=source.pk, by=OLGA)
    Job.objects.filter(kind=source_sync.KIND).delete()
    Worker().run_due()
    body = server.letters[0][1].get_payload(decode=True)
    assert isinstance(body, bytes)
    assert f"https://studio.example.com/sources/{source.pk}/" in body.decode()
    subject = "[Studio] Source: https://10.0.0.1/a"
    assert _arrived(server) == [("ada@example.com", subject), ("paul@example.com", subject)]


@pytest.mark.both_databases
def test_a_server_that_is_away_is_asked_again(server: _Server, settings: Any) -> None:
    port = settings.EMAIL_PORT
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.EMAIL_PORT = closed.getsockname()[1]
    _ask()
    assert _arrived(server) == []
    assert set(Job.objects.filter(kind=mail.KIND).values_list("state", "attempts")) == {("queued", 1)}
    settings.EMAIL_PORT = port
    Job.objects.filter(kind=mail.KIND).update(run_after=timezone.now())
    assert len(_arrived(server)) == 2


def test_who_left_meanwhile_gets_nothing(server: _Server) -> None:
    _ask()
    operators.disable_operator(username="paul", by=OLGA)
    operators.set_email(username="ada", email="", by=OLGA)
    assert _arrived(server) == []
    assert set(Job.objects.filter(kind=mail.KIND).values_list("state", flat=True)) == {"done"}


def test_a_subject_stays_in_its_line(server: _Server) -> None:
    # The name of a capability cannot hold a line end; a row that was written behind our back can.
    row = AuditEvent(verb="incident.open", subject="a\r\nBcc: x@example.com", detail={"message": "m", "details": "d"})
    mail.on_audit_event(row)
    Worker().run_due()
    assert {letter["Bcc"] for _, letter in server.letters} == {None}
    assert len(server.letters) == 2


@pytest.mark.parametrize("address", ["x", "a@b@c", "a@example.com\nBcc: b@example.com"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidRequest):
        operators.set_email(username="olga", email=address, by=OLGA)
