"""Several bundles checked in turn: the next ones while the caller still works on one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation import Report, validate_bundle
from capability_rules.validation.isolation.pool import current_pool

BundleTexts = Mapping[str, bytes | str]
# Enough that one which takes long does not keep the caller waiting for those behind it.
_AHEAD_MAX: Final = 4


def validate_in_turn(
    bundles: Iterable[BundleTexts], get_published: Callable[[], ValidationContext]
) -> Iterator[Report]:
    """The report of each, as `validate_bundle` makes it against `get_published()` when the caller asks for it.

    Where bundles are checked in processes, one process checks the next ones meanwhile. What such a check asked about
    the registry is asked again when its turn comes: where one answer is another one by then, it is done again. Both
    arguments are called in the caller's thread. Raises `ChecksBusy`.
    """
    waiting = iter(bundles)
    if current_pool() is None:
        for files in waiting:
            yield validate_bundle(files, published=get_published())
        return
    # One thread: others who have a bundle to check find another process free.
    thread = ThreadPoolExecutor(1, "lookahead")
    try:
        published = get_published()
        begun = deque(_begin(thread, files, published) for files in islice(waiting, _AHEAD_MAX))
        while begun:
            check, published = begun.popleft(), get_published()
            report = check.report.result()
            yield report if check.context.holds_in(published) else validate_bundle(check.files, published=published)
            begun += (_begin(thread, files, published) for files in islice(waiting, 1))
    finally:
        thread.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _NotedContext(ValidationContext):
    """Notes what a check asks about the registry, and what it is answered: with the texts all that its report is of."""

    noted: list[tuple[str, Any, Any]] = field(default_factory=list)

    def owners_of(self, names: Iterable[str]) -> dict[str, str]:
        return dict(self._note("owners_of", list(names)))

    def ids_like(self, word: str) -> set[str]:
        return set(self._note("ids_like", word))

    def _note(self, question: str, of: Any) -> Any:
        answer = getattr(super(), question)(of)
        self.noted.append((question, of, answer))
        return answer

    def holds_in(self, published: ValidationContext) -> bool:
        return all(getattr(published, question)(of) == answer for question, of, answer in self.noted)


@dataclass(frozen=True)
class _BegunCheck:
    files: BundleTexts
    context: _NotedContext
    report: Future[Report]


def _begin(thread: ThreadPoolExecutor, files: BundleTexts, published: ValidationContext) -> _BegunCheck:
    context = _NotedContext(published.tool_owners, published.capability_ids, published.is_visible)
    report = thread.submit(copy_context().run, validate_bundle, files, published=context)
    return _BegunCheck(files, context, report)
