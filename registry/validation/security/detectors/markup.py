"""What markup hides from the reader of the page or makes of it: comments, invisible elements, role tags, far pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from registry.validation.security.context import Context
from registry.validation.security.engine import (
    HITS_COUNTED_MAX,
    RuleHit,
    ScanBudget,
    SecurityRule,
    build_rule,
    compile_pattern,
)
from registry.validation.security.normalization import normalize_text
from registry.validation.security.text_corpus import ScannedDocument

_LINK_COMMENT = re.compile(r"^\[[^\]\n]{1,30}\]: ?(?:#|<>) ?[(\"']([^\n]{1,1000})[)\"']\s{0,20}$", re.MULTILINE)
_TAG = re.compile(r"<\w{1,12}\s[^<>]{0,400}>")
_HIDING = re.compile(
    r"display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.\d])|"
    r"(?<![\w-])color\s?:\s?(?:white|#fff(?:fff)?\b|transparent)|"
    r"left\s?:\s?-\d{3,5}|(?<![\w-])height\s?:\s?0(?![.\d])|text-indent\s?:\s?-\d{3}|"
    r"\shidden(?=[\s>=/])",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:agents?|assistants?|ai|llms?|models?|claude|chatgpt|gpt|copilot|gemini|bots?|system|ki|"
    r"ia|agente|assistent\w?|modell?)\b\s{0,2}[:,!—-]|\b(?:dear|attention|hey|note to|for|"
    r"to)\b[^\n]{0,12}\b(?:agent|assistant|ai|llm|model|bot)s?\b"
    r"|\byou (?:must|should|are|will|shall|have to)\b|\byour (?:real|true|actual|new)|when "
    r"(?:processing|reading|loading|parsing|any other)|агент|ассистент|助手|代理|模型|アシスタント|"
    r"エージェント"
)
_RISKY = re.compile(
    r"(?:never|do not|don't|not) (?:to )?(?:show|tell|mention|reveal|display|inform|disclose)|real "
    r"task|\b(?:send|upload|forward|exfiltrate|transmit)\b|\bpost\b[^\n]{0,40}http|\bcurl\b|"
    r"\bwget\b|\bignore\b|disregard|~/\.|\bid_rsa|password|api[ _-]?key|"
    r"\bsecrets?\b|\btokens?\b(?! limit)|next tool call|without (?:asking|confirm|approval|telling)|"
    r"(?:skip|bypass) (?:the )?(?:approval|confirm)|override|drop theirs|prefer this|humans? "
    r"(?:cannot|can't|do not|don't|won't|never) (?:see|read)|not (?:visible|shown) to|"
    r"\w{1,30}_export\b|put (?:its|the) (?:output|result|contents?)|read (?:the )?(?:file|~|/)|"
    r"delete|silently|secretly|https?://\S{4,}[^\n]{0,60}(?:run|execute|follow)|发送|忽略|密钥|送信|"
    r"無視|отправ|игнорир"
)


def find_markup(document: ScannedDocument, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    """Hidden passages of a Markdown document that speak to the agent, and hidden elements as such."""
    text = document.text
    if "<!--" in text or "]:" in text:
        yield from islice(_comments(text, context, budget), HITS_COUNTED_MAX)
    if "<" in text and ("style" in text.lower() or "hidden" in text.lower()):
        yield from islice(_invisible(text, context, budget), HITS_COUNTED_MAX)


def _comments(text: str, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    at = text.find("<!--")
    while at >= 0 and budget.take(5):
        closing = text.find("-->", at + 4)
        end = closing + 3 if closing >= 0 else len(text)
        if not context.in_fence(at) and _speaks_to_agent(text[at + 4 : end]):
            yield RuleHit(
                "SEC_HIDDEN_INSTRUCTION",
                "a comment with orders for the agent",
                at,
                end,
                discount="phrase",
                quote=text[at + 4 : at + 80].strip(),
            )
        at = text.find("<!--", end)
    for match in _LINK_COMMENT.finditer(text):
        if not context.in_fence(match.start()) and _speaks_to_agent(match.group(1)):
            yield RuleHit(
                "SEC_HIDDEN_INSTRUCTION",
                "a comment with orders for the agent",
                match.start(),
                match.end(),
                discount="phrase",
                quote=match.group(1),
            )


def _invisible(text: str, context: Context, budget: ScanBudget) -> Iterator[RuleHit]:
    for match in _TAG.finditer(text):
        if (
            not budget.take(1)
            or not _HIDING.search(match.group())
            or not budget.take(20)
            or context.is_marked(match.start(), match.end())
        ):
            continue
        said = re.sub(r"<[^<>]{0,200}>", " ", text[match.end() : match.end() + 600].partition("\n\n")[0])
        said = " ".join(said.partition("\0")[0].split())
        if _speaks_to_agent(said):
            yield RuleHit(
                "SEC_HIDDEN_INSTRUCTION",
                "an invisible element with orders for the agent",
                match.start(),
                match.end(),
                quote=said,
            )
        elif len(said) >= 20 and "</" in text[match.end() : match.end() + 600]:
            yield RuleHit(
                "SEC_HIDDEN_MARKUP", "text that the page does not show", match.start(), match.end(), quote=said
            )


def _speaks_to_agent(said: str) -> bool:
    folded = normalize_text(said[:20_000])
    return bool(_ADDRESS.search(folded)) and bool(_RISKY.search(folded))


def find_embedded_tools(document: ScannedDocument) -> Iterator[tuple[int, dict[str, object]]]:
    """Tool contracts written out in JSON inside a fence of skill.md: (offset of the fence's body, the tool)."""
    if "args_schema" not in document.text and '"policy"' not in document.text:
        return
    for match in re.finditer(r"^```[a-z]{0,10}\n([\[{].{2,20000}?)\n```", document.text, re.DOTALL | re.MULTILINE):
        try:
            value = json.loads(match.group(1))
        except (ValueError, RecursionError):
            continue
        for tool in value if isinstance(value, list) else [value]:
            if isinstance(tool, dict) and "policy" in tool:
                yield match.start(1), tool


_ROLE, _REMOTE = "SEC_ROLE_TAG", "SEC_REMOTE_INSTRUCTIONS"
_PASTE = (
    r"(?:glot\.io|pastebin\.com|paste\.ee|rentry\.(?:co|org)|hastebin|ghostbin|controlc\.com|dpaste|"
    r"justpaste|telegra\.ph|gist\.githubusercontent|bit\.ly|tinyurl|t\.ly|is\.gd|cutt\.ly|rb\.gy|"
    r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d)"
)
_ORDER_BEHIND = compile_pattern(
    r"\b(?:ignore|disabled?|do not (?:tell|ask|mention)|you are now|you must|from now on|no longer|"
    r"approvals?|unrestricted|new polic(?:y|ies)|override|execute)\b|system[^\n]{0,40}you (?:are|"
    r"must|will)"
)


def _token(says: str, anchors: str, source: str) -> tuple[SecurityRule, SecurityRule]:
    """Alone, a token in a code span is documentation; with an order behind it, it is the order's disguise."""
    shown = build_rule(_ROLE, says, anchors, source, discount="markup")
    return shown, replace(shown, discount="command", needs=(_ORDER_BEHIND,), reach=240)


ROLE_RULES: tuple[SecurityRule, ...] = (
    *_token(
        "a control token of a model's chat format",
        "<¦",
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|eom_id|start_header_id|"
        r"end_header_id|begin_of_text|end_of_turn|start_of_turn|endofprompt|tool|channel|message|start|"
        r"end|return|call|(?:begin|end)▁of▁sentence)\|>",
    ),
    *_token(
        "a control token of a model's chat format",
        "[inst]|[/inst]|<<sys>>|<</sys>>|<start_of_turn>|<end_of_turn>|[system_prompt]|[/system_prompt]",
        r"(?:\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/?system_prompt\])",
    ),
    *_token(
        "a tag that speaks as the system",
        "<system|</system|</skill|<assistant>|</assistant>|<developer>|</developer>|<sys>|</sys>|"
        "<function_results|</function_results|<tool_result|</tool_result|</untrusted|<admin>|</admin>|"
        "</instructions>|</prompt>|</human>",
        r"<(?:/?system(?:[ _-](?:prompt|message|instructions?|reminder|override))?|/skill(?:_doc)?|"
        r"/?tool_results?|/?function_results|/human|/?assistant|/untrusted\w{0,12}|/?admin|/?developer|"
        r"/prompt|/instructions|/?sys)>",
    ),
    build_rule(
        _ROLE,
        "a shout in tag form that presses the agent",
        "<important|<critical|<urgent|<mandatory|<secret",
        r"<(?:important|critical|urgent|mandatory|secret)>",
        severity="warning",
        discount="command",
        reach=400,
        needs=(
            compile_pattern(
                r"\bread\b[^\n]{0,40}(?:~|/|\.\w)|before (?:using|calling)|do not (?:tell|mention|inform)|don't "
                r"(?:tell|mention)|pass (?:it|its|the)|ignore|send|upload|password|\bkeys?\b"
            ),
        ),
    ),
    build_rule(
        _ROLE,
        "a turn of a dialogue put into the agent's mouth",
        "\nhuman:|\nassistant:|\nsystem:|### system|### instruction|### human|### response",
        r"\n(?:human|assistant|system): |### (?:system|human|instruction|response)\s?:",
        severity="warning",
        discount="phrase",
        needs=(
            compile_pattern(
                r"\b(?:ignore|must now|from now on|disable|you are now|override|do not tell|approved|comply|"
                r"sure,? i)\b"
            ),
        ),
        reach=240,
    ),
)
REMOTE_RULES: tuple[SecurityRule, ...] = (
    build_rule(
        _REMOTE,
        "a page to visit for a command to run",
        "visit|open|go to|see |copy|paste|follow|besuche|visita|visite|ouvre|访问|打开|アクセス|перейди|откро",
        r"(?<![a-z])(?:visit|open|go to|see|copy|paste|follow|besuche|visita|visite[zr]?|ouvre[zr]?|"
        r"访问|打开|アクセス|перейди(?:те)?|откро(?:й|йте))\b",
        needs=(
            compile_pattern(r"https?://"),
            compile_pattern(
                r"(?:execute|run|paste|enter|copy|ejecut|execut|fuhre|lance|выполни|执行|运行|"
                r"実行)\w{0,4}\b[^\n.]{0,60}(?:commands?|script|code|snippet|befehl|comando|commande|команд|"
                r"命令|指令|コマンド)"
            ),
            compile_pattern(
                r"terminal|shell|powershell|console|command (?:line|prompt)|konsole|терминал|终端|ターミナル|"
                r"cmd\b"
            ),
        ),
        reach=200,
        discount="command",
        severity="error",
        unless_negated=True,
        lacks=compile_pattern(
            r"https://(?:[\w-]{1,40}\.)?(?:docs?\.|developer\.|learn\.)[\w.-]{3,60}|localhost|127\.0\.0\.1"
        ),
    ),
    build_rule(
        _REMOTE,
        "instructions to be fetched and followed",
        "follow|obey|execute|carry out|apply|do what|act on|comply|befolge|sigue|siga|suis|suivez|遵循|"
        "执行|按照|指示に従|実行|выполни|следуй",
        r"(?:(?:follow|obey|execute|carry out|apply|do (?:exactly )?what|act on|comply with|befolge|"
        r"sigue|siga|suis|suivez|выполни|следуй)\w{0,3} (?:[^\s.!?;:()\"\0]{1,14} "
        r"){0,4}?(?:instructions?|commands?|directives?|orders|steps|it says|anweisungen|instrucciones|"
        r"instrucoes|consignes|инструкци|указани)|(?:遵循|执行|按照)[^\n\0。]{0,10}(?:指令|指示|命令)|"
        r"指示に従)",
        needs=(
            compile_pattern(r"https?://(?!localhost|127\.)"),
            compile_pattern(
                r"(?<![a-z])(?:fetch|download|read|load|get|retrieve|pull|lade|descarga|telecharge[zr]?|获取|"
                r"下载|读取|取得|загрузи(?:те)?)"
            ),
        ),
        back=200,
        reach=80,
        discount="command",
        severity="warning",
        unless_negated=True,
    ),
    build_rule(
        _REMOTE,
        "instructions to be fetched from a throw-away address",
        "http",
        r"https?://(?:www\.|[\w-]{1,30}\.)?" + _PASTE,
        needs=(
            compile_pattern(
                r"(?:run|execute|follow|obey|paste|install|apply|eval|import|fuhre|ejecut|execut|выполни|执行|"
                r"运行|実行)\w{0,4}\b[^\n]{0,80}(?:commands?|scripts?|code|snippet|instructions?|contents?|it\b|"
                r"befehl|comando|команд|命令|指令|指示|コマンド)"
            ),
        ),
        back=160,
        reach=160,
        discount="command",
        severity="error",
    ),
)
