"""`python -m capability_client` as a person runs it: a process, its output and its exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from capability_client.__main__ import main_by_old_name
from capability_client.client.local_registry import LocalSkills
from capability_client.tests.registries import Asked, Given, example, fake_registry, listing, load_answer
from capability_kit.bundles.digest import text_digest
from capability_kit.errors import SupportingFileNotFound, SupportingFileNotText
from tests.servers import ROOT

EXAMPLES = ROOT / "examples"


def _run(*arguments: Any, text: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAPABILITY_STUDIO")}
    return subprocess.run(
        [sys.executable, "-m", "capability_client", *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        cwd=ROOT,
        env={**kept, "PYTHONUTF8": "1", **env},
    )


def _ok(*arguments: Any, text: str = "", **env: str) -> str:
    done = _run(*arguments, text=text, **env)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def _refused(*arguments: Any, **env: str) -> str:
    done = _run(*arguments, **env)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.slow
def test_skills_of_a_folder_are_listed_installed_and_uninstalled(tmp_path: Path) -> None:
    here = ("--skills-dir", tmp_path / "skills")
    assert _ok(*here, "skills", "list") == "No skills.\n"
    assert _ok(*here, "skills", "install", EXAMPLES / "weights") == "Installed weights.\n"
    assert _ok(*here, "skills", "list").startswith("weights ")
    origin = json.loads((tmp_path / "skills/weights/.origin.json").read_text("utf-8"))
    assert origin["origin"].endswith("weights")
    assert "Installed workouts." in _ok(*here, "skills", "install", EXAMPLES)
    assert _ok(*here, "skills", "uninstall", "weights") == "Uninstalled weights.\n"
    assert "weights" not in _ok(*here, "skills", "list")
    refused = _refused(*here, "skills", "uninstall", "weights")
    assert "CAPABILITY_NOT_FOUND" in refused
    assert "Currently available: billing refund, disk pressure" in refused


@pytest.mark.slow
def test_a_bad_folder_is_refused_with_its_cause(tmp_path: Path) -> None:
    here = ("--skills-dir", tmp_path / "skills")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("no front matter")
    assert "front matter" in _refused(*here, "skills", "install", tmp_path / "bad")
    assert "not a folder, a git address" in _refused(*here, "skills", "install", "../No/Such")
    assert "--url" in _refused(*here, "skills", "install", "weights")
    shutil.copytree(tmp_path / "bad", tmp_path / "skills" / "bad")
    done = _run(*here, "skills", "list")
    assert "bad cannot be read: The front matter of SKILL.md cannot be read. It has no front matter" in done.stderr


@pytest.mark.slow
def test_an_agent_skill_is_installed_from_git(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    skill = tmp_path / "repo" / "skills" / "code-review"
    skill.mkdir(parents=True)
    text = "---\nname: code-review\ndescription: >\n  Review code\n  for style.\n---\n\nRead $ARGUMENTS.\n"
    (skill / "SKILL.md").write_text(text)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        subprocess.run([*git, *command], cwd=tmp_path / "repo", check=True, capture_output=True)
    here = ("--skills-dir", tmp_path / "skills")
    assert _ok(*here, "skills", "install", f"file://{tmp_path / 'repo'}") == "Installed code_review.\n"
    assert "Review code for style." in _ok(*here, "skills", "list")
    said = _ok(*here, "chat", "--user", "A", text="$code-review src/\n/prompt\n/quit\n")
    assert "Read src/." in said
    assert "git could not clone it" in _refused(*here, "skills", "install", f"file://{tmp_path / 'none'}")


@pytest.mark.slow
def test_the_menu(tmp_path: Path) -> None:
    here = ("--skills-dir", tmp_path / "skills")
    assert "Installed meals." in _ok(*here, "skills", text=f"2\n{EXAMPLES / 'meals'}\n")
    assert "meals " in _ok(*here, "skills", text="1\n")
    assert "Uninstalled meals." in _ok(*here, "skills", text="3\nmeals\n")
    assert "Choose an action" in _ok(*here, "skills", text="")


@pytest.mark.slow
def test_a_registry_is_asked_where_there_is_one(tmp_path: Path) -> None:
    weights = example("weights")
    row = {"capability_id": "weights", "name": "Weight Tracking", "digest": weights.digest}
    found = {"decision": "match", "matches": [{"capability_id": "weights", "score": 0.9}], "skill_groups": []}
    listed = listing("weights")
    with fake_registry(
        capability_registry_list=Given(document=listed),
        capability_skill_load=Given(document=weights.as_answer()),
        capability_match=Given(document=found | {"registry_revision": listed["registry_revision"]}),
        capability_install=Given(document=row),
    ) as fake:
        url = ("--url", fake.url, "--skills-dir", tmp_path / "skills")
        assert "weights" in _ok(*url, "skills", "list")
        assert "# Weight Tracking" in _ok(*url, "load", "weights")
        assert json.loads(_ok(*url, "load", "weights", "--json")) == weights.as_answer()
        assert _ok(*url, "match", "I weighed 80").split() == ["match", "weights", "0.90"]
        assert (
            _ok(*url, "skills", "install", "SKILL-ABCD-EFGH-JKLM", CAPABILITY_STUDIO_KEY="k") == "Installed weights.\n"
        )
        assert fake.asked[-1].headers["authorization"] == "Bearer k"
        assert _ok("--skills-dir", tmp_path / "skills", "load", "weights").endswith(weights.skill_doc + "\n")
    assert "REGISTRY_UNREACHABLE" in _refused(*url, "load", "weights")


def test_a_chat_with_a_registry_matches_as_the_registry_does(tmp_path: Path) -> None:
    weights = example("weights")
    found = {"decision": "match", "matches": [{"capability_id": "weights", "score": 0.5}], "needed": ["weights"]}
    found["registry_revision"] = listing("weights")["registry_revision"]
    with fake_registry(
        capability_registry_list=Given(document=listing("weights")),
        capability_skill_load=Given(document=weights.as_answer()),
        capability_match=Given(document=found),
    ) as fake:
        url = ("--url", fake.url, "--skills-dir", tmp_path / "skills")
        said = _ok(*url, "chat", "--user", "Alice", text="how heavy am I these days?\n/quit\n")
        assert "weights" in said
        assert fake.asked[-1].body == {"message": "how heavy am I these days?", "top_k": 5}


def test_match_without_a_registry() -> None:
    here = ("--skills-dir", EXAMPLES)
    assert _ok(*here, "match", "I just weighed 187.6 lbs").startswith("match\n  weights (Weight Tracking)")
    assert _ok(*here, "match", "1 + 1") == "none\n"


@pytest.mark.slow
def test_doctor_gives_the_mend(tmp_path: Path) -> None:
    here = ("--skills-dir", EXAMPLES)
    done = _run(*here, "doctor", "excel-analyzer", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "permission read_documents: give the agent the permission" in done.stdout
    assert _run(*here, "doctor", "weights").stdout == "READY       weights\n"
    everything = _ok(*here, "doctor")
    assert len(re.findall(r"^(?:READY|NEED_SETUP|NEED_AUTH|UNAVAILABLE) ", everything, re.MULTILINE)) == 7


CHAT = """I just weighed 187.6 lbs
/load weights
/call weights__weight_entry_save_batch {"entries": [{"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}]}
/call weights__weight_entry_list {"limit": 500}
/call weights__weight_entry_list {"limit": 5}
/call weights__weight_entry_list nonsense
/call other {}
/load sleep_tracking
/skills mea
/disable meals
what I ate today
/enable meals
what I ate today
/tools
/reply Saved.
/system
/nonsense
/prompt
/quit
"""


def test_a_dollar_sign_alone_lists_what_there_is(tmp_path: Path) -> None:
    said = _ok("--skills-dir", EXAMPLES, "chat", "--user", "Alice", text="$\n$we\n$zzz\n/skills zzz\n/quit\n")
    assert len(re.findall(r"(?m)^\$\w+: ", said)) == 7
    assert "$weights: " in said
    assert "No skill begins so." in said
    assert "There are no skills." in _ok("--skills-dir", tmp_path, "chat", "--user", "A", text="$\n/quit\n")
    said = _ok("--skills-dir", EXAMPLES, "chat", "--user", "Alice", text="$lint the code\n/quit\n")
    assert "there is no skill $lint" in said
    assert "no skill fits" not in said


def test_a_chat_without_a_model() -> None:
    said = _ok("--skills-dir", EXAMPLES, "chat", "--user", "Alice", text=CHAT)
    for words in (
        "agent: Hey Alice, good to see you.",
        "hint: weights (Weight Tracking): Log and track body weight over time.",
        "active: weights (READY, 4 more turns without use)",
        "waits: weight_entry_save_batch of weights (write)",
        "[ARGUMENTS_INVALID:",
        "would run: weight_entry_list of weights (read)",
        "The arguments are not JSON",
        "[TOOL_UNKNOWN:",
        "agent: I don't have a sleep tracking capability yet. Currently available:",
        "$meals: Log meals",
        "hint: meals (Meal Tracking)",
        "agent: Saved.",
        "## Skills",
        "There is no /nonsense",
        "### Skill: weights",
    ):
        assert words in said, words
    assert said.count("hint: meals") == 1


def test_a_form_at_the_terminal() -> None:
    opened = '/call form_open {"schema_id": "WeightEntryForm.v1", "data": {"entries": [{"unit": "lb"}]}}\n'
    lines = (
        *("$weights\n", "/set a 1\n", opened, "/set entries/0/mass 1\n", "/set entries/0/unit stone\n"),
        *("/set entries/0/unit kg\n", "/press nothing\n", "/press cancel\n", "/press cancel\n", opened, "/close\n"),
        *("/set form_0 entries/0/unit kg\n", "/quit\n"),
    )
    said = _ok("--skills-dir", EXAMPLES, "chat", "--user", "Alice", text="".join(lines))
    for words in (
        "[CALL_NOT_OPEN: The form '' is not known]",
        "[The form has no value 'entries/0/mass']",
        "[entries/0/unit: 'stone' is none of lb, kg]",
        "Unit: ( ) lb (x) kg",
        "[The form has no button 'nothing'; there are: cancel, save]",
        "[CALL_NOT_OPEN: The form WeightEntryForm.v1 was closed]",
        "[CALL_NOT_OPEN: The form 'form_0' is not known]",
    ):
        assert words in said, words
    assert said.count('result: {"form": "closed"') == 2


def test_an_approval_at_the_terminal() -> None:
    lines = CHAT.splitlines()[:3]
    command = [sys.executable, "-m", "capability_client", "--skills-dir", str(EXAMPLES), "chat", "--user", "A"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        call_id = ""
        while not call_id:
            found = re.search(r"/approve (call_\w+)", process.stdout.readline())
            call_id = found[1] if found else ""
        rest, _ = process.communicate(f"/approve {call_id}\n/approve {call_id}\n/quit\n", timeout=30)
    assert "would run: weight_entry_save_batch" in rest
    assert "[CALL_NOT_OPEN:" in rest


@pytest.mark.slow
def test_a_new_user_is_introduced_and_the_session_is_kept(tmp_path: Path) -> None:
    state = tmp_path / "session.json"
    here = ("--skills-dir", EXAMPLES, "chat", "--state", state)
    first = _ok(*here, text="Maria\n/reply Nice to meet you.\nDenver\n/reply And your work?\n/quit\n")
    assert "[introduction was loaded by hand" in first
    assert "4 messages were said: it never starts by itself again" in first
    again = _ok(*here, text="I am a baker\n/quit\n")
    assert "was loaded by hand" not in again
    assert "active: introduction (READY, 5 more turns without use)" in again
    state.write_text(state.read_text("utf-8").replace('"turn":3', '"turn":1'), "utf-8")
    assert "changed or damaged" in _refused(*here)


def test_help_and_a_missing_verb() -> None:
    assert "doctor" in _ok("--help")
    assert _run().returncode == 2


@pytest.mark.slow
def test_a_bundle_whose_forms_are_a_map_is_installed(tmp_path: Path) -> None:
    """docs/contract.md 1.4: `{schema_id: definition}` stands for the list."""
    shutil.copytree(EXAMPLES / "weights", tmp_path / "weights")
    forms = json.loads((EXAMPLES / "weights/ui_schemas.json").read_text("utf-8"))
    as_map = {form["schema_id"]: form["definition"] for form in forms}
    (tmp_path / "weights/ui_schemas.json").write_text(json.dumps(as_map), "utf-8")
    here = ("--skills-dir", tmp_path / "skills")
    assert _ok(*here, "skills", "install", tmp_path / "weights") == "Installed weights.\n"
    assert "2 UI schemas" in _ok(*here, "load", "weights")


@pytest.mark.slow
def test_an_install_code_may_be_typed_in_small_letters(tmp_path: Path) -> None:
    with fake_registry(
        capability_install=Given(404, {"error": {"code": "INSTALL_CODE_NOT_FOUND", "message": "No"}})
    ) as f:
        said = _refused("--url", f.url, "--skills-dir", tmp_path, "skills", "install", " skill-abcd-0123-wxyz ")
        assert "INSTALL_CODE_NOT_FOUND" in said
        assert f.asked[0].body == {"code": "SKILL-ABCD-0123-WXYZ"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"), [("[", "is not JSON"), ("[]", "must be an object"), ('{"os": 5}', "must be one")]
)
def test_an_odd_environment_file_is_refused_with_its_cause(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "environment.json").write_text(text)
    assert words in _refused("--environment", tmp_path / "environment.json", "--skills-dir", tmp_path, "doctor")


def test_an_action_that_is_not_on_the_menu_is_refused(tmp_path: Path) -> None:
    done = _run("--skills-dir", tmp_path, "skills", text="9\n")
    assert (done.returncode, done.stderr) == (1, "There is no action '9'; choose 1, 2 or 3\n")


@pytest.mark.slow
def test_a_chat_says_where_nothing_was_done(tmp_path: Path) -> None:
    typed = "/disable nope\n/disable Weights\n/enable weights\n/unload weights\n/quit\n"
    shown = _ok("--skills-dir", EXAMPLES, "chat", "--user", "Al", text=typed)
    for words in ("There is no nope; /skills", "weights is disabled", "weights is enabled", "weights is not active."):
        assert words in shown


def _with_references(folder: Path) -> Path:
    (folder / "references/deep").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf-tools\ndescription: Reads.\n---\n\n# PDF\n\nSee references/a.md\n")
    (folder / "references/a.md").write_text("First this.\r\n", newline="")
    (folder / "references/deep/b.md").write_text("Then that.")
    (folder / "references/.hidden").write_text("no")
    (folder / "references/image.png").write_bytes(b"\x89PNG\x00")
    (folder / "secret.txt").write_text("no")
    (folder / "references/link.md").symlink_to(folder / "secret.txt")
    return folder


@pytest.mark.slow
def test_the_texts_beside_a_skill_are_installed_with_it(tmp_path: Path) -> None:
    source = _with_references(tmp_path / "source")
    assert _ok("--skills-dir", tmp_path / "skills", "skills", "install", source) == "Installed pdf_tools.\n"
    shelf = LocalSkills(tmp_path / "skills")
    bundle = shelf.load("pdf_tools")
    paths = ["references/a.md", "references/deep/b.md", "references/image.png"]
    assert [one.path for one in bundle.files] == paths
    with pytest.raises(SupportingFileNotText):
        shelf.file(bundle, paths[2])
    assert shelf.content(bundle, paths[2]).startswith(b"\x89PNG")
    assert shelf.file(bundle, "references/a.md") == "First this.\n"
    for path in ("references/link.md", "../source/secret.txt", "SKILL.md"):
        with pytest.raises(SupportingFileNotFound):
            shelf.file(bundle, path)
    (tmp_path / "skills/pdf_tools/references/a.md").write_text("Another.")
    with pytest.raises(SupportingFileNotFound):
        shelf.file(bundle, "references/a.md")


@pytest.mark.slow
def test_the_texts_come_along_from_a_registry_and_lead_nowhere_else(tmp_path: Path) -> None:
    texts = {"references/a.md": "First this.", "references/../../x.md": "no", "/etc/x": "no"}
    facts = [{"path": path, "digest": text_digest(text), "size": len(text)} for path, text in texts.items()]
    document = load_answer() | {"files": facts}

    def file(request: Asked) -> Given:
        return Given(document={"text": texts[request.query["path"]]})

    with fake_registry(capability_skill_load=Given(document=document), capability_file_load=file) as fake:
        _ok("--url", fake.url, "--skills-dir", tmp_path / "skills", "skills", "install", "weights")
    shelf = LocalSkills(tmp_path / "skills")
    assert shelf.file(shelf.load("weights"), "references/a.md") == "First this."
    assert sorted(each.name for each in tmp_path.rglob("*.md")) == ["a.md", "skill.md"]
    with pytest.raises(ValueError, match="cannot have the path"):
        shelf.install(shelf.load("weights"), files={"references/../../x.md": "no"})


def test_the_old_command_says_its_new_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["agent-client", "docs"])
    assert main_by_old_name() == 0
    assert "capability-client" in capsys.readouterr().err


def test_package_import_and_command_have_one_name() -> None:
    project = tomllib.loads((ROOT / "capability_client" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "capability-client"
    assert {"capability-client", "agent-client"} == set(project["scripts"])
