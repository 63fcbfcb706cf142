"""A model behind OpenAI's chat completions or Anthropic's messages, by HTTP with strict limits.

The address is used as it is written, redirects are not followed, and what comes back is not trusted: at most 1 MiB in
at most 120 seconds, and only the keys that are needed are read.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from capability_client.client.messages import Request, Response, TransportError
from capability_client.client.transport import SyncWire
from capability_client.session.message_export import export_messages
from capability_client.session.messages import Message, ModelCall, ModelReply
from capability_kit.text.sanitize import one_line

ModelKind = Literal["openai", "anthropic"]
KINDS: Final[tuple[ModelKind, ...]] = ("openai", "anthropic")
REPLY_BYTES_MAX: Final = 1024 * 1024
REPLY_SECONDS_MAX: Final = 120.0
REPLY_TOKENS_MAX: Final = 2048
_TRIES: Final = 3
_RETRY_AFTER_MAX: Final = 20.0
_BUSY: Final = (429, 500, 502, 503, 529)
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
        """All of them."""
        return self.prompt_tokens + self.reply_tokens


@dataclass(slots=True)
class VendorModel:
    """A `Model` of a session. `usage` adds up; `sent` are the bodies of the requests of the last turn.

    `before_request` is called before each request, and may raise to end the turn.
    """

    settings: ModelSettings
    wire: SyncWire = field(default_factory=SyncWire)
    before_request: Callable[[], object] = lambda: None
    usage: Usage = field(default_factory=Usage)
    sent: list[Json] = field(default_factory=list)

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
        self.sent.append(body)
        begun = time.monotonic()
        try:
            document = self._post(body)
        finally:
            self.usage.seconds += time.monotonic() - begun
            self.usage.requests += 1
        try:
            return (_read_openai if self.settings.kind == "openai" else _read_anthropic)(document, self.usage)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ModelFailed(f"The reply is not in the form of {self.settings.kind}: {error!r}") from None

    def _post(self, body: Json) -> Any:
        path = "/chat/completions" if self.settings.kind == "openai" else "/v1/messages"
        request = Request(
            "POST",
            self.settings.url.rstrip("/") + path,
            _headers(self.settings),
            json.dumps(body).encode(),
            REPLY_SECONDS_MAX,
            REPLY_BYTES_MAX,
            may_think=True,
        )
        answer = self._send(request)
        for attempt in range(_TRIES - 1):
            if answer.status not in _BUSY:
                break
            self.wire.pause(_pause(answer, attempt))
            answer = self._send(request)
        if answer.status != 200:
            raise ModelFailed(f"The model answered {answer.status}: {_words(answer)}")
        try:
            return json.loads(answer.body)
        except ValueError:
            raise ModelFailed("The reply breaks off: it is not JSON") from None

    def _send(self, request: Request) -> Response:
        answer = self.wire.send(request)
        if isinstance(answer, TransportError):
            raise ModelFailed(f"The model did not answer. {answer.reason}")
        return answer


def _headers(settings: ModelSettings) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    if settings.kind == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
        return headers | ({"x-api-key": settings.api_key} if settings.api_key else {})
    return headers | ({"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {})


def _pause(answer: Response, attempt: int) -> float:
    given = answer.headers.get("retry-after", "")
    return min(float(given) if given.isdecimal() else float(2**attempt), _RETRY_AFTER_MAX)


def _words(answer: Response) -> str:
    """What the vendor says of its refusal; never the key, which some servers repeat."""
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
    counted = document.get("usage") or {}
    usage.prompt_tokens += _number(counted.get("prompt_tokens"))
    usage.reply_tokens += _number(counted.get("completion_tokens"))
    said = document["choices"][0]["message"]
    calls = tuple(_openai_call(one, place) for place, one in enumerate(said.get("tool_calls") or ()))
    return ModelReply(_text(said.get("content")), calls)


def _openai_call(call: Json, place: int) -> ModelCall:
    """Arguments come as a text; what is not JSON goes to the gate as it is, which says so to the model."""
    arguments = call["function"]["arguments"]
    with contextlib.suppress(ValueError):
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
    counted = document.get("usage") or {}
    usage.prompt_tokens += _number(counted.get("input_tokens"))
    usage.reply_tokens += _number(counted.get("output_tokens"))
    blocks = document["content"]
    calls = tuple(
        ModelCall(str(one["id"]), str(one["name"]), one["input"]) for one in blocks if one["type"] == "tool_use"
    )
    return ModelReply("".join(_text(one["text"]) for one in blocks if one["type"] == "text"), calls)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
