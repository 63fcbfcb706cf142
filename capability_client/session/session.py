"""`Session`: one conversation of one user with the capabilities of one source, for blocking programs.

It decides nothing for the model: it finds what a message may be about (hints), keeps what was loaded at the release of
its first load, drops it after its turns, writes the prompt, and lets tools run only through the gate (core.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import Any, Unpack, overload

from capability_client.session.core import SessionCore
from capability_client.session.introduction import ConversationStart
from capability_client.session.messages import Message, Model
from capability_client.session.options import Source
from capability_client.session.state import SessionSettings
from capability_client.session.steps import Approver, Asker, Executor, Finished, Matcher, Steps, T
from capability_client.session.turns import Turn
from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.prompt import Prompt
from capability_kit.tool_gate import CallResult, ToolCall


class Session(SessionCore):
    """One conversation. Not for several threads at once; for asyncio there is `AsyncSession`."""

    def __init__(self, source: Source, *, matcher: Matcher | None = None, **settings: Unpack[SessionSettings]) -> None:
        """`source` is a Registry or LocalSkills; `settings` are those of `SessionState`.

        Raises `TypeError` for a source that has to be awaited, or that is none.
        """
        for name in ("list", "load", "reload"):
            if not callable(getattr(source, name, None)):
                raise TypeError(f"The source is a Registry or LocalSkills, not {type(source).__name__}")
        is_async = inspect.iscoroutinefunction(source.list) or getattr(source, "is_async", False)
        if is_async or inspect.iscoroutinefunction(matcher):
            raise TypeError("A Session cannot wait for a coroutine: use AsyncSession with AsyncRegistry")
        if inspect.iscoroutinefunction(settings.get("compact")):
            raise TypeError("A Session cannot wait for a coroutine: use AsyncSession for a compact that is async")
        super().__init__(source, matcher=matcher, **settings)

    def _run(self, steps: Steps[T]) -> T:
        """Call what the steps need, one after the other."""
        try:
            while isinstance(found := self._advance(steps), Message):
                pass
            return found.value
        finally:
            steps.close()

    def _messages(self, steps: Steps[None]) -> Generator[Message, None, None]:
        """The messages as they come. To stop listening ends the turn."""
        try:
            while isinstance(found := self._advance(steps), Message):
                yield found
        finally:
            steps.close()

    def _advance(self, steps: Steps[T]) -> Message | Finished[T]:
        """Call what the steps need until their next message, or their end."""
        send: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                need = send()
            except StopIteration as done:
                return Finished(done.value)
            if isinstance(need, Message):
                return need
            try:
                with self.trace(need):
                    outcome = need.run()
                    if inspect.isawaitable(outcome):
                        _refuse_coroutine(outcome)
            except BaseException as error:  # noqa: BLE001 - the steps decide what it means
                send = partial(steps.throw, error)
            else:
                send = partial(steps.send, outcome)

    @property
    def entries(self) -> dict[str, ListingEntry]:
        """The list as this session sees it, read once; `refresh_list()` reads it again. Disabled ones are left out."""
        self._run(self._need_list())
        return self._known_entries()

    def refresh_list(self) -> None:
        """Read the list again: something was published. What is loaded stays at its release."""
        self._run(self._read_list())

    def autocomplete(self, typed: str) -> list[ListingEntry]:
        """What may follow a typed `$`."""
        return self._run(self._autocompleted(typed))

    def start(self, *, first_run: str | None = None, history: Iterable[str] = ()) -> ConversationStart:
        """Begin: a new user in an empty conversation is introduced, a known one greeted.

        `first_run` is the capability of the introduction; left out, the one that the registry names. `history` are
        messages of the conversation so far; those that a runtime wrote by itself do not count.
        """
        return self._run(self._started(first_run, history))

    def turn(self, message: str) -> Turn:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        return self._run(self._turned(message))

    def load(self, capability_id: str, *, arguments: str = "", explicit: bool = False) -> Bundle:
        """Make a capability active, at the release of this session's first load of it.

        `explicit`: the user asked for it, so that it stays longer. Raises a `RegistryError`; `CapabilityNotFound`, with
        what there is instead, also for one that is disabled here.
        """
        return self._run(self._loaded(capability_id, arguments=arguments, explicit=explicit))

    def reload(self, capability_id: str) -> Bundle:
        """Load the newest release into this session (rare: user or operator ask for it). Raises `RegistryError`."""
        return self._run(self._reloaded(capability_id))

    def system_prompt(self) -> Prompt:
        """For the whole conversation: which skills there are, and the rules by which they are used."""
        return self._run(self._system_prompted())

    @overload
    def call(self, tool: str, arguments: Any, *, run: Executor, from_form: bool = False) -> CallResult: ...
    @overload
    def call(
        self, tool: str, arguments: Any, *, run: None = None, from_form: bool = False
    ) -> CallResult | ToolCall: ...
    def call(
        self, tool: str, arguments: Any, *, run: Executor | None = None, from_form: bool = False
    ) -> CallResult | ToolCall:
        """A tool call of the model, or of a form (`from_form`: strings become numbers, see coercion.py).

        With `run` a skill's tool runs and its result is checked; without it the open call is returned, to be passed to
        `run_call`. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        return self._run(self._called(tool, arguments, run, from_form=from_form))

    def run_call(self, call_id: str, run: Executor) -> CallResult:
        """Run an open call once, and check its result. Raises `CallRefused`, or what `run` raises."""
        return self._run(self._ran(call_id, run))

    def result_of(self, tool: str, arguments: Any, *, run: Executor) -> Any:
        """What a model reads of its call: the result, or `{"error": {"code", "message"}}`.

        Raises `ApprovalRequired` and `AnswerRequired`, since a person comes first.
        """
        return self._run(self._result_of(tool, arguments, run))

    def result_of_approved(self, call_id: str, *, run: Executor, by: str) -> Any:
        """As `result_of`, of a waiting call that a person approves now."""
        return self._run(self._result_of_approved(call_id, run, by))

    def feedback(self, outcome: str) -> list[dict[str, Any]]:
        """Report an outcome for each skill that was used in this turn: the responses. Raises `RegistryError`."""
        return self._run(self._reported(outcome))

    def steps(
        self, message: str, model: Model, *, run: Executor, approve: Approver, ask: Asker | None = None
    ) -> Generator[Message, None, None]:
        """One whole turn: each message of it as it comes, the user's first.

        The model answers and its calls go through the gate. `approve(call)` asks the person: True runs it, anything
        else refuses it. `ask(form)` returns the reply to a question of `ask_user`; without it the question, in words,
        is the agent's last message. A tool that raises is an error that the model reads. Whatever else ends the turn
        early, `messages` stays what a vendor accepts: each open call gets a result, an error `INTERRUPTED`. Raises
        `TurnRunning` while another turn of the session is running.
        """
        return self._messages(self._messages_of_turn(message, model, run, approve, ask))

    def say(self, message: str, model: Model, *, run: Executor, approve: Approver, ask: Asker | None = None) -> str:
        """One whole turn: the agent's last words."""
        return [each.text for each in self.steps(message, model, run=run, approve=approve, ask=ask)][-1]


def _refuse_coroutine(outcome: Any) -> None:
    if inspect.iscoroutine(outcome):
        outcome.close()
    raise TypeError("A Session cannot wait for a coroutine: use AsyncSession for tools that are async")
