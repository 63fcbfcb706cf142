"""Capabilities that name each other in `dependencies.skills`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.needed_skills import find_circle, get_needed_skills
from registry.catalog import drafts
from registry.catalog.needed_skills import list_needing
from registry.core.published_index import INDEX
from registry.models import Capability
from registry.publishing import batch, publication
from tests.factories import OLGA, bundle, publish

CODES = ("DEPENDENCY_UNKNOWN", "DEPENDENCY_CIRCLE", "DEPENDENCY_ON_ITSELF")
pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def files(capability_id: str, *skills: str, **more: Any) -> dict[str, str]:
    texts = dict(bundle(capability_id))
    facts = json.loads(texts["capability.json"])
    facts["dependencies"] = {**({"skills": list(skills)} if skills else {}), **more}
    texts["capability.json"] = json.dumps(facts)
    return texts


def release(capability_id: str, *skills: str) -> list[Finding]:
    outcome = publication.publish(files=files(capability_id, *skills), by=OLGA)
    assert outcome.status == "published", outcome.findings
    return [one for one in outcome.findings if one.code in CODES]


def test_needed_skill_that_agents_cannot_load_is_a_warning_until_it_is_published() -> None:
    (found,) = release("alpha", "beta")
    assert (found.code, found.severity, found.pointer) == ("DEPENDENCY_UNKNOWN", "warning", "/dependencies/skills/0")
    assert "'beta'" in found.message
    publish("beta")
    drafts.save_draft(capability_id="alpha", files=files("alpha", "beta"), based_on=None, by=OLGA)
    assert not drafts.validate_draft(drafts.get_draft("alpha")).findings


def test_needed_skill_that_is_retired_is_a_warning_again() -> None:
    publish("beta")
    assert release("alpha", "beta") == []
    publication.retire(capability_id="beta", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=files("alpha", "beta"), based_on=None, by=OLGA)
    assert [one.code for one in drafts.validate_draft(drafts.get_draft("alpha")).findings] == ["DEPENDENCY_UNKNOWN"]


def test_circle_is_a_warning_that_names_its_way() -> None:
    publish("alpha")
    release("beta", "alpha")
    release("gamma", "beta")
    (found,) = release("alpha", "gamma")
    assert (found.code, found.severity) == ("DEPENDENCY_CIRCLE", "warning")
    assert "alpha, gamma, beta, and alpha again" in found.message


def test_bundles_of_one_call_know_each_other(tmp_path: Any) -> None:
    sources = [SourceBundle("alpha", dict(files("alpha", "beta"))), SourceBundle("beta", dict(bundle("beta")))]
    checked = batch.validate_all(sources)
    assert [one.code for entry in checked for one in entry.report.findings if one.code in CODES] == []


def test_capability_without_dependencies_is_what_it_was() -> None:
    plain = publication.publish(files=bundle("alpha"), by=OLGA)
    assert [one.code for one in plain.findings if one.code in CODES] == []


def test_who_needs_a_capability_follows_its_releases() -> None:
    publish("beta")
    release("alpha", "beta")
    assert list_needing("beta") == ["alpha"]
    INDEX.clear()
    assert list_needing("beta") == ["alpha"]
    release("alpha")
    assert list_needing("beta") == []


def test_retirement_can_be_looked_at_first() -> None:
    publish("beta")
    publication.retire(capability_id="beta", by=OLGA, dry_run=True)
    assert Capability.objects.get(capability_id="beta").status == "published"


@pytest.mark.parametrize(
    "capability",
    [{}, {"dependencies": []}, {"dependencies": {"skills": "beta"}}, {"dependencies": {"skills": [1, {}]}}],
)
def test_anything_in_the_place_of_the_list_is_none(capability: dict[str, Any]) -> None:
    assert get_needed_skills(capability) == ()


def test_circle_of_others_is_not_ones_own() -> None:
    needs = {"beta": ("gamma",), "gamma": ("beta",)}
    assert find_circle("alpha", ["beta"], lambda one: needs.get(one, ())) == ()


def test_long_chain_is_not_walked_to_its_end() -> None:
    steps: list[str] = []

    def needs_of(skill: str) -> list[str]:
        steps.append(skill)
        return [f"{skill}x", f"{skill}y"]

    assert find_circle("alpha", ["a"], needs_of) == ()
    assert len(steps) <= 1000


@pytest.mark.parametrize("is_dry_run", [True, False])
def test_drafts_of_one_import_know_each_other(is_dry_run: bool) -> None:
    texts = files("alpha", "beta"), files("beta", "alpha", "elsewhere")
    sources = [SourceBundle(f"drafts/{number}", dict(one)) for number, one in enumerate(texts)]
    results = batch.import_all(sources, by=OLGA, mode="draft", dry_run=is_dry_run)
    assert [one.status for one in results] == ["draft", "draft"]
    (found,) = (one for result in results for one in result.findings if one.code == "DEPENDENCY_UNKNOWN")
    assert "'elsewhere'" in found.message
