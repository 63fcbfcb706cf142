"""The verbs, their options, and how an error is reported: one line on stderr and exit code 1."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from capability_client import Session, SessionFileRefused, SessionOptions, Source, User, draft_playbook
from capability_client.cli import evaluating
from capability_client.cli import install as installing
from capability_client.cli.chat import Chat
from capability_client.cli.stubs import write_stubs
from capability_client.client.local_registry import LocalSkills
from capability_client.client.registry import Registry
from capability_client.session.hints import local_hints
from capability_kit.bundles.bundle import list_open_triggers
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness
from capability_kit.errors import RegistryError
from capability_kit.text.sanitize import one_line
from capability_kit.text.trigger_matching import TriggerIndex

URL_VARIABLE: Final = "CAPABILITY_STUDIO_URL"
KEY_VARIABLE: Final = "CAPABILITY_STUDIO_KEY"
_DOCS: Final = Path(__file__).parent.parent / "docs"
Verb = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    verb: Verb = options.verb
    try:
        return verb(options)
    except RegistryError as error:
        print(f"{error.error_code}: {error.message}", file=sys.stderr)
        print(error.user_message(), file=sys.stderr)
    except (SessionFileRefused, installing.InstallRefused, ValueError, OSError) as error:
        print(error, file=sys.stderr)
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 1


def _parser() -> argparse.ArgumentParser:
    about = "The capabilities of a registry, or of a folder of skills, from a terminal."
    parser = argparse.ArgumentParser(prog="python -m capability_client", description=about)
    parser.add_argument("--url", default=os.environ.get(URL_VARIABLE), help=f"the registry's address ({URL_VARIABLE})")
    parser.add_argument("--key-file", type=Path, help=f"a file with the agent key; else {KEY_VARIABLE}")
    parser.add_argument("--skills-dir", type=Path, default=Path.home() / ".agent-client" / "skills")
    parser.add_argument("--cache-dir", type=Path, help="keep the registry's answers here over restarts")
    parser.add_argument("--lock", type=Path, help="a lock file; a bundle that differs from it is refused")
    parser.add_argument("--permission", action="append", default=[], help="a permission that the agent was given")
    parser.add_argument("--mcp-server", action="append", help="an MCP server that the agent is connected to")
    parser.add_argument("--environment", type=Path, help="a JSON file that says what is there, instead of looking")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    _add_skills(verbs)
    load = _add(verbs, "load", _load, "load one capability and show it")
    load.add_argument("capability_id")
    load.add_argument("--json", action="store_true", help="the whole bundle as JSON")
    match = _add(verbs, "match", _match, "which capabilities a message leads to")
    match.add_argument("message")
    doctor = _add(verbs, "doctor", _doctor, "what is ready on this computer, and how to fix what is not")
    doctor.add_argument("capability_id", nargs="*")
    chat = _add(verbs, "chat", _chat, "a playground: what a session makes of what a user says, without a model")
    chat.add_argument("--user", default="", help="the user's name; without it the user is new")
    chat.add_argument("--first-run", help="the capability of the introduction")
    chat.add_argument("--no-carry", action="store_true", help="skills last one turn")
    chat.add_argument("--state", type=Path, help="keep the session in this file")
    evaluating.add_verb(verbs, _add)
    playbook = _add(verbs, "playbook", _playbook, "write a playbook draft from a session that ran")
    playbook.add_argument("session", type=Path, help="the text of session.to_json()")
    playbook.add_argument("--id", required=True, dest="capability_id")
    playbook.add_argument("--name", required=True)
    playbook.add_argument("--problem", required=True, help="what was solved, in your words")
    playbook.add_argument("--to", type=Path, help="the folder to write; else one named like the id")
    stubs = _add(verbs, "stubs", _stubs, "write the types of a capability's tools, for the functions of a Toolbox")
    stubs.add_argument("capability_id")
    docs = _add(verbs, "docs", _docs, "where the pages for agent developers are, or one of them")
    docs.add_argument("page", nargs="?", help="print this page, such as agents")
    return parser


def _add_skills(verbs: Any) -> None:
    skills = _add(verbs, "skills", _skills_menu, "list, install and uninstall; without an action a menu")
    actions = skills.add_subparsers(metavar="ACTION")
    _add(actions, "list", _list, "what is installed, or with --url what the registry has")
    install = _add(actions, "install", _install, "from a folder, a git address, an install code or a capability_id")
    install.add_argument("source")
    uninstall = _add(actions, "uninstall", _uninstall, "remove an installed skill")
    uninstall.add_argument("capability_id")


def _add(verbs: Any, name: str, verb: Verb, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=about)
    parser.set_defaults(verb=verb)
    return parser


def _registry(options: argparse.Namespace) -> Registry | None:
    if not options.url:
        return None
    key = options.key_file.read_text("utf-8").strip() if options.key_file else os.environ.get(KEY_VARIABLE)
    return Registry(options.url, key or None, cache_dir=options.cache_dir, lock=options.lock)


def _source(options: argparse.Namespace) -> Source:
    return _registry(options) or LocalSkills(options.skills_dir)


def _environment(options: argparse.Namespace) -> Environment:
    if options.environment is None:
        return Environment.probe(options.permission, mcp_servers=options.mcp_server)
    text = options.environment.read_text("utf-8")
    try:
        return Environment.from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{options.environment} is not JSON: {error}") from None


def _list(options: argparse.Namespace) -> int:
    source = _source(options)
    listing = source.list()
    for entry in listing.entries:
        print(f"{entry.capability_id:24} {one_line(entry.name, most=40)}: {one_line(entry.description, most=120)}")
    if listing.is_stale:
        print(f"(the registry is unreachable; this is {listing.age_seconds:,.0f} seconds old)")
    for bad in source.unreadable if isinstance(source, LocalSkills) else []:
        print(f"{one_line(bad.folder, most=60)} cannot be read: {one_line(bad.cause)}", file=sys.stderr)
    if not listing.entries:
        print("No skills.")
    return 0


def _install(options: argparse.Namespace) -> int:
    for done in installing.install(options.source, LocalSkills(options.skills_dir), _registry(options)):
        print(f"Installed {done}.")
    return 0


def _uninstall(options: argparse.Namespace) -> int:
    LocalSkills(options.skills_dir).uninstall(options.capability_id.replace("-", "_"))
    print(f"Uninstalled {options.capability_id}.")
    return 0


def _skills_menu(options: argparse.Namespace) -> int:
    """Run the menu of skills (docs/requirements.md E)."""
    print("Skills\nChoose an action\n")
    print("1. List skills          Tip: type $ in a chat to open this list.")
    print("2. Install skill        From a folder, a git address, an install code or a capability_id.")
    print("3. Uninstall skill      Remove an installed skill.\n")
    chosen = _answer("> ")
    if chosen == "1":
        return _list(options)
    if chosen in ("2", "3"):
        asked = _answer("Source: " if chosen == "2" else "Which skill: ")
        options.source = options.capability_id = asked
        return (_install if chosen == "2" else _uninstall)(options) if asked else 0
    if chosen:
        raise ValueError(f"There is no action '{one_line(chosen, most=20)}'; choose 1, 2 or 3")
    return 0


def _answer(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError:
        return ""


def _load(options: argparse.Namespace) -> int:
    bundle = _source(options).load(options.capability_id.replace("-", "_"))
    if options.json:
        print(json.dumps(bundle.as_answer(), indent=2, ensure_ascii=False))
        return 0
    print(f"{bundle.capability_id} ({one_line(bundle.name)}), revision {bundle.revision}, {bundle.digest}")
    print(f"{len(bundle.tools)} tools, {len(bundle.ui_schemas)} UI schemas, status {bundle.status}\n")
    print(bundle.skill_doc)
    return 0


def _match(options: argparse.Namespace) -> int:
    """By the registry where there is one, else by the triggers of what is installed."""
    registry = _registry(options)
    if registry is not None:
        answer = registry.match(options.message)
        print(answer["decision"] + (f": {one_line(answer['reason'])}" if isinstance(answer.get("reason"), str) else ""))
        for row in answer["matches"]:
            near = " (near miss)" if row.get("below_threshold") else ""
            print(f"  {row['capability_id']}  {row['score']:.2f}{near}")
        return 0
    entries = {entry.capability_id: entry for entry in LocalSkills(options.skills_dir).list().entries}
    index = TriggerIndex(list_open_triggers(entries.values()))
    hints = local_hints(options.message, index, entries)
    print("match" if hints else "none")
    for hint in hints:
        print(f"  {hint.line()}")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    """Exit code 1 where something that was asked for by name is not ready."""
    source, here = _source(options), _environment(options)
    asked = [name.replace("-", "_") for name in options.capability_id]
    names = asked or [entry.capability_id for entry in source.list().entries]
    is_all_ready = True
    for name in names:
        judged = check_readiness(source.load(name), here)
        is_all_ready &= judged.is_ready
        print(f"{judged.status:11} {name}" + (f"  {judged.reason}" if judged.reason else ""))
        for item in judged.missing:
            print(f"            {item.what}: {item.fix}")
    return 0 if is_all_ready or not asked else 1


def _playbook(options: argparse.Namespace) -> int:
    folder: Path = options.to or Path(options.capability_id)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; name another folder with --to")
    session = Session.from_json(options.session.read_text("utf-8"), LocalSkills(options.skills_dir))
    files = draft_playbook(session, capability_id=options.capability_id, name=options.name, problem=options.problem)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    print(f"Wrote {folder}. Read it, then: manage.py bundle validate {folder}")
    return 0


def _stubs(options: argparse.Namespace) -> int:
    print(write_stubs(_source(options).load(options.capability_id.replace("-", "_"))), end="")
    return 0


def list_pages() -> dict[str, Path]:
    """The pages that belong to this release of the library, by their path without its suffix: `security/signatures`."""
    return {path.relative_to(_DOCS).with_suffix("").as_posix(): path for path in sorted(_DOCS.rglob("*.md"))}


def _docs(options: argparse.Namespace) -> int:
    pages = list_pages()
    if options.page:
        if options.page not in pages:
            known = ", ".join(pages) or "none"
            raise ValueError(f"There is no page '{one_line(options.page, most=40)}'; there are: {known}")
        print(pages[options.page].read_text("utf-8"))
        return 0
    for name, path in pages.items():
        title = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
        print(f"{name:27} {title:48} {path}")
    return 0 if pages else 1


def _chat(options: argparse.Namespace) -> int:
    source = _source(options)
    settings: dict[str, Any] = {
        "user": User(name=options.user),
        "environment": _environment(options),
        "options": SessionOptions(carry=not options.no_carry),
    }
    if options.state and options.state.exists():
        session = Session.from_json(options.state.read_text("utf-8"), source, **settings)
    else:
        session = Session(source, **settings)
    Chat(session, sys.stdin, sys.stdout).run(first_run=options.first_run)
    if options.state:
        options.state.write_text(session.to_json(), "utf-8")
    return 0
