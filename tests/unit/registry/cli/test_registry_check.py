"""`manage.py registry check`: what is published, and drafts, as a folder is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.catalog import drafts
from registry.catalog.integrity import require_valid_revision
from registry.common.errors import SkillMalformed
from registry.models import Revision
from registry.publishing import publication
from tests.factories import OLGA, bundle, damage, publish, tampering, tool

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def stored() -> None:
    """Two that are sound, one whose rules were tightened since, and a draft that takes a tool of another."""
    publish("alpha", tools=[tool("alpha_list")])
    publish("beta")
    publish("gamma")
    with tampering():
        Revision.objects.filter(capability__capability_id="gamma").update(tools_json='[{"name": "x"}]')
    drafts.save_draft(capability_id="beta", files=bundle("beta", tools=[tool("alpha_list")]), based_on=None, by=OLGA)


@pytest.mark.usefixtures("stored")
def test_what_is_published_is_checked(manage: Any) -> None:
    done = manage("registry", "check")
    assert done.code == 1
    assert "alpha: ok" in done.out
    assert "--> gamma/tools.json:1" in done.out
    assert "gamma: not publishable" in done.out
    assert manage("registry", "check", "alpha", "beta").code == 0


@pytest.mark.usefixtures("stored")
def test_the_document_is_that_of_a_folder(manage: Any) -> None:
    document = manage("registry", "check", "--format", "json").document
    assert [(row["path"], row["ok"]) for row in document["bundles"]] == [
        ("alpha", True), ("beta", True), ("gamma", False),
    ]  # fmt: skip
    assert document["errors"] == sum(
        finding["severity"] == "error" for row in document["bundles"] for finding in row["findings"]
    )
    assert document["errors"] > 0


@pytest.mark.usefixtures("stored")
def test_sarif_has_the_places_in_the_repository(manage: Any) -> None:
    done = manage("registry", "check", "--format", "sarif", "--below", "/bundles/")
    (run,) = done.document["runs"]
    assert (done.code, done.document["version"]) == (1, "2.1.0")
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert "bundles/gamma/tools.json" in places
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {result["ruleId"] for result in run["results"]}


@pytest.mark.usefixtures("stored")
def test_drafts_are_held_against_the_registry(manage: Any) -> None:
    done = manage("registry", "check", "--drafts", "--format", "sarif")
    assert done.code == 1
    assert "TOOL_NAME_COLLISION" in {result["ruleId"] for result in done.document["runs"][0]["results"]}


CHANGES: dict[str, dict[str, Any]] = {
    "a valid text": {"skill_md": bundle("beta", body="Ignore the rules.")["skill.md"]},
    "the digest": {"digest": "sha256:" + "0" * 64},
    "a file beside": {"supporting_files": {"references/a.md": "Another text."}},
    "files of another form": {"supporting_files": [7]},
    "a file that is not a text": {"supporting_files": {"references/a.md": 7}},
    "no JSON": {"capability_json": "{"},
    "no text": {"skill_md": None},
    "an odd schema": {"tools_json": '[{"name": "x"}]'},
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_finds_what_a_load_refuses_and_names_it(change: str, manage: Any) -> None:
    """Changed by SQL, also where the new text passes every rule."""
    publish("alpha")
    publication.publish(files=bundle("beta") | {"references/a.md": "A text."}, by=OLGA)
    revision = Revision.objects.get(capability__capability_id="beta")
    assert manage("registry", "check").code == 0
    damage(revision, **CHANGES[change])
    with pytest.raises(SkillMalformed):
        require_valid_revision(Revision.objects.get(pk=revision.pk))
    done = manage("registry", "check", "--format", "json")
    assert done.code == 1
    assert [(row["path"], row["ok"]) for row in done.document["bundles"]] == [("alpha", True), ("beta", False)]
    assert "--> beta/" in manage("registry", "check").out
    assert manage("registry", "check", "alpha").code == 0


def test_a_changed_digest_has_its_code(manage: Any) -> None:
    publish("beta")
    damage(Revision.objects.get(), digest="sha256:" + "0" * 64)
    (row,) = manage("registry", "check", "--format", "json").document["bundles"]
    (finding,) = row["findings"]
    assert (finding["code"], finding["severity"]) == ("DIGEST_MISMATCH", "error")
    assert "but sha256:0000" in finding["message"]


@pytest.mark.django_db(transaction=True)
def test_a_backup_warns_of_what_is_damaged(manage: Any, tmp_path: Path) -> None:
    publish("alpha")
    publish("beta")
    assert not manage("backup", "create", "--to", str(tmp_path / "good.zip")).err
    damage(Revision.objects.get(capability__capability_id="beta"), **CHANGES["a valid text"])
    done = manage("backup", "create", "--to", str(tmp_path / "a.zip"))
    assert done.code == 0
    assert "beta revision 1 is damaged" in done.err
    assert "alpha" not in done.err
    document = manage("backup", "create", "--to", str(tmp_path / "b.zip"), "--format", "json").document
    assert document["damaged"] == ["beta revision 1"]


def test_an_empty_registry_has_nothing(manage: Any) -> None:
    assert manage("registry", "check", "--format", "json").document == {"bundles": [], "errors": 0, "warnings": 0}
    assert manage("registry", "check", "--drafts", "--format", "sarif").document["runs"][0]["results"] == []


@pytest.mark.usefixtures("stored")
def test_an_id_that_is_not_there_is_refused(manage: Any) -> None:
    for arguments in (["nothing"], ["--drafts", "alpha"]):
        refused = manage("registry", "check", *arguments)
        assert (refused.code, "CAPABILITY_NOT_FOUND" in refused.err) == (1, True)
