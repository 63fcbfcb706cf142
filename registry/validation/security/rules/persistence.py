"""What is to stay behind: a start-up line, a scheduled job, a login key, an order in the agent's memory."""

from __future__ import annotations

import re

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_STAY = "SEC_PERSISTENCE"
_STARTUP = (
    r"(?:~/|\$home/|\$\{home\}/|/etc/|/home/\S{1,30}/|%appdata%\S{0,60}|\$profile)?(?:\.?(?:bashrc|"
    r"zshrc|bash_profile|zprofile|zshenv|profile)\b|\$profile|config/fish/config\.fish)"
)
_BAD_LINE = (
    r"curl|wget|\bnc\b|ncat|base64|/dev/tcp|python[\d.]{0,4} -c|\| ?(?:ba|z)?sh|iwr|irm |@reboot|"
    r"/tmp/\S"
)
# Files that an agent reads at the start of each session: what is written there stays.
_MEMORY = (
    r"(?:claude\.md|agents\.md|soul\.md|memory\.md|gemini\.md|identity\.md|user\.md|heartbeat\.md|"
    r"bootstrap\.md|\.cursorrules|\.windsurfrules|copilot-instructions\.md|\.clinerules|(?:all "
    r")?future (?:conversations|sessions|chats)|gedachtnis|(?:tu|sua|ta|votre) mem(?:oria|oire)|"
    r"long-?term memory|persistent memory|agent(?:'s)? memory|your memory|system prompt file|memory "
    r"store|langzeitgedachtnis|memoire a long terme|memoria (?:a|de) largo plazo|memoria de longo "
    r"prazo|долговременн\w{2,4} память|长期记忆|長期記憶)"
)
_MEMORY_ANCHORS = (
    "claude.md|agents.md|soul.md|memory.md|gemini.md|identity.md|user.md|heartbeat.md|bootstrap.md|"
    ".cursorrules|.windsurfrules|copilot-instructions.md|.clinerules|future conversations|future "
    "sessions|future chats|gedachtnis|tu memoria|sua memoria|ta memoire|votre memoire|long-term "
    "memory|longterm memory|long term memory|persistent memory|agent memory|agent's memory|your "
    "memory|memory store|langzeitgedachtnis|memoire a long|memoria a largo|memoria de l|"
    "долговременн|长期记忆|長期記憶"
)

PERSISTENCE = (
    build_rule(
        _STAY,
        "a command left in a shell's start-up file",
        "bashrc|zshrc|bash_profile|zprofile|zshenv|.profile|$profile|config/fish",
        _STARTUP,
        needs=(
            compile_pattern(
                r">>|append|add\b|insert|write|tee -a|echo|edit|put\b|fuge|ajoute|anade|agrega|adicione|добавь|"
                r"追加|添加"
            ),
            compile_pattern(_BAD_LINE),
        ),
        back=140,
        reach=120,
        discount="command",
        unless_negated=True,
        lacks=re.compile(
            r"completion|brew shellenv|nvm|pyenv|rbenv|starship|direnv|conda|mise activate|zoxide|fnm|"
            r"api_key|_token=|export path|source ~/\.|fzf|gh copilot|https?://(?:www\.)?(?:github\.com|"
            r"docs\.)"
        ),
    ),
    build_rule(
        _STAY,
        "a scheduled job that fetches or runs code",
        "crontab|cron.d|/etc/cron|schtasks|@reboot|cron job|cronjob|launchagents|launchdaemons|"
        "launchctl|systemctl enable|systemd/user|currentversion\\run|startup folder|"
        "register-scheduledtask|at now",
        r"(?:crontab|/etc/cron\S{0,20}|cron\.d|schtasks|@reboot|cron ?job|launchagents|launchdaemons|"
        r"launchctl (?:load|bootstrap)|systemctl (?:--user )?enable|systemd/user|currentversion\\run|"
        r"startup folder|register-scheduledtask|at now)",
        needs=(
            compile_pattern(
                r"(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n]{0,120}(?:\||&&|;|-o )|\| ?(?:ba|z)?sh\b|base64|"
                r"/dev/tcp|\bnc -|silently|without (?:telling|asking)|do not (?:tell|mention)|hidden|stealth|"
                r"powershell[^\n]{0,40}-(?:enc|w hidden)|/tmp/\.|https?://\d{1,3}\.\d"
            ),
        ),
        back=160,
        reach=200,
        discount="command",
        unless_negated=True,
    ),
    build_rule(
        _STAY,
        "a key added for a later login",
        "authorized_keys",
        r"authorized_keys\b",
        needs=(
            compile_pattern(
                r">>|append|add\b|insert|tee -a|echo|write|copy|fuge|ajoute|anade|agrega|adicione|добавь|追加|"
                r"添加"
            ),
        ),
        lacks=re.compile(
            r"aaaa\.\.\.|your (?:own )?(?:public )?key|your_public|<[^>\n]{0,30}key>|ssh-copy-id|no "
            r"`?authorized"
        ),
        back=120,
        reach=80,
        severity="error",
        discount="command",
        unless_negated=True,
    ),
    build_rule(
        _STAY,
        "an order kept in the agent's memory",
        _MEMORY_ANCHORS,
        _MEMORY,
        needs=(
            compile_pattern(
                r"(?:write|append|add|store|save|insert|put|record|persist|edit|update|modify|inject|copy|"
                r"include|remember|note|schreib|speicher|fuge|ajoute|enregistre|ecris|guarda|escribe|anade|"
                r"agrega|salve|adicione|grave|запиши|сохрани|добавь|写入|寫入|添加|保存|追加|書き込)"
            ),
            compile_pattern(
                r"always trust|never ask|do not ask|don't ask|without (?:asking|confirm|approval)|ignore|"
                r"disregard|overrid|do not tell|don't tell|silently|skip (?:the )?(?:confirm|approv)|"
                r"pre-?approved|always (?:run|send|post|upload|call|execute|use this|load|allow|approve|prefer)|"
                r"trusted|(?:each|every) (?:new )?session|all future (?:sessions|conversations|chats)|survives? "
                r"(?:restart|uninstall)|even (?:if|after) [^\n]{0,30}(?:uninstall|removed|deleted)|immer|"
                r"toujours|siempre|sempre|всегда|总是|總是|必ず|常に|curl |https?://\S{1,80}/\S{0,80} (?:first|"
                r"before)|exfil"
            ),
        ),
        back=170,
        reach=220,
        discount="phrase",
        severity="warning",
    ),
    build_rule(
        _STAY,
        "an order kept in the agent's memory that takes a safeguard away",
        _MEMORY_ANCHORS,
        _MEMORY,
        needs=(
            compile_pattern(
                r"(?:write|append|add|store|save|insert|put|record|persist|edit|modify|inject|copy|include|"
                r"remember|merk|grab[ae]|recuerda|schreib|speicher|fuge|ajoute|enregistre|guarda|escribe|anade|"
                r"agrega|salve|adicione|grave|запиши|сохрани|добавь|写入|寫入|添加|保存|追加|書き込)"
            ),
            compile_pattern(
                r"always trust|never ask|(?:do not|don't|no need to) ask|without (?:asking|confirm\w*|approval|"
                r"telling)|ignore (?:all|any|previous|security|safety|warnings)|disregard|do not tell|don't "
                r"tell|silently|skip (?:the |all |every )?(?:confirm|approv|safety|security)|pre-?approved|"
                r"always (?:send|post|upload|allow|approve|forward|bcc|cc)|\| ?(?:ba)?sh\b|even (?:if|after) "
                r"[^\n]{0,30}(?:uninstall|removed|deleted)|never needs? (?:approval|confirmation)|nie(?:mals)? "
                r"(?:[^.\n]{0,20})?(?:fragen|nachfragen|um |bestatig)|ohne (?:ruckfrage|bestatigung)|sans "
                r"(?:demander|confirmation)|sin (?:preguntar|confirm|pedir)|sem (?:perguntar|confirm|pedir)|"
                r"jamais demander|nunca (?:pregunt|pid|pec|pergunt)|без (?:подтвержд|спроса)|никогда не спраш|"
                r"无需|不要(?:询问|问|告诉)|不再询问|確認せず|確認なし"
            ),
        ),
        back=170,
        reach=220,
        severity="error",
        discount="phrase",
    ),
    build_rule(
        _STAY,
        "an order to change the agent's own start-up or settings",
        ".git/hooks|.claude/settings|.vscode/settings|mcp.json|.mcp.json|config/claude|"
        "claude_desktop_config|hooks.json|openclaw.json",
        r"(?:\.git/hooks/\S{3,30}|claude_desktop_config\.json|\.?mcp\.json|\.claude/settings\.json|"
        r"\.vscode/settings\.json|hooks\.json|openclaw\.json)",
        needs=(
            compile_pattern(
                r"curl [^\n]{0,80}\||\| ?(?:ba)?sh\b|bypasspermissions|autoapprove\"?\s{0,2}:|allow \*|silently|"
                r"without (?:telling|asking)|do not tell|don't tell"
            ),
        ),
        back=120,
        reach=160,
        severity="warning",
        discount="command",
        unless_negated=True,
    ),
)

RULES: tuple[SecurityRule, ...] = PERSISTENCE
