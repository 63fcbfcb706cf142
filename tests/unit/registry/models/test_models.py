"""Every constraint of the database bites: whatever the code above it does, what must hold holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from features.sources.models import GitSource, GitSourceItem
from registry.access import agent_keys, teams
from registry.core import checkpoints
from registry.feature import list_registry_models
from registry.models import (
    AgentKey,
    AuditEvent,
    Capability,
    Checkpoint,
    Confidence,
    Draft,
    DraftVersion,
    FeedbackEvent,
    FileChunk,
    FileContent,
    FileHold,
    GitImport,
    IdempotencyRecord,
    Incident,
    Job,
    LoadCount,
    MatchClassifier,
    MatchCount,
    Operator,
    OutcomeReport,
    Proposal,
    RegistryState,
    Release,
    ReleaseRule,
    Review,
    ReviewEntry,
    Revision,
    ScanResults,
    ScheduledRelease,
    SentenceVector,
    SkillGroup,
    Team,
    TeamMember,
    ToolName,
    UnknownCapabilityRequest,
    UnmatchedMessage,
)
from registry.models.install_code import new_code
from registry.publishing import proposals, publication, release_rules
from registry.usage import feedback, outcome_reports
from tests.factories import OLGA, bundle, publish, tampering, tool
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db

Break = Callable[[], Any]


def _alpha() -> Capability:
    return Capability.objects.get(capability_id="alpha")


def _set(model: type[models.Model], **columns: Any) -> Break:
    return lambda: model._default_manager.update(**columns)


def _again(model: type[models.Model], **changes: Any) -> Break:
    """A second row like the first but for these columns."""

    def insert() -> None:
        row = model._default_manager.order_by("pk").first()
        assert row is not None
        automatic = isinstance(model._meta.pk, models.AutoField | models.BigAutoField)
        if automatic:
            row.pk = None
        for name, value in changes.items():
            setattr(row, name, value() if callable(value) else value)
        row._state.adding = True
        row.save(force_insert=True)

    return insert


BREAKS: dict[str, Break] = {
    "operator_role_known": _set(Operator, role="root"),
    "registry_state_single_row": lambda: RegistryState.objects.create(id=2),
    "capability_status_known": _set(Capability, status="hidden"),
    "capability_status_fits_revision": _set(Capability, status="draft"),
    "capability_replacement_fits_status": lambda: Capability.objects.update(replaced_by=_beta()),
    "capability_id_not_empty": _set(Capability, capability_id=""),
    "revision_number_unique": _again(Revision),
    "revision_number_positive": _set(Revision, number=0),
    "revision_digest_form": _set(Revision, digest="md5:0"),
    "release_status_known": _set(Release, status="draft"),
    "release_revision_positive": _set(Release, registry_revision=0),
    "draft_one_per_capability": _again(Draft, version=2),
    "draft_version_unique": _again(Draft, discarded_at=timezone.now),
    "draft_version_kept_once": _again(DraftVersion),
    "agent_key_revocation_paired": _set(AgentKey, revoked_by="operator:olga"),
    "agent_key_rotation_paired": _set(AgentKey, previous_key_hash="0" * 64),
    "agent_key_limit_of_one_kind": lambda: AgentKey.objects.update(team=Team.objects.get(), capability_ids=["alpha"]),
    "agent_key_previous_once": lambda: [_with_an_old_key(f"of {n}") for n in range(2)],
    "team_name_not_empty": _set(Team, name=""),
    "team_member_once": _again(TeamMember),
    "load_count_unique": _again(LoadCount),
    "match_count_unique": _again(MatchCount),
    "incident_open_once": _again(Incident),
    "incident_kind_known": _set(Incident, kind="fire"),
    "incident_revision_fits_kind": _set(Incident, revision=None),
    "incident_subject_fits_kind": _set(Incident, capability=None),
    "incident_of_source_open_once": lambda: [_of_source(cause) for cause in ("one", "another")],
    "release_rule_loosening_known": _set(ReleaseRule, loosening="anybody"),
    "review_state_known": _set(Review, state="lost"),
    "review_one_per_capability": _again(Review),
    "review_decision_paired": _set(Review, decided_by="operator:olga"),
    "review_decision_fits_state": _set(Review, state="approved"),
    "review_revision_fits_state": _set(Review, state="published"),
    "review_entry_kind_known": _set(ReviewEntry, kind="sung"),
    "review_entry_line_has_file": _set(ReviewEntry, line=1),
    "review_entry_suggestion_has_line": _set(ReviewEntry, suggestion="So."),
    # It is a question, which answers nothing.
    "review_entry_reply_is_a_comment_of_no_place": _set(ReviewEntry, reply_to=models.F("pk")),
    "review_entry_resolved_paired": _set(ReviewEntry, kind="comment", resolved_at=timezone.now()),
    "scan_results_one_per_tool": _again(ScanResults),
    "scan_results_digest_form": _set(ScanResults, files_digest="abc"),
    "scan_results_tool_not_empty": _set(ScanResults, tool=""),
    "scheduled_release_state_known": _set(ScheduledRelease, state="lost", ended_at=timezone.now()),
    "scheduled_release_end_fits_state": _set(ScheduledRelease, state="done"),
    "scheduled_release_one_waiting": _again(ScheduledRelease),
    "job_state_known": _set(Job, state="asleep"),
    "job_lease_fits_state": _set(Job, lease_expires_at=timezone.now()),
    "job_end_fits_state": _set(Job, state="done"),
    "job_kind_not_empty": _set(Job, kind=""),
    "job_open_once": _again(Job),
    "sentence_vector_once": _again(SentenceVector),
    "match_classifier_once": _again(MatchClassifier),
    "feedback_event_outcome_known": _set(FeedbackEvent, outcome="great"),
    "feedback_event_revision_positive": _set(FeedbackEvent, revision=0),
    "outcome_report_not_empty": _set(OutcomeReport, reason=""),
    "OutcomeReport.event": _again(OutcomeReport),
    "idempotency_record_once": _again(IdempotencyRecord),
    "idempotency_record_key_not_empty": _set(IdempotencyRecord, idempotency_key=""),
    "proposal_status_known": _set(Proposal, status="lost", decided_at=timezone.now(), decided_by="operator:olga"),
    "proposal_decision_fits_status": _set(Proposal, status="rejected"),
    "proposal_revision_fits_status": _set(Proposal, published_revision=1),
    "proposal_open_once": _again(Proposal, proposal_id=uuid4),
    "capability_visibility_known": _set(Capability, visibility="hidden"),
    "capability_install_code_form": _set(Capability, install_code="hunter2"),
    "Checkpoint.number": _again(Checkpoint, hash="1" * 64),
    "Checkpoint.hash": _again(Checkpoint, number=2),
    "checkpoint_number_positive": _set(Checkpoint, number=0),
    "release_visibility_known": _set(Release, visibility="hidden"),
    "confidence_once": _again(Confidence),
    "confidence_within_bounds": _set(Confidence, percent=101),
    "confidence_confirmed_are_uses": _set(Confidence, confirmed=2),
    "confidence_ends_are_uses": _set(Confidence, good=1, bad=1),
    "unknown_request_dismissal_paired": _set(UnknownCapabilityRequest, dismissed_by="operator:olga"),
    "unmatched_dismissal_paired": _set(UnmatchedMessage, dismissed_at=timezone.now()),
    "unmatched_decision_known": _set(UnmatchedMessage, decision="match"),
    "unmatched_text_not_empty": _set(UnmatchedMessage, text=""),
    "git_import_state_known": _set(GitImport, state="lost"),
    "git_import_end_fits_state": _set(GitImport, state="stored"),
    "UnmatchedMessage.form": _again(UnmatchedMessage),
    "git_source_once": _again(GitSource),
    "git_source_mode_known": _set(GitSource, mode="guess"),
    "git_source_pause_positive": _set(GitSource, every_minutes=0),
    "git_source_failure_paired": _set(GitSource, failures=1),
    "git_source_kind_known": _set(GitSource, kind="svn"),
    "git_source_columns_fit_kind": _set(GitSource, read_key="csk_"),
    "git_source_secret_paired": _set(GitSource, hook_secret="s"),
    "git_source_secret_rotation_paired": _set(GitSource, previous_hook_secret="s"),
    "git_source_push_paired": _set(GitSource, push_result="queued"),
    "git_source_item_upstream_state_known": _set(GitSourceItem, upstream_state="nowhere"),
    "git_source_item_once": _again(GitSourceItem),
    "git_source_item_status_known": _set(GitSourceItem, status="lost"),
    "file_chunk_once": _again(FileChunk),
    "file_hold_once_a_capability": _again(FileHold),
    "file_hold_once_an_actor": lambda: [FileHold.objects.create(content=_content(), brought_by="a") for _ in range(2)],
    "file_hold_of_one": _set(FileHold, brought_by="operator:olga"),
    "FileContent.digest": _again(FileContent),
    # Columns that are unique by themselves.
    "SkillGroup.group_id": _again(SkillGroup),
    "ReleaseRule.group_id": _again(ReleaseRule),
    "Capability.capability_id": _again(Capability, install_code=new_code),
    "AgentKey.name": _again(AgentKey, key_hash="0" * 64),
    "AgentKey.key_hash": _again(AgentKey, name="another"),
    "Team.name": _again(Team),
    "AuditEvent.previous_hash": _again(AuditEvent, hash="0" * 64),
    "AuditEvent.hash": _again(AuditEvent, previous_hash="1" * 64),
    "Proposal.proposal_id": _again(Proposal, key_name="another"),
    "Capability.install_code": _again(Capability, capability_id="another"),
    "FeedbackEvent.event_id": _again(FeedbackEvent),
    "Operator.username": _again(Operator),
    # Tables whose key is the rule.
    "ToolName.name": _again(ToolName),
    "Release.registry_revision": _again(Release),
    "UnknownCapabilityRequest.capability_id": _again(UnknownCapabilityRequest),
    "RegistryState.id": _again(RegistryState),
}


def _with_an_old_key(name: str) -> AgentKey:
    return AgentKey.objects.create(
        name=name, key_hash=name, created_by="operator:olga", previous_key_hash="0" * 64, previous_until=timezone.now()
    )


def _content() -> FileContent:
    return FileContent.objects.get()


def _beta() -> Capability:
    return Capability.objects.create(capability_id="beta")


def _of_source(cause: str) -> Incident:
    return Incident.objects.create(
        kind="source", source_id=GitSource.objects.get().pk, cause=cause, message="m", details="d"
    )


@pytest.fixture(autouse=True)
def one_of_each() -> None:
    """A row in every table."""
    publish(tools=[tool("alpha_list")])
    checkpoints.make_checkpoint()
    Draft.objects.create(capability=_alpha(), version=1, saved_by="operator:olga")
    DraftVersion.objects.create(
        capability=_alpha(), version=0, content=b"", size_bytes=0, saved_at=timezone.now(), replaced_by="operator:olga"
    )
    agent_keys.create_key(name="agent", by=OLGA)
    Operator.objects.create(username="vera")
    teams.add_member(key=teams.create_team(name="Team", by=OLGA).pk, username="vera", by=OLGA)
    revision = Revision.objects.get()
    Incident.objects.create(capability=_alpha(), revision=revision, cause="c", message="m", details="d")
    ScanResults.objects.create(
        capability=_alpha(), files_digest=revision.files_digest, tool="semgrep", uploaded_by="operator:olga"
    )
    LoadCount.objects.create(day=date(2025, 1, 1), capability_id="alpha", revision=1)
    MatchCount.objects.create(day=date(2025, 1, 1), decision="match", count=1)
    UnknownCapabilityRequest.objects.create(capability_id="gamma")
    UnmatchedMessage.objects.create(form="0" * 64, text="hello", decision="none")
    GitImport.objects.create(source="https://git.example/a", created_by="operator:olga")
    SentenceVector.objects.create(model_id="m", text_sha256="0" * 64, dimension=1, vector=b"1234")
    MatchClassifier.objects.create(fingerprint="0" * 64, samples=1, classes=1, weights=b"12")
    SkillGroup.objects.create(group_id="health", name="Health")
    release_rules.set_rule(group_id="health", four_eyes=True, loosening="admin", note_required=True, by=OLGA)
    review = Review.objects.create(
        capability=_alpha(), draft_version=1, files_digest="sha256:", requested_by="operator:olga"
    )
    ReviewEntry.objects.create(review=review, kind="asked", round=1, by="operator:olga")
    ScheduledRelease.objects.create(
        capability=_alpha(),
        draft_version=1,
        files_digest="sha256:",
        due_at=timezone.now(),
        scheduled_by="operator:olga",
    )
    Job.objects.create(kind="revalidate", dedupe_key="revalidate:alpha")
    said = outcome_reports.ReportedReason("why")
    feedback.record_outcome(capability_id="alpha", outcome="used", by=OLGA, said=said)
    proposals.propose(files=bundle(tools=[tool("alpha_list")]), by=OLGA)
    IdempotencyRecord.objects.create(caller="agent_key:agent", idempotency_key="first", fingerprint="f", response="[]")
    content = FileContent.objects.create(digest="sha256:0", size=1, pointer="")
    FileChunk.objects.create(content=content, number=0, data=b"x")
    FileHold.objects.create(content=content, capability=_alpha())
    source = GitSource.objects.create(url="https://git.example/a", every_minutes=60, created_by="operator:olga")
    GitSourceItem.objects.create(source=source, path="a", files_digest="sha256:", status="draft")


def _models() -> list[type[models.Model]]:
    """Of the core, and of sources, which were; other features have such a test of their own."""
    return [model for model in list_registry_models() if model._meta.app_label in ("registry", "sources")]


def _declared() -> Iterator[str]:
    for model in _models():
        yield from (constraint.name for constraint in model._meta.constraints)
        for field in model._meta.local_fields:
            if field.unique and not isinstance(field, models.AutoField | models.BigAutoField):
                yield f"{model.__name__}.{field.name}"


def test_every_constraint_has_a_case_here() -> None:
    assert set(_declared()) <= set(BREAKS)


def test_a_constraint_bites() -> None:
    def check(name: str) -> None:
        with pytest.raises(IntegrityError) as caught, tampering():
            BREAKS[name]()
        # PostgreSQL names the constraint, SQLite the columns of a unique one.
        message = str(caught.value).lower()
        assert name.rpartition(".")[2].lower() in message or "pkey" in message or _columns_of(name) in message

    check_each(BREAKS, check, isolate=rolled_back)


def _columns_of(name: str) -> str:
    for model in _models():
        for constraint in model._meta.constraints:
            if constraint.name == name and isinstance(constraint, models.UniqueConstraint):
                columns = {field.name: field.column for field in model._meta.local_fields}
                return ", ".join(f"{model._meta.db_table}.{columns[field]}" for field in constraint.fields)
    return name


def test_half_a_revocation_is_refused_on_either_side() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentKey.objects.update(revoked_at=timezone.now())


def test_nothing_replaces_itself() -> None:
    publication.deprecate(capability_id="alpha", by=OLGA)
    with pytest.raises(IntegrityError), transaction.atomic():
        Capability.objects.update(replaced_by=_alpha())


def test_a_published_one_has_a_revision() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Capability.objects.update(published_revision=None)


def test_what_history_rests_on_cannot_be_deleted() -> None:
    for row in (Revision.objects.get(), _alpha()):
        with pytest.raises(models.ProtectedError):
            row.delete()


def test_absent_and_empty_files_are_two_things() -> None:
    revision = Revision()
    revision.files = {"skill.md": "", "tools.json": "[]"}
    assert (revision.capability_json, revision.skill_md) == (None, "")
    assert revision.files == {"skill.md": "", "tools.json": "[]"}


def test_the_migrations_have_what_the_models_declare() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
