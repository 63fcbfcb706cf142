"""A page with one form of a capability: `python -m docs.agents.forms.serve REGISTRY_URL CAPABILITY SCHEMA_ID [PORT]`.

The page sends what the user did, the session decides: it turns texts into the types of the tool's contract, refuses
what does not fit, and lets nothing that writes run before it is approved.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from capability_client import (
    ApprovalRequired,
    CallRefused,
    CallResult,
    FormError,
    Registry,
    Session,
    ToolCall,
    form_action,
    form_messages,
)
from docs.agents.scripted import keep_weights

FOLDER: Final = Path(__file__).parent
FILES: Final = {"/": ("index.html", "text/html"), "/form.js": ("form.js", "text/javascript")}
BODY_BYTES_MAX: Final = 1_000_000
Json = dict[str, Any]


class Page:
    """One user with one form; a real page keeps one session for each of its users."""

    def __init__(self, session: Session, capability_id: str, schema_id: str) -> None:
        self.session = session
        self.bundle = session.load(capability_id)
        self.schema_id = schema_id

    def form(self, _: Json) -> Json:
        """What the renderer draws."""
        return {"messages": form_messages(self.bundle, self.schema_id)}

    def action(self, event: Json) -> Json:
        """What the user did: `{"said", "call_id"?}`."""
        try:
            meant = form_action(self.bundle, self.schema_id, event)
            if meant.kind != "tool":
                return {"said": f"Closed: {meant.arguments.get('value', 'nothing was sent')}"}
            done = self.session.call(meant.tool, meant.arguments, run=keep_weights, from_form=True)
        except ApprovalRequired as waiting:
            return {"said": f"Waits for you: {waiting.call.summary()}", "call_id": waiting.call_id}
        except (CallRefused, FormError) as error:
            return {"said": str(error)}
        return _said(done)

    def approve(self, body: Json) -> Json:
        """The person says yes."""
        try:
            self.session.approve(str(body.get("call_id")), by="the user")
            return _said(self.session.run_call(str(body.get("call_id")), keep_weights))
        except CallRefused as error:
            return {"said": str(error)}


def _said(done: CallResult | ToolCall) -> Json:
    return {"said": f"Done: {json.dumps(done.result if isinstance(done, CallResult) else None)}"}


def handler_of(page: Page) -> type[BaseHTTPRequestHandler]:
    """The page, its script, and three addresses."""
    verbs: dict[str, Callable[[Json], Json]] = {"/form": page.form, "/action": page.action, "/approve": page.approve}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in FILES:
                name, kind = FILES[self.path]
                self._send((FOLDER / name).read_bytes(), kind)
            else:
                self.do_POST()

        def do_POST(self) -> None:
            verb = verbs.get(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            if verb is None or length > BODY_BYTES_MAX:
                self.send_error(404 if verb is None else 413)
                return
            body = json.loads(self.rfile.read(length) or "{}")
            self._send(json.dumps(verb(body)).encode(), "application/json")

        def _send(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", "default-src 'self'; img-src data:; style-src 'self'")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    return Handler


def main(registry_url: str, capability_id: str, schema_id: str, port: str = "8010") -> None:
    """Serve until Ctrl+C."""
    with Registry(registry_url) as registry:
        page = Page(Session(registry), capability_id, schema_id)
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), handler_of(page))
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:5])
