"""One conversation of one user with the capabilities of one source.

It decides nothing for the model: it finds what a message may be about (hints), keeps what was loaded at the release of
its first load, drops it after its turns, writes the prompt, and lets tools run only through the gate (core.py).
session.py is made of async_session.py by `make sync`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Self, Unpack, overload

from capability_client.client.answers import FeedbackAnswer
from capability_client.client.sources import AsyncSource, Source
from capability_client.session.callers import AsyncStepCaller, AsyncTurnMessages, AsyncTurnParts
from capability_client.session.context import SessionSettings, StoredSettings
from capability_client.session.core import SessionCore
from capability_client.session.introduction import ConversationStart
from capability_client.session.layout import PromptParts
from capability_client.session.messages import Message, ModelReply
from capability_client.session.operations import no_trace
from capability_client.session.serialization import restore_session
from capability_client.session.steps import AsyncTurnHost, Executor, FormEvent, Host, Matcher
from capability_client.session.stores import SessionStore
from capability_client.session.turns import Turn
from capability_kit.approvals import Approval
from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.prompt import Prompt
from capability_kit.tool_gate import CallResult, ToolCall

# One step of a model: it reads `session.prompt_parts()` and the messages, and has `session.tools()`.
# A streaming one yields texts, and a `ModelReply` at its end where it calls tools.
AsyncModel = Callable[
    ["AsyncSession", Sequence[Message]],
    ModelReply | Awaitable[ModelReply] | Iterator[str | ModelReply] | AsyncIterator[str | ModelReply],
]


class AsyncSession(SessionCore):
    """One conversation, for asyncio. What is not a coroutine function runs in a thread."""

    def __init__(
        self, source: AsyncSource | Source, *, matcher: Matcher | None = None, **settings: Unpack[SessionSettings]
    ) -> None:
        """`settings` are explained by `StoredSettings`; `matcher` replaces the source's `match`.

        Raises `TypeError` for a source of the other kind of session, and for an argument of another type.
        """
        AsyncStepCaller.check(source, matcher, settings.get("compact"))
        super().__init__(source, matcher=matcher, **settings)
        self._caller = AsyncStepCaller(self.running, self.calls, settings.get("trace") or no_trace)

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
        """A session from its text; `settings` as for a new one. Raises `SessionFileRefused` with a sentence."""
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
        """The session of this id for one block: read from the store, or new; written at the end, also after an error.

        Raises `SessionLocked` while another writer has it, and `SessionFileRefused`.
        """
        lock = store.lock(session_id)
        await asyncio.to_thread(lock.__enter__)
        try:
            session = cls(source, matcher=matcher, session_id=session_id, **settings)
            text = await asyncio.to_thread(store.read, session_id)
            if text is not None:
                restore_session(session, text, secret=secret, with_user="user" not in settings)
            try:
                yield session
            finally:
                await asyncio.to_thread(store.write, session_id, session.to_json(secret=secret))
        finally:
            await asyncio.to_thread(lock.__exit__, None, None, None)

    @property
    async def entries(self) -> dict[str, ListingEntry]:
        """The list as this session sees it, read once; `refresh_list()` reads it again. Disabled ones are left out."""
        return await self._caller.run(self.catalog.needed())

    async def refresh_list(self) -> None:
        """Read the list again: something was published. What is loaded stays at its release."""
        await self._caller.run(self.catalog.read())

    async def autocomplete(self, typed: str) -> list[ListingEntry]:
        """The capabilities whose names may follow a typed `$`."""
        return await self._caller.run(self.catalog.complete(typed))

    async def start(self, *, first_run: str | None = None, history: Iterable[str] = ()) -> ConversationStart:
        """Begin: a new user in an empty conversation is introduced, a known one greeted.

        `first_run` is the capability of the introduction; left out, the one that the registry names. `history` are
        messages of the conversation so far; those that a runtime wrote by itself do not count.
        """
        return await self._caller.run(self.turns.start(first_run, history))

    async def turn(self, message: str) -> Turn:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        return await self._caller.run(self.turns.take(message))

    async def load(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Bundle:
        """Make a capability active, at the release of this session's first load of it.

        `explicit`: the user asked for it, so that it stays longer. Raises a `RegistryError`; `CapabilityNotFound`, with
        what there is instead, also for one that is disabled here.
        """
        return await self._caller.run(self.loader.load(capability_id, arguments=arguments, explicit=explicit))

    async def reload(self, capability_id: str) -> Bundle:
        """Load the newest release into this session (rare: user or operator ask for it). Raises `RegistryError`."""
        return await self._caller.run(self.loader.reload(capability_id))

    async def system_prompt(self) -> Prompt:
        """For the whole conversation: which skills there are, and the rules by which they are used."""
        return await self._caller.run(self.layout.system_prompt())

    async def prompt_parts(self) -> PromptParts:
        """What a model reads beside messages and tools, by how long it stays the same: `system`, `skills`, `turn`.

        For vendors that keep what a request begins with (layout.py). `system_prompt()` and `prompt()` say the same in
        another order.
        """
        return await self._caller.run(self.layout.parts())

    @overload
    async def call(self, tool: str, arguments: object, *, run: Executor, from_form: bool = False) -> CallResult: ...
    @overload
    async def call(
        self, tool: str, arguments: object, *, run: None = None, from_form: bool = False
    ) -> CallResult | ToolCall: ...
    async def call(
        self, tool: str, arguments: object, *, run: Executor | None = None, from_form: bool = False
    ) -> CallResult | ToolCall:
        """A tool call of the model, or of a form (`from_form`: strings become numbers, see coercion.py).

        With `run` a skill's tool runs and its result is checked; without it the open call is returned, to be passed to
        `run_call`. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        return await self._caller.run(self.calls.call(tool, arguments, run, from_form=from_form))

    async def run_call(self, call_id: str, run: Executor | None = None) -> CallResult:
        """Run an open call once, and check its result. Raises `CallRefused`, or what `run` raises."""
        return await self._caller.run(self.calls.run(call_id, run))

    async def result_of(self, tool: str, arguments: object, *, run: Executor | None = None) -> object:
        """What a model reads of its call: the result, or `{"error": {"code", "message"}}`.

        Raises `ApprovalRequired`, `AnswerRequired` and `FormRequired`, since a person comes first.
        """
        return await self._caller.run(self.calls.result_of(tool, arguments, run))

    @overload
    async def submit(self, call_id: str, event: FormEvent, *, run: Executor) -> CallResult: ...
    @overload
    async def submit(self, call_id: str, event: FormEvent, *, run: None = None) -> CallResult | ToolCall: ...
    async def submit(self, call_id: str, event: FormEvent, *, run: Executor | None = None) -> CallResult | ToolCall:
        """What the user sent with a form that the model opened: the renderer's event `{"name", "context"}`.

        The action's tool goes through the gate, its texts coerced: with `run` it runs, without it the open call is
        returned. A reply, or a form that the user closed, is a result at once. Raises `CallRefused`: `ApprovalRequired`
        where a person comes first, since a click is not an approval; `ArgumentsInvalid`, `FormEventInvalid` and others
        leave the form open, and `form(call_id).problem` says why; `CallNotOpen` for one that is not open.
        """
        return await self._caller.run(self.calls.submit(call_id, event, run))

    async def result_of_form(self, call_id: str, event: FormEvent | None, *, run: Executor | None = None) -> object:
        """As `result_of`, of a form that the user sent; `event` None: they closed it. Raises `ApprovalRequired`.

        Where it is an error, the form may still be open: `form(call_id).state` says so.
        """
        return await self._caller.run(self.calls.result_of_form(call_id, event, run))

    async def result_of_approved(
        self, call_id: str, approval: Approval | None = None, *, run: Executor | None = None, by: str = ""
    ) -> object:
        """As `result_of`, of a waiting call that a person approves now: as it is (`by`), or as the `approval` says."""
        return await self._caller.run(self.calls.result_of_approved(call_id, approval, run, by))

    async def feedback(self, outcome: str, *, reason: str | None = None) -> list[FeedbackAnswer]:
        """Report an outcome for each skill that was used in this turn, and why, in a sentence: the responses.

        Raises `RegistryError`.
        """
        return await self._caller.run(self.calls.own.report(outcome, reason=reason))

    async def say(self, message: str, model: AsyncModel, **host: Unpack[AsyncTurnHost]) -> str:
        """One whole turn, as `steps`: the agent's last words."""
        return [each.text async for each in self.steps(message, model, **host)][-1]

    def steps(self, message: str, model: AsyncModel, **host: Unpack[AsyncTurnHost]) -> AsyncTurnMessages:
        """One whole turn: each message of it as it comes, the user's first.

        The model answers and its calls go through the gate; `host` are `approve=`, `run=`, `ask=` and `show=`, as
        `TurnHost` explains them. A tool that raises is an error that the model reads. Whatever else ends the turn
        early, `messages` stays what a vendor accepts: each open call gets a result, an error `INTERRUPTED`, and an open
        form stays open. Raises `TurnRunning` while another turn of the session is running.
        """
        return self._caller.messages(self.stream(message, model, **host))

    def stream(self, message: str, model: AsyncModel, **host: Unpack[AsyncTurnHost]) -> AsyncTurnParts:
        """As `steps`, with the parts of what the agent says before the message that they become.

        They come from a model that is a generator; `cancel()` ends the turn, for a button that stops it.
        """
        return self._caller.parts(self.replies.messages(message, Host(partial(model, self), **host)))

    def cancel(self) -> bool:
        """End the turn that is running: it raises `TurnCancelled`. False where none is. What runs in a thread goes on.

        From another thread, or while a message of `steps` is shown.
        """
        return self._caller.cancel()
