"""The process that checks: what it asks, and what it says before its report."""

from __future__ import annotations

import io

from capability_rules.validation.isolation.messages import encode_message, pack_files, read_message
from capability_rules.validation.isolation.process import Channel, check
from tests.bundle_files import bundle, to_json, tool


def test_process_asks_for_what_only_the_registry_knows() -> None:
    answers = io.BytesIO(encode_message({"answer": {"alpha_list": "other"}}) + encode_message({"answer": ["a1pha"]}))
    sent = io.BytesIO()
    request = {"files": pack_files(bundle() | {"tools.json": to_json([tool("alpha_list")])})}
    report = check(request, Channel(answers, sent))
    assert {"TOOL_NAME_COLLISION", "SEC_LOOKALIKE_ID"} <= {row[0] for row in report["findings"]}
    sent.seek(0)
    messages = list(iter(lambda: read_message(sent), None))
    questions = {message["question"]: message["of"] for message in messages if "question" in message}
    assert questions == {"owners_of": ["alpha_list"], "ids_like": "alpha"}
    assert messages[0]["parsed"] == {"names": [*bundle(), "tools.json"], "changed": {}, "capability_id": "alpha"}
    assert [message["checking"] for message in messages if "checking" in message][:2] == [
        "the files",
        "capability.json",
    ]
