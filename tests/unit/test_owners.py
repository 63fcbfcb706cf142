"""Whose a row is: who may read, change and end it, by every door (docs/contract.md 3.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from features.acceptances import waiver_store
from features.acceptances.models import Acceptance
from features.credentials import credential_store
from features.evaluations import case_store, rules
from features.evaluations.models import EvaluationRun, SavedCase
from features.oauth import connections
from features.oauth.clients import register_client
from features.oauth.models import Connection
from features.playground.models import PlaygroundChat, PlaygroundStep
from features.sets import set_store
from features.sources import source_sync
from features.sources.models import GitSource
from features.tool_sources import adoption, source_store, takeover, watch
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.models import ToolSource
from features.tool_sources.tests.pet_store import CREATE, LIST, content
from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from registry.access import agent_keys, operators, teams
from registry.authoring.capability_creation import CapabilitySpec
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.core.queries import get_capability
from registry.matching import skill_groups
from registry.models import AgentKey, AuditEvent, Operator, Proposal, Review, ScheduledRelease
from registry.publishing import proposals, publication, reviews, scheduled_releases
from registry.publishing.scan_results import store_scan_results
from tests.factories import DOUBT, OLGA, agent_key, bundle
from tests.sessions import confirm_identity
from tests.sweeps import check_each, rolled_back
from tests.unit.studio import forms

pytestmark = pytest.mark.django_db

# `pets` and the group `health` are of the team Pets. Of the people, all but the admin are publishers: `member` is in
# that team and asked for the review, `outsider` is in another one, and `maker`, who made the source of tools and the
# chat, in none. Of the keys, `ci` has no limit, `team_key` that of the team, and `other_key` that of the other one.
PEOPLE: Final = ("admin", "member", "outsider", "maker")
KEYS: Final = ("ci", "team_key", "other_key")
CONTRACT: Final = Path(settings.BASE_DIR) / "docs" / "contract.md"
LIMITS: Final[dict[str, dict[str, Any]]] = {"ci": {}, "team_key": {"team": "Pets"}, "other_key": {"team": "Others"}}
DEEDS: Final = ("read", "change", "end")
MAKER: Final = Actor("operator", "maker")
# The words of the table for these callers.
ANYONE: Final = frozenset((*PEOPLE, *KEYS))
TEAM: Final = frozenset(("admin", "member", "ci", "team_key"))
ADMIN: Final = frozenset(("admin",))
MAKER_ALONE: Final = frozenset(("maker",))
WHO: Final = {
    "anyone": ANYONE,
    "the team": TEAM,
    "its maker, the team": TEAM | MAKER_ALONE,
    "its author, admins": ADMIN | {"member"},
    "the team but who sent it, no key": ADMIN,
    "its member": MAKER_ALONE,
    "its member, admins": MAKER_ALONE | ADMIN,
    "admins": ADMIN,
    "-": frozenset[str](),
}
Call = Callable[[Client], Any]


@dataclass(frozen=True)
class Doors:
    """How a row is read, changed and ended on a page; `api` are the same by an operation and its body."""

    read: Call | None = None
    change: Call | None = None
    end: Call | None = None
    api: Mapping[str, tuple[str, Callable[[], dict[str, Any]]]] = field(default_factory=dict)


def get(address: Callable[[], str]) -> Call:
    return lambda client: client.get(address())


def post(address: Callable[[], str], sent: Callable[[], dict[str, Any]] = dict) -> Call:
    return lambda client: client.post(address(), sent())


def confirm(address: Callable[[], str], **about: Callable[[], Any]) -> Call:
    """Open the page that asks, and press its button; where it asks nothing, or refuses, send it all the same."""

    def send(client: Client) -> Any:
        sent = {name: value() for name, value in about.items()}
        asked = client.get(address(), sent)
        return forms.confirm(client, asked) if asked.status_code == 200 else client.post(address(), sent)

    return send


def number(model: type[Model]) -> Any:
    return model._default_manager.get().pk


def at(pattern: str, model: type[Model]) -> Callable[[], str]:
    return lambda: pattern.format(number(model))


def newer() -> bytes:
    return content(required=["name", "kind"])


def edited() -> dict[str, str]:
    files = dict(drafts.editable_files(get_capability("pets"))[0])
    return files | {"skill.md": files["skill.md"] + "\nBe brief.\n"}


def draft_form() -> dict[str, Any]:
    sent = {"skill_md": edited()["skill.md"], "only_changed": "yes"}
    return sent | {"based_on": str(drafts.get_draft("pets").version)}


def of_source(**more: Any) -> dict[str, Any]:
    return {"source_id": number(ToolSource), **more}


def waiver() -> Acceptance:
    return Acceptance.waivers.get()


def decide(**more: str) -> dict[str, Any]:
    return {"chosen": Acceptance.passages.get().key, "note": "It quotes our policy.", **more}


def later() -> str:
    return (timezone.now() + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M")


def take_over(client: Client) -> Any:
    seen = takeover.plan_takeover("pets", "create_pet").seen
    return client.post(f"{PETS}tools/take-over/create_pet/", {"seen": seen})


def desk(name: str = "Desk") -> dict[str, Any]:
    return {"set_id": "desk", "name": name, "description": "Pets.", "members": [{"capability_id": "pets"}]}


PETS: Final = "/capabilities/pets/"
DOORS: Final[dict[str, Doors]] = {
    "draft": Doors(
        change=post(lambda: f"{PETS}draft/save/", draft_form),
        end=confirm(lambda: f"{PETS}draft/discard/", draft_version=lambda: drafts.get_draft("pets").version),
        api={
            "read": ("GET draft_get", lambda: {"capability_id": "pets"}),
            "change": ("draft_save", lambda: {
                "capability_id": "pets", "files": edited(), "based_on": drafts.get_draft("pets").version,
            }),
        },
    ),
    "tool source": Doors(
        read=get(at("/tool-sources/{}/", ToolSource)),
        change=post(at("/tool-sources/{}/check/", ToolSource),
                    lambda: {"document": SimpleUploadedFile("a.json", newer())}),
        end=confirm(at("/tool-sources/{}/remove/", ToolSource)),
        api={"change": ("tool_source_check", lambda: of_source(document=newer().decode()))},
    ),
    "tool of a source": Doors(
        read=get(lambda: f"{PETS}tools/export/"),
        change=take_over,
    ),
    "evaluation case": Doors(
        read=get(lambda: f"{PETS}evaluations/"),
        change=post(at(f"{PETS}evaluations/cases/{{}}/", SavedCase), lambda: {"name": "other", "messages": "hello"}),
        end=confirm(at(f"{PETS}evaluations/cases/{{}}/delete/", SavedCase)),
    ),
    "evaluation run": Doors(
        read=get(at(f"{PETS}evaluations/runs/{{}}/", EvaluationRun)),
        change=post(lambda: f"{PETS}evaluations/start/", lambda: {"side": "without", "model": "small"}),
        end=post(at(f"{PETS}evaluations/runs/{{}}/cancel/", EvaluationRun)),
    ),
    "evaluation rule": Doors(
        read=get(lambda: "/settings/publishing/"),
        change=post(lambda: "/settings/publishing/evaluations/", lambda: {"group_id": "health", "share": "70"}),
        end=confirm(lambda: "/settings/publishing/evaluations/drop/", group_id=lambda: "health"),
    ),
    "chat": Doors(
        read=get(at("/playground/{}/", PlaygroundChat)),
        change=post(at("/playground/{}/", PlaygroundChat), lambda: {"do": "stop"}),
        end=confirm(at("/playground/{}/delete/", PlaygroundChat)),
    ),
    "waiver": Doors(
        end=confirm(lambda: f"{PETS}waivers/end/", waiver=lambda: waiver().pk),
        api={
            "read": ("GET waiver_list", lambda: {"capability_id": "pets"}),
            "end": ("waiver_end", lambda: {"capability_id": "pets", "waiver_id": waiver().pk}),
        },
    ),
    "held passage": Doors(
        read=get(lambda: f"{PETS}decisions/"),
        change=post(lambda: f"{PETS}decisions/", decide),
        end=post(lambda: f"{PETS}decisions/", lambda: decide(deed="decline")),
    ),
    "followed source": Doors(
        read=get(at("/sources/{}/", GitSource)),
        change=post(at("/sources/{}/change/", GitSource), lambda: {"mode": "draft", "every_minutes": "90"}),
        end=confirm(at("/sources/{}/remove/", GitSource)),
    ),
    "review": Doors(
        read=get(at("/reviews/{}/", Review)),
        change=post(at("/reviews/{}/reviewers/add/", Review), lambda: {"username": "admin"}),
        end=confirm(at("/reviews/{}/withdraw/", Review)),
    ),
    "scheduled release": Doors(
        read=get(lambda: "/releases/"),
        change=post(lambda: "/releases/change/", lambda: {"release": number(ScheduledRelease), "due_at": later()}),
        end=confirm(lambda: "/releases/cancel/", release=lambda: number(ScheduledRelease)),
    ),
    "proposal": Doors(
        read=get(lambda: f"/proposals/{Proposal.objects.get().proposal_id}/"),
        change=confirm(lambda: f"/proposals/{Proposal.objects.get().proposal_id}/accept/"),
        end=confirm(lambda: f"/proposals/{Proposal.objects.get().proposal_id}/decline/", note=lambda: "No."),
    ),
    "skill group": Doors(
        read=get(lambda: "/skill-groups/health/"),
        change=post(lambda: "/skill-groups/health/save/", lambda: {"name": "Health", "description": "Other words."}),
        end=confirm(lambda: "/skill-groups/health/remove/"),
    ),
    "set": Doors(
        read=get(lambda: "/sets/desk/"),
        change=post(lambda: "/sets/desk/pin/", lambda: {"capability_id": "pets", "pin": "1"}),
        end=confirm(lambda: "/sets/desk/delete/"),
        api={
            "read": ("GET set_export", lambda: {"set_id": "desk"}),
            "change": ("set_save", lambda: desk(name="Other")),
            "end": ("set_delete", lambda: {"set_id": "desk"}),
        },
    ),
    "credential": Doors(
        read=get(lambda: "/credentials/"),
        change=post(lambda: "/credentials/replace/", lambda: {"name": "token", "secret": "another"}),
        end=confirm(lambda: "/credentials/end/", name=lambda: "token"),
    ),
    "agent key": Doors(
        read=lambda client: client.get(f"/keys/{AgentKey.objects.get(name='spare').pk}/"),
        end=confirm(lambda: "/keys/revoke/", name=lambda: "spare"),
    ),
    "connection": Doors(
        read=lambda client: client.get("/connections/end/", {"key": number(Connection)}),
        end=confirm(lambda: "/connections/end/", key=lambda: number(Connection)),
    ),
    "webhook": Doors(
        read=get(at("/webhooks/{}/", Webhook)),
        change=confirm(at("/webhooks/{}/disable/", Webhook)),
        end=confirm(at("/webhooks/{}/delete/", Webhook)),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def furnished(settings: Any) -> None:
    """One row of each kind, of the team Pets, which the source has changed since."""
    settings.MODEL_URL, settings.MODEL_NAMES = "http://127.0.0.1:1", ("small",)
    for name in PEOPLE:
        role = "admin" if name == "admin" else "publisher"
        operators.create_operator(username=name, password="Correct-horse-battery-9", role=role, by=OLGA)
    mine, others = teams.create_team(name="Pets", by=OLGA), teams.create_team(name="Others", by=OLGA)
    teams.add_member(key=mine.pk, username="member", by=OLGA)
    teams.add_member(key=others.pk, username="outsider", by=OLGA)
    source = source_store.add_document(content=content(), by=MAKER)
    wish = CapabilitySpec("pets", "Pets", "Looks pets up and adds new ones.", triggers=("find a pet",))
    chosen = [ToolChoice(LIST), ToolChoice(CREATE)]
    adoption.create_capability(source_id=source.pk, chosen=chosen, wish=wish, by=MAKER)
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    drafts.save_draft(capability_id="pets", files=edited(), based_on=None, by=MAKER)
    watch.check_source(source_id=source.pk, by=MAKER, content=content(required=[]))
    _store_rows()
    teams.set_owning_team(capability_id="pets", key=mine.pk, by=OLGA)
    skill_groups.set_group(group_id="health", team="Pets", by=Actor("command_line", "olga"))


def _store_rows() -> None:
    pets = get_capability("pets")
    case_store.save_case(capability=pets, document={"name": "greets", "messages": ["hello"]}, by=MAKER)
    EvaluationRun.objects.create(capability=pets, side="without", model="small", total=1, created_by=str(MAKER))
    rules.set_rule(group_id="health", share=80, by=OLGA)
    chat = PlaygroundChat.objects.create(created_by="maker", model="small")
    PlaygroundStep.objects.create(chat=chat, number=1, kind="message", content={"text": "a pet"})
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": [{}]}]}
    by = Actor("command_line", "olga")
    store_scan_results(capability_id="pets", log=log, by=by)
    until = timezone.now().date() + timedelta(days=9)
    waived: dict[str, Any] = {"code": "SCAN_RESULT", "place": "capability.json", "reason": "Fine.", "until": until}
    waiver_store.create_waiver(capability_id="pets", by=by, **waived)
    source_sync.add_git_source(spec="https://git.example/skills", mode="draft", every_minutes=60, by=OLGA)
    version = drafts.get_draft("pets").version
    reviews.request_review(capability_id="pets", draft_version=version, by=Actor("operator", "member"), note="Please.")
    asked: dict[str, Any] = {
        "capability_id": "pets",
        "draft_version": version,
        "due_at": timezone.now() + timedelta(days=1),
    }
    scheduled_releases.schedule_release(by=OLGA, note="Later.", acknowledge=(), **asked)
    proposals.propose(files=dict(drafts.get_draft("pets").files), by=Actor("agent_key", "proposer"))
    set_store.save_set(desk(), by=by, team="Pets")
    credential_store.create_credential(name="token", hosts=["git.example"], secret="hush", by=by)
    agent_keys.create_key(name="spare", by=OLGA)
    helper = register_client({"redirect_uris": ["https://assistant.example/cb"]}, address="203.0.113.9")
    connections.allow_client(
        operator=Operator.objects.get(username="maker"), client=helper, redirect_uri=helper.redirect_uris[0],
        code_challenge="x" * 43, scopes=["read"],
    )  # fmt: skip
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    held = publication.publish(files=bundle("pets", body=DOUBT), by=Actor("operator", "member"))
    assert held.status == "refused"


def read_table() -> dict[str, list[str]]:
    """The table of the contract: for each kind of row the words for who may read, change and end it."""
    section = CONTRACT.read_text(encoding="utf-8").split("### 3.1 ")[1].split("\n#")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    return {name: cells for name, *cells in rows[2:]}


def test_table_of_owners_has_the_rows_that_are_walked() -> None:
    assert list(read_table()) == list(DOORS)


@pytest.mark.slow
def test_row_is_open_by_every_door_to_whom_the_table_names() -> None:
    table = read_table()
    keys = {name: agent_key("read", "publish", name=name, **limit) for name, limit in LIMITS.items()}
    clients = {name: signed_in(name) for name in PEOPLE}

    def check(cell: tuple[str, str, str]) -> None:
        row, deed, caller = cell
        allowed = WHO[table[row][DEEDS.index(deed)]]
        events = AuditEvent.objects.count()
        if caller in clients:
            response = getattr(DOORS[row], deed)(clients[caller])
        else:
            response = call_api(keys[caller], *DOORS[row].api[deed])
        is_done = AuditEvent.objects.count() > events
        if caller in allowed:
            assert response.status_code < 400, response.status_code
            assert deed == "read" or row == "chat" or is_done, "nothing was done"
        else:
            # A page that offers the form to others too says no in the form, or in a message on the next page.
            assert response.status_code in (302, 400, 403, 404), response.status_code
            assert deed != "read" or response.status_code in (403, 404)
            assert row != "chat" or response.status_code == 404
            assert not is_done, "it was done"

    def check_alone(cell: tuple[str, str, str]) -> None:
        row, deed, caller = cell
        # What only reads, or is refused, leaves everything as it was.
        writes = deed != "read" and caller in WHO[table[row][DEEDS.index(deed)]]
        with rolled_back() if writes else nullcontext():
            check(cell)

    cells = [
        (row, deed, caller)
        for row, doors in DOORS.items()
        for deed in DEEDS
        for caller in (*(PEOPLE if getattr(doors, deed) else ()), *(KEYS if deed in doors.api else ()))
    ]
    check_each(cells, check_alone)


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(Operator.objects.get(username=name))
    confirm_identity(client)
    return client


def call_api(key: str, operation: str, body: Callable[[], dict[str, Any]]) -> Any:
    method, _, name = operation.rpartition(" ")
    headers = {"Authorization": f"Bearer {key}"}
    address = f"/api/v1/operator/{name}"
    if method:
        return Client().get(address, body(), headers=headers)
    return Client().post(address, json.dumps(body()), content_type="application/json", headers=headers)
