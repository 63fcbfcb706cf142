"""What agents hand in for review: kept whole, published by a person alone, never in the place of somebody's work."""

from __future__ import annotations

import pytest

from capability_rules.errors import InvalidRequest
from registry.catalog import drafts
from registry.catalog.drafts import get_draft
from registry.common.actors import Actor
from registry.common.errors import BundleRejected, DraftNotFound, ProposalNotFound, StatusConflict, TooManyProposals
from registry.models import Capability, Draft, Proposal, Revision
from registry.publishing import proposals, publication
from registry.publishing.proposals import accept_proposal, propose, reject_proposal
from tests.factories import OLGA, Files, bundle, publish

pytestmark = pytest.mark.django_db
AGENT = Actor("agent_key", "agent")
OTHER = Actor("agent_key", "other")


def _propose(files: Files | None = None, by: Actor = AGENT, note: str = "") -> Proposal:
    return propose(files=files or bundle(), by=by, note=note).proposal


def _again(proposal: Proposal) -> Proposal:
    return Proposal.objects.get(pk=proposal.pk)


def test_it_lands_as_a_draft_with_its_origin() -> None:
    done = propose(files=bundle(), by=AGENT, note="Seen in three talks")
    draft = get_draft("alpha")
    assert (draft.files, draft.saved_by, draft.version) == (bundle(), "agent_key:agent", done.draft_version)
    assert draft.proposal == done.proposal
    assert (done.proposal.status, done.proposal.note, done.proposal.files) == ("draft", "Seen in three talks", bundle())
    assert not Revision.objects.exists()
    assert Capability.objects.get().status == "draft"


def test_faults_are_no_obstacle_but_what_cannot_be_read_is() -> None:
    done = propose(files=bundle(description=None), by=AGENT)
    assert [finding.code for finding in done.report.errors] == ["FIELD_MISSING"]
    for files in ({"skill.md": "# X\n"}, {"capability.json": "{"}, bundle("Alpha!"), bundle(None)):
        with pytest.raises(BundleRejected) as caught:
            propose(files=files, by=AGENT)
        assert caught.value.findings
    big = bundle() | {"skill.md": "# A\n\n" + "x" * 1024 * 1024}
    with pytest.raises(BundleRejected):
        propose(files=big, by=AGENT)
    with pytest.raises(InvalidRequest, match=r"no file 'readme\.md'"):
        propose(files=bundle() | {"readme.md": "x"}, by=AGENT)
    assert Proposal.objects.count() == 1


def test_an_operators_draft_is_left_alone() -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(body="Mine."), based_on=None, by=OLGA)
    done = propose(files=bundle(body="Theirs."), by=AGENT)
    assert done.draft_version is None
    assert get_draft("alpha").files == bundle(body="Mine.")
    draft = accept_proposal(proposal_id=done.proposal.proposal_id, by=OLGA)
    assert get_draft("alpha") == draft
    assert draft.files == bundle(body="Theirs.")
    kept = Draft.objects.get(discarded_at__isnull=False)
    assert kept.files == bundle(body="Mine.")


def test_the_proposers_own_draft_is_replaced_and_the_earlier_proposal_superseded() -> None:
    first = _propose()
    second = propose(files=bundle(body="Better."), by=AGENT)
    assert second.draft_version == 2
    assert get_draft("alpha").proposal == second.proposal
    assert (_again(first).status, _again(first).decided_by) == ("superseded", "agent_key:agent")


def test_a_draft_that_an_operator_worked_on_is_no_longer_the_proposers() -> None:
    _propose()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Fixed."), based_on=1, by=OLGA)
    assert propose(files=bundle(body="Again."), by=AGENT).draft_version is None
    assert get_draft("alpha").files == bundle(body="Fixed.")


def test_another_keys_draft_is_left_alone() -> None:
    first = _propose()
    assert propose(files=bundle(body="Mine."), by=OTHER).draft_version is None
    assert (get_draft("alpha").proposal, _again(first).status) == (first, "draft")


@pytest.mark.parametrize("is_mended", [False, True])
def test_publishing_the_draft_publishes_the_proposal(is_mended: bool) -> None:
    publish(body="One.")
    proposal = _propose()
    if is_mended:
        drafts.save_draft(capability_id="alpha", files=bundle(body="Fixed."), based_on=1, by=OLGA)
    publication.publish_draft(capability_id="alpha", by=OLGA, note="Thanks")
    proposal = _again(proposal)
    assert (proposal.status, proposal.published_revision, proposal.decided_by, proposal.decision_note) == (
        *("published", 2),
        *("operator:olga", "Thanks"),
    )


def test_other_texts_published_leave_it_open() -> None:
    proposal = _propose()
    publish(body="Another.")
    assert _again(proposal).status == "draft"
    with pytest.raises(DraftNotFound):
        get_draft("alpha")
    accept_proposal(proposal_id=proposal.proposal_id, by=OLGA)
    assert get_draft("alpha").proposal == proposal


def test_a_refused_publish_leaves_it_open() -> None:
    proposal = _propose(bundle(description=None))
    assert publication.publish_draft(capability_id="alpha", by=OLGA).status == "refused"
    assert _again(proposal).status == "draft"


def test_one_that_was_accepted_and_then_proposed_anew_is_published_all_the_same() -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(body="Mine."), based_on=None, by=OLGA)
    first = _propose(bundle(body="First."))
    accept_proposal(proposal_id=first.proposal_id, by=OLGA)
    second = _propose(bundle(body="Second."))
    publication.publish_draft(capability_id="alpha", by=OLGA)
    assert (_again(first).status, _again(first).published_revision, _again(second).status) == ("published", 1, "draft")


def test_rejecting_it_tells_why_and_puts_its_draft_away() -> None:
    proposal = _propose()
    reject_proposal(proposal_id=str(proposal.proposal_id), by=OLGA, note="We have that already")
    proposal = _again(proposal)
    assert (proposal.status, proposal.decision_note) == ("rejected", "We have that already")
    with pytest.raises(DraftNotFound):
        get_draft("alpha")


def test_rejecting_it_leaves_what_an_operator_wrote() -> None:
    proposal = _propose()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Fixed."), based_on=1, by=OLGA)
    reject_proposal(proposal_id=proposal.proposal_id, by=OLGA)
    assert get_draft("alpha").files == bundle(body="Fixed.")
    publication.publish_draft(capability_id="alpha", by=OLGA)
    assert _again(proposal).status == "rejected"


def test_what_was_decided_stays_decided() -> None:
    proposal = _propose()
    reject_proposal(proposal_id=proposal.proposal_id, by=OLGA)
    for verb in (accept_proposal, reject_proposal):
        with pytest.raises(StatusConflict, match="rejected"):
            verb(proposal_id=proposal.proposal_id, by=OLGA)
        for unknown in ("x", "00000000-0000-4000-8000-000000000000"):
            with pytest.raises(ProposalNotFound):
                verb(proposal_id=unknown, by=OLGA)


def test_accepting_twice_changes_nothing() -> None:
    proposal = _propose()
    draft = accept_proposal(proposal_id=proposal.proposal_id, by=OLGA)
    assert (draft.version, Draft.objects.count()) == (1, 1)


def test_a_key_has_so_many_open_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "OPEN_PROPOSALS_MAX", 2)
    _propose()
    _propose(bundle("beta"))
    with pytest.raises(TooManyProposals):
        _propose(bundle("gamma"))
    _propose(bundle("gamma"), by=OTHER)
    _propose(bundle("beta", body="Anew."))
    reject_proposal(proposal_id=Proposal.objects.get(capability__capability_id="alpha").proposal_id, by=OLGA)
    _propose(bundle("delta"))


def test_proposing_again_and_again_takes_no_more_room() -> None:
    """25 proposals of 0.9 MB for one id took the database from 11 to 54 MB, texts and drafts."""
    for number in range(3):
        _propose(bundle(body=f"Better {number}. " + "word " * 1000))
    last = _propose()
    kept = [each for each in Proposal.objects.all() if each.files]
    assert kept == [last]
    assert [draft.proposal for draft in Draft.objects.all()] == [last]
    gone = Proposal.objects.filter(status="superseded").first()
    assert gone is not None
    review = proposals.get_proposal_review(gone)
    assert (review.report.findings, review.diffs) == ((), ())


def test_an_operators_draft_outlives_the_proposal_that_it_came_from() -> None:
    _propose()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Fixed."), based_on=1, by=OLGA)
    _propose(bundle(body="Again."))
    assert get_draft("alpha").files == bundle(body="Fixed.")


def test_open_proposals_of_a_key_are_bounded_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(map(len, bundle("aaaa", body="word " * 1000).values()))
    monkeypatch.setattr(proposals, "OPEN_CHARACTERS_MAX", 2 * size + 20)
    _propose(bundle("aaaa", body="word " * 1000))
    second = _propose(bundle("bbbb", body="word " * 1000))
    with pytest.raises(TooManyProposals, match="characters"):
        _propose(bundle("cccc", body="word " * 1000))
    assert not Capability.objects.filter(capability_id="cccc").exists()
    _propose(bundle("cccc", body="word " * 1000), by=OTHER)
    # The same again takes the place of the one before; one that was decided on makes room.
    _propose(bundle("aaaa", body="text " * 1000))
    reject_proposal(proposal_id=second.proposal_id, by=OLGA)
    _propose(bundle("cccc", body="word " * 1000))
