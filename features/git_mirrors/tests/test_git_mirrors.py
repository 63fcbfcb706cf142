"""Releases in a repository elsewhere, over HTTPS with git's own backend, seen by fresh clones."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from capability_kit.errors import readable_name
from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.credentials import credential_store
from features.git_mirrors import git_branch, mirror_push, mirror_store, push_queue
from features.git_mirrors.git_branch import RemoteBranch, list_allowed_signers
from features.git_mirrors.mirror_content import own_host
from features.git_mirrors.models import GitMirror
from features.sets import set_store
from features.webhooks import webhook_store
from features.webhooks.models import WebhookDelivery
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden, StatusConflict
from registry.importing.git_reader import BareCopy
from registry.models import AuditEvent, Capability, Incident, Job, Operator, Team, TeamMember
from registry.publishing import publication, quarantine
from tests.factories import OLGA, agent_key, bearer, bundle, publish, unlisted
from tests.git_https import commit, git, make_certificate, served
from tests.shapes import assert_event, assert_shape

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
TOKEN = "glpat-canaryCanary"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The repository of a customer, with a file of its own."""
    first, bare = tmp_path / "first", tmp_path / "there.git"
    first.mkdir()
    git(first, "init", "-q", "-b", "main")
    commit(first, {"LICENSE": "Theirs"})
    git(tmp_path, "clone", "-q", "--bare", str(first), str(bare))
    git(bare, "config", "http.receivepack", "true")
    return bare


@pytest.fixture
def url(there: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    certificate = make_certificate(tmp_path)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.PUBLIC_URL = "https://studio.example"
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    with served(there, certificate, login=f"x-access-token:{TOKEN}") as address:
        host = address.removeprefix("https://").partition("/")[0]
        credential_store.create_credential(name="token", hosts=[host], secret=TOKEN, by=COMMAND)
        yield address


def _mirror(url: str, **given: Any) -> GitMirror:
    """One that is started and pushed."""
    row = mirror_store.create_mirror(url=url, branch="main", credential="token", by=COMMAND, **given)
    head = mirror_store.preview(row.pk).head
    mirror_store.start_mirror(mirror_id=row.pk, head=head, by=COMMAND)
    assert mirror_push.push_mirror(row.pk), mirror_store.get_mirror(row.pk).last_error
    return mirror_store.get_mirror(row.pk)


def _clone(there: Path, tmp_path: Path) -> Path:
    place = tmp_path / f"clone{len(list(tmp_path.iterdir()))}"
    git(tmp_path, "clone", "-q", str(there), str(place))
    return place


def _paths(there: Path) -> set[str]:
    return set(git(there, "ls-tree", "-r", "--name-only", "main").split())


def _log(there: Path) -> list[str]:
    return git(there, "log", "--format=%an: %s", "main").splitlines()


def test_a_release_is_one_commit_with_its_author_and_note(url: str, there: Path, tmp_path: Path) -> None:
    publish("alpha")
    _mirror(url)
    assert {"LICENSE", "skills/alpha/SKILL.md"} <= _paths(there)
    result = publication.publish(
        files=bundle("alpha", body="Do the other thing."), by=OLGA, note="Refunds now need a reason"
    )
    assert result.status == "published"
    row = GitMirror.objects.get()
    mirror_push.push_mirror(row.pk)
    assert _log(there)[0] == f"{OLGA.name}: Publish alpha, revision 2"
    body = git(there, "log", "-1", "--format=%B", "main")
    assert "\n\nRefunds now need a reason\n\nCapability: alpha\n" in body
    assert "Revision: 2" in body
    text = (_clone(there, tmp_path) / "skills/alpha/SKILL.md").read_text()
    assert "Do the other thing" in text
    assert mirror_push.push_mirror(row.pk) is False
    assert len(_log(there)) == 3


def test_two_releases_are_two_commits_and_what_was_taken_back_is_none(url: str, there: Path) -> None:
    publish("alpha")
    publish("beta")
    row = _mirror(url)
    for line in ("second", "third"):
        publish("alpha", body=f"The {line} way.")
    publish("beta", body="The wrong way.")
    publication.rollback(capability_id="beta", to=1, by=OLGA)
    mirror_push.push_mirror(row.pk)
    log = _log(there)
    assert [each.partition(": ")[2] for each in log[:2]] == ["Publish alpha, revision 3", "Publish alpha, revision 2"]
    assert len(log) == 4
    assert "wrong way" not in git(there, "log", "-p", "main")


def test_what_is_withdrawn_leaves_and_what_is_unlisted_never_comes(url: str, there: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    unlisted("hidden")
    row = _mirror(url)
    assert not any("hidden" in path for path in _paths(there))
    publication.retire(capability_id="alpha", by=OLGA)
    quarantine.quarantine(capability_id="beta", by=OLGA, note="The text of the reason stays here")
    mirror_push.push_mirror(row.pk)
    assert {path.split("/")[1] for path in _paths(there) if path.startswith("skills/")} == {"gamma"}
    assert "reason stays here" not in git(there, "log", "main")
    assert "LICENSE" in _paths(there)


@pytest.mark.slow
def test_a_lost_answer_makes_no_second_commit(url: str, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    row = _mirror(url)
    publish("alpha", body="Another way.")
    real = mirror_push._note_success

    def lost(*_given: Any, **_more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mirror_push, "_note_success", lost)
    with pytest.raises(KeyboardInterrupt):
        mirror_push.push_mirror(row.pk)
    monkeypatch.setattr(mirror_push, "_note_success", real)
    taken = _log(there)
    publish("beta")
    mirror_push.push_mirror(row.pk)
    assert _log(there)[1:] == taken
    assert GitMirror.objects.get().pending is None


@pytest.mark.both_databases
@pytest.mark.slow
def test_a_push_of_others_is_a_choice_and_never_overwritten(url: str, there: Path, tmp_path: Path) -> None:
    publish("alpha")
    row = _mirror(url)
    clone = _clone(there, tmp_path)
    commit(clone, {"skills/alpha/SKILL.md": "Changed by hand", "theirs.md": "kept"})
    git(clone, "push", "-q", "origin", "main")
    publish("alpha", body="Another way.")
    assert mirror_push.push_mirror(row.pk) is False
    incident = Incident.objects.get(closed_at__isnull=True)
    assert "somebody else pushed" in incident.details
    assert incident.kind == "mirror"
    row = GitMirror.objects.get()
    with pytest.raises(StatusConflict):
        mirror_store.continue_mirror(mirror_id=row.pk, head="1" * 40, by=COMMAND)
    mirror_store.continue_mirror(mirror_id=row.pk, head=row.found_head, by=COMMAND)
    mirror_push.push_mirror(row.pk)
    assert "Another way" in git(there, "show", "main:skills/alpha/SKILL.md")
    assert git(there, "show", "main:theirs.md") == "kept"
    assert not Incident.objects.filter(closed_at__isnull=True).exists()


@pytest.mark.slow
def test_a_host_that_does_not_take_it_is_an_incident_until_it_does(url: str, there: Path) -> None:
    publish("alpha")
    row = _mirror(url)
    credential_store.replace_secret(name="token", secret="of yesterday", by=COMMAND)
    publish("beta")
    mirror_push.push_mirror(row.pk)
    assert "give the token the right to write to it" in Incident.objects.get().details
    credential_store.replace_secret(name="token", secret=TOKEN, by=COMMAND)
    mirror_push.push_mirror(row.pk)
    assert Incident.objects.get().closed_at is not None
    assert "skills/beta/SKILL.md" in _paths(there)


@pytest.mark.both_databases
@pytest.mark.slow
def test_both_events_are_as_their_schema_says(url: str, there: Path, settings: Any) -> None:
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=COMMAND)
    test_a_host_that_does_not_take_it_is_an_incident_until_it_does(url, there)
    found = WebhookDelivery.objects.filter(kind__startswith="git_mirror.").order_by("id")
    assert [each.kind for each in found] == ["git_mirror.failing", "git_mirror.recovered"]
    for each in found:
        assert_event(json.loads(each.body))


@pytest.mark.slow
def test_a_credential_that_is_ended_stops_it_with_an_incident(url: str) -> None:
    publish("alpha")
    row = _mirror(url)
    credential_store.end_credential(name="token", by=COMMAND)
    assert Job.objects.filter(kind=push_queue.KIND, state="queued").count() == 1
    mirror_push.push_mirror(row.pk)
    assert "is ended" in Incident.objects.get().details


def test_commits_are_signed_so_that_git_takes_them(url: str, there: Path, tmp_path: Path) -> None:
    publish("alpha")
    _mirror(url)
    allowed = tmp_path / "allowed"
    allowed.write_text("\n".join(list_allowed_signers(own_host())) + "\n")
    config = ["-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={allowed}"]
    done = subprocess.run(
        ["git", *config, "verify-commit", "main"], cwd=there, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Good" in done.stderr
    assert "noreply@studio.example" in done.stderr
    assert git(there, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", ["claude", *(pytest.param(form, marks=pytest.mark.slow) for form in ("agent-plugin", "codex", "cursor"))]
)
def test_a_set_goes_out_in_the_layout_of_each_plugin(form: str, url: str, there: Path) -> None:
    publish("alpha")
    publish("beta")
    values = {"set_id": "desk", "name": "Desk", "description": "For the desk."}
    set_store.save_set(values | {"members": [{"capability_id": "alpha"}]}, by=COMMAND)
    row = _mirror(url, set_id="desk", form=form)
    first = _paths(there)
    assert any(path.endswith("skills/alpha/SKILL.md") for path in first)
    assert any(path.endswith("plugin.json") for path in first)
    assert not any("beta" in path for path in first)
    # What its client adds the repository by.
    marketplaces = {"claude": ".claude-plugin/marketplace.json", "codex": ".agents/plugins/marketplace.json"}
    assert marketplaces.get(form, "LICENSE") in first
    members = [{"capability_id": "alpha"}, {"capability_id": "beta"}]
    set_store.save_set(values | {"members": members}, by=COMMAND)
    mirror_push.push_mirror(row.pk)
    assert _log(there)[0] == f"{COMMAND.name}: Change Desk to revision 2"
    publish("alpha", body="Another way.")
    mirror_push.push_mirror(row.pk)
    assert len(_log(there)) == 4, "the manifest is in the commit of the release"


@pytest.mark.both_databases
@pytest.mark.slow
def test_a_team_has_to_agree(url: str, there: Path) -> None:
    publish("alpha")
    publish("beta")
    team = Team.objects.create(name="Billing")
    Capability.objects.filter(capability_id="beta").update(team=team)
    row = _mirror(url)
    assert not any("beta" in path for path in _paths(there))
    admin = Operator.objects.create(username="ada", role="admin")
    member = Operator.objects.create(username="mia", role="publisher")
    TeamMember.objects.create(team=team, operator=member)
    for name in (admin.username, OLGA.name):
        with pytest.raises(Forbidden):
            mirror_store.give_consent(mirror_id=row.pk, team="Billing", by=Actor("operator", name))
    mirror_store.give_consent(mirror_id=row.pk, team="Billing", by=Actor("operator", "mia"))
    mirror_push.push_mirror(row.pk)
    assert "skills/beta/SKILL.md" in _paths(there)
    mirror_store.withdraw_consent(mirror_id=row.pk, team="Billing", by=Actor("operator", "mia"))
    mirror_push.push_mirror(row.pk)
    assert "skills/beta/SKILL.md" not in _paths(there)


def test_a_key_and_a_publisher_make_none(url: str) -> None:
    agent_key("publish", name="ci")
    for actor in (Actor("agent_key", "ci"), OLGA):
        with pytest.raises(Forbidden):
            mirror_store.create_mirror(url=url, branch="main", credential="token", by=actor)


def test_a_wrong_branch_layout_or_host_is_refused_with_the_fix(url: str) -> None:
    ways: dict[str, Any] = {"credential": "token", "by": COMMAND}
    with pytest.raises(InvalidRequest, match="branch"):
        mirror_store.create_mirror(url=url, branch="--upload-pack=x", **ways)
    with pytest.raises(InvalidRequest, match="name it"):
        mirror_store.create_mirror(url=url, branch="main", form="claude", **ways)
    with pytest.raises(InvalidRequest, match="not for"):
        mirror_store.create_mirror(url="https://git.example/x", branch="main", **ways)


def test_what_waits_is_pushed_by_one_job_and_again_for_what_came_meanwhile(url: str, there: Path) -> None:
    publish("alpha")
    _mirror(url)
    Job.objects.all().delete()
    publish("beta")
    publish("gamma")
    assert Job.objects.filter(kind=push_queue.KIND).count() == 1


@pytest.mark.slow
def test_killed_before_its_push_it_is_made_once(url: str, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    row = _mirror(url)
    publish("alpha", body="Another way.")

    def killed(*_given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RemoteBranch, "push", killed)
        with pytest.raises(KeyboardInterrupt):
            mirror_push.push_mirror(row.pk)
    assert len(_log(there)) == 2
    mirror_push.push_mirror(row.pk)
    assert len(_log(there)) == 3


def test_hostile_names_stay_what_they_are(url: str, there: Path, tmp_path: Path) -> None:
    step = git_branch.Step('A <b>\nx\0"', 0, "m\0essage", {'skills/a "b"\n\\c/d': b"x", "skills/\u00e9": b"y"}, [])
    publish("alpha")
    row = _mirror(url)
    with mirror_store.open_mirror(row) as branch:
        made = branch.commit([step], row.head)
        branch.push(made)
    git(there, "fsck", "--strict")
    assert git(there, "log", "-1", "--format=%an", "main").strip() == "A b x"
    assert git(there, "ls-tree", "-r", "-z", "--name-only", "main").split("\0").count('skills/a "b"\n\\c/d') == 1


def test_the_token_is_in_no_row(url: str) -> None:
    publish("alpha")
    _mirror(url)
    assert TOKEN not in str(list(GitMirror.objects.values())) + str(list(AuditEvent.objects.values()))
    assert readable_name("alpha") == "alpha"


def test_an_address_that_is_not_there_is_told_when_it_is_made(url: str) -> None:
    with pytest.raises(SourceUnreadable):
        mirror_store.create_mirror(url=f"{url}x", branch="main", credential="token", by=COMMAND)


def test_the_publish_page_says_where_it_goes(url: str, signed_in: Any) -> None:
    publish("alpha")
    row = _mirror(url)
    drafts.save_draft(capability_id="alpha", files=bundle("alpha", body="Another way."), based_on=None, by=COMMAND)
    words = signed_in("admin").get("/capabilities/alpha/publish/").content.decode()
    assert "Pushed to" in words
    assert f"/mirrors/{row.pk}/" in words


@pytest.mark.rare
def test_killed_at_any_moment_a_release_is_one_commit(url: str, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after each program and each write of a push, until there is no such moment any more, of releases and
    of what leaves and comes back."""
    publish("alpha")
    publish("beta")
    row = _mirror(url)
    moments = 0
    for is_after, is_release in itertools.product((False, True), repeat=2):
        for at in range(1, 60):
            before = len(_log(there))
            words = f"Way {at}, {'after' if is_after else 'before'} it."
            visibility: Any = "unlisted" if at % 2 else "listed"
            if is_release:
                publish("alpha", body=words)
            else:
                publication.set_visibility(capability_id="beta", visibility=visibility, by=COMMAND)
            with monkeypatch.context() as patched, contextlib.suppress(_Killed):
                calls = itertools.count(1)
                for owner, name in ((BareCopy, "run"), (mirror_push, "update_row"), (mirror_store, "record")):
                    _kill_at(patched, owner, name, calls, at, is_after=is_after)
                mirror_push.push_mirror(row.pk)
                break
            moments += 1
            mirror_push.push_mirror(row.pk)
            assert len(_log(there)) == before + 1, (at, is_after)
            if is_release:
                assert words in git(there, "show", "main:skills/alpha/SKILL.md")
            else:
                assert ("skills/beta/SKILL.md" in _paths(there)) == (visibility == "listed")
        publication.set_visibility(capability_id="beta", visibility="listed", by=COMMAND)
        mirror_push.push_mirror(row.pk)
    assert moments >= 40


class _Killed(BaseException):
    pass


def _kill_at(
    patched: pytest.MonkeyPatch, owner: Any, name: str, calls: Iterator[int], at: int, *, is_after: bool
) -> None:  # fmt: skip
    real = getattr(owner, name)

    def call(*given: Any, **more: Any) -> Any:
        is_now = next(calls) == at
        if is_now and not is_after:
            raise _Killed
        done = real(*given, **more)
        if is_now:
            raise _Killed
        return done

    patched.setattr(owner, name, call)


def test_the_page_of_a_capability_says_where_it_is_and_reads_no_list_of_files(url: str, signed_in: Any) -> None:
    publish("alpha")
    publish("beta")
    row = _mirror(url)
    publish("gamma")
    client = signed_in("admin")
    with CaptureQueriesContext(connection) as queries:
        words = client.get("/capabilities/alpha/").content.decode()
    assert "Mirrored to" in words
    assert f"/mirrors/{row.pk}/" in words
    assert "revision 1," in " ".join(words.split())
    asked = [each["sql"] for each in queries if "git_mirrors_gitmirror" in each["sql"]]
    assert len(asked) == 1
    # It is a column of the answer nowhere; what is taken out of it is.
    assert ', "git_mirrors_gitmirror"."pushed"' not in asked[0]
    assert "Mirrored to" not in client.get("/capabilities/gamma/").content.decode()


def test_a_publish_reads_no_list_of_files(url: str) -> None:
    publish("alpha")
    _mirror(url)
    with CaptureQueriesContext(connection) as queries:
        publish("beta")
    asked = [each["sql"] for each in queries if "git_mirrors_gitmirror" in each["sql"]]
    assert len(asked) == 1
    assert '"pushed"' not in asked[0]


def test_where_it_is_served_is_told_to_keys_and_on_pages(url: str, client: Client, signed_in: Any) -> None:
    publish("alpha")
    document = {"set_id": "desk", "name": "Front desk", "description": "x", "members": [{"capability_id": "alpha"}]}
    set_store.save_set(document, by=COMMAND)
    row = _mirror(url, set_id="desk")
    served = GitMirror.objects.get().pushed["version"]
    publish("alpha", body="Another way.")

    key = bearer("publish")
    answer = client.get("/api/v1/operator/git_mirror_list", headers=key)
    assert_shape(answer.json(), "git_mirror_list")
    [told] = answer.json()["mirrors"]
    assert (told["id"], told["set_id"], told["version"], told["capabilities"]) == (row.pk, "desk", served, {"alpha": 1})
    assert told["version_here"] not in (served, None)
    assert client.get("/api/v1/operator/git_mirror_list", headers=bearer("read")).status_code == 403

    listed = signed_in("viewer").get("/mirrors/").content.decode()
    assert served in listed
    assert told["version_here"] in listed
    page = signed_in("viewer").get("/capabilities/alpha/").content.decode()
    assert "/sets/desk/" in page

    set_store.delete_set(set_id="desk", by=COMMAND)
    [told] = client.get("/api/v1/operator/git_mirror_list", headers=key).json()["mirrors"]
    assert (told["version"], told["version_here"]) == (served, None)
    assert "/sets/desk/" not in signed_in("viewer").get("/capabilities/alpha/").content.decode()
