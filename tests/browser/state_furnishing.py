"""Run inside `manage.py shell` after `furnish`: capabilities in the states that `states.py` looks at."""

from features.sharing import share_links
from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import SYSTEM, Actor
from registry.models import Draft, Review, Team
from registry.publishing import publication, review_comments, reviews
from registry.publishing.quarantine import quarantine
from tests.factories import bundle, publish

OLGA, PAUL, ADMIN = (Actor("operator", name) for name in ("olga", "paul", "the-admin"))
WHY = "It tells guests of other guests. " + "w" * 70


def review_of(capability_id: str, said: str) -> Review:
    """Published once, with a draft that is reviewed and has a comment on a line."""
    publish(capability_id)
    draft = drafts.save_draft(
        capability_id=capability_id, files=bundle(capability_id, body=said), based_on=None, by=OLGA
    )
    review = reviews.request_review(
        capability_id=capability_id, draft_version=draft.version, by=OLGA, note="Please look. " * 9
    )
    for number in range(1, 8):
        review_comments.add_comment(
            review_id=review.pk, by=PAUL, words=f"Number {number}. " * 9, file="skill.md", line=number
        )
    return review


approved = review_of("approved_desk", "Two.")
reviews.approve(review_id=approved.pk, round_seen=1, by=PAUL, words="Fine. " + "f" * 80)
returned = review_of("returned_desk", "Two.")
reviews.request_changes(review_id=returned.pk, round_seen=1, by=PAUL, words="Say how often. " + "s" * 80)
review_comments.add_comment(
    review_id=returned.pk, by=PAUL, words="", file="skill.md", line=9, suggestion="Say how often. " * 5
)
texts = bundle("returned_desk", body="Two.")
texts["skill.md"] = texts["skill.md"].replace("When a user asks for Returned Desk.", "Entirely other words stand here.")
drafts.save_draft(capability_id="returned_desk", files=texts, based_on=returned.draft_version, by=OLGA)
withdrawn = review_of("withdrawn_desk", "Two.")
reviews.withdraw(review_id=withdrawn.pk, by=OLGA, words="Too early. " + "t" * 80)
for name in ("published_desk", "rolled_back_desk"):
    done = review_of(name, "Two.")
    reviews.approve(review_id=done.pk, round_seen=1, by=PAUL)
    version = Draft.objects.get(capability__capability_id=name, discarded_at=None).version
    publication.publish_draft(capability_id=name, draft_version=version, by=PAUL, note="Two")
publication.rollback(capability_id="rolled_back_desk", to=1, by=PAUL, note=WHY)
publish("harmful_desk")
quarantine(capability_id="harmful_desk", by=PAUL, note=WHY)
LONG = "l" * 31 + "_" + "i" * 32
publish(LONG, name="Housekeeping" * 6, skill_groups=["fitness"])
share_links.create_link(name="partner " + "p" * 60, by=SYSTEM)
teams.set_owning_team(capability_id="published_desk", key=Team.objects.get().pk, by=SYSTEM)
