"""Operations of migrations that Django does not bring."""

from __future__ import annotations

from typing import Any

from django.db.migrations import CreateModel
from django.db.migrations.state import ProjectState


class CreateTableOnce(CreateModel):
    """`CreateModel` for a table that an older release may have made as one of the core: it is taken over as it is."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Create the table that `options["db_table"]` names, unless it is there."""
        if self.options["db_table"] not in schema_editor.connection.introspection.table_names():
            super().database_forwards(app_label, schema_editor, from_state, to_state)
