"""Features: what they add is wired, and none is left out that a registry uses."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.db import models

from registry import feature
from registry.common.installation import PACKAGES_DIR, PARTS, list_leaf_names
from registry.feature import (
    Feature,
    find_feature,
    installed_feature_names,
    installed_features,
    list_registry_models,
)
from registry.models import Team
from registry.operations import absent_features
from studio.config.parsers import parse_features
from studio.pages.navigation import SECTIONS

_IMPORTS = re.compile(r"\bfeatures\.(\w+)")


@pytest.mark.django_db
@pytest.mark.both_databases
def test_a_registry_that_uses_an_absent_feature_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Feature(name="groups", rows_kept={"registry_team": "teams", "registry_not_there": "nothing"})
    monkeypatch.setattr(absent_features, "absent_features", lambda: [absent])
    assert absent_features.find_absent_features() == []
    Team.objects.create(name="Care", created_by="the-admin")
    (sentence,) = absent_features.find_absent_features()
    assert "There are teams" in sentence
    assert "add groups to FEATURES" in sentence
    assert [error.msg for error in run_checks(tags=["database"], databases=["default"])] == [sentence]


def test_features_are_named_once_and_known() -> None:
    assert parse_features("all") == list_leaf_names()
    assert parse_features("none") == ()
    with pytest.raises(ValueError, match="has 'nosuch': expected all, none, or names of"):
        parse_features("nosuch")


def test_a_leaf_without_a_leaf_that_it_requires_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = {"plugins": Feature(name="plugins", requires=("sharing",)), "sharing": Feature(name="sharing")}
    monkeypatch.setattr(feature, "find_feature", leaves.__getitem__)
    assert feature.list_missing_requirements(("sharing", "plugins")) == []
    assert feature.list_missing_requirements(("sharing",)) == []
    (sentence,) = feature.list_missing_requirements(("plugins",))
    assert sentence == (
        "FEATURES has 'plugins' and is without 'sharing', which it needs. "
        "Fix: add sharing to FEATURES, or leave plugins out"
    )


def test_leaves_require_leaves_that_there_are_and_import_no_others() -> None:
    leaves = list_leaf_names()
    for name in leaves:
        required = find_feature(name).requires
        assert set(required) <= set(leaves) - {name}
        files = (file for file in (PACKAGES_DIR / "features" / name).rglob("*.py") if "tests" not in file.parts)
        imported = {leaf for file in files for leaf in _IMPORTS.findall(file.read_text("utf-8"))} - {name, *PARTS}
        assert imported <= set(required), name


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_installed_and_cannot_be_left_out(name: str) -> None:
    assert find_feature(name) in installed_features()
    assert apps.is_installed(f"features.{name}")
    assert name not in parse_features("all")
    with pytest.raises(ValueError, match=f"has '{name}': expected all, none, or names of"):
        parse_features(name)


def test_a_feature_is_named_as_its_folder() -> None:
    names = [*PARTS, *list_leaf_names()]
    assert [find_feature(name).name for name in names] == names
    assert [one.name for one in installed_features()] == names


def test_no_two_models_have_one_name() -> None:
    names = [model._meta.model_name for model in list_registry_models()]
    assert len(names) == len(set(names))


def test_no_key_of_the_core_points_into_a_feature() -> None:
    core = [model for model in list_registry_models() if model._meta.app_label == "registry"]
    pointed = {
        field.related_model._meta.app_label
        for model in core
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model is not None
    }
    assert "registry" in pointed
    assert not pointed & set(installed_feature_names())


def test_sections_of_one_group_stand_together() -> None:
    groups = [str(section.group) for section in SECTIONS]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)
