"""The pages of the Studio for tests that look at all of them: every address of the URLconf, and something on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, reverse

from registry.access import agent_keys, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.importing import git_import_jobs
from registry.matching import skill_groups
from registry.models import AgentKey, GitImport, Proposal, Review, Team
from registry.publishing import proposals, publication, review_comments, reviews
from registry.usage import feedback
from registry.usage.outcome_reports import ReportedReason
from studio.pages.urls import urlpatterns
from tests import feature_pages
from tests.factories import OLGA, bundle, publish, tool

# What stands in an address, by the name of the parameter.
PARAMETERS: Final[dict[str, str]] = {
    "capability_id": "alpha",
    "code": "TOOL_SCHEMA_INVALID",
    "form": "json",
    "group_id": "health",
    "page": "jobs",
    "path": "references/units.md",
    "plugin_form": "claude",
    "set_id": "alpha",
    "step": "example",
    "token": "none",
    "tool_name": "pets",
}
# Whose number it is, by the beginning of the name of the URL.
NUMBERED: Final[dict[str, type[Model]]] = {
    "agent_key": AgentKey,
    "capability_git_show": GitImport,
    "review_": Review,
    "team": Team,
    **feature_pages.NUMBERED,
}
# No page can be seen at these, and why.
NO_PAGE: Final = {
    "docs_file": "a file of the docs, such as a picture",
    "first_load_show": "a piece of the page of a capability that is live, for its script",
    "identity_continue": "leads on after a sign-in elsewhere",
    "playground_chat_moved": "leads to the chat, whose address it was",
    "playground_moved": "leads to the page, whose address it was",
    "settings_index": "leads to the first page of the settings that one may open",
    "welcome": "its token is known to the one person who was invited",
}
# What a page shows otherwise by its query, or of another capability.
VARIANTS: Final = (
    "/capabilities/?q=nothing+like+it",
    "/capabilities/beta/",
    "/demand/?what=messages",
    "/docs/?q=approval",
    "/new-capability/?start=request",
    "/new-capability/copy/?of=alpha",
    "/nowhere/",
    "/reviews/1/?file=skill.md&line=3",
    "/reviews/?show=mine",
    "/usage/?by=revision&days=365",
    *(address for pages in feature_pages.ALL for address in pages.variants),
)


def find_address(name: str) -> str:
    """The address of a URL's name in the registry that `furnish` has made."""
    (pattern,) = (one for one in urlpatterns if one.name == name)
    return reverse(f"studio:{name}", kwargs={key: _find_value(name, key) for key in pattern.pattern.converters})


def _find_value(name: str, parameter: str) -> Any:
    if parameter == "proposal_id":
        return Proposal.objects.earliest("pk").proposal_id
    if parameter != "number":
        return PARAMETERS[parameter]
    model = next((model for beginning, model in NUMBERED.items() if name.startswith(beginning)), None)
    # Numbers of drafts and revisions are counted by capability.
    return model._default_manager.earliest("pk").pk if model else 1


def list_addresses() -> Iterator[str]:
    """Each of the URLconf, then the variants."""
    yield from (find_address(str(pattern.name)) for pattern in _list_urls())
    yield from VARIANTS


def list_addresses_of_nothing() -> Iterator[str]:
    """Those that name no row, for a registry that has none."""
    yield from (find_address(str(pattern.name)) for pattern in _list_urls() if not pattern.pattern.converters)


def _list_urls() -> list[URLPattern]:
    return [pattern for pattern in urlpatterns if pattern.name not in NO_PAGE]


def read_page(client: Client, address: str) -> str:
    """The HTML at an address; nothing where it is that of a form, which leads to its page, or of a file.

    Fails where an address answers with an error.
    """
    answer = client.get(address)
    # What a form's address has to say is shown on the page that it leads to, and on no other.
    client.cookies.pop("messages", None)
    assert answer.status_code in ((404,) if address == "/nowhere/" else (200, 301, 302, 405)), answer.status_code
    is_page = answer.status_code in (200, 404) and answer["Content-Type"].startswith("text/html")
    return answer.content.decode() if is_page else ""


def furnish() -> None:
    """A row of everything, with two revisions, two versions of a draft and a review of `alpha`."""
    skill_groups.set_group(group_id="health", by=OLGA)
    publish(tools=[tool("alpha_list")])
    publish(tools=[tool("alpha_list")], body="Answer in two sentences.")
    publish("beta")
    publication.retire(capability_id="beta", by=OLGA)
    files = {**bundle(body="Answer in three."), "references/units.md": "# Units"}
    drafts.save_draft(capability_id="alpha", files=bundle(body="Answer in four."), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="alpha", files=files, based_on=1, by=OLGA)
    review = reviews.request_review(capability_id="alpha", draft_version=2, by=OLGA, note="note")
    entry = review_comments.add_comment(review_id=review.pk, by=OLGA, words="words", file="skill.md", line=3)
    review_comments.add_reply(review_id=review.pk, entry_id=entry.pk, by=OLGA, words="words")
    settled = review_comments.add_comment(review_id=review.pk, by=OLGA, words="words")
    review_comments.resolve_thread(review_id=review.pk, entry_id=settled.pk, by=OLGA)
    agent_keys.create_key(name="agent", by=OLGA)
    teams.create_team(name="Team", by=OLGA)
    proposals.propose(files=bundle("gamma"), by=Actor("agent_key", "agent"))
    git_import_jobs.start_import(source="https://git.example/skills", by=OLGA)
    talk: list[dict[str, Any]] = [{"role": "user", "text": "A slot"}]
    talk += [{"role": "agent", "text": "", "calls": [{"tool": "alpha_list", "arguments": {}}]}]
    said = ReportedReason("No slot", "alpha_list", "NOT_FOUND", conversation=talk)
    feedback.record_outcome(capability_id="alpha", outcome="likely_failure", by=Actor("agent_key", "agent"), said=said)
    for pages in feature_pages.ALL:
        pages.furnish()
