"""The official validator, a2ui-core, which other A2UI clients use: its verdict on a definition.

It is in the test extra alone: importing and using it first costs 0.8 s and 24 MiB, and 0.1 to 0.5 ms a component after
that, so that a process of the product has never loaded it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from capability_kit.bundles.forms import surface_messages
from capability_kit.json_text import as_mapping


def refusal(definition: dict[str, Any]) -> str | None:
    """Say why a2ui-core refuses a definition, in its own words; None where it accepts it.

    a2ui-core has raised bare TypeErrors and RecursionErrors on junk, so that these count as refusals, too.
    """
    make_processor, refusals = _processor_parts()
    data = as_mapping(definition.get("dataModel"))
    messages = surface_messages({"catalogId": None, "components": None, **definition, "dataModel": data}, "check")
    try:
        processor = make_processor()
        for message in messages:
            processor.process_messages(message)
    except refusals as error:
        return str(error) or type(error).__name__
    return None


@cache
def _processor_parts() -> tuple[Any, tuple[type[Exception], ...]]:
    from a2ui.core import STRICT_VALIDATION, A2uiError, MessageProcessor, MessageProcessorOptions
    from a2ui.core.basic_catalog import BasicCatalog

    catalog = BasicCatalog("v0.9.1")

    def make_processor() -> Any:
        return MessageProcessor([catalog], options=MessageProcessorOptions(validation_config=STRICT_VALIDATION))

    return make_processor, (A2uiError, TypeError, RecursionError, ValueError)
