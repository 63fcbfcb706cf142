"""Forms of a bundle, shown and read."""

from __future__ import annotations

from typing import Any

import pytest

from capability_client import FormAction, FormError, form_action, form_messages
from capability_client.tests.registries import example
from capability_kit.bundles.bundle import Bundle
from tests.json_values import parsed

FORM = "WeightEntryForm.v1"


@pytest.fixture
def weights() -> Bundle:
    return example("weights")


def test_three_messages_show_a_form(weights: Bundle) -> None:
    create, data, components = form_messages(weights, FORM)
    assert parsed(create["createSurface"])["surfaceId"] == FORM
    assert parsed(create["createSurface"])["catalogId"].endswith("basic/catalog.json")
    assert parsed(data["updateDataModel"])["value"]["entries"][0]["weight"] == "187.6"
    assert any(each["id"] == "root" for each in parsed(components["updateComponents"])["components"])
    assert {each["version"] for each in (create, data, components)} == {"v0.9.1"}


def test_data_of_the_caller_fills_the_form(weights: Bundle) -> None:
    data: Any = {"entries": []}
    messages = form_messages(weights, FORM, surface_id="mine", data=data)
    assert messages[1]["updateDataModel"] == {"surfaceId": "mine", "path": "/", "value": data}


def test_an_event_is_the_tool_that_the_bundle_binds_to_it(weights: Bundle) -> None:
    event = {"name": "save_entries", "context": {"entries": []}, "tool": "weight_entry_delete", "surfaceId": "x"}
    assert form_action(weights, FORM, event) == FormAction("tool", "weight_entry_save_batch", {"entries": []})
    assert form_action(weights, FORM, {"name": "cancel"}) == FormAction("dismiss", "", {})


def test_what_there_is_not_is_refused_with_what_there_is(weights: Bundle) -> None:
    with pytest.raises(FormError, match=r"no form 'Nope'; there are: WeightEntryForm\.v1"):
        form_messages(weights, "Nope")
    odd: list[Any] = ["drop", None, ["save_entries"], {}]
    for name in odd:
        with pytest.raises(FormError, match="there are: save_entries, cancel"):
            form_action(weights, FORM, {"name": name})
    assert form_action(weights, FORM, {"name": "save_entries", "context": "odd"}).arguments == {}
