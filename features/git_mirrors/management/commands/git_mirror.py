"""`manage.py git_mirror`: branches that each release is pushed to (docs/contract.md 3.4)."""

from __future__ import annotations

from typing import Any

from features.git_mirrors import mirror_push, mirror_store
from features.git_mirrors.mirror_content import FORMS, SKILLS
from features.git_mirrors.mirror_state import describe_mirror
from registry.cli.command import SubcommandBase, terminal_actor


class Command(SubcommandBase):
    help = "Push each release to a branch of a git repository."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "add", self.add, "Keep a mirror, which pushes nothing before it is started.")
        parser.add_argument("url", metavar="URL", help="https://host/repository")
        parser.add_argument("--branch", default="main", metavar="NAME", help="default: main")
        parser.add_argument("--credential", required=True, metavar="NAME", help="a token that may write there")
        parser.add_argument("--set", default="", metavar="SET_ID", help="only its capabilities")
        parser.add_argument("--layout", default=SKILLS, choices=FORMS, help="default: a folder for each skill")
        self.verb(verbs, "list", self.list, "List all mirrors, with what is there; exit 1 where one fails.")
        for name, handler, words in (
            ("preview", self.preview, "List the files that the first push would write."),
            ("start", self.start, "Push from now on, on top of what the branch has now."),
            ("push", self.push, "Push now and wait for it; exit 1 where it fails."),
            ("continue", self.go_on, "Continue from what somebody else pushed."),
            ("remove", self.remove, "Push nothing more; what is there stays."),
        ):
            self.verb(verbs, name, handler, words).add_argument("id", type=int, metavar="ID")
        for name, handler, words in (
            ("consent", self.consent, "Have the capabilities of a team go out by it."),
            ("withdraw", self.withdraw, "Take the capabilities of a team out with its next push."),
        ):
            parser = self.verb(verbs, name, handler, words)
            parser.add_argument("id", type=int, metavar="ID")
            parser.add_argument("team", metavar="TEAM")

    def add(self, options: dict[str, Any]) -> int:
        row = mirror_store.create_mirror(
            url=options["url"],
            branch=options["branch"],
            credential=options["credential"],
            form=options["layout"],
            set_id=options["set"],
            by=terminal_actor(),
        )
        words = f"{row.pk}: kept. See what it pushes: git_mirror preview {row.pk}"
        return self.tell(describe_mirror(row), words, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [describe_mirror(row) for row in mirror_store.list_mirrors()]
        self.tell({"mirrors": rows}, map(_line, rows), options)
        return int(any(row["error"] for row in rows))

    def preview(self, options: dict[str, Any]) -> int:
        found = mirror_store.preview(options["id"])
        values = {"head": found.head, "files": list(found.content.files), "replaced": list(found.replaced)}
        lines = (f"{'replaces' if path in found.replaced else 'adds'}  {path}" for path in found.content.files)
        return self.tell(values, lines, options)

    def start(self, options: dict[str, Any]) -> int:
        head = mirror_store.preview(options["id"]).head
        row = mirror_store.start_mirror(mirror_id=options["id"], head=head, by=terminal_actor())
        return self.tell(describe_mirror(row), f"{row}: started", options)

    def push(self, options: dict[str, Any]) -> int:
        mirror_store.push_now(mirror_id=options["id"], by=terminal_actor())
        mirror_push.push_mirror(options["id"])
        row = describe_mirror(mirror_store.get_mirror(options["id"]))
        self.tell(row, _line(row), options)
        return int(bool(row["error"]))

    def go_on(self, options: dict[str, Any]) -> int:
        head = mirror_store.get_mirror(options["id"]).found_head
        row = mirror_store.continue_mirror(mirror_id=options["id"], head=head, by=terminal_actor())
        return self.tell(describe_mirror(row), f"{row}: continues from {head[:12]}", options)

    def remove(self, options: dict[str, Any]) -> int:
        row = mirror_store.remove_mirror(mirror_id=options["id"], by=terminal_actor())
        return self.tell({"removed": str(row)}, f"{row}: removed", options)

    def consent(self, options: dict[str, Any]) -> int:
        given = {"mirror_id": options["id"], "team": options["team"], "by": terminal_actor()}
        return self.tell(describe_mirror(mirror_store.give_consent(**given)), f"{options['team']}: goes out", options)

    def withdraw(self, options: dict[str, Any]) -> int:
        given = {"mirror_id": options["id"], "team": options["team"], "by": terminal_actor()}
        return self.tell(describe_mirror(mirror_store.withdraw_consent(**given)), f"{options['team']}: leaves", options)


def _line(row: dict[str, Any]) -> str:
    state = row["error"] or (f"pushed {row['pushed_at']}" if row["pushed_at"] else "nothing pushed yet")
    return f"{row['id']}  {row['url']}@{row['branch']}  {row['layout']}  {len(row['capabilities'])} skills  {state}"
