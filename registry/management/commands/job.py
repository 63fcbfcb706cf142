"""`manage.py job`: what writes left behind, and what is parked (docs/jobs.md)."""

from __future__ import annotations

from typing import Any

from registry.cli.command import SubcommandBase, format_moment, terminal_actor
from registry.core.jobs import admin
from registry.models import Job


class Command(SubcommandBase):
    help = "Look at jobs; put parked ones back into the queue, or give them up."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "list", self.list, "List jobs, the newest first.")
        parser.add_argument("--state", choices=admin.STATES, default="")
        parser.add_argument("--limit", type=int, default=100)
        for name, handler, words in (
            ("show", self.show, "Show a job with its payload and its last error."),
            ("retry", self.retry, "Put a parked job back into the queue, with all its tries."),
            ("cancel", self.cancel, "Give a queued or parked job up."),
        ):
            parser = self.verb(verbs, name, handler, words)
            parser.add_argument("id", type=int)

    def list(self, options: dict[str, Any]) -> int:
        found = admin.list_jobs(state=options["state"], limit=options["limit"])
        rows = [_row(job) for job in found]
        return self.tell({"jobs": rows}, map(_line, rows), options)

    def show(self, options: dict[str, Any]) -> int:
        job = admin.get_job(options["id"])
        row = {**_row(job), "payload": job.payload, "last_error": job.last_error}
        lines = [f"{key}: {value if key != 'last_error' else ''}".rstrip() for key, value in row.items()]
        return self.tell(row, lines + [f"  {line}" for line in job.last_error.splitlines()], options)

    def retry(self, options: dict[str, Any]) -> int:
        return self._tell(admin.retry_job(job_id=options["id"], by=terminal_actor()), options)

    def cancel(self, options: dict[str, Any]) -> int:
        return self._tell(admin.cancel_job(job_id=options["id"], by=terminal_actor()), options)

    def _tell(self, job: Job, options: dict[str, Any]) -> int:
        return self.tell(_row(job), f"job {job.pk}: {job.state}", options)


def _row(job: Job) -> dict[str, Any]:
    return {
        "id": job.pk,
        "kind": job.kind,
        "state": job.state,
        "tries": job.attempts,
        "tries_max": job.max_attempts,
        "run_after": format_moment(job.run_after),
        "created_at": format_moment(job.created_at),
        "finished_at": format_moment(job.finished_at),
        "error": job.last_error.strip().rpartition("\n")[2][:500],
    }


def _line(row: dict[str, Any]) -> str:
    line = "{id}  {created_at}  {kind}  {state}  tries {tries}/{tries_max}  {error:.200}"
    return line.format_map(row).rstrip()
