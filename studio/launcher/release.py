"""`run.py release`: may this checkout be tagged, and which commands publish it? Changes nothing (docs/release.md)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from studio.launcher.console import Refusal, print_answer, show_step
from studio.launcher.lockfiles import refresh_locks
from studio.launcher.virtualenv import LOCKS, TEST_LOCK, Virtualenv

# Each is a wheel; the first is the server's.
PACKAGES: Final = (".", "capability_kit", "capability_rules", "capability_client")
NPM_FOLDERS: Final = ("clients/typescript", "frontend")
# What an installation has to be able to do before anything else.
_FIRST_COMMANDS: Final = (
    ("capability-studio", "--help"),
    ("capability-lint", "--version"),
    ("capability-client", "--help"),
)
# Where a version of ours is named for others to install.
_PINNED_IN: Final = (
    *(f"{package}/pyproject.toml" for package in PACKAGES),
    *("docs/gitops/github-actions.yml", "docs/gitops/gitlab-ci.yml", "docs/gitops/pre-commit-config.yaml"),
    "deploy/lint-action/action.yml",
)
_PIN: Final = re.compile(r"(?:capability-(?:kit|rules|client)==|STUDIO_VERSION: )([0-9][0-9a-z.]*)")
_TITLE: Final = re.compile(r"^## (.*)$", re.MULTILINE)
_SHOWN_MAX: Final = 1500


class Unready(Exception):
    """Why this cannot be released yet, and what to do."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A checkout that may become a release; `python` has what the suite needs."""

    root: Path
    python: Path

    @property
    def version(self) -> str:
        return str(_project(self.root / "pyproject.toml")["version"])


def release(setup: Virtualenv, arguments: Sequence[str]) -> int:
    """Run every check, say what each found, and print the commands that publish; exit code 1 where one fails."""
    if arguments:
        raise Refusal("run.py release takes no arguments", exit_code=2)
    candidate = Candidate(setup.root, setup.ensure(TEST_LOCK))
    faults = 0
    for title, check in CHECKS.items():
        try:
            with show_step(title):
                check(candidate)
        except Unready as fault:
            faults += 1
            print_answer(f"not ready: {title}: {fault}")
        else:
            print_answer(f"ready: {title}")
    if faults:
        print_answer(f"\n{candidate.version} cannot be released: {faults} of {len(CHECKS)} checks found something.")
        return 1
    print_answer(f"\n{candidate.version} can be released:\n")
    print_answer("\n".join(list_commands(candidate.version)))
    return 0


def list_commands(version: str) -> list[str]:
    """The tag, from which the workflow publishes; and the same by hand, where there is no such workflow."""
    sources = " ".join("." if package == "." else f"./{package}" for package in PACKAGES)
    return [
        f"git tag --sign v{version} --message 'Capability Studio {version}'",
        f"git push origin v{version}",
        "",
        "# .github/workflows/release.yml does the rest. Without it, from the tag:",
        f"pip wheel --no-deps --wheel-dir dist {sources}",
        "twine upload dist/*.whl",
        "(cd clients/typescript && npm ci && npm run build && npm publish --access public)",
        f"docker build --tag capability-studio:{version} .",
    ]


def check_work_tree(candidate: Candidate) -> None:
    """Everything is committed, and the tag is free."""
    if _git(candidate.root, "status", "--porcelain").strip():
        raise Unready("there are changes that are not committed; commit them, or put them away")
    if _git(candidate.root, "tag", "--list", f"v{candidate.version}").strip():
        raise Unready(f"the tag v{candidate.version} is there already; raise the version")


def check_versions(candidate: Candidate) -> None:
    """Check that every file that names a version names the same one."""
    others = {place: found for place, found in list_versions(candidate.root) if found != candidate.version}
    if others:
        named = ", ".join(f"{place} says {found}" for place, found in sorted(others.items()))
        raise Unready(f"pyproject.toml says {candidate.version}, and {named}")


def list_versions(root: Path) -> Iterator[tuple[str, str]]:
    """`(file, version)` of each place that names a version of ours."""
    for package in PACKAGES:
        project = _project(root / package / "pyproject.toml")
        if "version" in project:
            yield f"{package}/pyproject.toml", str(project["version"])
    found = re.search(r'__version__ = "(.*)"', (root / "capability_client/version.py").read_text("utf-8"))
    yield "capability_client/version.py", found[1] if found else ""
    for name in ("package.json", "package-lock.json"):
        yield (
            f"clients/typescript/{name}",
            json.loads((root / "clients/typescript" / name).read_text("utf-8"))["version"],
        )
    for name in _PINNED_IN:
        for pinned in _PIN.findall((root / name).read_text("utf-8")):
            yield name, pinned


def check_changelog(candidate: Candidate) -> None:
    """Its first section is this version with a date, and nothing waits above it."""
    titles = _TITLE.findall((candidate.root / "CHANGELOG.md").read_text("utf-8"))
    wanted = re.compile(rf"{re.escape(candidate.version)} - \d{{4}}-\d\d-\d\d")
    if not titles or not wanted.fullmatch(titles[0]):
        first = titles[0] if titles else "nothing"
        raise Unready(f"its first section is '{first}'; it must be '{candidate.version} - YEAR-MONTH-DAY'")


def check_locks(candidate: Candidate) -> None:
    """Each lock is what pyproject.toml gives with the pins that it has."""
    with tempfile.TemporaryDirectory() as scratch:
        _extract(candidate, Path(scratch))
        try:
            refresh_locks(Path(scratch), [])
        except Refusal as refusal:
            raise Unready(str(refusal)) from None
        changed = [
            name for name in LOCKS if (Path(scratch) / name).read_bytes() != (candidate.root / name).read_bytes()
        ]
    if changed:
        raise Unready(f"{', '.join(changed)} would be written differently; python3 run.py lock")


def check_wheels(candidate: Candidate) -> None:
    """They build from what is committed, install into an empty environment, and their commands answer."""
    with tempfile.TemporaryDirectory() as scratch:
        source, dist, home = (Path(scratch) / name for name in ("source", "dist", "home"))
        source.mkdir()
        _extract(candidate, source)
        folders = [str(source / package) for package in PACKAGES]
        _run(
            candidate,
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(dist), *folders],
        )
        wheels = sorted(dist.glob("*.whl"))
        if len(wheels) != len(PACKAGES) or any(f"-{candidate.version}-" not in wheel.name for wheel in wheels):
            raise Unready(f"built were {', '.join(wheel.name for wheel in wheels)}")
        _run(candidate, [sys.executable, "-m", "venv", str(home)])
        _run(candidate, [str(home / "bin/pip"), "install", "--quiet", *map(str, wheels)])
        for program, argument in _FIRST_COMMANDS:
            _run(candidate, [str(home / "bin" / program), argument], cwd=Path(scratch))


def check_documents(candidate: Candidate) -> None:
    """Links, commands and names in the documents are there."""
    _run(candidate, [str(candidate.python), "-m", "pytest", "-q", "-n0", "tests/test_documentation.py"])


def check_advisories(candidate: Candidate) -> None:
    """No lock, of Python or of npm, pins what has a known vulnerability."""
    with tempfile.TemporaryDirectory() as scratch:
        _run(candidate, [sys.executable, "-m", "venv", scratch])
        _run(candidate, [f"{scratch}/bin/pip", "install", "--quiet", "pip-audit"])
        for lock in LOCKS:
            _run(candidate, [f"{scratch}/bin/pip-audit", "--require-hashes", "--disable-pip", "--requirement", lock])
    for folder in NPM_FOLDERS:
        _run(candidate, ["npm", "audit", "--package-lock-only"], cwd=candidate.root / folder)


CHECKS: Final[Mapping[str, Callable[[Candidate], None]]] = {
    "work tree and tag": check_work_tree,
    "versions": check_versions,
    "changelog": check_changelog,
    "locks": check_locks,
    "documents": check_documents,
    "wheels": check_wheels,
    "advisories": check_advisories,
}


def _project(path: Path) -> Mapping[str, object]:
    found: Mapping[str, object] = tomllib.loads(path.read_text("utf-8"))["project"]
    return found


def _extract(candidate: Candidate, target: Path) -> None:
    """What is committed, without what only lies beside it."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=candidate.root, capture_output=True, check=True)
    subprocess.run(["tar", "-x"], cwd=target, input=archive.stdout, check=True)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unready(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def _run(candidate: Candidate, command: Sequence[str], *, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=cwd or candidate.root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Unready(f"{command[0]} is not here") from None
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-_SHOWN_MAX:]
        raise Unready(f"{Path(command[0]).name} {command[1]} failed:\n{said}")
