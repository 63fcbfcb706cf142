"""What a form that was filled in on the page would make an agent do. Nothing is called, nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import FormError, parse_form
from capability_rules.errors import RegistryError
from capability_rules.validation.isolation.form_dry_run import dry_run_event
from features.evaluations.sides import SnapshotSource
from studio.pages.form_dry_run import FormCall, describe_outcome
from studio.pages.html_forms import parse_event


def dry_run_form(
    *, capability_id: str, schema_id: str, read_event: Callable[[Bundle], Mapping[str, Any]], with_drafts: bool
) -> FormCall:
    """As a session of the playground takes what a renderer has delivered: what the form means by it, then the gate of
    the calls. `read_event` makes the event for the bundle that an agent has loaded."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from features.evaluations.drafts_index import get_drafts_index

    try:
        bundle = SnapshotSource(get_drafts_index(with_drafts=with_drafts)[0]).load(capability_id)
        event = read_event(bundle)
    except (RegistryError, FormError) as error:
        return FormCall("refused", f"{error}.")
    return describe_outcome(dry_run_event(bundle, schema_id, event))


def parse_plain_event(
    bundle: Bundle, schema_id: str, given: Mapping[str, Sequence[str]], pressed: int | None
) -> Mapping[str, Any]:
    """The event of a form that was drawn without scripts: `given` is by the names of its plain fields.

    Raises `FormError`.
    """
    definition = parse_form(bundle, schema_id)["definition"]
    return parse_event(definition, given, -1 if pressed is None else pressed)
