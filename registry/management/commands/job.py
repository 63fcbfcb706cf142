"""`manage.py job`: what writes left behind, and what is parked (docs/jobs.md)."""

from __future__ import annotations

from typing import Any

from registry.cli.command import SubcommandBase, is_terminal
from registry.cli.text_output import escape_controls
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
        if options["format"] == "json":
            self.document({"jobs": [_row(job) for job in found]})
            return 0
        for job in found:
            self.line(_line(job))
        return 0

    def show(self, options: dict[str, Any]) -> int:
        job = admin.get_job(options["id"])
        row = {**_row(job), "payload": job.payload, "last_error": job.last_error}
        if options["format"] == "json":
            self.document(row)
            return 0
        for key, value in row.items():
            self.line(f"{key}: {escape_controls(str(value).rstrip()) if key != 'last_error' else ''}".rstrip())
        for line in job.last_error.splitlines():
            self.line(f"  {escape_controls(line)}")
        return 0

    def retry(self, options: dict[str, Any]) -> int:
        return self._tell(admin.retry_job(job_id=options["id"], by=is_terminal()), options)

    def cancel(self, options: dict[str, Any]) -> int:
        return self._tell(admin.cancel_job(job_id=options["id"], by=is_terminal()), options)

    def _tell(self, job: Job, options: dict[str, Any]) -> int:
        if options["format"] == "json":
            self.document(_row(job))
        else:
            self.line(f"job {job.pk}: {job.state}")
        return 0


def _row(job: Job) -> dict[str, Any]:
    return {
        "id": job.pk,
        "kind": job.kind,
        "state": job.state,
        "tries": job.attempts,
        "tries_max": job.max_attempts,
        "run_after": job.run_after.isoformat(timespec="seconds"),
        "created_at": job.created_at.isoformat(timespec="seconds"),
        "finished_at": job.finished_at.isoformat(timespec="seconds") if job.finished_at else None,
        "error": job.last_error.strip().rpartition("\n")[2][:500],
    }


def _line(job: Job) -> str:
    at = job.created_at.isoformat(timespec="seconds")
    error = job.last_error.strip().rpartition("\n")[2][:200]
    return escape_controls(
        f"{job.pk}  {at}  {job.kind}  {job.state}  tries {job.attempts}/{job.max_attempts}  {error}".rstrip()
    )
