# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""Commands that destroy or switch protection off; packages from nowhere; locked archives."""

from __future__ import annotations

import re

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_DESTROY, _PACKAGE = "SEC_DESTRUCTIVE_COMMAND", "SEC_UNTRUSTED_PACKAGE"
_ROOTS = (
    r"(?:/\*?|~/?\*?|\$home/?\*?|\$\{home[^}\n]{0,8}\}/?\*?|/(?:etc|usr|var|bin|lib|boot|home|root|"
    r"opt|users|system|windows)/?\*?|/home/\S{1,30}/?\*?|\.\./?\*?|c:\\?\*?)"
)

DESTRUCTIVE = (
    build_rule(
        _DESTROY,
        "a command that deletes everything",
        "rm -|rm --|sudo rm",
        r"(?<![\w-])rm (?:-{1,2}[a-z-]{1,20} ){1,4}(?:-- )?[\"']?" + _ROOTS + r"[\"']?(?=[\s`\"';&|)\n\0]|\Z)",
        discount="command",
        lacks=re.compile(r"rm[^\n]{0,30}\s(?:/var|/opt|/usr|/etc)/\S"),
        reach=30,
    ),
    build_rule(
        _DESTROY,
        "a command that deletes everything",
        "rm -|rm --",
        r"(?<![\w-])rm -{1,2}[a-z-]{1,20}[^\n\0]{0,40}--no-preserve-root|(?<![\w-])rm (?:-\w{1,5} "
        r")?\$\(cat ",
        discount="command",
    ),
    build_rule(
        _DESTROY,
        "a command that wipes a disk or a file system",
        "mkfs|dd |> /dev/|>/dev/|shred|wipefs|diskpart|format c|cipher /w|fdisk|diskutil",
        r"(?<![\w.-])(?:mkfs(?:\.\w{2,6})? (?:-\w{1,4} ){0,3}/dev/|dd [^\n\0]{0,60}of=/dev/(?:sd|hd|"
        r"nvme|disk|vd|mmc)|wipefs (?:-\w{1,4} ){0,3}/dev/|shred [^\n\0]{0,40}/dev/|format c:|"
        r"diskpart[^\n\0]{0,30}clean|diskutil (?:erasedisk|zerodisk)|cipher /w:c)|"
        r">\s{0,2}/dev/(?:sd[a-z]|nvme\d|disk\d)",
        discount="command",
    ),
    build_rule(_DESTROY, "a fork bomb", ":()", r":\(\)\s{0,3}\{\s{0,3}:\s{0,3}\|\s{0,3}:", discount="command"),
    build_rule(
        _DESTROY,
        "a command that deletes everything",
        "find |del |rd |rmdir|remove-item|erase |ri |rmtree|unlink|rimraf",
        r"(?<![\w-])(?:find (?:/|~|\$home)\S{0,3} [^\n\0]{0,80}?-delete\b|find (?:/|~|\$home)\S{0,3} "
        r"[^\n\0]{0,60}?-exec rm|(?:del|erase) (?:/\w ){1,4}[\"']?(?:c:\\(?:\*|\s|$|users|windows)|"
        r"%userprofile%)|(?:rd|rmdir) (?:/\w ){1,3}[\"']?(?:c:\\(?:\s|$|users|windows)|%userprofile%)|"
        r"(?:remove-item|ri) [^\n\0]{0,60}?(?:c:\\(?:\*|\s|$|users(?:\\?\s|\\?$)|windows)|"
        r"\$home\b(?![\\/][\w.])|~(?![\\/][\w.])|\$env:userprofile(?![\\/][\w.]))[^\n\0]{0,40}|"
        r"(?:shutil\.)?rmtree\s{0,2}\(\s{0,2}(?:[\"'](?:/|~)[\"']|(?:os\.path\.expanduser|"
        r"path\.home)\([\"']?~?[\"']?\)\s{0,2}\))|rimraf (?:/|~)(?=\s|`|$))",
        discount="command",
    ),
    build_rule(
        _DESTROY,
        "a command that opens everything to everyone",
        "chmod ",
        r"chmod (?:-\w{1,3} ){1,3}0?777 (?:/|~|\$home)(?=[\s`\"';]|$)",
        discount="command",
    ),
    build_rule(
        _DESTROY,
        "SQL that destroys, given as a call to make",
        "drop table|drop database|truncate table|delete from|drop schema",
        r"(?:drop (?:table|database|schema)(?: if exists)?|truncate table|delete from) "
        r"[\w.\"\[\]]{1,60}\s{0,3};?",
        back=50,
        reach=4,
        needs=(
            compile_pattern(r"(?:call|run|execute|use|invoke|send)\b[^\n]{0,40}[`\"']\s{0,2}(?:drop|truncate|delete)"),
        ),
        severity="warning",
        unless_negated=True,
    ),
    build_rule(
        _DESTROY,
        "SQL that destroys, slipped behind a statement",
        "drop table|drop database",
        r"drop (?:table|database) [\w.]{1,60}\s{0,3};\s{0,3}--",
        back=40,
        reach=0,
        needs=(compile_pattern(r"(?:call|run|execute|use|invoke|send)\b"),),
        discount="command",
    ),
    build_rule(
        _DESTROY,
        "an order to delete all the user's data",
        "delete all|delete every|erase all|wipe all|remove all|wipe the|erase every|destroy all|losche "
        "alle|supprime tous|elimina todos|borra todo|apague todos|удали все|删除所有|删除全部|"
        "すべて削除|全て削除",
        r"(?:(?:delete|erase|wipe|remove|destroy) (?:all|every)(?: of)? (?:the |their |my |user'?s? |"
        r"your )?(?:users?'? ?)?(?:files?|documents?|data|emails?|e-mails|backups?|photos|contents?|"
        r"repositor(?:y|ies)|databases?|contacts|messages)|wipe the (?:disk|drive|home|database|"
        r"machine)|losche alle (?:dateien|daten|dokumente)|supprime[zr]? tous les (?:fichiers|"
        r"documents)|(?:elimina|borra) (?:todos los|todo)|apague todos os|удали(?:те)? все (?:файлы|"
        r"данные)|删除(?:所有|全部)[^\n\0]{0,4}(?:文件|数据)|(?:すべて|全て)(?:の(?:ファイル|"
        r"データ)を)?削除)",
        back=100,
        reach=120,
        needs=(
            compile_pattern(
                r"silent|without (?:asking|confirm|telling)|do not (?:ask|tell|mention)|don't (?:ask|tell|"
                r"mention)|immediately|no confirmation|secretly|home directory|on the (?:system|machine|"
                r"computer|disk)|ohne|sans|sin |sem |без|不要|无需|確認せず"
            ),
        ),
        severity="warning",
        unless_negated=True,
    ),
)

PROTECTION = (
    build_rule(
        "SEC_PROTECTION_OFF",
        "a program let past the system's own check, then started",
        "xattr|spctl|unblock-file",
        r"(?<![\w-])(?:xattr (?:-\w{1,3} ){1,3}[^\n\0]{1,80}|spctl [^\n\0]{0,20}(?:--master-disable|"
        r"--global-disable|--add)|unblock-file [^\n\0]{1,80})",
        severity="error",
        discount="command",
        reach=160,
        needs=(compile_pattern(r"chmod \+x|&& ?\./|; ?\./|\bopen \S|avoids? the|bypass|start-process|\n\./|run it"),),
    ),
    build_rule(
        "SEC_PROTECTION_OFF",
        "the system's own check switched off",
        "xattr|spctl|csrutil|setenforce|ufw disable|netsh|sysctl kernel",
        r"(?<![\w-])(?:xattr -\w{0,3}[cd]\w{0,2} (?:-\w ){0,2}com\.apple\.quarantine|xattr "
        r"-\w{0,2}c\w{0,2} |spctl --(?:master|global)-disable|csrutil disable|setenforce 0|ufw disable|"
        r"netsh (?:advfirewall|firewall) [^\n\0]{0,40}(?:off|disable))",
        severity="warning",
        discount="command",
    ),
    build_rule(
        "SEC_PROTECTION_OFF",
        "virus protection switched off",
        "set-mppreference|add-mppreference|defender|antivirus|anti-virus|firewall|amsi|gatekeeper|"
        "smartscreen|endpoint protection|virenscanner",
        r"(?:(?:set|add)-mppreference [^\n\0]{0,60}(?:-disable\w{4,30}|-exclusion\w{4,12})|(?:defender|"
        r"anti-?virus(?: software)?|amsi|gatekeeper|smartscreen|endpoint protection|virenscanner))",
        severity="error",
        discount="command",
        back=50,
        reach=40,
        unless_negated=True,
        needs=(
            compile_pattern(
                r"mppreference|(?:disable|turn off|switch off|deactivate|pause|uninstall|bypass|deaktivier|"
                r"schalte|add (?:an )?exclusion|whitelist)\w{0,3}\b[^.\n]{0,40}(?:defender|anti-?virus|amsi|"
                r"gatekeeper|smartscreen|endpoint|virenscanner)"
            ),
        ),
    ),
    build_rule(
        "SEC_PROTECTION_OFF",
        "rights raised for good",
        "nopasswd|>> /etc/sudoers|> /etc/sudoers|tee /etc/sudoers|tee -a /etc/sudoers|chmod |useradd|"
        "net user|net localgroup",
        r"(?:nopasswd:\s{0,2}all|>>? ?/etc/sudoers|tee (?:-a )?/etc/sudoers\S{0,30}|chmod (?:u\+s|\+s|"
        r"[246]7[57][57]) /(?:usr/)?(?:local/)?bin/|useradd [^\n\0]{0,60}(?:-o -u 0|-g (?:sudo|wheel|"
        r"root))|net user \S{1,30} \S{1,30} /add|net localgroup administrators)",
        severity="error",
        discount="command",
        unless_negated=True,
    ),
    build_rule(
        "SEC_PROTECTION_OFF",
        "a container that holds the whole machine",
        "docker run|podman run",
        r"(?:docker|podman) run\b[^\n\0]{0,120}?(?:-v|--volume|"
        r"--mount)[=\s]{1,3}[\"']?(?:type=bind,source=)?/(?::|,)",
        severity="error",
        discount="command",
    ),
    build_rule(
        "SEC_PROTECTION_OFF",
        "a certificate check switched off",
        "node_tls_reject|--no-check-certificate|strict-ssl",
        r"(?:node_tls_reject_unauthorized[\"'\]]{0,2}\s{0,2}=\s{0,2}[\"']?0|npm config set strict-ssl "
        r"false)",
        severity="warning",
        discount="command",
    ),
)

_BARE_HOST = r"(?:http://(?!localhost|127\.|host\.docker)|https?://(?:\d{1,3}\.){3}\d)"
PACKAGES = (
    build_rule(
        _PACKAGE,
        "packages from an index that is not protected",
        "pip|uv |poetry|--index-url|trusted-host",
        r"(?<![\w-])(?:pip[\d.]{0,4}|uv|pipx|uvx|"
        r"poetry)\b[^\n\0]{0,160}?(?:--(?:extra-)?index(?:-url)?[=\s]{1,2}[\"']?"
        + _BARE_HOST
        + r"|-i "
        + _BARE_HOST
        + r"|--trusted-host[=\s](?!localhost|127\.|pypi\.org|files\.pythonhosted|pypi\.python))",
        discount="command",
    ),
    build_rule(
        _PACKAGE,
        "a package from a bare address",
        "pip|npm|npx|pnpm|yarn|bunx|gem |cargo|uv |uvx|go install|brew|apt|dpkg|rpm|helm",
        r"(?<![\w-])(?:pip[\d.]{0,4} install|uv (?:pip |tool )?(?:install|add)|uvx(?: --from)?|pipx "
        r"(?:install|run)|npm (?:i|install|exec)|npx(?: -y| --yes)?|pnpm (?:add|dlx)|yarn (?:add|dlx)|"
        r"bunx|gem install|cargo install|brew install|rpm -\w{1,4}|dpkg -i)\b[^\n\0|"
        r";&]{0,100}?(?:git\+)?" + _BARE_HOST,
        discount="command",
    ),
    build_rule(
        _PACKAGE,
        "a package from a web address nobody keeps",
        "pip|npm|npx|pnpm|yarn|bunx|uv |uvx|pipx",
        r"(?<![\w-])(?:pip[\d.]{0,4} install|uv (?:pip |tool )?(?:install|add|run --with)|uvx(?: "
        r"--from)?|pipx (?:install|run)|npm (?:i|install|exec)|npx|pnpm (?:add|dlx)|yarn (?:add|dlx)|"
        r"bunx)(?: -{1,2}[\w=-]{1,30}){0,4} [\"'`]?(?:[\w.\[\],-]{1,60} ?@ ?)?(?:git\+)?"
        r"https://(?!(?:[\w-]{1,30}\.)?(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|"
        r"pytorch\.org|pypi\.org|pythonhosted\.org|huggingface\.co|npmjs\.(?:com|org)|googleapis\.com|"
        r"nvidia\.com|microsoft\.com|azure\.com|codeberg\.org|anaconda\.org|jsr\.io|python\.org)|"
        r"pkg\.pr\.new|localhost)[^\s`\"']{4,200}",
        discount="command",
    ),
    build_rule(
        _PACKAGE,
        "a package registry that is not protected",
        "registry",
        r"(?:--registry[=\s]|registry set |config set registry[=\s]?|registry\s{0,2}=\s{0,2})[\"']?" + _BARE_HOST,
        discount="command",
    ),
    build_rule(
        _PACKAGE,
        "a package started with its guards off",
        "npx|npm|bunx|pnpm",
        r"(?:npx|npm|bunx|pnpm)\b[^\n\0`]{0,80}?--(?:unsafe-perm|ignore-scripts=false|allow-root\b)",
        severity="warning",
        discount="command",
    ),
    build_rule(
        _PACKAGE,
        "a package run unasked",
        "npx|uvx|pipx run|bunx|pnpm dlx|pip install|npm i",
        r"(?<![\w-])(?:npx(?: -y| --yes)?|uvx|pipx run|bunx|pnpm dlx|pip install|npm i(?:nstall)?) "
        r"[^\s`]{2,80}[^\n\0]{0,60}?\bwithout (?:asking|confirm\w{0,8}|telling|user|prompting)\b",
        discount="command",
        unless_negated=True,
    ),
)

_ARCHIVE = (
    r"(?:\.zip|\.rar|\.7z|\.exe|\.dmg|\.pkg|\.msi|\.tar|archiv|installer|extract|unzip|unpack|"
    r"entpack|decompress|extrai|extrae|desempaquet|dezip|распак|解压|解壓|解凍|展開)"
)
ARCHIVES = (
    build_rule(
        "SEC_ARCHIVE_PASSWORD",
        "a locked archive whose password is given, to be started",
        "pass|pw |pw:|kennwort|contrasen|mot de passe|senha|парол|密码|密碼|パスワード",
        r"(?:(?:password|passcode) (?:for|of|to) (?:the |this )?(?:archive|file|zip|installer|download)|"
        r"password|passwort|passcode|passphrase|kennwort|contrasena|mot de passe|senha|пароль?|密码|"
        r"密碼|パスワード|(?<![a-z])pw\b|(?<![a-z])pass(?=\s{0,2}[:=]))(?:\s{0,2}(?:is|ist|es|est|e|=|:|"
        r"：|为|は) ?[*_]{0,2} ?[\"'`«“(]{0,2}|\s{0,2}[*_]{0,2}\s{0,2}[\"'`«“(]{1,2}|"
        r"\s(?=[a-z]{0,8}\d))(?![<{$])[^\s\"'`*)\n\0]{2,24}",
        needs=(
            compile_pattern(_ARCHIVE),
            compile_pattern(
                r"\b(?:run|execute|launch|start|install|open|double-?click|ausfuhr|fuhre|starte|execute[zr]?|"
                r"lance[zr]?|ejecut|execut|abra|запусти|установи)\w{0,3}\b|运行|執行|执行|実行|起動"
            ),
        ),
        back=260,
        reach=260,
        discount="command",
        lacks=re.compile(
            r"zipinfo|pyzipper|encrypt(?:ed|ion)? (?:the )?(?:pdf|zip)|--password\b|user_password|"
            r"password=(?:password|none)|set a password|forgot|\.pdf\b|reset|sign in|log ?in|database|"
            r"username"
        ),
    ),
)

RULES: tuple[SecurityRule, ...] = (*DESTRUCTIVE, *PROTECTION, *PACKAGES, *ARCHIVES)
