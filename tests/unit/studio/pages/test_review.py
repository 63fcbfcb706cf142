"""Reviews in the browser: asked for, talked about, decided; and what becomes of words that were typed."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Operator, Review, Revision
from registry.publishing import publication, review_comments, reviews
from tests.factories import OLGA, bundle, publish
from tests.unit.registry.publishing.test_release_rules import set_rule
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with, forms_in, is_publish_blocked

pytestmark = pytest.mark.django_db

GATE = "/capabilities/alpha/publish/"
AUTHOR = Actor("operator", "the-author")


def _draft(by: Actor = AUTHOR, *, version: int | None = None, **fields: Any) -> None:
    files = bundle(**({"body": "New."} | fields))
    drafts.save_draft(capability_id="alpha", files=files, based_on=version, by=by)


def _asked(client: Client) -> str:
    """The address of a review that is asked for at the gate."""
    form = form_with(client.get(GATE), "Submit for review")
    form.action = "/capabilities/alpha/publish/review/"
    answer = form.submit(client, note="Please look")
    assert answer.status_code == 302, answer.content.decode()
    address: str = answer["Location"]
    return address


def _say(client: Client, address: str, verb: str, **values: Any) -> Any:
    """Comment, or decide: `verb` is the last part of an address, or a decision."""
    forms = [one for one in forms_in(client.get(address)) if "words" in one.values and "entry" not in one.values]
    (form,) = forms
    if verb in ("approve", "request_changes"):
        return form.submit(client, decision=verb, **values)
    form.action = f"{address}{verb}/"
    return form.submit(client, **values)


def test_an_author_asks_a_publisher_approves_and_the_author_cannot(signed_in: SignIn) -> None:
    publish()
    set_rule(four_eyes=True)
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    assert "Waiting for a publisher" in author.get(address).content.decode()
    assert author.post(f"{address}decide/", {"round": "1", "decision": "approve"}).status_code == 403
    listed = publisher.get("/reviews/").content.decode()
    assert f'href="{address}"' in listed
    gate = publisher.get(GATE).content.decode()
    assert "Needs approval from someone else." in gate
    assert is_publish_blocked(gate)
    assert _say(publisher, address, "approve", words="Fine").status_code == 302
    assert "approved" in author.get(address).content.decode()
    assert form_with(publisher.get(GATE), "Publish").submit(publisher, note="Out").status_code == 302
    assert Revision.objects.get(number=2).approved_by == "operator:the-publisher"
    assert "Approved by <bdi>the-publisher</bdi>" in publisher.get("/capabilities/alpha/history/2/").content.decode()
    assert "revision 2" in author.get(address).content.decode()


def test_a_publisher_cannot_approve_their_own(signed_in: SignIn) -> None:
    set_rule(four_eyes=True)
    client = signed_in("publisher")
    _draft(Actor("operator", "the-publisher"))
    address = _asked(client)
    page = client.get(address).content.decode()
    assert "t approve your own changes" in page
    assert 'value="approve"' not in page
    answer = _say(client, address, "approve", words="Mine is fine")
    assert answer.status_code == 403
    assert "t approve your own changes" in answer.content.decode()
    assert form_with(answer, "Submit review").values["words"] == "Mine is fine"
    assert Review.objects.get().state == "open"


def test_a_role_that_was_lost_while_the_page_was_open_keeps_the_words(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    client = signed_in("publisher")
    form = form_with(client.get(address), "Submit review")
    Operator.objects.filter(username="the-publisher").update(role="author")
    for verb, right in (("approve", "approve"), ("request_changes", "request changes")):
        answer = form.submit(client, decision=verb, words="Long and well considered")
        assert answer.status_code == 403
        page = answer.content.decode()
        assert f"Authors can&#x27;t {right}." in page
        assert "Long and well considered" in page
    assert Review.objects.get().state == "open"


def test_sent_back_with_words_and_handed_in_again(signed_in: SignIn) -> None:
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    answer = _say(publisher, address, "request_changes", words=" ")
    assert answer.status_code == 400
    assert "Say what should change" in answer.content.decode()
    assert _say(publisher, address, "request_changes", words="Shorter, please").status_code == 302
    assert "Shorter, please" in author.get(address).content.decode()
    assert "Changes requested by <bdi>the-publisher</bdi>" in author.get(GATE).content.decode()
    _draft(version=1, body="Short.")
    assert _asked(author) == address
    assert "submitted round 2" in author.get(address).content.decode()


def test_whoever_submitted_a_draft_is_told_where_they_look_that_changes_are_requested(signed_in: SignIn) -> None:
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    pages = ("/", "/capabilities/alpha/", "/capabilities/alpha/edit/", "/reviews/")
    words = "Changes requested by <bdi>the-publisher</bdi>"
    assert not [page for page in pages if words in author.get(page).content.decode()]
    _say(publisher, address, "request_changes", words="Say <b>how</b> often")
    for page in pages:
        shown = author.get(page).content.decode()
        assert (words if page != "/" else "the-publisher requested changes on") in shown, page
        assert "Say &lt;b&gt;how&lt;/b&gt; often" in shown
        assert f'href="{address}"' in shown
    assert author.get("/").content.decode().count('class="inbox__item"') == 1
    assert "requested changes on" not in publisher.get("/").content.decode()
    # What others have submitted is listed under its own tab.
    assert words not in publisher.get("/reviews/").content.decode()
    # An edit alone is not the answer; submitting again is.
    _draft(version=1, body="Twice a day.")
    assert words in author.get("/capabilities/alpha/").content.decode()
    _asked(author)
    assert not [page for page in pages if words in author.get(page).content.decode()]
    assert "requested changes on" not in author.get("/").content.decode()
    assert "the-author asks you to review" in publisher.get("/").content.decode()


def test_a_viewer_reads_what_is_asked_for_and_is_offered_nothing(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    _say(signed_in("publisher"), address, "request_changes", words="Shorter")
    viewer = signed_in("viewer")
    for page in ("/", "/capabilities/alpha/"):
        shown = viewer.get(page).content.decode()
        assert ("Changes requested by <bdi>the-publisher</bdi>" in shown) == (page != "/")
        assert "Resubmit" not in shown
        assert "/edit/" not in shown


def test_a_comment_on_a_line_stands_below_it(signed_in: SignIn) -> None:
    publish()
    _draft(body="New <b>words</b>.")
    client = signed_in("author")
    address = _asked(client)
    review = Review.objects.get()
    line = review.files["skill.md"].split("\n").index("New <b>words</b>.") + 1
    page = client.get(address).content.decode()
    link = f"{address}?file=skill.md&amp;line={line}#say"
    assert f'href="{link}"' in page
    form = form_with(client.get(f"{address}?file=skill.md&line={line}"), "Comment")
    assert (form.values["file"], form.values["line"]) == ("skill.md", str(line))
    assert form.submit(client, words="Which <i>words</i>?").status_code == 302
    page = client.get(address).content.decode()
    below = page.partition("New &lt;b&gt;words&lt;/b&gt;.</")[2]
    assert '<tr class="is-said">' in below[:300]
    assert "Which &lt;i&gt;words&lt;/i&gt;?" in below
    assert f"<code>skill.md:{line}</code>" in page


def test_an_open_comment_of_an_earlier_round_stays_at_its_line_which_has_moved(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    review = Review.objects.get()
    line = review.files["skill.md"].split("\n").index("## Examples") + 1
    first = review_comments.add_comment(review_id=review.pk, by=OLGA, words="Which?", file="skill.md", line=line)
    gone = review_comments.add_comment(review_id=review.pk, by=OLGA, words="Gone?", file="skill.md", line=9)
    assert gone.quote == "New."
    _draft(version=1, body="Entirely other words.\n\nAnd more.\n\nAnd more.")
    _asked(client)
    page = client.get(address)
    said = page.context["said_at"]["skill.md"]
    [(moved, [thread])] = said.items()
    assert (moved, thread.entry.pk) == (line + 4, first.pk)
    assert "of round 1" in page.content.decode()
    review_comments.resolve_thread(review_id=review.pk, entry_id=first.pk, by=OLGA)
    assert client.get(address).context["said_at"] == {}


def test_a_suggestion_is_what_was_changed_of_the_line(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    form = form_with(client.get(f"{address}?file=skill.md&line=1"), "Comment")
    assert form.submit(client, words="Fine").status_code == 302
    assert form.submit(client, suggestion="# Other").status_code == 302
    found = [(one.words, one.quote, one.suggestion) for one in Review.objects.get().entries.filter(line=1)]
    line = Review.objects.get().files["skill.md"].split("\n")[0]
    assert found == [("Fine", line, ""), ("", line, "# Other")]
    # Neither words nor a change.
    assert form.submit(client).status_code == 400


def test_beside_the_draft_a_comment_is_answered_and_done(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    _asked(client)
    review = Review.objects.get()
    asked = review_comments.add_comment(
        review_id=review.pk, by=OLGA, words="Why?", file="skill.md", line=1, suggestion="# Other"
    )
    page = client.get("/capabilities/alpha/edit/")
    assert [(one.thread.entry, one.line) for one in page.context["comments"]] == [(asked, 1)]
    given = {"entry": asked.pk, "from_editor": "yes", "words": "Because"}
    assert client.post(f"/reviews/{review.pk}/reply/", given)["Location"] == "/capabilities/alpha/edit/"
    # The script has the comments back, and what was typed in the draft stays.
    answer = client.post(f"/reviews/{review.pk}/reply/", given | {"words": ""}, headers={"HX-Request": "true"})
    assert 'role="alert"' in answer.content.decode()
    done = client.post(f"/reviews/{review.pk}/resolve/", given | {"accepted": "yes"}, headers={"HX-Request": "true"})
    assert "data-comment" not in done.content.decode()
    event = AuditEvent.objects.filter(verb="review.resolve").get()
    assert event.detail["suggested_by"] == str(OLGA)


def test_a_comment_on_a_finding(signed_in: SignIn) -> None:
    publish("beta", intent_triggers=["same words"])
    _draft(intent_triggers=["same words"])
    client = signed_in("author")
    address = _asked(client)
    assert f'href="{address}?code=TRIGGER_OVERLAP#say"' in client.get(address).content.decode()
    form = form_with(client.get(f"{address}?code=TRIGGER_OVERLAP"), "Comment")
    assert form.submit(client, words="Meant").status_code == 302
    assert Review.objects.get().entries.filter(code="TRIGGER_OVERLAP", words="Meant").exists()


@pytest.mark.parametrize(
    "query", ["?file=x&line=1", "?file=skill.md&line=x", "?code=%3Cscript%3E", "?file=skill.md&line=-1"]
)
def test_an_odd_place_is_none(query: str, signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    page = client.get(_asked(client) + query)
    assert page.status_code == 200
    assert set(form_with(page, "Comment").values) == {"csrfmiddlewaretoken", "round", "words"}


def test_an_edit_since_cannot_be_approved(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    _draft(version=1, body="Else.")
    client = signed_in("publisher")
    page = client.get(address).content.decode()
    assert "Resubmit it to get it approved" in page
    assert 'value="approve"' not in page
    answer = _say(client, address, "approve")
    assert answer.status_code == 409
    assert "Resubmit it" in answer.content.decode()


def test_what_is_typed_at_the_gate_comes_back(signed_in: SignIn) -> None:
    _draft(body="New.")
    client = signed_in("author")
    form = form_with(client.get(GATE), "Submit for review")
    assert form.action == "/capabilities/alpha/publish/review/"
    answer = form.submit(client, note=" ")
    assert answer.status_code == 400
    assert "a few words are needed" in answer.content.decode()
    _draft(version=1, body="Newer.")
    answer = form.submit(client, note="Please look")
    assert answer.status_code == 409
    assert form_with(answer, "Submit for review").values["note"] == "Please look"
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert form.submit(client, note="x")["Location"] == "/capabilities/alpha/"
    assert not Review.objects.exists()


def test_a_draft_with_errors_offers_no_review(signed_in: SignIn) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle() | {"skill.md": "# A\n"}, based_on=None, by=OLGA)
    client = signed_in("author")
    assert "Submit for review</button>" not in client.get(GATE).content.decode()
    answer = client.post("/capabilities/alpha/publish/review/", {"draft_version": "1", "note": "x"})
    assert answer.status_code == 422
    assert "errors before submitting it for review" in answer.content.decode()


def test_withdrawn_and_who_reads_along(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    viewer = signed_in("viewer").get(address).content.decode()
    assert "Only authors can comment" in viewer
    assert "<form" not in viewer.partition("<main")[2]
    asked = _say(client, address, "withdraw", words="Too early")
    assert ">\nToo early</textarea>" in asked.content.decode()
    assert Review.objects.get().state == "open"
    assert confirm(client, asked).status_code == 302
    assert Review.objects.get().state == "withdrawn"
    assert "The review has already ended" in client.get(confirm(client, asked)["Location"]).content.decode()
    assert Review.objects.get().entries.filter(kind="withdrawn").count() == 1


def _main(client: Client, address: str) -> str:
    """The words of the page's main part, spaces folded."""
    page = client.get(address).content.decode().partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split()).replace(" .", ".").replace(" ,", ",")


def _published_review(signed_in: SignIn) -> tuple[Client, str]:
    publish()
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    place = {"file": "skill.md", "line": "9"}
    assert _say(author, address, "comment", words="On this line", **place).status_code == 302
    assert _say(publisher, address, "approve", words="Fine").status_code == 302
    assert form_with(publisher.get(GATE), "Publish").submit(publisher, note="Out").status_code == 302
    return author, address


def test_a_published_review_keeps_its_changes_and_its_comments_in_place(signed_in: SignIn) -> None:
    author, address = _published_review(signed_in)
    publication.publish(files=bundle(body="Newer."), by=OLGA)
    page = author.get(address)
    assert [(diff.file, diff.added, diff.removed) for diff in page.context["diffs"]] == [("skill.md", 1, 1)]
    content = page.content.decode()
    # Once in the conversation, once below its line.
    assert content.count("On this line") == 2
    assert "Changes since revision 1" in content
    rendered = author.get(f"{address}?view=rendered").content.decode()
    assert "Answer in one sentence." in rendered
    assert "New." in rendered


def test_a_published_review_says_what_is_true_now(signed_in: SignIn) -> None:
    author, address = _published_review(signed_in)
    assert "Published as revision 2 by the-publisher just now. It is live." in _main(author, address)
    publication.rollback(capability_id="alpha", to=1, by=OLGA, note="Too short")
    shown = _main(author, address)
    assert "It is live" not in shown
    assert "olga rolled back to revision 1 just now. “Too short”" in shown
    publication.rollback(capability_id="alpha", to=2, by=OLGA)
    assert "It is live." in _main(author, address)
    publication.publish(files=bundle(body="Newer."), by=OLGA)
    assert "Revision 3 has replaced it." in _main(author, address)
    publication.retire(capability_id="alpha", by=OLGA)
    shown = _main(author, address)
    assert "Revision 3 has replaced it. The capability is retired: agents can't load it." in shown


def test_a_review_that_was_closed_otherwise_says_by_whom_and_keeps_its_changes(signed_in: SignIn) -> None:
    publish()
    author = signed_in("author")
    _draft()
    address = _asked(author)
    publication.publish(files=bundle(body="Others."), by=OLGA)
    page = author.get(address)
    assert [diff.file for diff in page.context["diffs"]] == ["skill.md"]
    shown = _main(author, address)
    assert "Closed by olga just now, without being published. “Other texts were published as revision 2.”" in shown
    assert "anceled" not in shown
    assert "Ready to review" not in page.content.decode()


def test_a_review_whose_draft_was_discarded_says_so_and_offers_no_draft(signed_in: SignIn) -> None:
    author = signed_in("author")
    _draft()
    address = _asked(author)
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    shown = _main(author, address)
    assert "olga discarded the draft just now." in shown
    assert "The draft changed after submission" not in shown
    assert "Edit draft" not in shown
    drafts.restore_draft(capability_id="alpha", version=1, by=OLGA)
    assert "discarded the draft" not in _main(author, address)


def test_the_list_by_state_and_asker(signed_in: SignIn) -> None:
    client = signed_in("author")
    for name in ("alpha", "beta", "gamma"):
        draft = drafts.save_draft(capability_id=name, files=bundle(name), based_on=None, by=OLGA)
        asker = AUTHOR if name == "beta" else OLGA
        reviews.request_review(capability_id=name, draft_version=draft.version, by=asker, note=f"For {name}")
    reviews.request_changes(
        review_id=Review.objects.get(capability__capability_id="gamma").pk, round_seen=1, by=OLGA, words="x"
    )

    def listed(show: str) -> list[str]:
        page = client.get(f"/reviews/?show={show}").content.decode()
        return [name for name in ("alpha", "beta", "gamma") if f"For {name}" in page]

    assert listed("waiting") == listed("nonsense") == ["alpha", "beta"]
    assert listed("work") == listed("all") == ["alpha", "beta", "gamma"]
    assert listed("mine") == ["beta"]


def test_its_queries_do_not_grow_and_read_no_texts(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    counts = []
    for first, amount in ((0, 2), (2, 10)):
        for number in range(first, first + amount):
            draft = drafts.save_draft(
                capability_id=f"c{number}", files=bundle(f"c{number}"), based_on=None, by=OLGA
            )  # fmt: skip
            reviews.request_review(capability_id=f"c{number}", draft_version=draft.version, by=OLGA, note="x")
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/reviews/").status_code == 200
        counts.append(len(queries))
        assert not [query for query in queries.captured_queries if "skill_md" in query["sql"]]
    assert counts[0] == counts[1] <= 8


def test_there_is_no_such_review(signed_in: SignIn) -> None:
    client = signed_in("admin")
    assert client.get("/reviews/999999/").status_code == 404
    assert client.post("/reviews/999999/comment/", {"words": "x"}).status_code == 404


def _comment(words: str = "Why?", **place: Any) -> int:
    return review_comments.add_comment(review_id=Review.objects.get().pk, by=OLGA, words=words, **place).pk


def test_a_comment_is_answered_resolved_and_opened_again(signed_in: SignIn) -> None:
    publish()
    _draft()
    client = signed_in("author")
    address = _asked(client)
    entry = _comment("Which <b>words</b>?", file="skill.md", line=1)
    assert "1 unresolved comment" in client.get(GATE).content.decode()
    answer = form_with(client.get(address), "Reply").submit(client, words="These <i>words</i>")
    assert answer["Location"] == f"{address}#comment-{entry}"
    page = client.get(address).content.decode()
    assert "These &lt;i&gt;words&lt;/i&gt;" in page
    assert ">1 unresolved</span>" in page
    assert form_with(client.get(address), "Resolve").submit(client).status_code == 302
    page = client.get(address).content.decode()
    assert ">1 resolved</span>" in page
    assert "1 open" not in page
    assert "Resolved by <bdi>the-author</bdi>" in " ".join(page.split())
    assert "comment is open" not in client.get(GATE).content.decode()
    assert form_with(client.get(address), "Reopen").submit(client).status_code == 302
    assert ">1 unresolved</span>" in client.get(address).content.decode()


def test_whoever_decides_is_told_of_open_comments(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    publisher = signed_in("publisher")
    assert "unresolved comments" not in publisher.get(address).content.decode()
    _comment()
    _comment("And this?")
    assert "2 unresolved comments" in publisher.get(address).content.decode()
    assert _say(publisher, address, "approve").status_code == 302


def test_a_viewer_reads_comments_and_changes_nothing_about_them(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    entry = _comment()
    viewer = signed_in("viewer")
    page = viewer.get(address).content.decode()
    assert "Why?" in page
    assert not any(word in page for word in ("Resolve</button>", "Reply"))
    for verb in ("reply", "resolve", "reopen"):
        answer = viewer.post(f"{address}{verb}/", {"entry": entry, "words": "Kept words"})
        assert answer.status_code == 403
        assert "can&#x27;t comment" in answer.content.decode()
    assert review_comments.count_open_threads(Review.objects.get().capability) == 1


@pytest.mark.parametrize("entry", ["", "x", "0", "999999", "9" * 30])
def test_an_odd_comment_number_is_refused(signed_in: SignIn, entry: str) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    for verb in ("reply", "resolve", "reopen"):
        answer = client.post(f"{address}{verb}/", {"entry": entry, "words": "x"})
        assert answer.status_code == 400
        assert "has no comment" in answer.content.decode()


def test_two_who_resolve_at_once_are_told(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    entry = _comment()
    form = form_with(client.get(address), "Resolve")
    review_comments.resolve_thread(review_id=Review.objects.get().pk, entry_id=entry, by=OLGA)
    answer = form.submit(client)
    assert answer.status_code == 409
    assert "resolved already" in answer.content.decode()


def test_an_answer_that_is_refused_keeps_its_place(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    _comment()
    too_long = "y" * 4001
    answer = form_with(client.get(address), "Reply").submit(client, words=too_long)
    assert answer.status_code == 400
    assert form_with(answer, "Reply").values["words"] == too_long
    assert form_with(answer, "Comment").values["words"] == ""


def test_a_long_conversation_takes_no_more_queries(signed_in: SignIn) -> None:
    _draft()
    client = signed_in("author")
    address = _asked(client)
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for number in range(5):
        entry = _comment(f"Number {number}", file="skill.md", line=1)
        review_comments.add_reply(review_id=Review.objects.get().pk, entry_id=entry, by=AUTHOR, words="Yes")
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


def test_a_line_that_somebody_spoke_about_is_not_folded_away(signed_in: SignIn) -> None:
    long = "\n".join(f"Line {number}." for number in range(60))
    publish(body=long)
    _draft(body=f"{long}\nOne more.")
    client = signed_in("author")
    address = _asked(client)
    assert '<details class="sides-fold" >' in client.get(address).content.decode()
    _comment("About the beginning", file="skill.md", line=2)
    page = client.get(address).content.decode()
    assert '<details class="sides-fold" open>' in page
    assert '<details class="sides-fold" >' not in page


def test_a_second_round_shows_what_changed_since_the_first_and_since_what_is_live(signed_in: SignIn) -> None:
    publish()
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft(body="First words.\n\nOther words.")
    address = _asked(author)
    assert "Changes since live" not in author.get(address).content.decode()
    _say(publisher, address, "request_changes", words="Shorter")
    _draft(version=1, body="First words.\n\nShort words.")
    assert _asked(author) == address
    page = publisher.get(address).content.decode()
    assert f'href="{address}?since=live#diff"' in page
    since_round, since_live = (
        publisher.get(f"{address}{query}").content.decode().split('id="diff"')[1] for query in ("", "?since=live")
    )
    assert "Changes since round 1" in since_round
    assert not re.search(r"<ins>.*First", since_round)
    assert re.search(r"<ins>.*Short", since_round)
    assert re.search(r"<ins>.*First", since_live)


def _primary(client: Client, address: str) -> list[str]:
    """The words of the primary buttons of a page."""
    main = client.get(address).content.decode().partition("<main")[2]
    found = re.findall(r'<(?:a|button)[^>]*class="btn btn--primary"[^>]*>(.*?)</(?:a|button)>', main, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", words).split()) for words in found]


def test_a_review_has_one_primary_button_at_each_step(signed_in: SignIn) -> None:
    publish()
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    assert (_primary(author, address), _primary(publisher, address)) == (["Comment"], ["Submit review"])
    _say(publisher, address, "request_changes", words="Shorter")
    # Whose turn it is has the button.
    assert (_primary(author, address), _primary(publisher, address)) == (["Edit draft"], [])
    pages = [address, "/capabilities/alpha/"]
    assert not [page for page in pages if "Resubmit" in author.get(page).content.decode()]
    _draft(version=1, body="Short.")
    assert all("Resubmit" in author.get(page).content.decode() for page in pages)
    assert _primary(author, address) == ["Resubmit"]
    _asked(author)
    _say(publisher, address, "approve")
    # An author cannot publish: nothing is left to do.
    assert (_primary(author, address), _primary(publisher, address)) == ([], ["Publish"])
    form_with(publisher.get(GATE), "Publish").submit(publisher, note="Out")
    assert _primary(author, address) == _primary(publisher, address) == []


def test_the_note_of_a_review_is_the_release_note_as_long_as_its_texts_are_the_drafts(signed_in: SignIn) -> None:
    publish()
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    form = form_with(author.get(GATE), "Submit for review")
    address = form.submit(author, note="Says it <b>once</b>.\nNot twice.")["Location"]
    assert form_with(publisher.get(GATE), "Publish").values["note"] == "Says it <b>once</b>. Not twice."
    _say(publisher, address, "approve")
    form = form_with(publisher.get(GATE), "Publish")
    assert form.values["note"] == "Says it <b>once</b>. Not twice."
    # What was typed, or emptied, stays.
    assert form_with(form.submit(publisher, note=""), "Publish").values["note"] == ""
    _draft(version=1, body="Another.")
    assert form_with(publisher.get(GATE), "Publish").values["note"] == ""


def test_one_box_offers_what_the_reader_may_decide(signed_in: SignIn) -> None:
    _draft()
    address = _asked(signed_in("author"))
    offered = {}
    for role in ("author", "publisher"):
        page = signed_in(role).get(address).content.decode()
        offered[role] = [one for one in ("comment", "approve", "request_changes") if f'value="{one}"' in page]
    assert offered == {"author": [], "publisher": ["comment", "approve", "request_changes"]}
    publisher = signed_in("publisher")
    assert _say(publisher, address, "decide", words="Just a thought", decision="comment").status_code == 302
    review = Review.objects.get()
    assert (review.state, review.entries.get(kind="comment").words) == ("open", "Just a thought")
    refused = _say(publisher, address, "request_changes", words="")
    assert re.search(r'value="request_changes"\s+checked', refused.content.decode()), "the choice is kept"
    assert _say(publisher, address, "decide", words="", decision="odd").status_code == 400


def test_a_reviewer_is_asked_by_name_and_no_longer(signed_in: SignIn) -> None:
    author, publisher = signed_in("author"), signed_in("publisher")
    _draft()
    address = _asked(author)
    assert "Any publisher can review." in author.get(address).content.decode()
    form = form_with(author.get(address), "Add reviewer")
    assert form.submit(author, username="the-publisher").status_code == 302
    page = author.get(address).content.decode()
    assert "Any publisher can review." not in page
    assert 'aria-label="Remove the-publisher"' in page
    _say(publisher, address, "request_changes", words="Shorter")
    page = author.get(address).content.decode()
    assert "Changes requested" in page.partition('id="reviewers"')[2].partition("</section>")[0]
    removed = author.post(f"{address}reviewers/remove/", {"username": "the-publisher"}, follow=True)
    assert "Reviewer removed." in removed.content.decode()
    assert Review.objects.get().reviewers == []


def test_who_cannot_review_is_refused_in_words(signed_in: SignIn) -> None:
    author, viewer = signed_in("author"), signed_in("viewer")
    _draft()
    address = _asked(author)
    for username in ("the-author", "nobody", "", "\0", "x" * 999):
        answer = author.post(f"{address}reviewers/add/", {"username": username})
        assert answer.status_code == 400, username
        assert "cannot review this" in answer.content.decode()
    assert viewer.post(f"{address}reviewers/add/", {"username": "the-publisher"}).status_code == 403
    assert "Add reviewer" not in viewer.get(address).content.decode()


def test_the_change_is_rendered_before_and_after(signed_in: SignIn) -> None:
    publish(body="Old *words*.")
    author = signed_in("author")
    _draft(body="New **words**.")
    address = _asked(author)
    response = author.get(address, {"view": "rendered"})
    rendered = response.context["rendered"]
    assert "<em>words</em>" in rendered.before
    assert "<strong>words</strong>" in rendered.after
    assert "No form changes." in response.content.decode()
    assert response.context["diffs"]
    drafts.save_draft(capability_id="beta", files=bundle("beta"), based_on=None, by=AUTHOR)
    form = form_with(author.get("/capabilities/beta/publish/"), "Submit for review")
    form.action = "/capabilities/beta/publish/review/"
    fresh = author.get(form.submit(author, note="New")["Location"], {"view": "rendered"})
    assert fresh.context["rendered"].before is None
    assert "Not published yet" in fresh.content.decode()


def test_a_draft_that_is_published_meanwhile_is_told_and_no_failure(
    signed_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the page's look at the draft and the write another publisher publishes it."""
    publish()
    _draft()
    publisher = signed_in("publisher")
    page = publisher.get(GATE)
    real = reviews.request_review

    def published_first(**asked: Any) -> Review:
        publication.publish_draft(capability_id="alpha", by=OLGA)
        return real(**asked)

    monkeypatch.setattr(reviews, "request_review", published_first)
    form = form_with(page, "Submit for review")
    form.action = "/capabilities/alpha/publish/review/"
    answer = form.submit(publisher, note="Please look")
    assert (answer.status_code, answer["Location"]) == (302, "/capabilities/alpha/")
    assert "just published by someone else" in publisher.get("/capabilities/alpha/").content.decode()
    assert not Review.objects.exists()


def test_a_comment_on_a_line_leads_back_to_that_line(signed_in: SignIn) -> None:
    publish()
    _draft()
    client = signed_in("author")
    address = _asked(client)
    done = client.post(f"{address}comment/", {"words": "Which?", "file": "skill.md", "line": "1"})
    place = done["Location"].partition("#")[2]
    assert place.startswith("line-comment-")
    assert f'id="{place}"' in client.get(address).content.decode()
