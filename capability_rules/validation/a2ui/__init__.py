"""UI schemas: every check of ui_schemas.json, and of the forms that tools name (docs/ui-schemas.md).

What other modules may use is here; `check` says how the parts work together.
"""

from capability_rules.validation.a2ui.pipeline import check_ui_schemas
from capability_rules.validation.a2ui.references import check_tool_ui

__all__ = ["check_tool_ui", "check_ui_schemas"]
