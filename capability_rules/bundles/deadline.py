"""The time limit of a check (docs/contract.md 2), tested between its steps."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Final


class DeadlineExceeded(Exception):
    """The check that is under way has no time left."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of this thread's own work (seconds of CPU): a machine that is busy elsewhere refuses no bundle."""

    ends_at_seconds: float = math.inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.thread_time() + seconds)

    def is_over(self) -> bool:
        return time.thread_time() > self.ends_at_seconds

    def check(self) -> None:
        """Raise `DeadlineExceeded` where it is over; steps between two calls should take hundredths of a second."""
        if self.is_over():
            raise DeadlineExceeded


NEVER: Final = Deadline()
