"""`AsyncSession`: as `Session`, for asyncio. `Session` documents what each method does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self, Unpack, overload

from capability_client.client.answers import FeedbackAnswer
from capability_client.client.sources import AsyncSource, Source
from capability_client.session.core import SessionCore
from capability_client.session.introduction import ConversationStart
from capability_client.session.layout import PromptParts
from capability_client.session.messages import Delta, Message, ModelReply, TurnCancelled
from capability_client.session.operations import Operation, is_async
from capability_client.session.serialization import restore_session
from capability_client.session.state import SessionSettings, StoredSettings
from capability_client.session.steps import (
    Asker,
    AsyncApprover,
    AsyncPresenter,
    Executor,
    Finished,
    FormEvent,
    Host,
    Matcher,
    Steps,
    T,
    Together,
)
from capability_client.session.stores import SessionStore
from capability_client.session.turns import Turn
from capability_kit.approvals import Approval
from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.prompt import Prompt
from capability_kit.tool_gate import CallResult, ToolCall

# As `Model`, for an `AsyncSession`.
AsyncModel = Callable[
    ["AsyncSession", Sequence[Message]],
    ModelReply | Awaitable[ModelReply] | Iterator[str | ModelReply] | AsyncIterator[str | ModelReply],
]


class AsyncSession(SessionCore):
    """One conversation. Not for several tasks at once. What is not a coroutine function runs in a thread."""

    def __init__(
        self, source: AsyncSource | Source, *, matcher: Matcher | None = None, **settings: Unpack[SessionSettings]
    ) -> None:
        """`source` is an AsyncRegistry or LocalSkills. Raises `TypeError` for a source that would block the loop."""
        for name in ("list", "load", "reload"):
            if not callable(getattr(source, name, None)):
                raise TypeError(f"The source is an AsyncRegistry or LocalSkills, not {type(source).__name__}")
        if hasattr(source, "url") and not inspect.iscoroutinefunction(source.list):
            raise TypeError("A Registry blocks: use AsyncRegistry here, or Session with Registry")
        super().__init__(source, matcher=matcher, **settings)
        self._running: set[asyncio.Future[Any]] = set()

    @classmethod
    def from_json(
        cls,
        text: str,
        source: AsyncSource | Source,
        *,
        secret: bytes | None = None,
        matcher: Matcher | None = None,
        **settings: Unpack[SessionSettings],
    ) -> Self:
        """As `Session.from_json`."""
        session = cls(source, matcher=matcher, **settings)
        restore_session(session, text, secret=secret, with_user="user" not in settings)
        return session

    @classmethod
    @asynccontextmanager
    async def stored(
        cls,
        store: SessionStore,
        session_id: str,
        source: AsyncSource | Source,
        *,
        secret: bytes | None = None,
        matcher: Matcher | None = None,
        **settings: Unpack[StoredSettings],
    ) -> AsyncGenerator[Self, None]:
        """As `Session.stored`."""
        lock = store.lock(session_id)
        await asyncio.to_thread(lock.__enter__)
        try:
            session = cls(source, matcher=matcher, **settings)
            session.session_id = session_id
            text = await asyncio.to_thread(store.read, session_id)
            if text is not None:
                restore_session(session, text, secret=secret, with_user="user" not in settings)
            try:
                yield session
            finally:
                await asyncio.to_thread(store.write, session_id, session.to_json(secret=secret))
        finally:
            await asyncio.to_thread(lock.__exit__, None, None, None)

    async def _run(self, steps: Steps[T]) -> T:
        try:
            while not isinstance(found := await self._advance(steps), Finished):
                pass
            return found.value
        finally:
            steps.close()

    async def _advance(self, steps: Steps[T]) -> Message | Delta | Finished[T]:
        """Call what the steps need until their next message, or their end."""
        try:
            return await self._called_until_message(steps)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._is_cancelled or (task is not None and task.cancelling()):
                raise
            raise TurnCancelled("The turn was cancelled") from None

    async def _called_until_message(self, steps: Steps[T]) -> Message | Delta | Finished[T]:
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
        if self._is_cancelled:
            raise asyncio.CancelledError
        if isinstance(need, Together):
            return await asyncio.gather(*map(self._run, need.steps))
        with self.trace(need):
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
                self._detach(need.call_id)
                work.add_done_callback(partial(self._end_detached, need.call_id))
            raise
        return await outcome if inspect.isawaitable(outcome) else outcome

    async def _until_cancelled(self, need: Operation) -> Any:
        """As a task of its own, which `cancel()` can end."""
        coroutine: Any = need.run()
        work: asyncio.Future[Any] = asyncio.ensure_future(coroutine)
        self._running.add(work)
        try:
            return await work
        finally:
            self._running.discard(work)
            work.cancel()

    def cancel(self) -> bool:
        """As `Session.cancel`, at once; what runs in a thread goes on there by itself."""
        self._is_cancelled = self._running_turn() is not None
        for work in [*self._running] if self._is_cancelled else ():
            work.cancel()
        return self._is_cancelled

    def _end_detached(self, call_id: str, work: asyncio.Future[Any]) -> None:
        error = None if work.cancelled() else work.exception()
        self._attach(call_id, is_done=not work.cancelled() and error is None)

    @property
    def entries(self) -> AwaitableEntries:
        """As `Session.entries`: `await session.entries`. `await session.entries()` is the same."""
        return AwaitableEntries(self._read_entries)

    async def _read_entries(self) -> dict[str, ListingEntry]:
        await self._run(self._need_list())
        return self._known_entries()

    async def refresh_list(self) -> None:
        """As `Session.refresh_list`."""
        await self._run(self._read_list())

    async def autocomplete(self, typed: str) -> list[ListingEntry]:
        """As `Session.autocomplete`."""
        return await self._run(self._autocompleted(typed))

    async def start(self, *, first_run: str | None = None, history: Iterable[str] = ()) -> ConversationStart:
        """As `Session.start`."""
        return await self._run(self._started(first_run, history))

    async def turn(self, message: str) -> Turn:
        """As `Session.turn`."""
        return await self._run(self._turned(message))

    async def load(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Bundle:
        """As `Session.load`."""
        return await self._run(self._loaded(capability_id, arguments=arguments, explicit=explicit))

    async def reload(self, capability_id: str) -> Bundle:
        """As `Session.reload`."""
        return await self._run(self._reloaded(capability_id))

    async def system_prompt(self) -> Prompt:
        """As `Session.system_prompt`."""
        return await self._run(self._system_prompted())

    async def prompt_parts(self) -> PromptParts:
        """As `Session.prompt_parts`."""
        return await self._run(self._prompt_parted())

    @overload
    async def call(self, tool: str, arguments: object, *, run: Executor, from_form: bool = False) -> CallResult: ...
    @overload
    async def call(
        self, tool: str, arguments: object, *, run: None = None, from_form: bool = False
    ) -> CallResult | ToolCall: ...
    async def call(
        self, tool: str, arguments: object, *, run: Executor | None = None, from_form: bool = False
    ) -> CallResult | ToolCall:
        """As `Session.call`; `run` may be a coroutine function."""
        return await self._run(self._called(tool, arguments, run, from_form=from_form))

    async def run_call(self, call_id: str, run: Executor | None = None) -> CallResult:
        """As `Session.run_call`; `run` may be a coroutine function."""
        return await self._run(self._ran(call_id, run))

    async def result_of(self, tool: str, arguments: object, *, run: Executor | None = None) -> object:
        """As `Session.result_of`."""
        return await self._run(self._result_of(tool, arguments, run))

    @overload
    async def submit(self, call_id: str, event: FormEvent, *, run: Executor) -> CallResult: ...
    @overload
    async def submit(self, call_id: str, event: FormEvent, *, run: None = None) -> CallResult | ToolCall: ...
    async def submit(self, call_id: str, event: FormEvent, *, run: Executor | None = None) -> CallResult | ToolCall:
        """As `Session.submit`; `run` may be a coroutine function."""
        return await self._run(self._submitted(call_id, event, run))

    async def result_of_form(self, call_id: str, event: FormEvent | None, *, run: Executor | None = None) -> object:
        """As `Session.result_of_form`."""
        return await self._run(self._result_of_form(call_id, event, run))

    async def result_of_approved(
        self, call_id: str, approval: Approval | None = None, *, run: Executor | None = None, by: str = ""
    ) -> object:
        """As `Session.result_of_approved`."""
        return await self._run(self._result_of_approved(call_id, approval, run, by))

    async def feedback(self, outcome: str, *, reason: str | None = None) -> list[FeedbackAnswer]:
        """As `Session.feedback`."""
        return await self._run(self._reported(outcome, reason=reason))

    def steps(
        self,
        message: str,
        model: AsyncModel,
        *,
        run: Executor | None = None,
        approve: AsyncApprover,
        ask: Asker | None = None,
        show: AsyncPresenter | None = None,
    ) -> TurnMessages:
        """As `Session.steps`; model, `run`, `approve`, `ask` and `show` may be coroutine functions."""
        return TurnMessages(self.stream(message, model, run=run, approve=approve, ask=ask, show=show))

    def stream(
        self,
        message: str,
        model: AsyncModel,
        *,
        run: Executor | None = None,
        approve: AsyncApprover,
        ask: Asker | None = None,
        show: AsyncPresenter | None = None,
    ) -> TurnParts:
        """As `Session.stream`; the model may be an async generator."""
        return TurnParts(self._advance, self._messages_of_turn(message, Host(model, run, approve, ask, show)))

    async def say(
        self,
        message: str,
        model: AsyncModel,
        *,
        run: Executor | None = None,
        approve: AsyncApprover,
        ask: Asker | None = None,
        show: AsyncPresenter | None = None,
    ) -> str:
        """As `Session.say`."""
        steps = self.steps(message, model, run=run, approve=approve, ask=ask, show=show)
        return [each.text async for each in steps][-1]


class AwaitableEntries:
    """`await` it, or call it first: it was a method once."""

    def __init__(self, read: Callable[[], Coroutine[Any, Any, dict[str, ListingEntry]]]) -> None:
        self._read = read

    def __call__(self) -> AwaitableEntries:
        """The same."""
        return self

    def __await__(self) -> Generator[Any, None, dict[str, ListingEntry]]:
        return self._read().__await__()


class TurnParts(AsyncIterator[Message | Delta]):
    """A turn as it comes. `break` ends it at once: an async generator would leave that to the loop."""

    def __init__(
        self, advance: Callable[[Steps[None]], Awaitable[Message | Delta | Finished[None]]], steps: Steps[None]
    ) -> None:
        self._advance = advance
        self._steps = steps

    async def __anext__(self) -> Message | Delta:
        found = await self._advance(self._steps)
        if isinstance(found, Finished):
            raise StopAsyncIteration
        return found

    async def aclose(self) -> None:
        """End the turn before it is done."""
        self._steps.close()

    def __del__(self) -> None:
        self._steps.close()


class TurnMessages(AsyncIterator[Message]):
    """The messages of a turn as they come."""

    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts

    async def __anext__(self) -> Message:
        while True:
            if isinstance(found := await anext(self._parts), Message):
                return found

    async def aclose(self) -> None:
        """End the turn before it is done."""
        await self._parts.aclose()
