"""`manage.py bundle`: every verb, as text and as one JSON document, with its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.catalog.drafts import get_draft, save_draft
from registry.models import AuditEvent, Capability, Draft, Revision
from registry.publishing import publication
from tests.factories import OLGA, Files, bundle, publish, tool, zip_of
from tests.shapes import assert_shape

pytestmark = pytest.mark.django_db

BROKEN = bundle("broken", description=None)
LOOSER = bundle(tools=[tool("alpha_entry", "write")])


def _folder(path: Path, files: Files) -> str:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def alpha(tmp_path: Path) -> str:
    return _folder(tmp_path / "alpha", bundle())


@pytest.fixture
def broken(tmp_path: Path) -> str:
    return _folder(tmp_path / "broken", BROKEN)


# Validate


def test_validate_says_ok_or_what_is_wrong(manage: Any, alpha: str, broken: str) -> None:
    done = manage("bundle", "validate", alpha)
    assert (done.code, done.out, done.err) == (0, f"{alpha}: ok (no findings)\n", "")
    done = manage("bundle", "validate", alpha, broken)
    assert done.code == 1
    assert "error[FIELD_MISSING] Missing required field 'description'" in done.out
    assert f"--> {broken}/capability.json:1:1" in done.out
    assert f"{broken}: not publishable (1 error)" in done.out
    assert not Capability.objects.exists()


def test_validate_as_json(manage: Any, alpha: str, broken: str, tmp_path: Path) -> None:
    done = manage("bundle", "validate", alpha, broken, f"{tmp_path}/nowhere", "--format", "json")
    assert (done.code, done.err) == (1, "")
    assert_shape(done.document, "bundle_validate")
    assert [(row["path"], row["capability_id"], row["ok"]) for row in done.document["bundles"]] == [
        (alpha, "alpha", True),
        (broken, "broken", False),
        (f"{tmp_path}/nowhere", None, False),
    ]
    assert (done.document["errors"], done.document["warnings"]) == (2, 0)


def test_a_warning_is_no_failure(manage: Any, tmp_path: Path) -> None:
    path = _folder(tmp_path / "a", bundle(intent_trigers=["x"]))
    done = manage("bundle", "validate", path, "--format", "json")
    assert done.code == 0
    assert (done.document["errors"], done.document["warnings"]) == (0, 1)


def test_a_folder_of_bundles_and_a_zip(manage: Any, tmp_path: Path) -> None:
    for name in ("beta", "alpha"):
        _folder(tmp_path / "many" / name, bundle(name))
    archive = tmp_path / "two.zip"
    archive.write_bytes(
        zip_of({f"{name}/{file}": text for name in ("x", "y") for file, text in bundle(f"zip_{name}").items()})
    )
    done = manage("bundle", "publish", f"{tmp_path}/many", str(archive), "--format", "json")
    assert done.code == 0
    assert [(row["path"], row["status"]) for row in done.document["results"]] == [
        (f"{tmp_path}/many/alpha", "published"),
        (f"{tmp_path}/many/beta", "published"),
        (f"{archive}/x", "published"),
        (f"{archive}/y", "published"),
    ]


def test_the_path_is_the_argument_as_it_was_given(manage: Any, alpha: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(alpha).parent)
    for argument, path in (("alpha", "alpha"), ("./alpha", "./alpha"), (".", "alpha")):
        done = manage("bundle", "validate", argument, "--format", "json")
        assert [row["path"] for row in done.document["bundles"]] == [path]


def test_collisions_within_one_call(manage: Any, alpha: str, tmp_path: Path) -> None:
    twin = _folder(tmp_path / "twin", bundle(body="Other."))
    for verb, key in (("validate", "bundles"), ("publish", "results")):
        done = manage("bundle", verb, alpha, twin, "--format", "json")
        codes = [finding["code"] for finding in done.document[key][1]["findings"]]
        assert (done.code, codes) == (1, ["CAPABILITY_ID_DUPLICATE"])


# SARIF


def test_validate_as_sarif(manage: Any, broken: str, alpha: str) -> None:
    done = manage("bundle", "validate", broken, alpha, "--format", "sarif")
    assert done.code == 1
    document = done.document
    (run,) = document["runs"]
    assert (document["version"], "sarif-2.1.0" in document["$schema"]) == ("2.1.0", True)
    assert run["tool"]["driver"]["name"] == "Capability Studio"
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("FIELD_MISSING", "error")
    assert result["message"]["text"].startswith("Missing required field 'description'")
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == f"{broken}/capability.json"
    assert location["region"] == {"startLine": 1, "startColumn": 1}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["FIELD_MISSING"]


# Publish


def test_publish_and_publish_again(manage: Any, alpha: str) -> None:
    done = manage("bundle", "publish", alpha, "--note", "At last – größer 👋")
    assert (done.code, done.out) == (0, "alpha: published, revision 1\n")
    assert Revision.objects.get().note == "At last – größer 👋"
    assert Revision.objects.get().created_by.startswith("command_line:")
    done = manage("bundle", "publish", alpha)
    assert (done.code, done.out) == (0, "alpha: already up to date, revision 1\n")
    done = manage("bundle", "publish", alpha, "--format", "json")
    assert_shape(done.document, "bundle_results")
    (row,) = done.document["results"]
    assert (row["path"], row["status"], row["revision"]) == (alpha, "unchanged", 1)


def test_one_that_is_refused_never_stops_the_rest(manage: Any, alpha: str, broken: str, tmp_path: Path) -> None:
    done = manage("bundle", "publish", broken, f"{tmp_path}/nowhere", alpha, "--format", "json")
    assert_shape(done.document, "bundle_results")
    assert done.code == 1
    assert {row["path"]: row["status"] for row in done.document["results"]} == {
        broken: "refused",
        f"{tmp_path}/nowhere": "refused",
        alpha: "published",
    }
    done = manage("bundle", "publish", broken, f"{tmp_path}/nowhere", alpha)
    assert (done.code, "nowhere" in done.err) == (1, True)
    assert "broken: refused (1 error)" in done.out
    assert "alpha: already up to date" in done.out


def test_a_dry_run_shows_changes_and_writes_nothing(manage: Any, tmp_path: Path) -> None:
    publish(tools=[tool("alpha_entry")])
    path = _folder(tmp_path / "looser", LOOSER)
    done = manage("bundle", "publish", path, "--dry-run", "--acknowledge", "POLICY_LOOSENED")
    assert done.code == 0
    assert "! `alpha_entry` writes where it read" in done.out
    assert '+      "kind": "write",' in done.out
    assert "alpha: would be published" in done.out
    assert Revision.objects.count() == 1


def test_a_looser_policy_says_how_to_acknowledge_it(manage: Any, tmp_path: Path) -> None:
    publish(tools=[tool("alpha_entry")])
    path = _folder(tmp_path / "looser", LOOSER)
    done = manage("bundle", "publish", path)
    assert done.code == 1
    assert "--acknowledge POLICY_LOOSENED" in done.out
    assert manage("bundle", "publish", path, "--acknowledge", "POLICY_LOOSENED").code == 0


def test_publish_a_draft(manage: Any) -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    done = manage("bundle", "publish", "--draft", "alpha", "--note", "From the draft", "--format", "json")
    (row,) = done.document["results"]
    assert (done.code, row["path"], row["status"]) == (0, "alpha", "published")
    done = manage("bundle", "publish", "--draft", "alpha")
    assert (done.code, done.out) == (1, "")
    assert "DRAFT_NOT_FOUND" in done.err


def test_publish_several_drafts_of_which_one_is_not_there(manage: Any) -> None:
    for name in ("alpha", "beta", "gamma"):
        save_draft(capability_id=name, files=bundle(name), based_on=None, by=OLGA)
    manage("bundle", "discard-draft", "beta")
    names = ("alpha", "beta", "nothing", "gamma", "alpha")
    done = manage("bundle", "publish", *(word for name in names for word in ("--draft", name)), "--format", "json")
    rows = [
        (row["path"], row["status"], [each["code"] for each in row["findings"]]) for row in done.document["results"]
    ]
    assert done.code == 1
    assert rows == [
        ("alpha", "published", []),
        ("beta", "refused", ["DRAFT_NOT_FOUND"]),
        ("nothing", "refused", ["CAPABILITY_NOT_FOUND"]),
        ("gamma", "published", []),
    ]


def test_publishing_a_path_replaces_the_draft(manage: Any, alpha: str) -> None:
    save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    manage("bundle", "publish", alpha)
    assert Draft.objects.get().discarded_at is not None


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish"],
        ["publish", "x", "--draft", "y"],
        ["validate"],
        ["rollback", "x"],
        ["rollback", "x", "--to", "one"],
        ["nothing"],
        [],
        ["export", "x"],
        ["import", "x", "--as-draft", "--publish"],
        ["list", "--format", "sarif"],
        ["validate", "x", "--format", "xml"],
    ],
    ids=str,
)
def test_a_call_that_makes_no_sense_ends_with_2(manage: Any, arguments: list[str]) -> None:
    done = manage("bundle", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err


# Import and export


def test_import_as_a_draft_and_published(manage: Any, alpha: str, broken: str) -> None:
    done = manage("bundle", "import", alpha, broken, "--note", "From disk", "--format", "json")
    assert_shape(done.document, "bundle_results")
    assert (done.code, [row["status"] for row in done.document["results"]]) == (0, ["draft", "draft"])
    assert get_draft("broken").files == BROKEN
    assert AuditEvent.objects.latest("id").detail["note"] == "From disk"
    done = manage("bundle", "import", alpha, "--publish")
    assert (done.code, done.out) == (0, "alpha: published, revision 1\n")


def test_export_to_a_folder_and_a_zip_comes_back_unchanged(manage: Any, tmp_path: Path) -> None:
    files = bundle(tools=[tool("alpha_list")], emoji="👋")
    publication.publish(files=files, by=OLGA)
    for target in (tmp_path / "out" / "alpha", tmp_path / "alpha.zip"):
        done = manage("bundle", "export", "alpha", "--to", str(target))
        assert done.code == 0
        assert str(target) in done.out
        done = manage("bundle", "publish", str(target))
        assert "already up to date" in done.out
    assert {file.name: file.read_text("utf-8") for file in (tmp_path / "out" / "alpha").iterdir()} == files


def test_export_a_draft(manage: Any, tmp_path: Path) -> None:
    save_draft(capability_id="alpha", files=BROKEN, based_on=None, by=OLGA)
    done = manage("bundle", "export", "alpha", "--to", str(tmp_path / "x"))
    assert (done.code, "STATUS_CONFLICT" in done.err) == (1, True)
    assert manage("bundle", "export", "alpha", "--to", str(tmp_path / "x"), "--draft").code == 0
    assert (tmp_path / "x" / "skill.md").read_text("utf-8") == BROKEN["skill.md"]


def test_export_to_where_nothing_can_be_written(manage: Any, tmp_path: Path) -> None:
    publish()
    (tmp_path / "file").touch()
    done = manage("bundle", "export", "alpha", "--to", str(tmp_path / "file" / "x"))
    assert (done.code, done.out, "Traceback" in done.err) == (1, "", False)


# What else changes a bundle's life


def test_list(manage: Any) -> None:
    done = manage("bundle", "list")
    assert (done.code, "No capabilities yet" in done.out) == (0, True)
    assert manage("bundle", "list", "--format", "json").document == {"capabilities": []}
    publish("beta", name="Béta")
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    done = manage("bundle", "list", "--format", "json")
    assert_shape(done.document, "bundle_list")
    assert [(row["capability_id"], row["status"], row["revision"]) for row in done.document["capabilities"]] == [
        ("alpha", "draft", None),
        ("beta", "published", 1),
    ]
    done = manage("bundle", "list")
    assert "never published, draft" in done.out
    assert "Béta" in done.out


def test_retire_names_what_needs_the_capability_before_and_after(manage: Any) -> None:
    publish("beta")
    publish("alpha", dependencies={"skills": ["beta"]})
    words = "needed by alpha: their instructions may hand over to it"
    assert manage("bundle", "retire", "beta", "--dry-run").out == f"beta: published\n  {words}\n"
    assert manage("bundle", "retire", "beta", "--format", "json").document["needed_by"] == ["alpha"]


def test_rollback_deprecate_retire_restore(manage: Any) -> None:
    publish()
    publish(body="Two.")
    publish("beta")
    done = manage("bundle", "rollback", "alpha", "--to", "1", "--note", "Back", "--format", "json")
    assert_shape(done.document, "bundle_results")
    assert (done.code, done.document["results"][0]["revision"]) == (0, 1)
    done = manage("bundle", "deprecate", "alpha", "--replaced-by", "beta", "--format", "json")
    assert_shape(done.document, "capability_status")
    assert done.document["replaced_by"] == "beta"
    assert manage("bundle", "deprecate", "alpha").out == "alpha: deprecated\n"
    assert manage("bundle", "retire", "alpha", "--note", "Gone").out == "alpha: retired\n"
    assert AuditEvent.objects.latest("id").detail["note"] == "Gone"
    done = manage("bundle", "restore", "alpha")
    assert (done.code, done.out) == (0, "alpha: published, revision 1\n")
    done = manage("bundle", "restore", "alpha", "--format", "json")
    assert (done.code, done.document["error"]["code"]) == (1, "STATUS_CONFLICT")
    done = manage("bundle", "rollback", "alpha", "--to", "9")
    assert (done.code, "REVISION_NOT_FOUND" in done.err) == (1, True)


def test_discard_a_draft(manage: Any) -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    done = manage("bundle", "discard-draft", "alpha")
    assert (done.code, "30 days" in done.out) == (0, True)
    assert manage("bundle", "discard-draft", "alpha", "--format", "json").document["error"]["code"] == "DRAFT_NOT_FOUND"


def test_an_unknown_id_is_told_with_the_nearest(manage: Any) -> None:
    publish("sleep_tracking")
    done = manage("bundle", "retire", "sleep_traking")
    assert (done.code, done.out) == (1, "")
    assert "No capability found for ID 'sleep_traking'" in done.err
    assert "did you mean sleep_tracking?" in done.err
    error = manage("bundle", "retire", "sleep_traking", "--format", "json").document["error"]
    assert error["available_capabilities"] == ["sleep_tracking"]


# Odd input


@pytest.mark.both_databases
def test_names_that_are_no_text_never_crash(manage: Any, tmp_path: Path) -> None:
    path = _folder(tmp_path / "a\udcffb", BROKEN | {"x\udcff.txt": "", "\x1b]0;title\x07": ""})
    for arguments in (
        ["bundle", "validate", path],
        ["bundle", "validate", path, "--format", "json"],
        ["bundle", "validate", path, "--format", "sarif"],
        ["bundle", "publish", path],
        ["bundle", "publish", path + "x", "--note", "a\udcff"],
    ):
        done = manage(*arguments)
        assert done.code == 1
        (done.out + done.err).encode("utf-8")
        assert "\x1b" not in done.out + done.err
        assert "\x07" not in done.out + done.err


def test_hostile_texts_never_reach_the_terminal(manage: Any, tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;x\x07\u202e\x9b31m\r"
    path = _folder(
        tmp_path / "evil",
        bundle(name=evil, intent_trigers=evil, metadata={evil: evil})
        | {"skill.md": f"# {evil}\n## {evil}\n`{evil}_x`\n"},
    )
    for verb in (["validate", path], ["publish", path], ["publish", path, "--dry-run"], ["import", path], ["list"]):
        done = manage("bundle", *verb)
        assert not {"\x1b", "\x07", "\u202e", "\x9b", "\r"} & set(done.out + done.err), verb


def test_colour_is_for_terminals_and_never_with_no_color(
    manage: Any, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31;1merror\x1b[0m" in manage("bundle", "validate", broken).out
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b" not in manage("bundle", "validate", broken).out


def test_a_database_without_tables_is_told(manage: Any, alpha: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise OperationalError("no such table: registry_capability")

    monkeypatch.setattr("registry.core.queries.list_capabilities", fail)
    done = manage("bundle", "list")
    assert (done.code, done.out) == (1, "")
    assert "migrate" in done.err
    assert manage("bundle", "list", "--format", "json").document["error"]["code"] == "REGISTRY_UNAVAILABLE"


# Agent Skills


SKILL = "---\nname: pdf-tools\ndescription: Works with PDF: all of them.\nauthor: Ann\n---\n# PDF\n\nUse it.\n"


def test_import_of_agent_skills_says_what_became_of_each(manage: Any, tmp_path: Path) -> None:
    _folder(tmp_path / "skills" / "pdf-tools", {"SKILL.md": SKILL})
    _folder(tmp_path / "skills" / "bad", {"SKILL.md": "# No front matter\n"})
    _folder(tmp_path / "skills" / "alpha", bundle())
    done = manage("bundle", "import", f"{tmp_path}/skills", "--format", "json")
    assert done.code == 1
    assert_shape(done.document, "bundle_results")
    rows = [(row["path"].rpartition("/")[2], row["capability_id"], row["status"]) for row in done.document["results"]]
    assert rows == [("alpha", "alpha", "draft"), ("bad", None, "refused"), ("pdf-tools", "pdf_tools", "draft")]
    codes = [[finding["code"] for finding in row["findings"]] for row in done.document["results"]]
    assert codes == [[], ["IMPORT_FRONT_MATTER_UNUSABLE"], ["IMPORT_YAML_RESCUED", "IMPORT_KEY_MOVED"]]
    assert get_draft("pdf_tools").files["skill.md"] == "# PDF\n\nUse it.\n"


def test_import_of_one_skill_as_text_shows_the_line(manage: Any, tmp_path: Path) -> None:
    path = _folder(tmp_path / "pdf-tools", {"SKILL.md": SKILL})
    done = manage("bundle", "import", path)
    assert done.code == 0
    assert f"--> {path}/SKILL.md:3:1" in done.out
    assert "pdf_tools: stored as a draft (2 warnings)" in done.out


def test_import_gives_one_skill_the_id_that_was_asked_for(manage: Any, tmp_path: Path) -> None:
    text = "---\nname: \u6570\u636e\ndescription: Reads data.\n---\nText.\n"
    path = _folder(tmp_path / "x", {"SKILL.md": text})
    done = manage("bundle", "import", path, "--as-id", "data_reading", "--format", "json")
    assert (done.code, done.document["results"][0]["capability_id"]) == (0, "data_reading")
    _folder(tmp_path / "y", {"SKILL.md": text})
    for given in ((str(tmp_path), "--as-id", "two"), (path, "--as-id", "No Id")):
        assert manage("bundle", "import", *given).code != 0
    assert manage("bundle", "import", f"{tmp_path}/nowhere", "--as-id", "b").code == 1
    assert Capability.objects.get().capability_id == "data_reading"


def test_import_takes_the_rest_of_a_folder_and_shows_no_token(manage: Any, tmp_path: Path) -> None:
    _folder(tmp_path / "good", bundle("good"))
    _folder(tmp_path / "bad", {"notes.txt": "x"})
    (tmp_path / "bad" / "SKILL.md").symlink_to("/nowhere")
    done = manage("bundle", "import", str(tmp_path), "--format", "json")
    assert (done.code, [row["status"] for row in done.document["results"]]) == (1, ["refused", "draft"])
    assert [each["code"] for each in done.document["results"][0]["findings"]] == ["IMPORT_FILE_UNREADABLE"]
    _folder(tmp_path / "two", bundle("two"))
    (tmp_path / "two" / "skill.md").unlink()
    (tmp_path / "two" / "skill.md").symlink_to("/etc/hostname")
    done = manage("bundle", "publish", str(tmp_path), "--format", "json")
    assert [(row["capability_id"], row["status"]) for row in done.document["results"]] == [
        ("good", "published"), ("two", "refused"),
    ]  # fmt: skip
    for options in ((), ("--format", "json")):
        done = manage("bundle", "import", "https://me:s3cret@git.example/x@v1", *options)
        assert (done.code, "s3cret" in done.out + done.err) == (1, False)


def test_import_can_publish_a_skill(manage: Any, tmp_path: Path) -> None:
    path = _folder(tmp_path / "pdf-tools", {"SKILL.md": SKILL})
    for status in ("published", "unchanged"):
        done = manage("bundle", "import", path, "--publish", "--format", "json")
        assert (done.code, done.document["results"][0]["status"]) == (0, status)


def test_two_skills_of_one_name_are_told(manage: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        _folder(tmp_path / name, {"SKILL.md": SKILL})
    done = manage("bundle", "import", str(tmp_path), "--format", "json")
    assert [row["status"] for row in done.document["results"]] == ["draft", "refused"]
    assert "CAPABILITY_ID_DUPLICATE" in [finding["code"] for finding in done.document["results"][1]["findings"]]


def test_export_as_an_agent_skill(manage: Any, tmp_path: Path) -> None:
    publish("alpha_two")
    for target in ("a.zip", "a.tar.gz", "folder"):
        done = manage("bundle", "export", "alpha_two", "--to", f"{tmp_path}/{target}", "--format", "agent-skill")
        assert (done.code, done.out) == (0, f"alpha_two: written to {tmp_path}/{target}\n")
    assert (tmp_path / "folder" / "SKILL.md").read_text().startswith("---\nname: alpha-two\n")
    done = manage("bundle", "import", f"{tmp_path}/a.tar.gz", "--publish", "--format", "json")
    assert done.document["results"][0]["status"] == "unchanged"


def test_export_of_everything(manage: Any, tmp_path: Path) -> None:
    publish("alpha")
    publish("beta")
    _folder(tmp_path / "out" / "older", bundle("older"))
    done = manage("bundle", "export", "--all", "--to", f"{tmp_path}/out", "--format", "json")
    assert (done.code, done.document["capabilities"], done.document["not_in_the_registry"]) == (
        0,
        ["alpha", "beta"],
        ["older"],
    )
    assert (tmp_path / "out" / "alpha" / "capability.json").is_file()
    for wrong in (["export", "--to", "x"], ["export", "alpha", "--all", "--to", "x"], ["export", "--all", "--draft", "--to", "x"]):  # fmt: skip # noqa: E501
        assert manage("bundle", *wrong).code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("visibility", "alpha", "hidden"),
        ("publish", "--nonsense"),
        ("publish",),
        ("publish", "x", "--draft", "alpha"),
        ("export", "--all", "alpha", "--to", "x"),
        ("rollback", "alpha"),
        ("import", "x", "--watch", "--publish"),
        ("import", "x", "--watch", "--as-id", "a"),
        ("import", "x", "y", "--as-id", "a"),
        ("import", "x", "--acknowledge", "POLICY_LOOSENED"),
        ("nonsense",),
    ],
)
@pytest.mark.parametrize("form", [("--format", "json"), ("--format=json",)])
def test_arguments_that_make_no_sense_are_a_document_too(
    manage: Any, arguments: tuple[str, ...], form: tuple[str, ...]
) -> None:
    done = manage("bundle", *arguments, *form)
    assert done.code == 2
    assert done.document["error"]["code"] == "INVALID_REQUEST"
    assert done.document["error"]["message"] in done.err
    assert manage("bundle", *arguments).out == ""


# The order of the answers, and what an import acknowledges


@pytest.mark.parametrize(
    ("verb", "rows"),
    [
        (["validate"], "bundles"),
        (["publish"], "results"),
        (["import"], "results"),
        (["import", "--publish"], "results"),
    ],
)
def test_what_cannot_be_read_stands_where_it_was_named(
    verb: list[str], rows: str, manage: Any, alpha: str, tmp_path: Path
) -> None:
    last = _folder(tmp_path / "last", bundle("beta"))
    done = manage("bundle", *verb, f"{tmp_path}/no", alpha, f"{tmp_path}/neither", last, "--format", "json")
    assert done.code == 1
    assert [row["path"] for row in done.document[rows]] == [f"{tmp_path}/no", alpha, f"{tmp_path}/neither", last]
    assert [row["capability_id"] for row in done.document[rows]] == [None, "alpha", None, "beta"]


def test_an_import_acknowledges_as_a_publish_does(manage: Any, tmp_path: Path) -> None:
    publish(tools=[tool("alpha_entry")])
    path = _folder(tmp_path / "looser", LOOSER)
    assert manage("bundle", "import", path, "--publish").code == 1
    assert manage("bundle", "import", path, "--publish", "--acknowledge", "POLICY_LOOSENED").code == 0
    assert Revision.objects.count() == 2


def test_an_import_as_a_draft_has_nothing_to_acknowledge(manage: Any, alpha: str) -> None:
    done = manage("bundle", "import", alpha, "--acknowledge", "POLICY_LOOSENED")
    assert (done.code, done.err) == (2, "--acknowledge goes with --publish\n")
    assert not Draft.objects.exists()


def test_powers_of_a_path_and_of_a_capability(manage: Any, tmp_path: Path) -> None:
    publish("alpha", body="See https://old.example/ first.")
    folder = _folder(
        tmp_path / "new", bundle(tools=[tool("alpha_entry", "write")], body="See https://new.example/ first.")
    )
    done = manage("bundle", "powers", folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.split("\n")[:4] == [
        "alpha: these texts, compared with revision 1",
        "  + talks to new.example  skill.md:9:5",
        "  + writes with alpha_entry (each call needs approval)  tools.json:10:15",
        "  - talks to old.example  skill.md:9:5",
    ]
    document = manage("bundle", "powers", "alpha", "--format", "json").document
    (row,) = document["bundles"]
    assert_shape(row, "bundle_powers")
    assert [(power["kind"], power["name"]) for power in row["powers"]] == [("host", "old.example")]
    assert (row["revision"], row["compared_with"], row["added"]) == (1, None, [])
    assert "nothing was found" in manage("bundle", "powers", _folder(tmp_path / "none", bundle("beta"))).out


def test_powers_say_what_is_missing(manage: Any, tmp_path: Path) -> None:
    assert manage("bundle", "powers", "nothing_here").code == 1
    unreadable = _folder(tmp_path / "x", {"capability.json": "{"})
    assert "cannot be read as a bundle" in manage("bundle", "powers", unreadable).err
    assert manage("bundle", "powers", unreadable, "--draft").code == 2
    save_draft(capability_id="alpha", files=bundle(body="See https://draft.example/."), based_on=None, by=OLGA)
    assert "never published" in manage("bundle", "powers", "alpha").err
    assert "draft.example" in manage("bundle", "powers", "alpha", "--draft").out


def test_a_dry_run_lists_the_powers(manage: Any, tmp_path: Path) -> None:
    folder = _folder(tmp_path / "new", bundle(body="See https://new.example/ first."))
    (row,) = manage("bundle", "publish", folder, "--dry-run", "--format", "json").document["results"]
    assert [(power["kind"], power["name"]) for power in row["powers"]["powers"]] == [("host", "new.example")]
    (row,) = manage("bundle", "publish", folder, "--format", "json").document["results"]
    assert "powers" not in row


def test_quarantine_and_restore(manage: Any) -> None:
    publish()
    assert manage("bundle", "quarantine", "alpha", "--note", "It may do harm").out == "alpha: quarantined\n"
    again = manage("bundle", "quarantine", "alpha")
    assert (again.code, "'alpha' is quarantined" in again.err) == (1, True)
    assert manage("bundle", "list").out.split()[:2] == ["alpha", "quarantined"]
    silent = manage("bundle", "restore", "alpha")
    assert (silent.code, "[INVALID_REQUEST] Say why the quarantine ends" in silent.err) == (1, True)
    assert manage("bundle", "restore", "alpha", "--note", "It is harmless").code == 0
    assert Capability.objects.get().status == "published"
    assert AuditEvent.objects.get(verb="capability.quarantine").detail["note"] == "It may do harm"
