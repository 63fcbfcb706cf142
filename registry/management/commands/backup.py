"""`manage.py backup`: the whole registry in one file, and back (docs/operate.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.cli.command import SubcommandBase, terminal_actor
from registry.cli.history_output import tell_history
from registry.operations.backup.archive import Manifest, check_archive
from registry.operations.backup.create import create_backup
from registry.operations.backup.restore import restore_backup
from registry.operations.verification import verify as verification


class Command(SubcommandBase):
    help = "Write the whole registry into one file, and put it back, on SQLite or PostgreSQL."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Write a backup; it contains secrets, so keep it safe.")
        parser.add_argument("--to", required=True, type=Path, metavar="PATH", help="a new file, or a folder")
        parser = self.verb(verbs, "verify", self.verify, "Read a backup and compare it with its manifest.")
        parser.add_argument("path", type=Path)
        words = "also its history, with these public keys (/.well-known/capability-studio-keys.json)"
        parser.add_argument("--keys", type=Path, metavar="FILE", help=words)
        parser = self.verb(verbs, "restore", self.restore, "Put the registry back from a backup.")
        parser.add_argument("path", type=Path)
        parser.add_argument("--force", action="store_true", help="in the place of all that is there")

    def create(self, options: dict[str, Any]) -> int:
        made = create_backup(to=options["to"])
        row = {"path": str(made.path), "bytes": made.path.stat().st_size, **_row(made.manifest)}
        self.tell({**row, "damaged": list(made.damaged)}, str(made.path), options)
        for name in made.damaged if options["format"] == "text" else ():
            self.stderr.write(f"Warning: {name} is damaged, and so it is in the backup; see: registry check")
        return 0

    def verify(self, options: dict[str, Any]) -> int:
        if options["keys"] is not None:
            trusted = verification.read_key_file(options["keys"])
            return tell_history(self, verification.verify_backup(options["path"], trusted), options)
        manifest = check_archive(options["path"])
        words = f"{options['path']}: whole, {manifest.rows} rows, made at {manifest.created_at}"
        return self.tell({"path": str(options["path"]), **_row(manifest)}, words, options)

    def restore(self, options: dict[str, Any]) -> int:
        done = restore_backup(path=options["path"], by=terminal_actor(), force=options["force"])
        row = {
            **_row(done.manifest),
            "registry_revision": done.registry_revision,
            "damaged": list(done.damaged),
            "audit_broken_at": done.audit_broken_at,
            "unrecorded": list(done.unrecorded),
            "forgotten_checkpoint": done.forgotten.number if done.forgotten else None,
        }
        made = done.manifest.created_at
        words = f"{done.manifest.rows} rows of {made} are back; registry revision {done.registry_revision}"
        self.tell(row, words, options)
        if options["format"] == "text":
            for name in done.damaged:
                self.stderr.write(f"{name} was damaged when the backup was made: publish its texts again")
            for name in done.unrecorded:
                self.stderr.write(f"Not in the audit log of the backup: {name}. Check who made it, or take it away")
            if done.forgotten is not None:
                self.stderr.write(
                    f"Checkpoint {done.forgotten.number}, the last one of before, is not in the backup: agents that "
                    "have seen it refuse this registry until their .trust files are deleted"
                )
            if done.audit_broken_at is not None:
                self.stderr.write(
                    f"The audit log does not hold from row {done.audit_broken_at} on: so it was backed up"
                )
        return 0 if done.is_sound else 1


def _row(manifest: Manifest) -> dict[str, Any]:
    return {
        "created_at": manifest.created_at,
        "database": manifest.database,
        "registry_revision": manifest.registry_revision,
        "rows": {table.name: table.rows for table in manifest.tables},
    }
