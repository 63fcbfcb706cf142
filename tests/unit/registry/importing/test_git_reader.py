"""Git sources: https to public addresses alone, and nothing of a repository is run or checked out."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from capability_rules.agent_skills.importer import import_skill
from capability_rules.errors import SourceUnreadable
from capability_rules.validation import validate_bundle
from registry.common.errors import SourceMisconfigured
from registry.importing import git_reader
from registry.importing.git_discovery import discover_source
from registry.importing.git_reader import folder_name, is_git_url, parse_git_url, redact_address
from tests.git_https import Backend, commit, git, make_certificate, served
from tests.sweeps import check_each

SKILL = "---\nname: {name}\ndescription: y\n---\nText.\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("https://git.example/a/b", ("https://git.example/a/b", "git.example", 443, "", "")),
        ("https://git.example:8443/b.git@v1.0", ("https://git.example:8443/b.git", "git.example", 8443, "v1.0", "")),
        ("https://git.example/b@x/y#skills/a/", ("https://git.example/b", "git.example", 443, "x/y", "skills/a")),
        ("https://git.example/b#a", ("https://git.example/b", "git.example", 443, "", "a")),
    ],
)  # fmt: skip
def test_a_source_is_taken_apart(source: str, expected: tuple[Any, ...]) -> None:
    found = parse_git_url(source)
    assert (found.url, found.host, found.port, found.ref, found.folder) == expected


def test_other_forms_are_refused() -> None:
    def check(source: str) -> None:
        assert is_git_url(source) or source.startswith("ext::")
        with pytest.raises(SourceUnreadable):
            discover_source(source)

    check_each(
        [
            "http://git.example/b",
            "git://git.example/b",
            "ssh://git@git.example/b",
            "git@git.example:a/b.git",
            "file:///etc",
            "ext::sh -c id",
            "https://user:password@git.example/b",
            "https://git.example/b@--upload-pack=id",
            "https://git.example/b@a..b",
            "https://git.example/b@a:b",
            "https://git.example/b#../x",
            "https://git.example/b#a//b",
            "https://git.example/b#a\\b",
            "https://git.example/b?x=1",
            "https://git.example:99999/b",
            "https:///b",
            "https://git.example/b c",
        ],
        check,
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"])
def test_private_addresses_are_refused(host: str) -> None:
    with pytest.raises(SourceUnreadable, match="not a public address"):
        discover_source(f"https://{host}/b")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One skill at tag v1, two and a link on main."""
    folder = tmp_path_factory.mktemp("repo")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"skills/one/SKILL.md": SKILL.format(name="one")})
    git(folder, "tag", "v1")
    (folder / "skills" / "link").mkdir()
    (folder / "skills" / "link" / "SKILL.md").symlink_to("/etc/passwd")
    commit(folder, {"skills/two/SKILL.md": SKILL.format(name="two"), "skills/two/run.py": "x"})
    return folder


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def url(
    repository: Path, certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The repository behind https on loopback, which the setting allows."""
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    with served(repository, certificate) as address:
        yield address


def _found(source: str) -> list[tuple[str, str]]:
    return [(found.path.removeprefix(source), found.folder) for found in discover_source(source)]


def test_a_repository_a_tag_and_a_folder(url: str) -> None:
    assert _found(url) == [("/skills/link", "link"), ("/skills/one", "one"), ("/skills/two", "two")]
    assert _found(f"{url}@v1") == [("/skills/one", "one")]
    (found,) = discover_source(f"{url}@main#skills/two")
    assert (found.folder, found.files) == ("two", {"SKILL.md": SKILL.format(name="two").encode(), "run.py": "x"})


def test_a_file_whose_name_says_something_unseen_is_left_behind(
    tmp_path: Path, certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    git(tmp_path, "init", "-q", "-b", "main")
    odd = ["references/guide\U000e0069\U000e0067.md", "references/read\u202edm.exe.md", "references/aux.md"]
    said = "references/AKIAQ3EGRZ7XWJPLK2MT.md"
    files = {"SKILL.md": SKILL.format(name="one"), **dict.fromkeys([*odd, said], "x")}
    commit(tmp_path, {f"one/{name}": text for name, text in files.items()})
    with served(tmp_path, certificate) as address:
        (source,) = discover_source(address)
    taken = import_skill(source)
    assert set(taken.files or ()) == {"capability.json", "skill.md", said}
    assert [finding.code for finding in taken.findings] == ["IMPORT_FILE_LEFT_OUT"]
    found = [(one.code, one.file) for one in validate_bundle(taken.files or {}).errors]
    assert found == [("SEC_SECRET", said)]


def test_links_and_submodules_of_a_repository_are_followed_or_named(
    tmp_path: Path, certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"x/SKILL.md": SKILL.format(name="x"), "shared/references/api.md": "api", "shared/one.md": "one"})
    (tmp_path / "x" / "references").symlink_to("../shared/references")
    (tmp_path / "x" / "one.md").symlink_to("../shared/one.md")
    (tmp_path / "x" / "gone.md").symlink_to("../shared/gone.md")
    (tmp_path / "x" / "out.md").symlink_to("../../secret.md")
    (tmp_path / ".agents").mkdir()
    (tmp_path / ".agents" / "x").symlink_to("../x")
    (tmp_path / ".agents" / "y").mkdir()
    (tmp_path / ".agents" / "y" / "SKILL.md").symlink_to("../../x/SKILL.md")
    commit(tmp_path, {"notes.txt": "x"})
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/skills")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "submodule")
    with served(tmp_path, certificate) as address:
        (source,) = discover_source(address)
        with pytest.raises(SourceUnreadable, match="skills: it is a submodule"):
            discover_source(f"{address}#vendor")
    taken = import_skill(source)
    assert {"references/api.md": "api", "one.md": "one"}.items() <= (taken.files or {}).items()
    (finding,) = taken.findings
    for words in ("gone.md (it is a link that leads nowhere)", "out.md (it is a link that leads out", "submodule"):
        assert words in finding.message


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("https://github.com/o/r/tree/main/skills/pdf", ("https://github.com/o/r", "main", "skills/pdf")),
        ("https://github.com/o/r/tree/v1.2", ("https://github.com/o/r", "v1.2", "")),
        ("https://github.com/o/r/tree/main/my%20skills/a/", ("https://github.com/o/r", "main", "my skills/a")),
        ("https://github.com/o/r/blob/main/a/SKILL.md?plain=1#L3", ("https://github.com/o/r", "main", "a")),
        ("https://gitlab.com/g/sub/r/-/tree/main/a?ref_type=heads", ("https://gitlab.com/g/sub/r", "main", "a")),
        ("https://codeberg.org/o/r/src/branch/main/a", ("https://codeberg.org/o/r", "main", "a")),
    ],
)
def test_the_address_of_a_folder_as_a_browser_shows_it_is_taken(source: str, expected: tuple[str, str, str]) -> None:
    address = parse_git_url(source)
    assert (address.url, address.ref, address.folder) == expected
    assert folder_name(source) == (expected[2] or "r").rpartition("/")[2]


@pytest.mark.parametrize(
    "source",
    [
        "https://user:s3cret@git.example/o/r@main#x",
        "https://s3cret@git.example/o/r",
        "https://user:s3cret@git.example",
        "ssh://git:s3cret@git.example/o/r",
        "https://user:s3cret@github.com/o/r/tree/main/x",
        "https://git.example/o/r?private_token=s3cret",
        "https://git.example/o/r?private_token=s3cret@main#skills",
    ],
)
def test_a_password_or_token_in_an_address_is_never_repeated(source: str) -> None:
    with pytest.raises(SourceUnreadable) as refused:
        parse_git_url(source)
    assert "s3cret" not in refused.value.message
    assert "s3cret" not in redact_address(source)
    assert "git.example" in redact_address(source) or "github.com" in redact_address(source)


def test_what_a_repository_lacks_is_told(url: str) -> None:
    for source in (f"{url}@nowhere", f"{url}#nowhere", f"{url}x"):
        with pytest.raises(SourceUnreadable):
            discover_source(source)


def test_a_browsers_address_that_is_not_found_says_how_it_was_read(url: str) -> None:
    address = f"{url.rpartition('/')[0]}/o/r/tree/feature/x"
    with pytest.raises(SourceUnreadable, match=r"read as \S+/o/r@feature#x; write https://host/repository"):
        discover_source(address)


def test_time_and_size_end_a_fetch(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_reader, "REPOSITORY_BYTES_MAX", 10)
    with pytest.raises(SourceUnreadable, match="MiB"):
        discover_source(url)
    monkeypatch.setattr(git_reader, "REPOSITORY_BYTES_MAX", 10**9)
    monkeypatch.setattr(git_reader, "FETCH_SECONDS", 0.0)
    with pytest.raises(SourceUnreadable, match="took more than"):
        discover_source(url)


def test_of_a_file_no_more_is_read_than_is_asked_for(
    tmp_path: Path, certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"a/long": "x" * 3_000_000, "a/short": "abc", "a/none": "", "b/more": "y" * 40})
    monkeypatch.setattr(git_reader, "OBJECT_BYTES_MAX", 3_500_000)
    with served(tmp_path, certificate) as address, git_reader.open_repository(f"{address}#a") as found:
        assert sorted(found.tree.files) == ["long", "none", "short"]
        assert found.tree.files["long"](1_000_000) == b"x" * 1_000_000
        assert [found.tree.files[name](100) for name in ("short", "none")] == [b"abc", b""]
        assert found.tree.files["short"](2) == b"ab"
        monkeypatch.setattr(git_reader, "OBJECT_BYTES_MAX", 2)
        asked: list[Any] = []
        monkeypatch.setattr(git_reader.BareCopy, "run", lambda _self, *given: asked.append(given))
        assert found.tree.files["short"](100) == bytes(100), "too large, and not a text"
        assert asked == [], "git was not started for it"


def test_a_repository_with_more_paths_than_are_listed_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_reader, "LISTING_BYTES_MAX", 100)
    with pytest.raises(SourceUnreadable, match="too many files"):
        discover_source(url)


def test_a_server_that_complains_without_an_end_fills_nothing(url: str, tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nyes fatal: no | head -c 20000000 >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SourceUnreadable, match="fatal: no"):
        git_reader.BareCopy(str(program), tmp_path, url, "x:1:127.0.0.1").run(["fetch"], 60.0)


def test_a_certificate_that_nobody_vouches_for_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_SSL_CAINFO")
    with pytest.raises(SourceUnreadable, match="certificate"):
        discover_source(url)


@pytest.mark.parametrize("other", ["ext::sh -c id", "file:///etc", "http://127.0.0.1/b"])
def test_git_itself_takes_https_alone(other: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """A second lock behind the first: even an address that got past the form is not asked."""
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setattr(git_reader, "parse_git_url", lambda _: git_reader.GitAddress(other, "127.0.0.1", 443, "", ""))
    with pytest.raises(SourceUnreadable, match="not allowed"):
        discover_source("https://git.example/b")


def test_a_redirect_is_not_followed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def redirect(handler: Backend) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{url}{handler.path.partition(url.rpartition('/')[2])[2]}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    monkeypatch.setattr(Backend, "_answer", redirect)
    with pytest.raises(SourceUnreadable, match=r"302|redirect"):
        discover_source(url)


@pytest.mark.parametrize(
    ("printed", "found"),
    [("git version 2.30.2", "git version 2.30.2"), ("git version 1.99.9", "git version 1.99.9"), ("", "none")],
)
def test_a_git_that_cannot_be_pinned_is_refused(printed: str, found: str, tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n", "utf-8")
    program.chmod(0o755)
    with pytest.raises(
        SourceMisconfigured, match=rf"^https://git\.example/a: needs git 2\.37 or newer, found {found}$"
    ):
        git_reader.require_pinning_git(str(program), "https://git.example/a")


@pytest.mark.parametrize("printed", ["git version 2.37.0", "git version 2.39.5 (Apple Git-154)", "git version 3.0.1"])
def test_a_git_that_can_be_pinned_is_taken(printed: str, tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho '{printed}'\n", "utf-8")
    program.chmod(0o755)
    git_reader.require_pinning_git(str(program), "https://git.example/a")


def test_a_host_name_whose_pin_curl_would_not_match_is_refused() -> None:
    with pytest.raises(SourceMisconfigured, match="ASCII form"), git_reader.open_repository("https://gît.example/a"):
        pass
