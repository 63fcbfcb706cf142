"""A model behind OpenAI's chat completions or Anthropic's messages, by HTTP with strict limits.

The address is used as it is written, redirects are not followed, and what comes back is not trusted: at most 1 MiB in
at most 120 seconds, and only the keys that are needed are read. Replies are streamed; a server that sends one piece of
JSON all the same is understood by its content type.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from capability_client.client.messages import Request, Response, TransportError
from capability_client.client.transport import SyncWire
from capability_client.evaluation.event_stream import EventStream
from capability_client.evaluation.key_mask import KeyMask
from capability_client.evaluation.streamed_reply import AnthropicReply, OpenaiReply, PartialReply, StreamedReply
from capability_client.session.message_export import export_messages
from capability_client.session.messages import Message, ModelCall, ModelReply
from capability_kit.json_text import as_string, parse_json
from capability_kit.prompt import estimate_tokens
from capability_kit.text.sanitize import one_line

ModelKind = Literal["openai", "anthropic"]
KINDS: Final[tuple[ModelKind, ...]] = ("openai", "anthropic")
REPLY_BYTES_MAX: Final = 1024 * 1024
REPLY_SECONDS_MAX: Final = 120.0
REPLY_TOKENS_MAX: Final = 2048
# Each token of a stream comes in some hundred bytes of JSON.
_STREAM_BYTES_MAX: Final = 16 * REPLY_BYTES_MAX
# Between two looks at a reply that is being written.
_LOOK_SECONDS: Final = 0.5
_TRIES: Final = 3
_RETRY_AFTER_MAX: Final = 20.0
_BUSY: Final = (429, 500, 502, 503, 529)
# What a stream says once it has begun, as the status that it would have had before.
_STATUS_OF_ERROR: Final = {
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
}
# No model reads or writes so many in one reply; what is stored adds replies up.
_COUNTED_MAX: Final = 10_000_000
# In each vendor's `usage`: tokens that were read, and written.
_COUNTS: Final = {"openai": ("prompt_tokens", "completion_tokens"), "anthropic": ("input_tokens", "output_tokens")}
Json = dict[str, Any]


class ModelFailed(Exception):
    """The model did not answer, or not in the vendor's form; the message says what happened."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Where a model is. `url` is the base address, such as `http://127.0.0.1:11434/v1`; of Anthropic's kind
    `https://api.anthropic.com`."""

    url: str
    name: str
    kind: ModelKind = "openai"
    api_key: str = field(default="", repr=False)


@dataclass(slots=True)
class Usage:
    """What the vendor counted, or 0 where it counts nothing."""

    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    requests: int = 0

    @property
    def tokens(self) -> int:
        """The tokens of prompts and replies together."""
        return self.prompt_tokens + self.reply_tokens


@dataclass(slots=True)
class VendorModel:
    """A `Model` of a session. `usage` adds up; `sent` are the bodies of the requests of the last turn.

    `before_request` is called before each request, and `while_answering` about twice a second with what has come of the
    reply: either may raise to end the turn, at once and with its connection. A reply that breaks off counts as far as
    the vendor has counted, else by an estimate.
    """

    settings: ModelSettings
    wire: SyncWire = field(default_factory=SyncWire)
    before_request: Callable[[], object] = lambda: None
    while_answering: Callable[[PartialReply], object] = lambda _partial: None
    usage: Usage = field(default_factory=Usage)
    sent: list[Json] = field(default_factory=list)
    _asks_for_usage: bool = True
    _mask: KeyMask = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._mask = KeyMask(self.settings.api_key)

    def __call__(self, session: Any, messages: Sequence[Message]) -> ModelReply:
        """One reply. Raises `ModelFailed`."""
        self.before_request()
        write = _openai_body if self.settings.kind == "openai" else _anthropic_body
        return self._reply_to(write(self.settings, session, messages))

    def ask(self, task: str, text: str) -> str:
        """One reply to one text, without tools. Raises `ModelFailed`."""
        self.before_request()
        said = {"role": "user", "content": text}
        if self.settings.kind == "openai":
            body: Json = {"model": self.settings.name, "messages": [{"role": "system", "content": task}, said]}
        else:
            body = {"model": self.settings.name, "max_tokens": REPLY_TOKENS_MAX, "system": task, "messages": [said]}
        return self._reply_to(body).text

    def _reply_to(self, body: Json) -> ModelReply:
        body["stream"] = True
        if self.settings.kind == "openai" and self._asks_for_usage:
            body["stream_options"] = {"include_usage": True}
        self.sent.append(body)
        begun = time.monotonic()
        try:
            document = self._mask.in_value(self._post(body))
            with _in_form_of(self.settings.kind):
                return (_read_openai if self.settings.kind == "openai" else _read_anthropic)(document, self.usage)
        except ModelFailed as error:
            raise ModelFailed(self._mask.in_text(str(error))) from None
        finally:
            self.usage.seconds += time.monotonic() - begun
            self.usage.requests += 1

    def _post(self, body: Json) -> Any:
        """The document of the reply."""
        answer, document = self._ask(body)
        for attempt in range(_TRIES - 1):
            if answer.status not in _BUSY:
                break
            self._pause(_pause_of(answer, attempt))
            answer, document = self._ask(body)
        if answer.status != 200:
            raise ModelFailed(f"The model answered {answer.status}: {_words(answer)}")
        return document

    def _ask(self, body: Json) -> tuple[Response, Any]:
        """Ask once more without the option that a server does not know: it counts nothing in a stream, or always."""
        answer, document = self._send(body)
        if "stream_options" in body and answer.status in (400, 422) and b"stream_options" in answer.body:
            self._asks_for_usage = False
            del body["stream_options"]
            answer, document = self._send(body)
        return answer, document

    def _send(self, body: Json) -> tuple[Response, Any]:
        """One request: the answer, and its document where the status is 200."""
        path = "/chat/completions" if self.settings.kind == "openai" else "/v1/messages"
        request = Request(
            "POST",
            self.settings.url.rstrip("/") + path,
            _headers(self.settings),
            json.dumps(body).encode(),
            REPLY_SECONDS_MAX,
            _STREAM_BYTES_MAX,
            may_think=True,
        )
        listener = _ReplyListener(self.settings.kind, self._show)
        found: tuple[Response, Any] | None = None
        try:
            found = _read_answer(self.wire.send(request, listener), listener.reply)
        finally:
            # Also where it is stopped, whatever that raises.
            if listener.is_asked and (found is None or (listener.reply is not None and found[0].status != 200)):
                self._count_broken(body, listener)
        return found

    def _show(self, partial: PartialReply) -> object:
        return self.while_answering(self._mask.in_partial(partial))

    def _count_broken(self, body: Json, listener: _ReplyListener) -> None:
        partial, counted = listener.partial(), listener.reply.usage if listener.reply is not None else {}
        written = partial.text + "".join(name + arguments for name, arguments in partial.calls)
        read_key, written_key = _COUNTS[self.settings.kind]
        self.usage.prompt_tokens += _number(counted.get(read_key)) or estimate_tokens(json.dumps(body))
        self.usage.reply_tokens += max(_number(counted.get(written_key)), estimate_tokens(written))

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.while_answering(PartialReply())
            self.wire.pause(min(left, _LOOK_SECONDS))


class _ReplyListener:
    """Puts a stream together while it comes, and shows it about twice a second. `is_asked`: the request was sent."""

    def __init__(self, kind: ModelKind, look: Callable[[PartialReply], object]) -> None:
        self.reply: StreamedReply | None = None
        self.is_asked = False
        self._kind, self._look, self._looks_at = kind, look, 0.0
        self._events = EventStream()
        self._plain_size = 0

    def partial(self) -> PartialReply:
        """The part of the reply that has come so far."""
        return self.reply.partial() if self.reply is not None else PartialReply()

    def tick(self) -> None:
        """See `Listener`."""
        self.is_asked = True
        if (now := time.monotonic()) >= self._looks_at:
            self._looks_at = now + _LOOK_SECONDS
            self._look(self.partial())

    def hear(self, head: Response, part: bytes) -> bool:
        """See `Listener`. Raises `ModelFailed`."""
        if not _is_stream(head):
            self._plain_size += len(part)
            return self._bounded(self._plain_size)
        if self.reply is None:
            self.reply = OpenaiReply() if self._kind == "openai" else AnthropicReply()
        with _in_form_of(self._kind):
            for data in self._events.feed(part):
                self.reply.add(data)
                if self.reply.is_ended or self.reply.error:
                    return False
        return self._bounded(self.reply.size)

    def _bounded(self, size: int) -> bool:
        if size > REPLY_BYTES_MAX:
            raise ModelFailed(f"The model did not answer. The answer is larger than {REPLY_BYTES_MAX:,} bytes")
        return True


@contextlib.contextmanager
def _in_form_of(kind: ModelKind) -> Iterator[None]:
    """Raises `ModelFailed` for what reading a document that is not trusted raises."""
    try:
        yield
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelFailed(f"The reply is not in the form of {kind}: {error!r}") from None


def _is_stream(head: Response) -> bool:
    return head.status == 200 and head.headers.get("content-type", "").lower().startswith("text/event-stream")


def _read_answer(answer: Response | TransportError, reply: StreamedReply | None) -> tuple[Response, Any]:
    """The answer and its document; a stream that the vendor ended with an error is as if it had not begun."""
    if reply is not None and reply.is_whole:
        return Response(200, {}), reply.document()
    if isinstance(answer, TransportError):
        if reply is None or answer.is_too_large or answer.is_timeout:
            raise ModelFailed(f"The model did not answer. {answer.reason}")
        raise ModelFailed(f"The reply breaks off: the connection ended before it did. {answer.reason}")
    if reply is not None and reply.error:
        return _refusal(reply.error), None
    if _is_stream(answer):
        raise ModelFailed("The reply breaks off: the stream ended before it did")
    document = parse_json(answer.body.decode("utf-8", "replace")) if answer.status == 200 else None
    if answer.status == 200 and document is None:
        raise ModelFailed("The reply breaks off: it is not JSON")
    return answer, document


def _refusal(error: Any) -> Response:
    """The answer that an error in a stream stands for. Raises `ModelFailed` for one that stands for none."""
    answer = Response(0, {}, json.dumps({"error": error}).encode())
    named = (error.get("type"), error.get("code")) if isinstance(error, dict) else ()
    meant = [_STATUS_OF_ERROR.get(str(name), name) for name in named]
    status = next((one for one in meant if isinstance(one, int) and one in _BUSY), None)
    if status is None:
        raise ModelFailed(f"The model ended its reply with an error: {_words(answer)}")
    return replace(answer, status=status)


def _headers(settings: ModelSettings) -> dict[str, str]:
    # A packed stream waits until its packer has enough.
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    return headers | build_vendor_headers(settings)


def build_vendor_headers(settings: ModelSettings) -> dict[str, str]:
    """What a vendor asks for with each request: its version, and the key where there is one."""
    if settings.kind == "anthropic":
        return {"anthropic-version": "2023-06-01"} | ({"x-api-key": settings.api_key} if settings.api_key else {})
    return {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}


def _pause_of(answer: Response, attempt: int) -> float:
    given = answer.headers.get("retry-after", "")
    return min(float(given) if given.isdecimal() else float(2**attempt), _RETRY_AFTER_MAX)


def _words(answer: Response) -> str:
    """What the vendor says of its refusal."""
    try:
        said = json.loads(answer.body)["error"]
        words = said["message"] if isinstance(said, dict) else said
    except (ValueError, KeyError, TypeError):
        words = answer.body.decode("utf-8", "replace")
    return one_line(str(words), most=300)


# OpenAI, chat completions.


def _openai_body(settings: ModelSettings, session: Any, messages: Sequence[Message]) -> Json:
    parts = session.prompt_parts()
    exported = export_messages(messages, "openai", turn=parts.turn)
    return {
        "model": settings.name,
        "messages": [{"role": "system", "content": parts.before}, *exported],
        "tools": session.tools("openai"),
    }


def _read_openai(document: Any, usage: Usage) -> ModelReply:
    _count(document, usage, "openai")
    said = document["choices"][0]["message"]
    calls = tuple(_openai_call(one, place) for place, one in enumerate(said.get("tool_calls") or ()))
    return ModelReply(as_string(said.get("content")), calls)


def _openai_call(call: Json, place: int) -> ModelCall:
    """Arguments come as a text; what is not JSON goes to the gate as it is, which says so to the model."""
    arguments = call["function"]["arguments"]
    with contextlib.suppress(ValueError, RecursionError):
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return ModelCall(str(call.get("id") or f"call_{place}"), str(call["function"]["name"]), arguments)


# Anthropic, messages.


def _anthropic_body(settings: ModelSettings, session: Any, messages: Sequence[Message]) -> Json:
    parts = session.prompt_parts()
    return {
        "model": settings.name,
        "max_tokens": REPLY_TOKENS_MAX,
        "system": [{"type": "text", "text": text} for text in (parts.system, parts.skills) if text],
        "messages": export_messages(messages, "anthropic", turn=parts.turn),
        "tools": session.tools("anthropic"),
    }


def _read_anthropic(document: Any, usage: Usage) -> ModelReply:
    _count(document, usage, "anthropic")
    blocks = document["content"]
    calls = tuple(
        ModelCall(str(one["id"]), str(one["name"]), one["input"]) for one in blocks if one["type"] == "tool_use"
    )
    return ModelReply("".join(as_string(one["text"]) for one in blocks if one["type"] == "text"), calls)


def _count(document: Any, usage: Usage, kind: ModelKind) -> None:
    counted, (read_key, written_key) = document.get("usage") or {}, _COUNTS[kind]
    usage.prompt_tokens += _number(counted.get(read_key))
    usage.reply_tokens += _number(counted.get(written_key))


def _number(value: Any) -> int:
    return min(value, _COUNTED_MAX) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
