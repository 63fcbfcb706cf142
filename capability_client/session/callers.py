"""Who calls what the steps of a session need: the source, tools, the model, people.

A method of a session that has to wait is a generator: it yields an `Operation`, is sent what that returned, or thrown
what it raised, and returns its own result. `StepCaller` blocks, `AsyncStepCaller` awaits; no more than that differs.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from capability_client.session.calls import SessionCalls
from capability_client.session.messages import Delta, Message, TurnCancelled
from capability_client.session.operations import Operation, Tracer, is_async
from capability_client.session.running_turn import RunningTurn
from capability_client.session.steps import Finished, Steps, T, Together

TurnParts = Generator[Message | Delta, None, None]
TurnMessages = Generator[Message, None, None]


@dataclass(eq=False, repr=False)
class StepCaller:
    """For a `Session`: one call after the other."""

    _running: RunningTurn
    _calls: SessionCalls
    _trace: Tracer

    @staticmethod
    def check(source: Any, matcher: object, compact: object) -> None:
        """Raises `TypeError` for a source, a matcher or a compact that has to be awaited, or that is none."""
        _check_source(source, "a Registry or LocalSkills")
        if inspect.iscoroutinefunction(source.list) or getattr(source, "is_async", False):
            raise TypeError("A Session cannot wait for a coroutine: use AsyncSession with AsyncRegistry")
        if inspect.iscoroutinefunction(matcher):
            raise TypeError("A Session cannot wait for a coroutine: use AsyncSession for a matcher that is async")
        if inspect.iscoroutinefunction(compact):
            raise TypeError("A Session cannot wait for a coroutine: use AsyncSession for a compact that is async")

    def run(self, steps: Steps[T]) -> T:
        """What the steps return."""
        try:
            while not isinstance(found := self.advance(steps), Finished):
                pass
            return found.value
        finally:
            steps.close()

    def advance(self, steps: Steps[T]) -> Message | Delta | Finished[T]:
        """Call what the steps need until their next message, or their end."""
        send: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                need = send()
            except StopIteration as done:
                return Finished(done.value)
            if isinstance(need, Message | Delta):
                return need
            if self._running.is_cancelled:
                self._running.is_cancelled = False
                steps.close()
                raise TurnCancelled("The turn was cancelled")
            if isinstance(need, Together):
                send = partial(steps.send, [self.run(each) for each in need.steps])
                continue
            try:
                with self._trace(need):
                    outcome = need.run()
                    if inspect.isawaitable(outcome):
                        _refuse_coroutine(outcome)
            except BaseException as error:  # noqa: BLE001 - the steps decide what it means
                send = partial(steps.throw, error)
            else:
                send = partial(steps.send, outcome)

    def parts(self, steps: Steps[None]) -> TurnParts:
        """The messages of a turn and their parts as they come. To stop listening ends the turn."""
        try:
            while not isinstance(found := self.advance(steps), Finished):
                yield found
        finally:
            steps.close()

    def messages(self, parts: TurnParts) -> TurnMessages:
        """The messages alone."""
        return (each for each in parts if isinstance(each, Message))

    def cancel(self) -> bool:
        """End the turn that is running, before its next call."""
        return self._running.cancel()


@dataclass(eq=False, repr=False)
class AsyncStepCaller:
    """For an `AsyncSession`. What is not a coroutine function runs in a thread."""

    _running: RunningTurn
    _calls: SessionCalls
    _trace: Tracer
    _awaited: set[asyncio.Future[Any]] = field(default_factory=set, init=False)

    @staticmethod
    def check(source: Any, matcher: object, compact: object) -> None:  # noqa: ARG004 (as above)
        """Raises `TypeError` for a source that would block the loop, or that is none."""
        _check_source(source, "an AsyncRegistry or LocalSkills")
        if hasattr(source, "url") and not inspect.iscoroutinefunction(source.list):
            raise TypeError("A Registry blocks: use AsyncRegistry here, or Session with Registry")

    async def run(self, steps: Steps[T]) -> T:
        """What the steps return."""
        try:
            while not isinstance(found := await self.advance(steps), Finished):
                pass
            return found.value
        finally:
            steps.close()

    async def advance(self, steps: Steps[T]) -> Message | Delta | Finished[T]:
        """Call what the steps need until their next message, or their end."""
        try:
            return await self._advance(steps)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._running.is_cancelled or (task is not None and task.cancelling()):
                raise
            raise TurnCancelled("The turn was cancelled") from None

    async def _advance(self, steps: Steps[T]) -> Message | Delta | Finished[T]:
        send: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                need = send()
            except StopIteration as done:
                return Finished(done.value)
            if isinstance(need, Message | Delta):
                return need
            try:
                outcome = await self._done(need)
            except BaseException as error:  # noqa: BLE001 - the steps decide what it means
                send = partial(steps.throw, error)
            else:
                send = partial(steps.send, outcome)

    async def _done(self, need: Operation | Together) -> Any:
        if self._running.is_cancelled:
            raise asyncio.CancelledError
        if isinstance(need, Together):
            return await asyncio.gather(*map(self.run, need.steps))
        with self._trace(need):
            return await self._outcome(need)

    async def _outcome(self, need: Operation) -> Any:
        """What is not a coroutine function runs in a thread, which nothing can stop: a call of a tool goes on there."""
        if is_async(need.run):
            return await self._until_cancelled(need)
        work = asyncio.ensure_future(asyncio.to_thread(need.run))
        try:
            outcome = await asyncio.shield(work)
        except asyncio.CancelledError:
            if need.kind != "execute_tool":
                work.cancel()
            elif not work.done():
                self._calls.detach(need.call_id)
                work.add_done_callback(partial(self._end_detached, need.call_id))
            raise
        return await outcome if inspect.isawaitable(outcome) else outcome

    async def _until_cancelled(self, need: Operation) -> Any:
        """As a task of its own, which `cancel()` can end."""
        coroutine: Any = need.run()
        work: asyncio.Future[Any] = asyncio.ensure_future(coroutine)
        self._awaited.add(work)
        try:
            return await work
        finally:
            self._awaited.discard(work)
            work.cancel()

    def parts(self, steps: Steps[None]) -> AsyncTurnParts:
        """The messages of a turn and their parts as they come."""
        return AsyncTurnParts(self, steps)

    def messages(self, parts: AsyncTurnParts) -> AsyncTurnMessages:
        """The messages alone."""
        return AsyncTurnMessages(parts)

    def cancel(self) -> bool:
        """End the turn that is running, at once; what runs in a thread goes on there by itself."""
        is_cancelled = self._running.cancel()
        for work in [*self._awaited] if is_cancelled else ():
            work.cancel()
        return is_cancelled

    def _end_detached(self, call_id: str, work: asyncio.Future[Any]) -> None:
        error = None if work.cancelled() else work.exception()
        self._calls.attach(call_id, is_done=not work.cancelled() and error is None)


@dataclass(eq=False, repr=False)
class AsyncTurnParts(AsyncIterator[Message | Delta]):
    """A turn as it comes. `break` ends it at once: an async generator would leave that to the loop."""

    _caller: AsyncStepCaller
    _steps: Steps[None]

    async def __anext__(self) -> Message | Delta:
        found = await self._caller.advance(self._steps)
        if isinstance(found, Finished):
            raise StopAsyncIteration
        return found

    async def aclose(self) -> None:
        """End the turn before it is done."""
        self._steps.close()

    def __del__(self) -> None:
        self._steps.close()


@dataclass(eq=False, repr=False)
class AsyncTurnMessages(AsyncIterator[Message]):
    """The messages of a turn as they come."""

    _parts: AsyncTurnParts

    async def __anext__(self) -> Message:
        while True:
            if isinstance(found := await anext(self._parts), Message):
                return found

    async def aclose(self) -> None:
        """End the turn before it is done."""
        await self._parts.aclose()


def _check_source(source: object, wanted: str) -> None:
    if not all(callable(getattr(source, name, None)) for name in ("list", "load", "reload")):
        raise TypeError(f"The source is {wanted}, not {type(source).__name__}")


def _refuse_coroutine(outcome: Any) -> None:
    if inspect.iscoroutine(outcome):
        outcome.close()
    raise TypeError("A Session cannot wait for a coroutine: use AsyncSession for tools that are async")
