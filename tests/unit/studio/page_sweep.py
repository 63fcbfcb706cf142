"""The pages of the Studio for tests that look at all of them, and something to show on each."""

from __future__ import annotations

from typing import Final

from django.db.models import Model

from registry.access import agent_keys, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.importing import git_import_jobs
from registry.matching import skill_groups
from registry.models import AgentKey, GitImport, Review, Team, Webhook
from registry.notifications import webhooks
from registry.publishing import proposals, publication, review_comments, reviews
from tests.factories import OLGA, bundle, publish, tool

# Rows whose number stands in an address.
_OF_NUMBER: Final[dict[str, type[Model]]] = {
    "key": AgentKey,
    "git_import": GitImport,
    "review": Review,
    "team": Team,
    "webhook": Webhook,
}
ADDRESSES: Final = [
    "/",
    "/audit/",
    "/capabilities/",
    "/capabilities/?q=nothing+like+it",
    "/capabilities/alpha/",
    "/capabilities/alpha/edit/",
    "/capabilities/alpha/feedback/",
    "/capabilities/alpha/instructions/",
    "/capabilities/alpha/tools/",
    "/capabilities/alpha/forms/",
    "/capabilities/alpha/history/",
    "/capabilities/alpha/history/1/",
    "/capabilities/alpha/history/compare/",
    "/capabilities/alpha/publish/",
    "/capabilities/alpha/files/",
    "/capabilities/alpha/share/",
    "/capabilities/beta/",
    "/demand/",
    "/demand/?what=messages",
    "/feedback/",
    "/docs/",
    "/docs/?q=approval",
    "/docs/jobs/",
    "/gallery/",
    "/help/",
    "/help/findings/",
    "/help/findings/TOOL_SCHEMA_INVALID/",
    "/incidents/",
    "/keys/",
    "/keys/{key}/",
    "/matrix/",
    "/members/",
    "/new-capability/",
    "/capabilities/alpha/live/",
    "/new-capability/?start=request",
    "/new-capability/copy/?of=alpha",
    "/new-capability/files/",
    "/new-capability/git/",
    "/new-capability/git/{git_import}/",
    "/new-skill-group/",
    "/nowhere/",
    "/password/",
    "/playground/",
    "/playground/?m=alpha+please",
    "/playground/?m=alpha+please&compare=yes",
    "/playground/examples/",
    "/proposals/",
    "/releases/",
    "/reviews/",
    "/reviews/{review}/",
    "/reviews/{review}/?file=skill.md&line=3",
    "/reviews/?show=mine",
    "/settings/publishing/",
    "/skill-groups/",
    "/skill-groups/health/",
    "/teams/",
    "/teams/{team}/",
    "/usage/",
    "/usage/?by=revision&days=365",
    "/webhooks/",
    "/webhooks/{webhook}/",
]


def row_numbers() -> dict[str, int]:
    """What stands in the addresses, by noun."""
    return {noun: model._default_manager.latest("pk").pk for noun, model in _OF_NUMBER.items()}


def furnish() -> None:
    """Something on every page."""
    skill_groups.set_group(group_id="health", by=OLGA)
    publish(tools=[tool("alpha_list")])
    publish(tools=[tool("alpha_list")], body="Answer in two sentences.")
    publish("beta")
    publication.retire(capability_id="beta", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Answer in three."), based_on=None, by=OLGA)
    review = reviews.request_review(capability_id="alpha", draft_version=1, by=OLGA, note="note")
    entry = review_comments.add_comment(review_id=review.pk, by=OLGA, words="words", file="skill.md", line=3)
    review_comments.add_reply(review_id=review.pk, entry_id=entry.pk, by=OLGA, words="words")
    settled = review_comments.add_comment(review_id=review.pk, by=OLGA, words="words")
    review_comments.resolve_thread(review_id=review.pk, entry_id=settled.pk, by=OLGA)
    agent_keys.create_key(name="agent", by=OLGA)
    teams.create_team(name="Team", by=OLGA)
    webhooks.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    proposals.propose(files=bundle("gamma"), by=Actor("agent_key", "agent"))
    git_import_jobs.start_import(source="https://git.example/skills", by=OLGA)
