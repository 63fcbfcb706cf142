"""Images and links whose address carries the user's data away."""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern
from registry.validation.security.rules.exfiltration import SIGN_IN

_IN_URL = "SEC_DATA_IN_URL"
_FILLED_IN = compile_pattern(
    r"[?&#/;=][^\s{<\[$%]{0,60}(?:\{|\$|<|\[|%7b)[\w .{-]{0,24}?(?:conversation|summary|history|"
    r"chat|message|email|e-mail|token|secret|password|user|prompt|context|memory|env\b|session|"
    r"cookie|profile|content|answer|transcript|credential|api_?key|data|input|quer(?:y|ies)|encoded|"
    r"base64|b64)"
)
IMAGES = (
    build_rule(
        _IN_URL,
        "an image whose address carries data away",
        "![|<img",
        r"(?:!\[[^\]\n\0]{0,120}\]\(\s{0,2}<?|"
        r"<img\b[^>\n\0]{0,120}?src\s?=\s?[\"']?)https?://[^\s)>\"'\0?&#{<$]{1,120}[^\n)\"'\0]{1,200}",
        needs=(_FILLED_IN,),
        reach=0,
        discount="command",
    ),
    build_rule(
        _IN_URL,
        "an image to be shown with data in its address",
        "image|badge|pixel|logo|picture|bild|imagen|imagem|图片|圖片|画像",
        r"(?:image|badge|(?:tracking )?pixel|logo|picture|bild|imagen|imagem|图片|圖片|画像)",
        needs=(
            compile_pattern(r"https?://[^\s\"')]{1,200}[?&][\w-]{1,20}="),
            compile_pattern(
                r"(?:append|encode|include|insert|put|replace|fill|substitut|add|embed|urlencod|url-encod|"
                r"base64|anhang|ajout|agreg|adicion|附加|编码)\w{0,4}"
            ),
            compile_pattern(
                r"conversation|user'?s? (?:last )?(?:message|data|e-?mail|input|question|secret|token|password)|"
                r"chat history|last message|gesprach|对话|会話|conversacion|conversa"
            ),
        ),
        back=140,
        reach=220,
        severity="error",
        discount="command",
        unless_negated=True,
    ),
    build_rule(
        _IN_URL,
        "an image whose address carries data away",
        "![|<img",
        r"(?:!\[[^\]\n\0]{0,120}\]\(|"
        r"<img\b[^>\n\0]{0,120}?src\s?=\s?[\"']?)https?://[^\s)\"'\0]{3,160}[?&][\w-]{1,20}=[\w-]{0,24}(?:conversation|"
        r"summary_of|chat_history|(?:user|last)_(?:message|input|question)|secret|password|api_?key|"
        r"system_prompt|user_data)",
        discount="command",
    ),
    build_rule(
        _IN_URL,
        "the user's data put into an address",
        "put |include |insert |append |add |embed |encode ",
        r"(?:put|include|insert|append|add|embed|encode)\b",
        needs=(
            compile_pattern(r"https?://"),
            compile_pattern(r"parameter|query|\?[\w-]{1,20}=|\burl\b|\bpath\b|\blink\b|subdomain|fragment"),
            compile_pattern(
                r"conversation|(?:last|each|every) (?:user )?message|user'?s (?:\w{1,12} )?(?:messages?|api "
                r"keys?|keys?|passwords?|secrets?|e-?mails?|tokens?|input|question|data)|passwords?\b|chat "
                r"history|memory contents?|secrets?\b"
            ),
            compile_pattern(r"tracking|render|image|logo|badge|pixel|track|collect|log\b|beacon|\bref\b|user's"),
        ),
        lacks=SIGN_IN,
        back=20,
        reach=220,
        discount="phrase",
        unless_negated=True,
    ),
    build_rule(
        _IN_URL,
        "a link whose address carries data away",
        "={|=$|=<",
        r"=(?:\{\{|\$\{|<)\s?[\w.-]{0,20}(?:conversation|history|secret|password|token|api_?key|"
        r"system_?prompt|transcript|credential|cookie|memory)",
        needs=(compile_pattern(r"\]\(https?://[^\s)]{1,220}=(?:\{|\$|<)"),),
        back=240,
        reach=0,
        discount="command",
        severity="warning",
    ),
)

RULES: tuple[SecurityRule, ...] = IMAGES
