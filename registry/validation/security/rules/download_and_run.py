"""Commands that fetch and run what nobody read, open a way in, destroy, or stay behind.

Here a fence is no excuse: a fenced command is what an agent runs. Only a passage that calls the command dangerous turns
the error into a warning. Installers of well-known tools, fetched over HTTPS from their makers, are a warning too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from registry.validation.security.engine import RuleHit, ScanBudget, SecurityRule, build_rule, compile_pattern
from registry.validation.security.normalization import TextView

_DOWNLOAD, _SHELL = "SEC_DOWNLOAD_AND_RUN", "SEC_REMOTE_SHELL"
_FETCH = (
    r"(?<![\w.-])(?:curl|wget|fetch|aria2c|httpie?|lwp-download|iwr|irm|invoke-webrequest|"
    r"invoke-restmethod|curl\.exe|xh)\b"
)
_FETCH_ANCHORS = "curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|aria2c|lwp-download|fetch |xh "
# An interpreter that takes its program from the pipe. `python -m json.tool` and `node -e` take data from it.
_INTERPRETER = (
    r"(?:(?:sudo|doas|env|nohup|exec|command|busybox|xargs)\b[^|\n\0]{0,30}? "
    r")?(?:/?(?:usr/)?(?:local/)?bin/(?:env )?)?(?:\$shell|\$\{shell\}|"
    r"(?:ba|z|da|k|a|fi|c)?sh(?![\w./-])(?!\s{0,3}-[a-z]{0,3}c\b)|pwsh(?:\.exe)?|"
    r"powershell(?:\.exe)?|iex\b|invoke-expression|cmd(?:\.exe)?(?= |$)|osascript\b|"
    r"(?:python[\d.]{0,4}|perl|ruby|node|php|lua|deno run|bun run)(?=\s{0,3}(?:-(?=[\s\"'`)]|\Z)|"
    r"/dev/stdin|[\"'`;&)\n\0]|\Z)))"
)
_TARGET = compile_pattern(
    r"https?:|ftp:|hxxp|\$\w|\$\{|\$\(|(?<![\w.-])(?:[\w-]{1,40}\.){1,4}[a-z]{2,12}(?=[/\s:\"'`|)]|"
    r"$)|\d{1,3}\.\d{1,3}\.\d{1,3}|<[a-z_-]{2,20}>|\{\{"
)
_VENDORS = (
    r"(?:astral\.sh/|(?:sh|static)\.rustup\.rs|get\.docker\.com|bun\.(?:sh|com)/install|deno\.land/|"
    r"install\.python-poetry\.org|"
    r"raw\.githubusercontent\.com/(?:homebrew/install|nvm-sh/nvm|helm/helm|kubernetes|"
    r"ohmyzsh/ohmyzsh|astral-sh|microsoft/|github/|aquasecurity/trivy|anchore/|k3d-io/|derailed/|"
    r"golangci/|conda-forge/miniforge)|"
    r"get\.sdkman\.io|ollama\.com/install|ollama\.ai/install|starship\.rs/|tailscale\.com/install|"
    r"get\.k3s\.io|fly\.io/install|get\.pnpm\.io|"
    r"fnm\.vercel\.app|foundry\.paradigm\.xyz|claude\.ai/install|opencode\.ai/install|"
    r"cursor\.com/install|sdk\.cloud\.google\.com|"
    r"(?:deb|rpm)\.nodesource\.com|packages\.microsoft\.com|aka\.ms/|dot\.net/|"
    r"dotnet\.microsoft\.com|install\.determinate\.systems|nixos\.org/nix|get\.rvm\.io|pyenv\.run|"
    r"mise\.(?:run|jdx\.dev)|pixi\.sh/|volta\.sh|get\.volta\.sh|cli\.doppler\.com|get\.pulumi\.com|"
    r"install\.meteor\.com|get\.helm\.sh|"
    r"repo\.anaconda\.com|micro\.mamba\.pm|bootstrap\.pypa\.io|getcomposer\.org|"
    r"chocolatey\.org/install|community\.chocolatey\.org/install|"
    r"get\.scoop\.sh|boxstarter\.org|scoop\.sh|packages\.gitlab\.com|install\.duckdb\.org|"
    r"dl\.google\.com|julialang\.org|lmstudio\.ai/install|plugins\.nextflow\.io|get\.nextflow\.io|"
    r"github\.com/(?:conda-forge/miniforge|cli/cli|astral-sh|aquasecurity|microsoft|kubernetes))"
)
# The only address in the command, from its scheme on: a vendor's name in a query, or before a second address, proves
# nothing.
_VENDOR_ONLY = (
    r"\A[^:\0]{0,200}?(?<![\w./-])(?:https://)?(?:www\.)?"
    + _VENDORS
    + r"(?:\.(?:sh|ps1|py))?(?:(?<=/)|(?=[/\s\"'`|);]|\Z))[^:\0]{0,400}\Z"
)
_BY_VENDOR = compile_pattern(_VENDOR_ONLY)


def _download(says: str, anchors: str, source: str, **rest: object) -> tuple[SecurityRule, SecurityRule]:
    """The rule for unknown hosts (error) and the one for makers of well-known tools (warning)."""
    first = build_rule(_DOWNLOAD, says, anchors, source, discount="command", **rest)
    by_vendor = replace(first, needs=(*first.needs, _BY_VENDOR), severity="warning")
    return replace(first, lacks=_BY_VENDOR), by_vendor


DOWNLOADS = (
    *_download(
        "a download piped into an interpreter",
        _FETCH_ANCHORS,
        _FETCH + r"[^\n\0]{0,400}?(?:\\\n[^\n\0]{0,200}?){0,1}\|\s{0,3}" + _INTERPRETER,
        needs=(_TARGET,),
        reach=0,
    ),
    *_download(
        "an interpreter that runs a download",
        "<(|$(|eval|`curl|`wget|iex|invoke-expression|source ",
        r"(?:<\(\s{0,3}|\$\(\s{0,3}|`)(?:curl|wget|fetch|iwr|irm)\b[^)`\n\0]{0,300}",
        needs=(
            _TARGET,
            compile_pattern(
                r"(?:\b(?:ba|z|da|k)?sh|\beval|\bsource|\bpython[\d.]{0,4}|\bperl|\bruby|\bnode|\bexec|(?:^|"
                r"[\s`;&])\.)(?:\.exe)? (?:-\w{1,4} )?[\"'`]{0,2}(?:<\(|\$\(|`)\s{0,3}(?:curl|wget|fetch|iwr|"
                r"irm)"
            ),
        ),
        back=30,
        reach=0,
    ),
    *_download(
        "PowerShell that runs a download",
        "iex|invoke-expression|downloadstring|downloadfile|start-process",
        r"(?<![\w-])(?:iex|invoke-expression)\b\s{0,3}[(&\"'`$]{1,4}[^\n\0]{0,60}?(?:iwr|irm|"
        r"invoke-webrequest|invoke-restmethod|downloadstring|new-object|curl|wget)[^\n\0]{0,200}",
        reach=0,
    ),
    build_rule(
        _DOWNLOAD,
        "PowerShell that runs a download",
        "downloadstring|downloadfile|downloaddata",
        r"download(?:string|file|data)\s{0,3}\([^\n\0]{4,300}",
        needs=(compile_pattern(r"\biex\b|invoke-expression|start-process|\| ?iex|;\s{0,3}(?:&|\.\\|start )"),),
        back=120,
        reach=120,
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "a system tool used to fetch and run",
        "mshta|regsvr32|certutil|bitsadmin|rundll32|msiexec",
        r"(?<![\w-])(?:mshta(?:\.exe)?\b[^\n\0]{0,20}(?:https?:|javascript:|vbscript:)|"
        r"regsvr32\b[^\n\0]{0,40}/i:https?:|certutil\b[^\n\0]{0,60}-urlcache|"
        r"bitsadmin\b[^\n\0]{0,40}/transfer|rundll32\b[^\n\0]{0,40}(?:javascript:|https?:)|"
        r"msiexec\b[^\n\0]{0,40}https?:)",
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "code that runs what it fetched",
        "exec|eval|os.system|subprocess|compile(|import(|function(|popen",
        r"(?<![\w])(?:exec|eval|compile|new function|function|import)\s{0,2}\(\s{0,3}(?:await |"
        r"compile\(|str\(|\(){0,2}[^\n\0]{0,60}?(?:requests\.get|urlopen|urllib|httpx\.get|http\.get|"
        r"fetch\(|axios(?:\.get)?\(|file_get_contents|net::http|wget|curl)[^\n\0]{0,200}",
        needs=(compile_pattern(r"https?:|\burl\b|[\w-]\.[a-z]{2,6}/|hxxp"),),
        reach=80,
        back=200,
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "code that runs what it fetched",
        "os.system|subprocess|popen|child_process|execsync|shell_exec|system(|exec(",
        r"(?:os\.system|subprocess\.\w{2,12}|popen|execsync|child_process|shell_exec|system|"
        r"exec)\b[^\n\0]{0,60}?(?:curl|wget|iwr|irm)[^\n\0]{0,200}?(?:\||&&|;)\s{0,3}(?:sudo )?(?:ba|"
        r"z)?sh\b",
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "a download that is made to run",
        "curl|wget|iwr|invoke-webrequest|aria2c",
        _FETCH + r"[^\n\0]{0,300}?(?:&&|;|\band then\b|,? then )\s{0,3}(?:(?:sudo|chmod)\b[^\n\0]{0,60}?(?:&&|"
        r";)?\s{0,3})?(?:sudo )?(?:(?:ba|z)?sh|python[\d.]{0,4}|node|perl|ruby|source|run|execute|start|"
        r"open|\./|/tmp/|~/|\.\\|& )\s{0,3}[^\s&|;\n\0]{0,80}",
        needs=(_TARGET,),
        reach=0,
        discount="command",
        lacks=re.compile(
            r"https://(?:www\.)?"
            + _VENDORS
            + r"|\bsh -c [\"']?(?:echo|export)|(?:run|execute|start|open) (?:the (?:tests?|server|app|dev)|"
            r"npm|pytest|docker|make|it in)|python[\d.]{0,4} (?:-c|-m)|node -e|/tmp/\S{1,60}\s{0,3}(?:\||>)|"
            r"(?:node|python[\d.]{0,4}) (?:scripts?|src|tests?|tools)/"
        ),
    ),
    build_rule(
        _DOWNLOAD,
        "code that runs what it fetched",
        "fetch(|axios",
        r"(?:fetch|axios(?:\.get)?)\s{0,2}\([^\n\0]{0,240}?(?:\beval\b|new function|\bimport\(|"
        r"\bexec\b)",
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "a repository from an unknown host that is fetched and run",
        "git clone",
        r"git clone (?:-{1,2}\S{1,30} ){0,4}[\"']?(?:http://|https?://(?:\d{1,3}\.){3}\d|(?:https?://|"
        r"git@|ssh://)(?!(?:[\w-]{1,30}@)?(?:[\w-]{1,30}\.)?(?:github\.com|gitlab\.com|bitbucket\.org|"
        r"codeberg\.org|huggingface\.co|sr\.ht|googlesource\.com|gnu\.org|apache\.org|kernel\.org|"
        r"dev\.azure\.com|gitee\.com)))\S{3,200}[^\n\0]{0,80}?(?:&&|;|\n) ?[^\n\0]{0,80}?(?:\./\w|"
        r"\bmake\b|(?:ba|z)?sh |python[\d.]{0,4} |npm (?:i|install|run)|pip install|cargo (?:run|"
        r"install)|go run)",
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "a remote script named as the thing to run",
        "bash |sh |python|node |deno run|npx |uvx |pipx |bunx |go run|uv run|pnpm dlx|yarn dlx",
        r"(?<![\w.-])(?:ba|z|da)?sh (?:-\w{1,4} ){0,2}https?://\S{4,200}|(?<![\w.-])(?:python[\d.]{0,4}|"
        r"node|npx(?: -y| --yes)?|bunx|pnpm dlx|yarn dlx) https?://(?!github\.com|localhost|"
        r"127\.)\S{4,200}|(?<![\w.-])(?:deno run|uv run)(?: -{1,2}[\w-]{1,30}){0,6} "
        r"https?://(?!deno\.land|jsr\.io|esm\.sh)\S{4,200}",
        discount="command",
    ),
    build_rule(
        _DOWNLOAD,
        "an order to download a program and start it",
        "download|herunterlad|lade |telecharge|descarg|baixe|baixar|скачай|下载|下載|ダウンロード",
        r"(?:download|herunterlad|lade|telecharge[zr]?|descarg(?:a|ue|ar)|baix(?:e|ar)|скачай(?:те)?|"
        r"下载|下載|ダウンロード)[^\n\0]{0,160}?(?:\.exe|\.msi|\.dmg|\.pkg|\.scr|\.bat|\.cmd|\.ps1|"
        r"\.vbs|\.jar|\.apk|\.sh|\.command|\.appimage|binary|payload|updater?|helper)\b",
        needs=(
            compile_pattern(
                r"https?://(?:\d{1,3}\.){3}\d|https?://(?:bit\.ly|tinyurl|t\.co|is\.gd|cutt\.ly|rebrand\.ly|"
                r"transfer\.sh|anonfiles|gofile|file\.io|paste|rentry|catbox|mega\.nz|mediafire|cdn\.discordapp|"
                r"[\w-]{1,40}\.(?:ngrok|trycloudflare|duckdns|serveo|loca\.lt|top|xyz|zip|tk|ml|ga|cf|gq)\b)|"
                r"\bhttp://(?!localhost)"
            ),
            compile_pattern(
                r"\b(?:run|execute|start|launch|open|double-?click|install|ausfuhr|starte|execute[zr]?|"
                r"lance[zr]?|ejecut|execut|запусти)|运行|執行|执行|実行|起動"
            ),
        ),
        reach=220,
        discount="command",
    ),
)

SHELLS = (
    build_rule(_SHELL, "a reverse shell", "/dev/tcp/|/dev/udp/", r"/dev/(?:tcp|udp)/[^\s]{3,80}", discount="command"),
    build_rule(
        _SHELL,
        "a reverse shell",
        "nc |ncat|netcat|socat|mkfifo|telnet",
        r"(?<![\w-])(?:nc|ncat|netcat)(?:\.exe)? [^\n\0|]{0,60}?(?:-\w{0,4}e\b|-c) "
        r"?[^\n\0]{0,10}(?:/bin/|ba?sh|cmd|powershell|\bsh\b)|(?<![\w-])socat "
        r"[^\n\0]{0,100}?exec:[^\n\0]{0,20}sh|(?<![\w-])mkfifo [^\n\0]{0,120}?(?:nc|ncat|netcat|telnet|"
        r"openssl) ",
        discount="command",
    ),
    build_rule(
        _SHELL,
        "a reverse shell",
        "socket|use socket|tcpclient|tcpsocket|fsockopen",
        r"(?:use socket|socket\.socket|new-object[^\n\0]{0,30}tcpclient|net\.sockets\.tcpclient|"
        r"tcpsocket|fsockopen|new net\.socket|net\.socket\()[^\0]{0,400}?(?:dup2|/bin/(?:ba)?sh|"
        r"cmd\.exe|invoke-expression|\biex\b|pty\.spawn|exec\s{0,2}\()",
        discount="command",
    ),
    build_rule(
        _SHELL,
        "a way in that is left open",
        "ngrok|cloudflared|chisel|ssh -r|ssh -f|-nr |bore local|tmate|gsocket|gs-netcat",
        r"(?<![\w-])(?:ngrok tcp 22|cloudflared tunnel[^\n\0]{0,60}ssh|gs-netcat|tmate -f|chisel "
        r"client[^\n\0]{0,60}r:|ssh (?:-\w{1,6} ){0,4}-\w{0,3}r \d{2,5}:(?:localhost|127\.0\.0\.1):22)",
        discount="command",
    ),
    build_rule(
        _SHELL,
        "a backdoor",
        "backdoor",
        r"(?:include|add|install|open|create|leave|plant|embed|insert) (?:an? |the "
        r")?(?:[^\s.!?;:()\"\0]{1,16} ){0,2}?backdoor\b",
        discount="command",
        unless_negated=True,
    ),
)

_PIPE_DECODE = (
    r"(?:base64|base32|openssl (?:enc|base64)|xxd|uudecode|certutil|b64decode|gunzip|zcat|tr|rev|"
    r"printf|gpg)"
)
ENCODED = (
    build_rule(
        "SEC_ENCODED_COMMAND",
        "encoded text decoded into an interpreter",
        "base64|base32|openssl |xxd|uudecode|rev |tr ",
        r"(?<![\w.-])(?:base64 (?:-{1,2}d\w{0,5}|-i)|base32 -{1,2}d\w{0,5}|openssl (?:enc|base64)[^|"
        r"\n\0]{0,60}-d|xxd[^|\n\0]{0,20}-r|uudecode|rev|tr [^|\n\0]{3,60})[^|\n\0]{0,80}\|\s{0,3}(?:[^|"
        r"\n\0]{1,40}\|\s{0,3}){0,1}" + _INTERPRETER,
        discount="command",
    ),
    build_rule(
        "SEC_ENCODED_COMMAND",
        "encoded text decoded into an interpreter",
        "eval|sh -c|<(|source|python|exec|node -e|perl -e",
        r"(?:\beval|(?:ba|z)?sh -c|(?:ba|z)?sh <\(|\bsource|python[\d.]{0,4} -c|perl -e|node -e|ruby "
        r"-e)[^\n\0]{0,120}?(?:base64 -{1,2}d|b64decode|base64 -D|xxd -r|atob\(|decode64|frombase64)",
        discount="command",
    ),
    build_rule(
        "SEC_ENCODED_COMMAND",
        "escaped text piped into an interpreter",
        "printf|echo ",
        r"(?:printf|echo)(?: -e)? [^\n\0|]{0,200}?\\(?:x[0-9a-f]{2}|0?\d{3})[^\n\0|]{0,300}\|\s{0,3}" + _INTERPRETER,
        discount="command",
    ),
    build_rule(
        "SEC_ENCODED_COMMAND",
        "code that runs what it decoded",
        "exec|eval|function(|loadstring|marshal",
        r"(?<!\w)(?:exec|eval|function|loadstring|marshal\.loads)\s{0,2}\([^\n\0]{0,60}?(?:b64decode|"
        r"atob\(|decode64|fromhex|unhexlify|frombase64|buffer\.from\([^\n\0]{0,80}?base64|"
        r"codecs\.decode|zlib\.decompress|base64_decode|fromcharcode)",
        discount="command",
    ),
    build_rule(
        "SEC_ENCODED_COMMAND",
        "an encoded PowerShell command",
        "powershell|pwsh|frombase64string(",
        r"(?:powershell|pwsh)(?:\.exe)?\b[^\n\0]{0,120}?\s-e(?:nc|ncodedcommand|c|"
        r"n)?\s{1,3}[\"']?[a-z0-9+/=]{16,400}|frombase64string\([^\n\0]{8,400}\)[^\n\0]{0,60}\|\s{0,2}iex",
        discount="command",
    ),
    build_rule(
        "SEC_ENCODED_COMMAND",
        "an order to decode and run",
        "decode|entschlussel|dekodier|decodifi|decode[z]|декодир|解码|解碼|デコード",
        r"(?<![a-z])(?:base64[- ])?(?:decode\b|dekodier\w{0,3}|decodifi\w{1,3}|decodez|декодируй(?:те)?|"
        r"解码|解碼|デコード)[^\n\0]{0,100}?(?:and (?:then )?(?:run|execute|follow|do|obey|eval|carry "
        r"out)|und (?:fuhre|befolge)|et (?:execute|suis)|y (?:ejecut|sig)|e (?:execut|siga)|и "
        r"(?:выполни|запусти|следуй)|并(?:执行|运行|按)|然后执行|して(?:実行|従))",
        discount="command",
        unless_negated=True,
    ),
)

RULES: tuple[SecurityRule, ...] = (*DOWNLOADS, *SHELLS, *ENCODED)

_SAVES = re.compile(
    r"(?:curl|wget|iwr|invoke-webrequest)\b[^\n\0]{0,240}?(?:(?:-o|-\w{0,6}o|--output|"
    r"--output-document|-outfile|"
    r">)[\s=]{1,3}[\"']?(?![\"']?https?:)(?:[\w~./$%\\-]{0,60}[/\\])?(?P<file>[\w.-]{1,60})"
    r"|https?://[^\s\0]{1,200}/(?P<base>[\w-]{1,50}\.(?:sh|bash|py|run|bin|ps1|pl|exe|command|"
    r"jar)))(?=[\s\"'`;&|)]|\Z)"
)
_STARTS = re.compile(
    r"(?:^|[\n;&|`(]|\b(?:then|run|execute|start))\s{0,6}(?:\$ )?(?:sudo (?:-\w )?)?(?:(?:ba|z)?sh |"
    r"source |node |perl |start |python[\d.]{0,4} |\./|[~/$%.][\w~./$%{}\\-]{0,60}/|&? ?\.\\|java "
    r"-jar ){1,2}\Z"
)
_LOOKED_AT = re.compile(
    r"\b(?:less|cat|more|review|inspect|read|verify|sha256sum|shasum|gpg|cosign|checksum|md5sum|"
    r"minisign)\b"
)


def multi_step(view: TextView, budget: ScanBudget) -> Iterator[RuleHit]:
    """A file that is fetched in one step and started in another, a line or two further on.

    A Python script is a warning (an example's own code often comes that way), and so is what a vendor ships; nothing is
    said where the file is looked at or its hash checked in between.
    """
    text = view.text
    for anchor in ("curl", "wget", "iwr ", "invoke-webrequest"):
        at = text.find(anchor)
        while at >= 0 and budget.take(3):
            saved = _SAVES.match(text, at)
            if saved and budget.take(10):
                yield from _started(view, saved)
            at = text.find(anchor, at + 1)


def _started(view: TextView, saved: re.Match[str]) -> Iterator[RuleHit]:
    name = saved["file"] or saved["base"]
    after = view.text[saved.end() : saved.end() + 400].partition("\0")[0]
    at = after.find(name)
    while at >= 0:
        is_whole = not re.match(r"[\w-]", after[at + len(name) : at + len(name) + 1])
        lead = after[max(at - 90, 0) : at]
        if is_whole and len(name) > 1 and _STARTS.search(lead) and not _LOOKED_AT.search(after[:at]):
            is_mild = "python" in lead[-14:] or bool(_BY_VENDOR.search(saved.group()))
            begin, end = view.origin(saved.start()), view.origin(saved.end() - 1) + 1
            yield RuleHit(
                _DOWNLOAD,
                "a file that is fetched and then started",
                begin,
                end,
                "warning" if is_mild else None,
                "command",
                view.disguise,
            )
            return
        at = after.find(name, at + 1)
