"""`manage.py evaluation`: play the cases of a capability, and see what came of earlier runs (docs/evaluations.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from capability_client.evaluation.report import CaseResult, as_document, rate, table
from capability_kit.json_text import parse_json
from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.evaluations import case_store, results, runs, uploads
from features.evaluations.model_settings import is_model_set, list_models
from registry.cli.command import SubcommandBase, terminal_actor
from registry.core.queries import get_capability


class Command(SubcommandBase):
    help = "Play the cases of a capability with the model of the settings."

    def add_verbs(self, verbs: Any) -> None:
        play = self.verb(
            verbs, "play", self.play, "Play each case now, and store nothing; exit 1 where one has failed."
        )
        play.add_argument("capability_id")
        play.add_argument("--side", default="live", help="live (the default), draft, without, revision-N, or silent")
        play.add_argument("--model", default="", help="default: the first of MODEL_NAMES")
        cases = self.verb(verbs, "cases", self.cases, "Print the cases as evals.json, or read them from one.")
        cases.add_argument("capability_id")
        cases.add_argument("--from", dest="file", type=Path, metavar="FILE", help="take the cases of this file")
        upload = self.verb(verbs, "upload", self.upload, "Store results of another harness; release rules read them.")
        upload.add_argument("capability_id")
        upload.add_argument("file", type=Path, metavar="FILE", help="as capability-client evaluate --json writes it")
        parser = self.verb(verbs, "list", self.list, "List the runs of a capability, the newest first.")
        parser.add_argument("capability_id")

    def play(self, options: dict[str, Any]) -> int:
        if not is_model_set():
            raise InvalidRequest("There is no model: set MODEL_URL and MODEL_NAMES, or connect one in the Studio")
        capability = get_capability(options["capability_id"])
        model = options["model"] or list_models()[0]
        cases = [case_store.read_row(row) for row in case_store.list_cases(capability)]
        found = [
            CaseResult(
                case.name,
                1,
                tuple(failures),
                seen.usage.tokens,
                seen.usage.seconds,
                case.must,
                case.digest,
                seen.transcript(),
            )
            for case, seen, failures in runs.play_now(capability, options["side"], model, cases)
        ]
        about = {"capability_id": capability.capability_id, "side": options["side"], "model": model}
        self.tell(as_document(found, **about), table(found).splitlines(), options)
        whole = rate(found)
        return 0 if whole.passed == whole.total else 1

    def cases(self, options: dict[str, Any]) -> int:
        capability = get_capability(options["capability_id"])
        if options["file"] is None:
            self.stdout.write(case_store.export_cases(capability), ending="")
            return 0
        text = _read(options["file"])
        count = case_store.replace_cases(capability=capability, text=text, by=terminal_actor())
        return self.tell({"cases": count}, "1 case" if count == 1 else f"{count} cases", options)

    def upload(self, options: dict[str, Any]) -> int:
        document = parse_json(_read(options["file"]))
        run = uploads.store_results(capability_id=options["capability_id"], document=document, by=terminal_actor())
        row = uploads.describe_run(run, results.get_summary(run).rate.passed)
        return self.tell(row, f"{row['passed']} of {row['total']} passed, stored as run {run.pk}", options)

    def list(self, options: dict[str, Any]) -> int:
        found = results.list_summaries(get_capability(options["capability_id"]))
        rows = [
            {
                "run": one.run.pk,
                "side": one.run.side,
                "model": one.run.model,
                "state": one.run.state,
                "passed": one.rate.passed,
                "played": one.played,
                "total": one.run.total,
                "tokens": one.tokens,
            }
            for one in found
        ]
        lines = [
            f"{row['run']}  {row['side']}  {row['passed']}/{row['total']}  {row['model']}  {row['state']}"
            for row in rows
        ]
        return self.tell({"runs": rows}, lines or "No runs", options)


def _read(path: Path) -> str:
    """Raises `SourceUnreadable`, and `InvalidRequest` where it is too long."""
    try:
        with path.open("rb") as file:
            content = file.read(uploads.BYTES_MAX + 1)
    except OSError as error:
        raise SourceUnreadable(f"{path}: {error.strerror or error}") from None
    if len(content) > uploads.BYTES_MAX:
        raise InvalidRequest(f"{path} has more than {uploads.BYTES_MAX:,} bytes")
    return content.decode("utf-8", "replace")
