"""Who does which kind of job."""

from __future__ import annotations

from typing import Final

from registry import housekeeping, revalidation, usage
from registry.jobs import Handler

HANDLERS: Final[dict[str, Handler]] = {
    housekeeping.KIND: housekeeping.prune_jobs,
    revalidation.KIND: revalidation.revalidate,
    usage.KIND: usage.roll_up,
}
