"""Settings from pages: what an admin may choose, what a variable keeps, where a key goes, what is shown of a peer."""

from __future__ import annotations

import json
import smtplib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any, Final

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.serializers import serialize
from django.test import Client

from capability_client.evaluation.model_port import ModelFailed
from features.credentials.models import Credential
from features.evaluations.model_settings import get_model, is_model_set, list_models, open_model, price_of, tokens_left
from features.settings_pages import model_probe, settings_store
from features.settings_pages.settings_store import ModelChoice, SettingRefused
from registry.access.operators import create_operator
from registry.common import caches
from registry.common.actors import Actor
from registry.common.errors import Forbidden, SourceMisconfigured
from registry.common.net.ip_policy import Address
from registry.common.rate_limits import RateLimited
from registry.core import chosen_settings
from registry.models import AuditEvent, Operator, RegistryState, UnmatchedMessage
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import compare_rights
from registry.operations.rights.recorded import RecordedRights
from registry.usage import demand, usage_counters
from tests.factories import OLGA, publish
from tests.model_servers import model_server
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db
BY: Final = Actor("command_line", "root")
CANARY: Final = "sk-canaryCanaryCanary"
LOOPBACK: Final = (ip_network("127.0.0.0/8"),)
PUBLIC: Final = "https://models.example.com/v1"
LIST: Final = "/api/v1/capability_registry_list"


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are not looked up: those of example.com are public ones."""
    from ipaddress import ip_address

    def resolve(host: str, port: int, seconds: float) -> list[Address]:
        return [ip_address("127.0.0.1" if host == "127.0.0.1" else "93.184.216.34")]

    monkeypatch.setattr("registry.common.net.guarded_client.resolve", resolve)


def choose(**more: Any) -> None:
    given: dict[str, Any] = {"url": PUBLIC, "names": ["small"], "key": CANARY}
    settings_store.choose_model(choice=ModelChoice(**given | more), by=BY)


@contextmanager
def lister(status: int, body: bytes, headers: dict[str, str] | None = None) -> Iterator[tuple[str, list[Any]]]:
    """A server with one answer; its address, and the headers of what was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, dict(self.headers)))
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def test_a_model_of_the_page_is_what_is_asked() -> None:
    choose(names=["small", "large", "small"], price=(1.0, 2.0), tokens_a_day=500)
    assert list_models() == ["small", "large"]
    found = get_model("large")
    assert (found.url, found.name, found.kind, found.api_key) == (PUBLIC, "large", "openai", CANARY)
    assert price_of(1_000_000, 1_000_000) == 3.0
    assert tokens_left("operator:olga") == 500
    choose(url="", key="")
    assert not is_model_set()
    assert Credential.objects.get().ended_at is not None


def test_the_key_is_in_no_row_and_no_audit_event() -> None:
    choose()
    rows = [*RegistryState.objects.all(), *Credential.objects.all(), *AuditEvent.objects.all()]
    assert CANARY not in serialize("json", rows)
    event = AuditEvent.objects.get(verb="settings.model")
    assert event.detail["key"] == "replaced"
    assert event.detail["after"]["MODEL_URL"] == PUBLIC
    choose(key="")
    assert AuditEvent.objects.filter(verb="settings.model").count() == 1


def test_another_address_needs_the_key_again() -> None:
    choose()
    with pytest.raises(SettingRefused) as refused:
        choose(url="https://other.example.com/v1", key="")
    assert refused.value.field == "key"
    assert get_model("small").url == PUBLIC
    choose(url="https://other.example.com/v1", key="another-key")
    assert get_model("small").api_key == "another-key"
    assert Credential.objects.filter(ended_at__isnull=True).count() == 1
    choose(url=PUBLIC, key="", needs_no_key=True)
    assert get_model("small").api_key == ""
    assert not Credential.objects.filter(ended_at__isnull=True).exists()


def test_a_key_that_was_ended_stops_what_needs_it() -> None:
    from features.credentials import credential_store

    choose()
    credential_store.end_credential(name=Credential.objects.get().name, by=BY)
    with pytest.raises(SourceMisconfigured, match="ended"):
        get_model("small")
    assert model_probe.probe_model(by=BY).state == "key_unusable"


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({"url": "ftp://models.example.com"}, "url"),
        ({"url": "https://name:word@models.example.com/v1"}, "url"),
        ({"url": "https://models.example.com/v1?key=1"}, "url"),
        ({"url": "http://models.example.com/v1", "key": ""}, "url"),
        ({"url": "http://models.example.com/v1"}, "key"),
        ({"url": "http://127.0.0.1:11434/v1", "key": ""}, "url"),
        ({"url": "https://127.0.0.1/v1"}, "url"),
        ({"kind": "other"}, "kind"),
        ({"names": ["n" * 81]}, "names"),
        ({"names": [str(n) for n in range(21)]}, "names"),
        ({"key": "two\nlines"}, "key"),
    ],
)
def test_what_may_not_be_chosen_names_its_field(broken: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingRefused) as refused:
        choose(**broken)
    assert refused.value.field == field
    assert "_NETWORKS" not in refused.value.message
    assert RegistryState.objects.filter(chosen_settings__isnull=False).count() == 0
    assert Credential.objects.count() == 0


def test_admins_alone_choose() -> None:
    create_operator(username="pub", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    for by in (Actor("operator", "pub"), Actor("agent_key", "ci")):
        with pytest.raises(Forbidden):
            settings_store.choose_model(choice=ModelChoice(url=PUBLIC), by=by)
        with pytest.raises(Forbidden):
            settings_store.choose_data(public_read=False, by=by)


def test_the_variable_of_a_model_wins_with_kind_names_and_key(settings: Any) -> None:
    choose()
    settings.MODEL_URL, settings.MODEL_NAMES, settings.MODEL_API_KEY = "http://here.example/v1", ("own",), "own-key"
    settings.SET_BY_SERVER = frozenset({"MODEL_URL", "MODEL_NAMES", "MODEL_API_KEY"})
    assert (get_model("own").url, get_model("own").api_key, list_models()) == (settings.MODEL_URL, "own-key", ["own"])
    choose(url="https://other.example.com/v1", key="another-key")
    assert Credential.objects.count() == 1
    # Without the address the variable's key goes nowhere.
    settings.MODEL_URL, settings.SET_BY_SERVER = None, frozenset({"MODEL_API_KEY"})
    assert (get_model("small").url, get_model("small").api_key) == (PUBLIC, CANARY)


def test_requests_go_to_networks_that_are_named(settings: Any) -> None:
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    with model_server("openai", lambda _body: ("Hello.", [])) as server:
        choose(url=server.url, key="", needs_no_key=True)
        assert open_model("small").ask("task", "text") == "Hello."
        settings.MODEL_ALLOWED_NETWORKS = ()
        with pytest.raises(ModelFailed):
            open_model("small").ask("task", "text")
        assert len(server.bodies) == 1
    choose(url="", key="")


def test_a_probe_answers_with_status_and_names_alone(settings: Any) -> None:
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    names = ["llama3.2:latest", "org/model-1", "<b>x</b>", "n" * 90, 7, "llama3.2:latest", "two\nlines"]
    body = json.dumps({"data": [{"id": name} for name in names], "secret": "canary body"}).encode()
    with lister(200, body) as (url, asked):
        choose(url=url, key="", needs_no_key=True)
        found = model_probe.probe_model(by=BY)
        assert (found.state, found.status, found.names) == ("models", 200, ("llama3.2:latest", "org/model-1"))
        assert asked[0][0] == "/v1/models"
        assert "Authorization" not in asked[0][1]


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [
        (401, b"canary", "refused"),
        (302, b"", "refused"),
        (200, b"canary", "no_list"),
        (200, b'{"data": {"id": 1}}', "no_list"),
        (200, b"\xff", "no_list"),
        (200, b'{"data": [1]}', "no_list"),
    ],
)
def test_other_answers_are_a_state(settings: Any, status: int, body: bytes, state: str) -> None:
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    with lister(status, body, {"Location": "http://127.0.0.1:1/"} if status == 302 else None) as (url, asked):
        choose(url=url, key="", needs_no_key=True)
        found = model_probe.probe_model(by=BY)
        assert (found.state, found.status, found.names, len(asked)) == (state, status, (), 1)


def test_a_probe_reaches_no_other_network_and_has_a_limit(settings: Any) -> None:
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    with lister(200, b"{}") as (url, asked):
        choose(url=url, key="", needs_no_key=True)
        settings.MODEL_ALLOWED_NETWORKS = ()
        assert model_probe.probe_model(by=BY).state == "address"
        assert not asked
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    assert model_probe.probe_model(by=BY).state == "unreachable"
    for _ in range(model_probe.TRIES_A_MINUTE - 2):
        model_probe.probe_model(by=BY)
    with pytest.raises(RateLimited):
        model_probe.probe_model(by=BY)


def test_reads_without_a_key_are_closed_and_opened(client: Client, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True
    publish()
    assert client.get(LIST).status_code == 200
    settings_store.choose_data(public_read=False, by=BY)
    assert client.get(LIST).status_code == 401
    assert AuditEvent.objects.get(verb="settings.data").detail["after"] == {"AGENT_API_PUBLIC_READ": False}
    settings_store.choose_data(public_read=True, by=BY)
    assert client.get(LIST).status_code == 200


def test_a_variable_is_never_widened(client: Client, settings: Any) -> None:
    publish()
    settings.AGENT_API_PUBLIC_READ = False
    settings_store.choose_data(public_read=True, by=BY)
    assert client.get(LIST).status_code == 200
    settings.SET_BY_SERVER = frozenset({"AGENT_API_PUBLIC_READ"})
    assert client.get(LIST).status_code == 401
    with pytest.raises(SettingRefused):
        settings_store.choose_data(public_read=True, by=BY)
    settings.AGENT_API_PUBLIC_READ = True
    settings_store.choose_data(public_read=False, by=BY)
    assert client.get(LIST).status_code == 401


def test_a_process_without_a_watcher_reads_again_after_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("registry.core.chosen_settings.time.monotonic", lambda: now[0])
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 0
    RegistryState.objects.update_or_create(id=1, defaults={"chosen_settings": {"KEEP_UNMATCHED_DAYS": 7}})
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 0
    now[0] += chosen_settings.FRESH_SECONDS + 0.1
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 7
    caches.reset_all()
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 7


def test_messages_are_kept_by_a_choice_and_forgotten_by_another(settings: Any) -> None:
    def say(message: str) -> None:
        usage_counters.count_unmatched(message=message, decision="none")
        usage_counters.flush()

    say("tune my cello")
    assert UnmatchedMessage.objects.count() == 0
    settings_store.choose_data(keep_days=7, by=BY)
    say("tune my cello, jo@example.com")
    assert UnmatchedMessage.objects.get().text == "tune my cello, [address]"
    settings_store.choose_data(keep_days=0, by=BY)
    demand.prune_messages(None)()  # type: ignore[arg-type]
    assert UnmatchedMessage.objects.count() == 0
    with pytest.raises(SettingRefused):
        settings_store.choose_data(keep_days=366, by=BY)
    settings.SET_BY_SERVER, settings.KEEP_UNMATCHED_DAYS = frozenset({"KEEP_UNMATCHED_DAYS"}), 3
    settings_store.choose_data(keep_days=9, by=BY)
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 3


def test_an_admin_connects_a_model(signed_in: SignIn, settings: Any) -> None:
    client = signed_in("admin")
    settings.MODEL_ALLOWED_NETWORKS = LOOPBACK
    body = json.dumps({"data": [{"id": "llama3.2"}], "note": "canary body"}).encode()
    with lister(200, body) as (url, _asked):
        form = form_with(client.get("/settings/model/"), "Save model")
        assert form.submit(client, url=f"{url}/", needs_no_key="on").status_code == 302
        page = form_with(client.get("/settings/model/"), "Test connection").submit(client)
        assert 'data-probe="models"' in page.content.decode()
        assert "canary" not in page.content.decode()
        form = form_with(page, "Save model")
        assert form.values["names"] == "llama3.2"
        assert form.submit(client).status_code == 302
    assert list_models() == ["llama3.2"]


def test_what_the_server_sets_has_no_field(signed_in: SignIn, settings: Any) -> None:
    client = signed_in("admin")
    settings.MODEL_URL, settings.MODEL_NAMES = "http://127.0.0.1:1/v1", ("own",)
    settings.AGENT_API_PUBLIC_READ = False
    settings.SET_BY_SERVER = frozenset({"MODEL_URL", "MODEL_NAMES", "KEEP_UNMATCHED_DAYS", "AGENT_API_PUBLIC_READ"})
    for address, fields in (
        ("/settings/model/", ("url", "names", "key")),
        ("/settings/data/", ("keeps", "public_read")),
    ):
        page = client.get(address).content.decode()
        assert "data-set-by-server" in page
        assert not [name for name in fields if f'name="{name}"' in page]


def test_a_refused_value_stands_beside_its_field(signed_in: SignIn) -> None:
    client = signed_in("admin")
    form = form_with(client.get("/settings/model/"), "Save model")
    page = form.submit(client, url="http://127.0.0.1:11434/v1", key="")
    assert page.status_code == 400
    assert 'id="id_url_error"' in page.content.decode()
    assert form.submit(client, url=PUBLIC, key=CANARY, price_read="1").status_code == 400


def test_data_is_chosen_on_its_page(signed_in: SignIn) -> None:
    client = signed_in("admin")
    form = form_with(client.get("/settings/data/"), "Save")
    assert (
        form.submit(client, keeps="on", keep_days="14", keeps_conversations="on", public_read="no").status_code == 302
    )
    assert chosen_settings.get_setting("KEEP_UNMATCHED_DAYS") == 14
    assert chosen_settings.get_setting("KEEP_CONVERSATIONS") is True
    assert not chosen_settings.is_public_read()
    assert "[address]" in client.get("/settings/data/").content.decode()


def test_a_test_mail_goes_to_whoever_asks(signed_in: SignIn, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in("admin")
    Operator.objects.update(email="admin@example.com")
    assert "Send test mail" in client.get("/settings/mail/").content.decode()
    client.post("/settings/mail/test/")
    assert [message.to for message in mail.outbox] == [["admin@example.com"]]

    def refuse(_message: EmailMessage) -> int:
        raise smtplib.SMTPAuthenticationError(535, b"canary")

    monkeypatch.setattr(EmailMessage, "send", refuse)
    assert "canary" not in client.post("/settings/mail/test/", follow=True).content.decode()
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "Send test mail" not in client.get("/settings/mail/").content.decode()


def test_a_choice_that_no_row_of_the_log_accounts_for_is_found() -> None:
    def differences() -> list[tuple[str, str]]:
        recorded = RecordedRights()
        for row in AuditEvent.objects.order_by("id").values():
            recorded.apply(row)
        return [(one.code, one.what) for one in compare_rights(read_stored, recorded) if one.table == "registrystate"]

    settings_store.choose_data(public_read=False, keep_days=3, by=BY)
    choose()
    choose(url="", key="")
    assert differences() == []
    for chosen in ({}, {"AGENT_API_PUBLIC_READ": True}, {"AGENT_API_PUBLIC_READ": False, "KEEP_CONVERSATIONS": True}):
        RegistryState.objects.update(chosen_settings=chosen)
        assert len(differences()) == 1, chosen
