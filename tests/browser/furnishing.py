"""Run inside `manage.py shell`: what agents leave behind, which no command makes."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from features.sources import push_webhooks, source_sync
from features.sources.incidents import open_source_incident
from features.sources.models import GitSource, GitSourceItem
from features.webhooks import webhook_store
from features.webhooks.models import WebhookDelivery
from registry.access import agent_keys, operators, teams
from registry.common.actors import SYSTEM, Actor
from registry.core.transactions import write_transaction
from registry.models import Capability, FeedbackEvent, Job, LoadCount, Proposal
from registry.publishing import proposals, publication
from registry.usage import feedback

AGENT = Actor("agent_key", "support bot, production")
capability = Capability.objects.select_related("published_revision").get(capability_id="disk_pressure")
published = capability.published_revision
assert published is not None


def tell(capability_id: str, *outcomes: tuple[str, int]) -> None:
    for outcome, times in outcomes:
        for _ in range(times):
            feedback.record_outcome(capability_id=capability_id, outcome=outcome, by=AGENT)


tell("disk_pressure", ("used", 3), ("likely_success", 5), ("likely_failure", 1), ("confirmed_success", 6))
files = dict(published.files)
files["skill.md"] = files["skill.md"] + "\nAsk before anything is removed.\n"
done = publication.publish(files=files, by=SYSTEM, note="Asks before it removes anything")
assert done.status == "published", done.findings
tell("disk_pressure", ("confirmed_failure", 3), ("likely_success", 2), ("likely_failure", 4), ("used", 1))
# A second key agrees: what one alone says is marked as its word.
feedback.record_outcome(capability_id="disk_pressure", outcome="used", by=Actor("agent_key", "mobile app"))
tell("billing_refund", ("confirmed_success", 3))
for number, event in enumerate(FeedbackEvent.objects.order_by("-id")):
    FeedbackEvent.objects.filter(pk=event.pk).update(at=event.at - timedelta(hours=31 * number))
files["skill.md"] = files["skill.md"].replace("Ask before", "Ask twice before")
handed_in = proposals.propose(files=files, by=AGENT, note="Users were startled when files went at once").proposal
Proposal.objects.filter(pk=handed_in.pk).update(proposal_id=UUID(int=1))
today = datetime.now(UTC).date()
for number in range(60):
    LoadCount.objects.create(
        day=today - timedelta(days=number),
        capability_id=("weights", "workouts", "disk_pressure")[number % 3],
        revision=1,
        key_name=("support bot, production", "", "a key with quite a long name, " + "n" * 40)[number % 3],
        count=7 + number * 37 % 101,
    )
team = teams.create_team(name="Health", description="Weights, workouts and meals; #health in the chat", by=SYSTEM)
for name in ("the-author", "the-publisher"):
    teams.add_member(key=team.pk, username=name, by=SYSTEM)
teams.set_owning_team(capability_id="excel_analyzer", key=team.pk, by=SYSTEM)
operators.invite_operator(username="nora.new@example.com", role="author", by=SYSTEM)
agent_keys.create_key(
    name="night jobs",
    by=SYSTEM,
    groups=["fitness"],
    read_only_tools=True,
    expires_at=datetime.now(UTC) + timedelta(days=40),
)
agent_keys.rotate_key(name="night jobs", by=SYSTEM, overlap=timedelta(days=7))
repository = source_sync.add_git_source(
    spec="https://git.example.com/team/capabilities@main#bundles/" + "f" * 60,
    mode="publish",
    every_minutes=60,
    by=SYSTEM,
)
# The second one leaves the first one taken for a day.
push_webhooks.create_push_secret(source_id=repository.pk, by=SYSTEM)
push_webhooks.create_push_secret(source_id=repository.pk, by=SYSTEM)
GitSource.objects.filter(pk=repository.pk).update(
    commit="c0ffee" * 6,
    last_synced_at=datetime.now(UTC),
    pushed_at=datetime.now(UTC),
    push_result="queued: A look is due now",
)
for name, became, why in (
    ("weights", "published", ""),
    ("workouts", "held", "It was published here with other content since; the source's is the draft"),
    ("night_shift", "refused", "TOOL_NAME_COLLISION: " + "t" * 90),
):
    GitSourceItem.objects.create(
        source=repository, path=name, capability_id=name, files_digest="sha256:", status=became, detail=why
    )
mirrored = source_sync.add_registry(url="https://studio.example.org", mode="draft", every_minutes=1440, by=SYSTEM)
Job.objects.filter(kind=source_sync.KIND).update(run_after=datetime.now(UTC) + timedelta(hours=1))
unreadable = "https://studio.example.org: the key is refused (HTTP 401)"
GitSource.objects.filter(pk=mirrored.pk).update(failures=3, last_error=unreadable)
with write_transaction():
    open_source_incident(
        source=mirrored,
        message="https://studio.example.org cannot be read",
        details=unreadable,
        by=SYSTEM,
    )
webhook, _ = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/" + "x" * 80, by=SYSTEM)
for state, status, error in (("delivered", 200, ""), ("failed", 503, "answered 503")):
    WebhookDelivery.objects.create(
        webhook=webhook,
        event_id=UUID(int=status),
        kind="capability.published",
        body="{}",
        state=state,
        attempts=3,
        last_status=status,
        last_error=error,
        response_excerpt="busy" if error else "ok",
        duration_ms=41,
        finished_at=datetime.now(UTC),
    )
