"""What is said in a review: on a place, in answer, and whether it is settled."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import NotFound, ReviewConflict
from registry.models import AuditEvent, Review, ReviewEntry
from registry.publishing import publication, review_comments, reviews
from tests.factories import OLGA, bundle, publish
from tests.unit.registry.publishing.test_release_rules import set_rule

pytestmark = pytest.mark.django_db

PAUL = Actor("operator", "paul")
GONE = 987_654


def _ask(capability_id: str = "alpha") -> Review:
    draft = drafts.save_draft(
        capability_id=capability_id, files=bundle(capability_id, body="New."), based_on=None, by=OLGA
    )
    return reviews.request_review(capability_id=capability_id, draft_version=draft.version, by=OLGA, note="Please look")


def _kinds(review: Review) -> list[tuple[str, int]]:
    return list(review.entries.values_list("kind", "round"))


def _said(review: Review, words: str = "Why?", **place: Any) -> ReviewEntry:
    return review_comments.add_comment(review_id=review.pk, by=PAUL, words=words, **place)


def test_comments_stand_on_a_line_a_finding_or_alone() -> None:
    review = _ask()
    review_comments.add_comment(review_id=review.pk, by=PAUL, words="In general")
    review_comments.add_comment(review_id=review.pk, by=PAUL, words="Here", file="skill.md", line=3)
    review_comments.add_comment(review_id=review.pk, by=PAUL, words="This", code="TRIGGER_OVERLAP")
    found = list(review.entries.filter(kind="comment").values_list("words", "file", "line", "code"))
    assert found == [
        ("In general", "", None, ""),
        ("Here", "skill.md", 3, ""),
        ("This", "", None, "TRIGGER_OVERLAP"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"words": "  "},
        {"words": "x" * 4001},
        {"words": "x", "file": "notes.txt"},
        {"words": "x", "file": "skill.md", "line": 0},
        {"words": "x", "file": "skill.md", "line": 10_000},
        {"words": "x", "line": 1},
        {"words": "x", "file": "tools.json", "line": 2},
    ],
)
def test_an_odd_comment_is_refused(given: dict[str, Any]) -> None:
    review = _ask()
    with pytest.raises(InvalidRequest):
        review_comments.add_comment(review_id=review.pk, by=PAUL, **given)
    assert _kinds(review) == [("asked", 1)]


def test_an_answer_stands_under_its_comment_and_an_answer_to_it_too() -> None:
    review = _ask()
    first, second = _said(review, "Why?", file="skill.md", line=3), _said(review, "And this?")
    answer = review_comments.add_reply(review_id=review.pk, entry_id=first.pk, by=OLGA, words="Because")
    review_comments.add_reply(review_id=review.pk, entry_id=answer.pk, by=PAUL, words="I see")
    threads = review_comments.list_threads(review)
    assert [(one.entry.pk, [reply.words for reply in one.replies]) for one in threads[1:]] == [
        (first.pk, ["Because", "I see"]),
        (second.pk, []),
    ]
    assert not threads[0].is_open, "that it was asked for is not a comment"


def test_resolved_counted_and_opened_again() -> None:
    review = _ask()
    first, _ = _said(review), _said(review, "And this?")
    review_comments.add_reply(review_id=review.pk, entry_id=first.pk, by=OLGA, words="Because")
    assert review_comments.count_open_threads(review.capability) == 2
    done = review_comments.resolve_thread(review_id=review.pk, entry_id=first.pk, by=OLGA)
    assert (done.resolved_by, done.resolved_at is not None) == ("operator:olga", True)
    assert review_comments.count_open_threads(review.capability) == 1
    assert [one.is_resolved for one in review_comments.list_threads(review)] == [False, True, False]
    again = review_comments.reopen_thread(review_id=review.pk, entry_id=first.pk, by=PAUL)
    assert (again.resolved_by, again.resolved_at) == ("", None)
    assert review_comments.count_open_threads(review.capability) == 2
    told = AuditEvent.objects.filter(verb__in=["review.resolve", "review.reopen", "review.reply"])
    assert [(event.verb, event.actor_name, event.detail["entry_id"]) for event in told] == [
        ("review.reply", "olga", first.pk),
        ("review.resolve", "olga", first.pk),
        ("review.reopen", "paul", first.pk),
    ]


def test_what_is_settled_already_is_not_settled_twice() -> None:
    review = _ask()
    entry = _said(review)
    with pytest.raises(ReviewConflict, match="open already"):
        review_comments.reopen_thread(review_id=review.pk, entry_id=entry.pk, by=PAUL)
    review_comments.resolve_thread(review_id=review.pk, entry_id=entry.pk, by=PAUL)
    with pytest.raises(ReviewConflict, match="resolved already"):
        review_comments.resolve_thread(review_id=review.pk, entry_id=entry.pk, by=OLGA)
    entry.refresh_from_db()
    assert entry.resolved_by == "operator:paul"


def test_only_comments_of_the_review_itself_are_answered_and_resolved() -> None:
    review, other = _ask(), _ask("beta")
    asked = review.entries.get()
    entry, elsewhere = _said(review), _said(other)
    answer = review_comments.add_reply(review_id=review.pk, entry_id=entry.pk, by=OLGA, words="Because")
    for wrong in (asked.pk, elsewhere.pk, GONE):
        with pytest.raises(NotFound):
            review_comments.add_reply(review_id=review.pk, entry_id=wrong, by=OLGA, words="x")
    for verb in (review_comments.resolve_thread, review_comments.reopen_thread):
        for wrong in (asked.pk, elsewhere.pk, answer.pk, GONE):
            with pytest.raises(NotFound):
                verb(review_id=review.pk, entry_id=wrong, by=OLGA)


@pytest.mark.parametrize("words", [" ", "x" * 4001])
def test_an_odd_answer_is_refused(words: str) -> None:
    review = _ask()
    entry = _said(review)
    with pytest.raises(InvalidRequest):
        review_comments.add_reply(review_id=review.pk, entry_id=entry.pk, by=OLGA, words=words)
    assert not entry.replies.exists()


def test_a_review_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_comments, "COMMENTS_MAX", 2)
    review = _ask()
    entry = _said(review)
    with pytest.raises(InvalidRequest, match="at most 2"):
        _said(review)
    with pytest.raises(InvalidRequest, match="at most 2"):
        review_comments.add_reply(review_id=review.pk, entry_id=entry.pk, by=OLGA, words="x")


def test_without_the_rule_open_comments_stop_nothing() -> None:
    review = _ask()
    _said(review)
    assert publication.publish_draft(capability_id="alpha", by=OLGA, note="Out").status == "published"
    assert review_comments.count_open_threads(review.capability) == 0, "the review has ended"


def test_with_the_rule_they_stop_every_publish_until_they_are_resolved() -> None:
    publish()
    set_rule(comments_resolved=True)
    review = _ask()
    entry = _said(review)
    reviews.approve(review_id=review.pk, round_seen=1, by=PAUL)
    refused = publication.publish_draft(capability_id="alpha", by=OLGA, note="Out")
    assert [(one.code, one.message) for one in refused.findings] == [
        ("COMMENTS_OPEN", "1 comment of the review is open")
    ]
    other_texts = publication.publish(files=bundle(body="By a pipeline."), by=OLGA, note="Out")
    assert [one.code for one in other_texts.findings] == ["COMMENTS_OPEN"]
    review_comments.resolve_thread(review_id=review.pk, entry_id=entry.pk, by=OLGA)
    assert publication.publish_draft(capability_id="alpha", by=OLGA, note="Out").status == "published"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"suggestion": "x"}, "belongs to a line"),
        ({"suggestion": "# alpha", "file": "skill.md", "line": 1}, "changes nothing"),
        ({"suggestion": "x" * 4001, "file": "skill.md", "line": 1}, "at most"),
    ],
)
def test_a_suggestion_changes_a_line(given: dict[str, Any], reason: str) -> None:
    review = _ask()
    if "nothing" in reason:
        given = given | {"suggestion": review.files["skill.md"].split("\n")[0]}
    with pytest.raises(InvalidRequest, match=reason):
        review_comments.add_comment(review_id=review.pk, by=PAUL, words="", **given)
