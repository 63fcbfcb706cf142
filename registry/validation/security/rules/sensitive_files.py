"""Orders to read a private file and pass it on."""

from __future__ import annotations

import re

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_FILE = "SEC_SENSITIVE_FILE"
_KEY_ANCHORS = (
    ".ssh|.aws/credentials|.git-credentials|.netrc|.gnupg|.config/gcloud|.docker/config|"
    ".kube/config|library/keychains|login.keychain|wallet.dat|cookies.sqlite|/etc/shadow|id_rsa|"
    "id_ed25519"
)
_READ = (
    r"(?:\bread|\bcat\b|\bopen\b|\bload|\binclude|\bcopy|\battach|\bdump|\bget-content|\btype\b|"
    r"\bcontents? of|\bgrab|\bcollect|\bgather|\bextract|\blies\b|\blese\b|\blis(?:ez)?\b|\blee\b|"
    r"\bleia\b|\bleggi\b|прочитай|прочти|读取|讀取|読み|읽)"
)
FILES = (
    build_rule(
        _FILE,
        "an order to read a private file and pass it on",
        _KEY_ANCHORS,
        r"(?:\.ssh\b[\w./*-]{0,30}|\.aws/credentials|\.git-credentials|\.netrc|\.gnupg\S{0,20}|"
        r"\.config/gcloud\S{0,30}|\.docker/config\.json|\.kube/config|library/keychains|login\.keychain|"
        r"wallet\.dat|cookies\.sqlite|/etc/shadow|(?<=/)id_(?:rsa|ed25519)\b(?!\.pub))",
        needs=(
            compile_pattern(_READ),
            compile_pattern(
                r"put (?:it|its|the)[^.\n]{0,30} in|pass (?:it|its|the|them|this|along)|include (?:it|its|the "
                r"(?:contents?|result|output|key))|(?:as|in|into|to) (?:the |an? )?(?:`?sidenote|`?\w{1,20}`? "
                r"(?:argument|parameter|field)|next (?:tool )?(?:call|message|request)|argument|parameter|reply|"
                r"response|tool call|output)|send|upload|post|append|attach|encode|base64|forward|e-?mail|"
                r"schick|sende|envi|envoi|отправ|发送|上传|送信|exfil|print (?:it|its|the|them)|show (?:it|its) "
                r"in|repeat"
            ),
        ),
        back=110,
        reach=150,
        severity="error",
        discount="phrase",
        unless_negated=True,
        lacks=re.compile(
            r"ssh -i|identityfile|\.pub\b|never (?:read|commit|print|log|include)|chmod 600|add (?:it|them|"
            r"\.env)[^\n]{0,20}to \.gitignore|ssh-keygen|\.env\.example|ssh-add|authorization"
        ),
    ),
    build_rule(
        _FILE,
        "an order to read a private key",
        ".ssh/id_|/etc/shadow|.aws/credentials|wallet.dat|login.keychain|.git-credentials",
        r"(?:\.ssh/id_\w{3,12}\b(?!\.pub)|/etc/shadow|\.aws/credentials|wallet\.dat|login\.keychain|"
        r"\.git-credentials)",
        needs=(
            compile_pattern(
                r"(?:\bread\b|\bcat\b|\bopen\b|\bdump\b|contents? of|\btype\b|get-content|\bgrab|\bsteal|"
                r"\bcopy\b)(?: [^\s.!?;:()\"\0]{1,16}){0,3}? [`\"'~/$\w.]{0,20}(?:\.ssh|/etc/shadow|\.aws|"
                r"wallet|login|\.git-cred)"
            ),
        ),
        back=70,
        reach=4,
        severity="warning",
        discount="phrase",
        unless_negated=True,
    ),
    build_rule(
        _FILE,
        "an order to print a token into a log",
        "hf_token|api_key|api key|_token|_secret|access token",
        r"(?:[a-z]{2,12}_token|[a-z_]{0,20}api_?key|[a-z]{2,12}_secret|access token)\b",
        needs=(
            compile_pattern(r"(?:always |also )(?:print|log|echo|write|output|include)"),
            compile_pattern(
                r"to (?:the )?(?:logs?|console|output|stdout|report)|in (?:the |every |each )?(?:logs?|output|"
                r"report|commit|reply|response)"
            ),
        ),
        back=60,
        reach=60,
        severity="warning",
        discount="phrase",
        unless_negated=True,
    ),
)

RULES: tuple[SecurityRule, ...] = FILES
