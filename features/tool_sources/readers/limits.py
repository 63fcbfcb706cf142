"""What a source may have; more is refused with the number."""

from __future__ import annotations

from typing import Final

BYTES_MAX: Final = 10_000_000
OPERATIONS_MAX: Final = 2_000
# Of references that lead to references, and of schemas within schemas.
LEVELS_MAX: Final = 64
# Of work. The largest documents of public products, 7 MB with 1,200 operations, take 2.6 s on a busy machine.
SECONDS_MAX: Final = 5
# Of all contracts as JSON, which this process takes in and stores; those of the same documents have 5.4 MB.
ANSWER_BYTES_MAX: Final = 16_000_000
# Of lists and maps within each other: a schema has up to three for each level.
NESTING_MAX: Final = 3 * LEVELS_MAX
# After every alias of YAML is unfolded; 10 MB of plain text have fewer.
VALUES_MAX: Final = 5_000_000
# That merge keys of YAML copy from one map into another: twice as many with each level of them.
MERGED_MAX: Final = 200_000
