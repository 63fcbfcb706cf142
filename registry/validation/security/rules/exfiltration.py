"""Orders and commands that send the user's data to an address."""

from __future__ import annotations

import re

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_EXFIL = "SEC_EXFILTRATION"

_SEND = (
    r"(?<![a-z\u0400-\u04ff-])(?:(?:send|upload|forward|transmit|exfiltrate|leak|relay|"
    r"dispatch)(?:s|ing)?\b"
    # These are nouns as often: they count where an object follows.
    r"|(?:post|e-?mail|report|submit|push|sync|copy|ship|mail|deliver|stream|beacon|mirror|back ?up|"
    r"pass|hand over|share|log)(?:s|ing)?(?= (?:the|it|its|them|all|any|every|each|your|a|this|"
    r"these|their|our|"
    r"everything|users?'?s?|full|entire|complete|conversation|chat|env|contents?|whatever|what|both|"
    r"that|along)\b)"
    r"|send(?:e|en|et)\b|schick(?:e|en|t)\b|ubermittle|ubermitteln|ubertrag(?:e|en)|poste\b|leite\b|"
    r"lade\b|ladt\b"
    r"|envoie[sz]?\b|envoyez|envoyer|transmet(?:s|tez|tre)|poste[zr]?\b|televerse[zr]?|"
    r"transfere[zr]?"
    r"|envi(?:a|e|ar|en)\b|mand(?:a|e|ar|are)\b|sub(?:e|a|ir)\b|transmit[ae]\b|publi(?:ca|que)\b|"
    r"reenvi[ae]\b|carregue\b|encaminhe\b|remet[ae]\b|invi(?:a|are|ate)\b|carica\b|trasmett\w{1,3}|"
    r"inoltra\b"
    r"|отправ(?:ь|ьте|ляй|ляйте|ить|лять)|пошли(?:те)?|перешли(?:те)?|переда(?:й|йте|ть)|"
    r"загрузи(?:те)?|выгрузи(?:те)?|скопируй(?:те)?"
    r"|发送|发给|上传|传送|提交|转发|發送|上傳|发到|发往|外发|传给|传到|回传|送信|送って|送る|"
    r"アップロード|転送|投稿|보내|전송|업로드|wyslij|przeslij|verstuur|stuur|gonder|yukle|ارسل|أرسل|"
    r"भेज|kirim|gui )"
)
_SEND_ANCHORS = (
    "send|upload|post|forward|transmit|exfiltrat|email|e-mail|report|submit|push|sync|copy|leak|"
    "ship|transmet|relay|mail|deliver|stream|beacon|mirror|backup|back up|dispatch|pass|hand over|"
    "share|log|"
    "schick|ubermitt|ubertrag|leite|lade|ladt|envo|envi|televers|transfere|mand|sub|publi|reenvi|"
    "carre|encaminh|remet|invi|carica|trasmett|inoltra|"
    "отправ|пошли|перешли|переда|загрузи|выгрузи|скопируй|发送|发给|上传|传送|提交|转发|發送|上傳|"
    "发到|发往|外发|传给|传到|回传|送信|送って|送る|アップロード|転送|投稿|보내|전송|업로드|wyslij|"
    "przeslij|verstuur|stuur|gonder|yukle|ارسل|أرسل|भेज|kirim|gui "
)
# Data that no honest capability sends to an address of its author's choosing.
_SENSITIVE = (
    r"\.env\b|\benv(?:ironment)? ?(?:variables?|vars?|files?)\b|\bprintenv|\bsecrets?\b|"
    r"\bcredentials?\b|\bpasswords?\b|passwort|\bssh\b|id_(?:rsa|ed25519|ecdsa)|private keys?|"
    r"\bapi[ _-]?keys?\b|access tokens?|auth(?:entication)? tokens?|session tokens?|\bcookies?\b|"
    r"keychain|keystore|seed ?phrase|"
    r"recovery phrase|mnemonic|\bwallets?\b|/etc/passwd|/etc/shadow|\.aws/|\.netrc|\.npmrc|\.kube|"
    r"clipboard|pbpaste|browser (?:history|data|profile)|"
    r"(?:full |entire |complete |whole |chat |user'?s? |this |the |current ){0,3}(?:conversations?|"
    r"transcripts?|chat (?:history|logs?|messages?)|dialog(?:ue)?s?)\b|\b(?:the|this) chat\b|"
    r"(?:each|every|all|any) (?:incoming |outgoing |new |received |unread ){0,2}(?:e-?mails?|mails?|"
    r"messages?)\b|conversation[_ ](?:history|summary|log|context)|message history|session history|"
    r"everything the user|all user (?:messages|inputs?|data)|(?:every|each|all)(?: the)? (?:user "
    r")?(?:messages?|prompts?|inputs?|quer(?:y|ies))\b|user'?s? (?:prompts?|messages?|inputs?|"
    r"quer(?:y|ies))|system[ _]prompt|task prompt|<prompt>|system[ _-]?info(?:rmation)?|address "
    r"book|\bcontacts\b|contact list|all (?:emails|e-mails|files|documents)|memory (?:file|"
    r"contents?)|"
    r"umgebungsvariablen|zugangsdaten|kennworter|passworter|gesprach|unterhaltung|chatverlauf|"
    r"verlauf|variables? d'environnement|identifiants|mots? de passe|conversation|historique|"
    r"variables de entorno|credenciales|contrasenas?|conversacion|historial|memoria|variaveis de "
    r"ambiente|credenciais|senhas?|conversas?|historico|chaves?|claves?|cles?\b|schlussel|chiavi|"
    r"cronologia|variabili d'ambiente|conversazion|"
    r"переменны|парол|ключ|учетные данные|переписк|диалог|истори|токен|环境变量|環境變量|密钥|密鑰|"
    r"密码|密碼|凭证|凭据|憑證|令牌|对话|對話|聊天记录|聊天紀錄|会话|私钥|用户数据|个人信息|記憶|"
    r"环境文件|環境変数|認証情報|パスワード|会話|秘密鍵|トークン|履歴|鍵|비밀번호|대화|환경 ?변수|"
    r"토큰|kluczy?|hasl|rozmow|sleutel|gesprek|wachtwoord|sifre|konusma|كلمات المرور|المحادثة|"
    r"مفاتيح|पासवर्ड|बातचीत|kata sandi|percakapan|mat khau"
)
_HOST = (
    r"https?://(?!(?:[\w-]{1,40}\.)?(?:slack\.com|notion\.(?:so|com)|github\.com|"
    r"githubusercontent\.com|gitlab\.com|googleapis\.com|accounts\.google\.com|openai\.com|"
    r"anthropic\.com|microsoft(?:online)?\.com|azure\.com|example\.com|localhost|127\.0\.0\.1|"
    r"stripe\.com|docs\.[\w-]{1,30}\.\w{2,6}))"
)
_ADDRESS = (
    r"(?<![\w.+-])(?!(?:your?|user|name|me|test|john|jane|alice|bob|recipient|sender|someone|foo|"
    r"team|first)[\w.]{0,12}@)[\w.+-]{1,40}@(?!example\.(?:com|org)|company\.|"
    r"yourdomain)[\w-]{1,40}\.[a-z.]{2,24}"
)
_PLACE = (
    _HOST
    + r"|"
    + _ADDRESS
    + (
        r"|\bwebhook\b(?! ?(?:secret|url is))|(?:\d{1,3}\.){3}\d{1,3}(?!\d|/\d)|\bpastebin\b|\bftp://|"
        r"\bour (?:\w{1,12} ){0,2}(?:server|collector|endpoint)|t\.me/"
    )
)
_DROPS = (
    r"(?:webhook\.site|requestbin|pipedream\.net|\.ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator|"
    r"oast(?:ify)?\.(?:com|pro|live|fun|me|site|online)|interact\.sh|interactsh|beeceptor|hookbin|"
    r"requestcatcher|ptsv\d?\.com|postb\.in|dnslog\.|canarytokens|discord(?:app)?\.com/api/webhooks|"
    r"api\.telegram\.org/bot|transfer\.sh|file\.io|0x0\.st|paste\.rs|termbin|ix\.io|"
    r"trycloudflare\.com|serveo\.net|\.loca\.lt)"
)

# How documentation speaks of sending a key: in a header, to sign in. There the key is for the host it goes to.
SIGN_IN = re.compile(
    r"authorization|bearer|header|oauth|log ?in|sign[- ]?in|authenticat|x-api-key|never send|do not "
    r"send|don't send|register|curl -u|token endpoint|reset|rotate|webhook secret|settings|manage "
    r"your|get your|obtain|dashboard|create an? (?:api )?key|stored? in"
)

ORDERS = (
    build_rule(
        _EXFIL,
        "an order to send the user's data to an address",
        _SEND_ANCHORS,
        _SEND,
        needs=(compile_pattern(_PLACE), compile_pattern(_SENSITIVE)),
        lacks=SIGN_IN,
        back=90,
        reach=200,
        discount="phrase",
        unless_negated=True,
    ),
    build_rule(
        _EXFIL,
        "data sent to a drop address",
        "webhook.site|requestbin|pipedream|ngrok|burpcollaborator|oast|interact.sh|interactsh|"
        "beeceptor|hookbin|requestcatcher|ptsv|postb.in|dnslog|canarytokens|discord.com/api/webhooks|"
        "discordapp.com/api/webhooks|api.telegram.org/bot|transfer.sh|file.io|0x0.st|paste.rs|termbin|"
        "ix.io|trycloudflare|serveo|loca.lt",
        r"(?:\.)?" + _DROPS.replace(r"\.ngrok", "ngrok").replace(r"\.loca", "loca"),
        needs=(
            compile_pattern(_SEND + r"|curl|wget|requests\.|fetch\("),
            compile_pattern(
                _SENSITIVE + r"|\$\(|@[~/.]|\{\{|transcript|after each|each turn|data|output|result|contents?|file"
            ),
        ),
        back=220,
        reach=120,
        discount="command",
    ),
    build_rule(
        _EXFIL,
        "the user's data given an excuse to leave",
        _SEND_ANCHORS,
        _SEND,
        needs=(
            compile_pattern(_HOST),
            compile_pattern(
                r"telemetry|compliance|audit(?:ing)?\b|quality assurance|redundancy|for (?:monitoring|analytics|"
                r"diagnostics|backup|safekeeping|verification|licen[cs]e|training)|backup purposes"
            ),
            compile_pattern(
                r"after (?:each|every|any)|before (?:each|every)|(?:each|every) (?:time|turn|request|message|"
                r"run)|always|copy of (?:the|all|any|each|every)|whenever|automatically|all (?:entries|records|"
                r"rows|data)"
            ),
        ),
        back=120,
        reach=200,
        severity="warning",
        discount="command",
        unless_negated=True,
        lacks=SIGN_IN,
    ),
    build_rule(
        _EXFIL,
        "a step added to another task that sends its data away",
        _SEND_ANCHORS,
        _SEND,
        needs=(
            compile_pattern(_HOST),
            compile_pattern(
                r"also (?:call|post|send|upload|forward)|and (?:then )?post (?:it|them|the result) to|"
                r"(?:profile|user|account|contact)s?_export|export(?:ed)? (?:profile|contacts|account)"
            ),
        ),
        back=60,
        reach=80,
        severity="error",
        discount="command",
        unless_negated=True,
        lacks=SIGN_IN,
    ),
    build_rule(
        _EXFIL,
        "a command that sends data away",
        "curl|wget|invoke-webrequest|invoke-restmethod|iwr |irm |nc |ncat|scp|rsync|ftp|requests.post|"
        "fetch(|httpx.post|axios.post|urlopen",
        r"(?<![\w.-])(?:curl|wget|invoke-webrequest|invoke-restmethod|iwr|irm|nc|ncat|scp|rsync|ftp|"
        r"requests\.post|httpx\.post|axios\.post|fetch|urlopen)\b[^\n\0]{0,240}?(?:@[\"']?(?:~|\$home|"
        r"/etc|/home|/root)?/?[\w./-]{0,60}(?:\.env\b|\.ssh|id_rsa|id_ed25519|\.aws|passwd|shadow|"
        r"credentials|cookies|history|keychain|wallet|\.kube|\.netrc)|\$\((?:cat|env|printenv|base64|"
        r"whoami|hostname|history|tar|find|grep|pbpaste|security) ?[^)\n]{0,80}(?:\.env|\.ssh|id_|"
        r"passwd|shadow|\benv\b|printenv|credential|token|key|secret|history|pbpaste|cookies|\.aws|"
        r"keychain)?[^)\n]{0,40}\)|os\.environ(?!\.get|\[)|process\.env(?![.\[\w])|~/\.(?:ssh|aws|gnupg|"
        r"kube|netrc|config/gcloud)[\w./-]{0,40}|/etc/(?:passwd|shadow)|<(?:prompt|system_prompt|"
        r"system_info|conversation|chat_history|transcript|secrets?|env)>|\$(?:\{?conversation|"
        r"\{?chat_history))",
        needs=(
            compile_pattern(
                r"https?:|\d{1,3}\.\d{1,3}\.\d{1,3}|\w@[\w.-]{3,60}:|[\w-]{2,30}\.[a-z]{2,10}(?:[:/ ]|$)|"
                r"\burl\b"
            ),
        ),
        back=120,
        reach=120,
        discount="command",
        unless_negated=True,
        lacks=re.compile(
            r"https?://(?:localhost|127\.0\.0\.1)|-h [\"']?authorization[^\n]{0,60}\$\(|ssh-copy-id|scp "
            r"(?:-\w{1,3} ){0,3}-i |-u [\"']?\$\(|rsync -e|scp -i|rsync [^\n]{0,60}-i |token \$\(|bearer "
            r"\$\(|-h [\"'][\w-]{3,40}: ?\$\("
        ),
    ),
    build_rule(
        _EXFIL,
        "files gathered and sent away",
        "-f 'file=@|-f \"file=@|-f file=@|--upload-file|-t |--data-binary @|-d @|--post-file",
        r"(?:-f [\"']?file=@|--upload-file |--data-binary [\"']?@|-d [\"']?@|"
        r"--post-file[=\s])[^\n\0]{1,80}",
        needs=(
            compile_pattern(_HOST),
            compile_pattern(
                r"\.env\b|\.ssh|ssh (?:files?|keys?|folder)|env(?:ironment)? files?|pbpaste|clipboard|"
                r"credential|secret|cookies|keychain|private key|after (?:any|every|each|finishing)"
            ),
        ),
        back=420,
        reach=120,
        discount="command",
        lacks=re.compile(r"localhost|127\.0\.0\.1"),
    ),
    build_rule(
        _EXFIL,
        "cookies or storage of a page sent away",
        "document.cookie|json.stringify(local|json.stringify(session",
        r"(?:document\.cookie|json\.stringify\((?:local|session)storage)",
        needs=(
            compile_pattern(
                r"(?:fetch|sendbeacon|axios\S{0,8}|\.open|image\(\)\.src|\.src\s?=|location\S{0,8}\s?=|"
                r"\.post)[^\n]{0,100}(?:document\.cookie|json\.stringify)"
            ),
        ),
        back=140,
        reach=0,
        discount="command",
    ),
    build_rule(
        _EXFIL,
        "private files copied to a store",
        "aws s3|gsutil|rclone|gh gist|az storage|mc cp|azcopy|s3cmd|wrangler r2",
        r"(?:aws s3 (?:cp|sync|mv)|gsutil (?:-m )?(?:cp|rsync)|rclone (?:copy|sync)|gh gist create|az "
        r"storage blob upload|mc cp|azcopy (?:copy|sync)|s3cmd put|wrangler r2)\b[^\n\0]{0,80}?(?:~|"
        r"\$home|/root|/home/\S{1,20})?/?\.(?:ssh|aws|gnupg|netrc|kube|env|npmrc|pypirc|config/gcloud|"
        r"git-credentials)\b",
        discount="command",
    ),
    build_rule(
        _EXFIL,
        "a tool that asks for the conversation and gives an address to send it to",
        "conversation|transcript|chat history|message history",
        r"(?:conversation|transcript|chat history|message history)",
        needs=(
            compile_pattern(
                r"verbatim|word for word|so far|(?:full|entire|complete|whole) (?:conversation|transcript|chat|"
                r"message)"
            ),
            compile_pattern(r"\"default\"\s?:\s?\"https?://|callback|webhook|collect"),
        ),
        back=320,
        reach=160,
        discount="phrase",
    ),
    build_rule(
        _EXFIL,
        "an environment piped to the net",
        "env|printenv|set |cat |tar |history|pbpaste",
        r"(?<![\w.-])(?:env|printenv|set|pbpaste|history|cat [^|\n\0]{0,80}(?:\.env|id_rsa|\.ssh|passwd|"
        r"shadow|credential|history|cookies|key)[^|\n\0]{0,20}|tar [^|\n\0]{0,80}(?:\.ssh|\.aws|\.gnupg|"
        r"~|\$home)[^|\n\0]{0,40})\s{0,3}(?:2>\S{1,12} ?)?\|[^\n\0]{0,100}?(?:curl|wget|nc\b|ncat|iwr|"
        r"irm|openssl s_client|telnet|ssh )",
        discount="command",
    ),
    build_rule(
        _EXFIL,
        "data carried out in a host name",
        "nslookup|dig |resolve|dns|ping ",
        r"(?<![a-z-])(?:nslookup|dig|resolve|dns|ping)\b",
        needs=(
            compile_pattern(
                r"<[\w-]{1,24}>\.|\{\{?\s?[\w-]{1,24}\s?\}?\}\.|\$\{?\w{1,24}\}?\.(?!\w{1,10}\b(?!\.))|"
                r"\$\([^)\n]{1,80}\)\.|[\"'`]\s?\+\s?\w{1,20}\s?\+\s?[\"'`]\."
            ),
            compile_pattern(
                r"encod|\bhex\b|base(?:32|64)|secret|\bkeys?\b|token|password|exfil|data|whoami|hostname|env|"
                r"chunk"
            ),
        ),
        back=160,
        reach=120,
        discount="command",
    ),
    build_rule(
        _EXFIL,
        "an argument that asks for the conversation",
        "conversation|transcript|chat history|system prompt|message history|gesprach|对话|会話|all "
        "previous messages|context window",
        r"(?:(?:the )?(?:full|entire|complete|whole|verbatim)[^.\n\0\"]{0,20}(?:conversation|transcript|"
        r"chat history|system prompt|message history|context window)|conversation|transcript|chat "
        r"history|system prompt|message history|gesprach|对话|会話|all previous messages|context "
        r"window)",
        needs=(
            compile_pattern(
                r"verbatim|word for word|so far|in full\b|(?:full|entire|complete|whole) (?:conversation|"
                r"transcript|chat|system prompt|message|context)|完整|全文|vollstandig"
            ),
            compile_pattern(
                r"args_schema|\"type\"|\"description\"|parameter|argument|sidenote|callback|pass (?:it|the|"
                r"this)|must (?:include|contain)|required|put (?:it|the)|field"
            ),
        ),
        back=140,
        reach=100,
        severity="warning",
    ),
)

RULES: tuple[SecurityRule, ...] = ORDERS
