"""How much one file may contain, and how much work one check may do.

How many entries and components there may be, and how long texts, says `schemas/ui_schemas.schema.json`; the first group
here are the limits that a JSON Schema cannot express (docs/ui-schemas.md 6): beyond them a2ui-core refuses or a
renderer hangs. The second group keeps one check inside two seconds whatever the file has: where a bound is met, the
entry gets `UI_LIMIT_EXCEEDED` rather than a verdict on what was not read.
"""

from __future__ import annotations

ENTRY_BYTES_MAX = 64 * 1024
# Levels of JSON from `definition` down to the innermost value, itself the first; also edges from the root component to
# the deepest one.
DEPTH_MAX = 50
NESTED_CALLS_MAX = 5
EXPRESSION_CHARACTERS_MAX = 10_000
EXPRESSION_PARTS_MAX = 1_000
# A component may occur in several places. Two places each, thirty times over, is a thousand million: the tab hangs.
DRAWN_COMPONENTS_MAX = 5_000

FINDINGS_PER_ENTRY_MAX = 200
# Of a sample list, the first items are checked, so that a list of mixed items still shows its errors.
SAMPLE_ITEMS_READ_MAX = 3
# A step is a few microseconds: 64 bytes of a component read in one list item, or one sample value coerced. A file of
# fifty forms with two hundred components each needs 50,000.
STEPS_MAX = 150_000
HINTS_MAX = 200
