"""A first agent: a model by plain HTTP, an approval, a form. `python -m docs.agents.plain_loop`"""

import json
from collections.abc import Sequence

import httpx2

from capability_client import Message, ModelCall, ModelReply, Registry, Session, SkillForm, ToolCall, User
from docs.agents.weight_tools import tools

URL, KEY, MODEL = "http://127.0.0.1:11434/v1/chat/completions", "any", "qwen3"


def model(session: Session, messages: Sequence[Message]) -> ModelReply:
    """One step of a model behind OpenAI's chat completions format."""
    system = {"role": "system", "content": session.prompt_parts().before}
    body = {"model": MODEL, "messages": [system, *session.messages_for("openai")], "tools": session.tools("openai")}
    answer = httpx2.post(URL, json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=60).raise_for_status()
    said = answer.json()["choices"][0]["message"]
    calls = [(call["id"], call["function"]) for call in said.get("tool_calls") or ()]
    return ModelReply(
        said["content"] or "", tuple(ModelCall(i, f["name"], json.loads(f["arguments"])) for i, f in calls)
    )


def approve(call: ToolCall) -> bool:
    """A person decides about what writes."""
    return input(f"{call.summary()}\nAllow this? ") == "yes"


def show(form: SkillForm) -> dict[str, object] | None:
    """A form as text; a page would draw `form.messages()`."""
    button = input(f"{form.plain()}\nButton: ")
    return form.press(button) if button else None


if __name__ == "__main__":
    with Registry("http://127.0.0.1:8000") as registry:
        talk = Session(registry, user=User(name="Alice"), toolbox=tools)
        while text := input("> "):
            print(talk.say(text, model, approve=approve, show=show))
