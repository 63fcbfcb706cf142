"""A capability from what somebody has: an archive, a folder, pasted texts, git."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from capability_rules.bundles.archives import write_zip
from capability_rules.bundles.bundle_reader import SourceBundle
from registry.catalog import drafts
from registry.core.jobs import queue
from registry.importing import git_import_jobs
from registry.models import Capability, Draft, GitImport
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db
SKILL = "---\nname: pdf-forms\ndescription: Fills PDF forms. Use it for forms.\nodd-key: 1\n---\n# PDF\n\nFill it.\n"
FILES = "/new-capability/files/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _zip(*ids: str, **more: bytes) -> SimpleUploadedFile:
    members = {f"{each}/{name}": text.encode() for each in ids for name, text in bundle(each).items()}
    return SimpleUploadedFile("mine.zip", write_zip(members | more))


def test_an_archive_of_several_becomes_drafts(client: Client) -> None:
    answer = client.post(FILES, {"archive": _zip("alpha", "beta")})
    page = answer.content.decode()
    assert "2 drafts imported" in page
    assert '"/capabilities/beta/edit/"' in page
    assert drafts.get_draft("beta").saved_by == "operator:the-author"


def test_one_without_a_word_to_say_opens_in_the_editor(client: Client) -> None:
    assert client.post(FILES, {"archive": _zip("alpha")})["Location"] == "/capabilities/alpha/edit/"


def test_what_an_agent_skill_lost_is_shown(client: Client) -> None:
    answer = form_with(client.get(FILES), "Import").submit(client, skill_md=SKILL)
    page = answer.content.decode()
    assert "1 draft imported" in page
    assert "IMPORT_KEY_MOVED" in page
    assert Capability.objects.get().capability_id == "pdf_forms"


@pytest.mark.parametrize("name", ["SKILL.md", "my notes.MD"])
def test_a_lone_skill_file_is_taken_as_an_agent_skill(name: str, client: Client) -> None:
    answer = client.post(FILES, {"archive": SimpleUploadedFile(name, SKILL.encode())})
    assert answer.status_code == 200
    assert drafts.get_draft("pdf_forms").files["skill.md"].endswith("Fill it.\n")


def test_an_agent_skill_gets_the_id_that_is_asked_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    form_with(client.get(FILES), "Import").submit(client, skill_md=SKILL, as_id="my_forms")
    assert Capability.objects.get().capability_id == "my_forms"
    refused = client.post(FILES, {"skill_md": SKILL, "as_id": "My Forms"})
    assert (refused.status_code, 'value="My Forms"' in refused.content.decode()) == (400, True)
    monkeypatch.setattr(git_import_jobs, "discover_source", lambda *_: [SourceBundle("repo", {"SKILL.md": SKILL})])
    form_with(client.get("/new-capability/git/"), "Import").submit(
        client, source="https://git.example/repo", as_id="from_git"
    )  # fmt: skip
    queue.run_next_job()
    assert set(Capability.objects.values_list("capability_id", flat=True)) == {"my_forms", "from_git"}
    refused = client.post("/new-capability/git/", {"source": "https://git.example/repo", "as_id": "No"})
    assert (refused.status_code, 'value="No"' in refused.content.decode()) == (400, True)


def test_where_one_cannot_be_taken_nothing_is_kept(client: Client) -> None:
    answer = client.post(FILES, {"archive": _zip("alpha", **{"odd/capability.json": b"{"})})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Nothing was imported" in page
    assert "Invalid" in page
    assert not Capability.objects.exists()


def test_what_is_there_is_replaced_where_that_is_ticked(client: Client) -> None:
    publish()
    sent = {"skill_md": "x", "capability_json": bundle()["capability.json"]}
    answer = client.post(FILES, sent)
    page = answer.content.decode()
    assert "Already exists" in page
    assert ">\nx</textarea>" in page
    assert client.post(FILES, {**sent, "replace": "on"}).status_code == 200
    assert drafts.get_draft("alpha").files["skill.md"] == "x"


def test_what_is_there_is_skipped_where_that_is_ticked(client: Client) -> None:
    publish()
    names = [f"{each}/{name}" for each in ("alpha", "beta") for name in bundle(each)]
    texts = [text for each in ("alpha", "beta") for text in bundle(each).values()]

    def send(**more: str) -> str:
        folder = [SimpleUploadedFile(name, text.encode()) for name, text in zip(names, texts, strict=True)]
        answer = client.post(FILES, {"folder": folder, "paths": json.dumps(names)} | more)
        return answer.content.decode()

    assert "<em>Skip existing capabilities</em>" in send()
    page = send(skip="on")
    assert "1 draft imported" in page
    assert "Skipped: already exists" in page
    assert Draft.objects.get().capability.capability_id == "beta"


def test_a_folder_is_read_by_the_paths_beside_it(client: Client) -> None:
    names = [f"{each}/{name}" for each in ("alpha", "beta") for name in bundle(each)]
    texts = [text for each in ("alpha", "beta") for text in bundle(each).values()]
    folder = [SimpleUploadedFile(name, text.encode()) for name, text in zip(names, texts, strict=True)]
    answer = client.post(FILES, {"folder": folder, "paths": json.dumps(names)})
    assert "2 drafts imported" in answer.content.decode()


@pytest.mark.parametrize("paths", ["", "{", "[]", "[1,2,3,4,5]", '["a"]', "[" * 100_000])
def test_a_folder_whose_paths_did_not_come_is_refused(paths: str, client: Client) -> None:
    folder = [SimpleUploadedFile("capability.json", b"{}") for _ in range(5)]
    answer = client.post(FILES, {"folder": folder, "paths": paths})
    assert answer.status_code == 400
    assert "an archive" in answer.content.decode()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "There is nothing to import"),
        ({"archive": SimpleUploadedFile("a.zip", b"no zip")}, "not a readable zip"),
        ({"archive": SimpleUploadedFile("a.zip", write_zip({"../x": b""}))}, "its path leaves the archive"),
        ({"archive": SimpleUploadedFile("<b>.zip", write_zip({"notes.txt": b""}))}, "&lt;b&gt;.zip: no bundle"),
    ],
)
def test_odd_files_are_told(sent: dict[str, Any], words: str, client: Client) -> None:
    for each in sent.values():
        each.seek(0)
    answer = client.post(FILES, sent)
    assert answer.status_code == 400
    assert words in answer.content.decode()


def test_a_git_address_shows_how_far_it_is(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_import_jobs, "discover_source", lambda *_: [SourceBundle("repo", bundle())])
    answer = form_with(client.get("/new-capability/git/"), "Import").submit(
        client, source="https://git.example/repo@v1#skills"
    )  # fmt: skip
    place = answer["Location"]
    page = client.get(place).content.decode()
    assert "Queued" in page
    assert "every 1500ms" in page
    assert queue.run_next_job() == "done"
    part = client.get(place, headers={"HX-Request": "true"}).content.decode()
    assert "1 draft imported" in part
    assert "hx-trigger" not in part
    assert "<html" not in part
    assert place in client.get("/new-capability/git/").content.decode()
    again = "/new-capability/git/?source=https%3A%2F%2Fgit.example%2Frepo%40v1%23skills"
    assert f'href="{again}"' in part
    assert form_with(client.get(again), "Import").values["source"] == "https://git.example/repo@v1#skills"


@pytest.mark.parametrize("source", ["http://git.example/x", "git@host:x", "", "https://u:p@host/x", "x" * 600])
def test_another_address_is_refused(source: str, client: Client) -> None:
    answer = client.post("/new-capability/git/", {"source": source})
    assert answer.status_code == 400
    assert not GitImport.objects.exists()


def test_a_token_in_an_address_is_not_shown_again(client: Client) -> None:
    answer = client.post("/new-capability/git/", {"source": "https://user:s3cret@git.example/x@v1"})
    assert (answer.status_code, "s3cret" in answer.content.decode()) == (400, False)


def test_an_import_that_is_not_there(client: Client) -> None:
    assert client.get("/new-capability/git/7/").status_code == 404


def test_a_viewer_brings_nothing(signed_in: SignIn) -> None:
    git_import_jobs.start_import(source="https://git.example/skills", by=OLGA)
    viewer = signed_in("viewer")
    assert viewer.post(FILES, {"archive": _zip("alpha")}).status_code == 403
    assert viewer.post("/new-capability/git/", {"source": "https://git.example/a"}).status_code == 403
    assert not Capability.objects.exists()
