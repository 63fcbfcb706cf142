"""Results of another harness, such as a pipeline's: for exactly the texts and cases that it names."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from capability_kit.evaluation_cases import NAME_LENGTH_MAX
from capability_kit.json_text import parse_json
from capability_kit.text.sanitize import one_line
from capability_rules.errors import InvalidRequest
from features.evaluations import case_store
from features.evaluations.clean_json import clean_json
from features.evaluations.models import EvaluationResult, EvaluationRun
from registry.access.teams import require_edit_permission
from registry.catalog.drafts import get_active_draft
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, RevisionNotFound
from registry.core import audit
from registry.core.queries import get_capability
from registry.core.transactions import write_transaction
from registry.models import Capability

logger = logging.getLogger(__name__)
RESULTS_PATH: Final = "evals/results.json"
RESULTS_MAX: Final = 2000
# Uploads that are kept for a capability: the newest.
KEPT_MAX: Final = 50
BYTES_MAX: Final = 4 * 1024 * 1024
_FAILURES_MAX: Final = 20
_FAILURE_LENGTH_MAX: Final = 500
_SETTINGS_MAX: Final = 20
_COUNT_MAX: Final = 10**9
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class OutsideResult:
    """One repetition of one case, as another harness reports it."""

    case: str
    case_digest: str
    repetition: int
    failures: tuple[str, ...]
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class OutsideRun:
    """What was played, by what, with which model."""

    tool: str
    digest: str
    model: str
    settings: dict[str, Any]
    results: tuple[OutsideResult, ...]


def read_run(document: Any) -> OutsideRun:
    """Keys that are not needed are left alone, so that what `capability-client evaluate --json` writes is taken as it
    is. Raises `InvalidRequest` with the place."""
    if not isinstance(document, dict):
        raise InvalidRequest("evaluation must be an object, as capability-client evaluate --json writes it")
    rows = document.get("results")
    if not isinstance(rows, list) or not rows or len(rows) > RESULTS_MAX:
        raise InvalidRequest(f"evaluation.results must be a list of 1 to {RESULTS_MAX:,} results")
    results = tuple(_read_result(row, f"evaluation.results[{place}]") for place, row in enumerate(rows))
    seen: set[tuple[str, int]] = set()
    for place, one in enumerate(results):
        if (one.case, one.repetition) in seen:
            raise InvalidRequest(
                f"evaluation.results[{place}]: repetition {one.repetition} of “{one.case}” is there twice"
            )
        seen.add((one.case, one.repetition))
    return OutsideRun(
        tool=_text(document, "tool", "evaluation", most=80),
        digest=_digest(document, "digest", "evaluation"),
        model=_text(document, "model", "evaluation", most=200),
        settings=_read_settings(document.get("settings", {})),
        results=results,
    )


def _read_settings(value: Any) -> dict[str, Any]:
    is_flat = isinstance(value, dict) and all(_is_setting(name, one) for name, one in value.items())
    if not is_flat or len(value) > _SETTINGS_MAX:
        raise InvalidRequest(
            f"evaluation.settings must be an object of at most {_SETTINGS_MAX} texts, numbers, true or false"
        )
    return dict(value)


def _is_setting(name: str, value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    is_plain = value is None or isinstance(value, str | int | float)
    return is_plain and len(name) <= 80 and len(str(value)) <= 200 and _is_storable(name) and _is_storable(str(value))


def _is_storable(text: str) -> bool:
    """Whether every database keeps it as it is."""
    return bool(clean_json(text) == text)


def _read_result(row: Any, place: str) -> OutsideResult:
    if not isinstance(row, dict):
        raise InvalidRequest(f"{place} must be an object")
    if not isinstance(row.get("passed"), bool):
        raise InvalidRequest(f"{place}.passed must be true or false")
    failures = row.get("failures", [])
    if not isinstance(failures, list) or not all(isinstance(one, str) for one in failures):
        raise InvalidRequest(f"{place}.failures must be a list of texts")
    if not all(map(_is_storable, failures)):
        raise InvalidRequest(f"{place}.failures has a sign that cannot be stored")
    words = tuple(one_line(one, most=_FAILURE_LENGTH_MAX) for one in failures[:_FAILURES_MAX])
    if row["passed"] and words:
        raise InvalidRequest(f"{place} has failures, and passed is true")
    return OutsideResult(
        case=_text(row, "case", place, most=NAME_LENGTH_MAX),
        case_digest=_digest(row, "case_digest", place),
        repetition=_count(row, "repetition", place, default=1, least=1),
        failures=() if row["passed"] else words or ("It failed; the harness does not say why",),
        tokens=_count(row, "tokens", place, default=0, least=0),
        seconds=_seconds(row.get("seconds", 0), place),
    )


def _text(row: Mapping[str, Any], name: str, place: str, *, most: int) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > most or not _is_storable(value):
        raise InvalidRequest(f"{place}.{name} must be a text of 1 to {most} characters")
    return value


def _digest(row: Mapping[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise InvalidRequest(f"{place}.{name} must be sha256: and 64 digits, of what was played")
    return value


def _count(row: Mapping[str, Any], name: str, place: str, *, default: int, least: int) -> int:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _COUNT_MAX:
        raise InvalidRequest(f"{place}.{name} must be a whole number from {least} to {_COUNT_MAX:,}")
    return value


def _seconds(value: Any, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _COUNT_MAX:
        raise InvalidRequest(f"{place}.seconds must be a number from 0")
    return float(value)


def store_results(*, capability_id: str, document: Any, by: Actor) -> EvaluationRun:
    """Store the results of another harness as a run that is done. Raises `CapabilityNotFound`, `InvalidRequest`, and
    `RevisionNotFound` where no draft and no revision has the digest; then nothing is stored."""
    found = read_run(document)
    capability = get_capability(capability_id)
    with write_transaction():
        require_edit_permission(capability_id, by)
        side, revision = _find_side(capability, found.digest)
        run = EvaluationRun.objects.create(
            capability=capability,
            side=side,
            digest=found.digest,
            revision=revision,
            tool=found.tool,
            model=found.model,
            settings=found.settings,
            repetitions=max(one.repetition for one in found.results),
            total=len(found.results),
            state=EvaluationRun.State.DONE,
            finished_at=timezone.now(),
            created_by=str(by),
        )
        _store(run, capability, found.results)
        _forget_oldest(capability)
        detail = {"run": run.pk, "tool": found.tool, "digest": found.digest, "results": len(found.results)}
        audit.record(by=by, verb="evaluation.upload", subject=capability_id, detail=detail)
    return run


def _find_side(capability: Capability, digest: str) -> tuple[str, int | None]:
    live, draft = capability.published_revision, get_active_draft(capability)
    if live is not None and live.digest == digest:
        return EvaluationRun.Side.LIVE, live.number
    if draft is not None and draft.digest == digest:
        return EvaluationRun.Side.DRAFT, None
    number = capability.revisions.filter(digest=digest).order_by("-number").values_list("number", flat=True).first()
    if number is None:
        raise RevisionNotFound(
            f"'{capability.capability_id}' has no draft and no revision with the digest {digest}: "
            "play what is there now"
        )
    return EvaluationRun.Side.REVISION, number


def _store(run: EvaluationRun, capability: Capability, results: Sequence[OutsideResult]) -> None:
    """Which cases must pass, the registry's own cases say."""
    must = {row.name for row in case_store.list_cases(capability) if case_store.read_row(row).must}
    EvaluationResult.objects.bulk_create(
        EvaluationResult(
            run=run,
            case=one.case,
            case_digest=one.case_digest,
            repetition=one.repetition,
            must=one.case in must,
            failures=list(one.failures),
            prompt_tokens=one.tokens,
            seconds=one.seconds,
        )
        for one in results
    )


def _forget_oldest(capability: Capability) -> None:
    kept = EvaluationRun.objects.filter(capability=capability).exclude(tool="").order_by("-id")
    old = list(kept.values_list("pk", flat=True)[KEPT_MAX:])
    EvaluationRun.objects.filter(pk__in=old).delete()


def describe_run(run: EvaluationRun, passed: int) -> dict[str, Any]:
    """The shape of schemas/api/evaluation_results.schema.json."""
    return {
        "capability_id": run.capability.capability_id,
        "run": run.pk,
        "side": run.side,
        "digest": run.digest,
        "tool": run.tool,
        "model": run.model,
        "passed": passed,
        "total": run.total,
    }


def on_import(capability_id: str, files: Mapping[str, bytes | str], by: Actor) -> None:
    """Take the results that a folder brings, where they are of exactly its texts, as the recorded runs of the examples
    are. What does not fit is left out: a folder with changed texts is not wrong."""
    content = files.get(RESULTS_PATH)
    if not content or len(content) > BYTES_MAX:
        return
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    try:
        store_results(capability_id=capability_id, document=parse_json(text), by=by)
    except (InvalidRequest, CapabilityNotFound, RevisionNotFound) as error:
        logger.info("results beside '%s' are left out: %s", capability_id, error)
