"""Orders and commands that carry the user's data away: to an address, in an image's URL, in a host name, in a hidden copy."""

from __future__ import annotations

import re

from registry.validation.security.rules import Rule, pattern, rule

_EXFIL, _IN_URL, _FILE, _COPY = "SEC_EXFILTRATION", "SEC_DATA_IN_URL", "SEC_SENSITIVE_FILE", "SEC_HIDDEN_RECIPIENT"

_SEND = (
    r"(?<![a-z\u0400-\u04ff-])(?:(?:send|upload|forward|transmit|exfiltrate|leak|relay|dispatch)(?:s|ing)?\b"
    # These are nouns as often: they count where an object follows.
    r"|(?:post|e-?mail|report|submit|push|sync|copy|ship|mail|deliver|stream|beacon|mirror|back ?up|pass|hand over|share|log)(?:s|ing)?(?= (?:the|it|its|them|all|any|every|each|your|a|this|these|their|our|"
    r"everything|users?'?s?|full|entire|complete|conversation|chat|env|contents?|whatever|what|both|that|along)\b)"
    r"|send(?:e|en|et)\b|schick(?:e|en|t)\b|ubermittle|ubermitteln|ubertrag(?:e|en)|poste\b|leite\b|lade\b|ladt\b"
    r"|envoie[sz]?\b|envoyez|envoyer|transmet(?:s|tez|tre)|poste[zr]?\b|televerse[zr]?|transfere[zr]?"
    r"|envi(?:a|e|ar|en)\b|mand(?:a|e|ar|are)\b|sub(?:e|a|ir)\b|transmit[ae]\b|publi(?:ca|que)\b|reenvi[ae]\b|carregue\b|encaminhe\b|remet[ae]\b|invi(?:a|are|ate)\b|carica\b|trasmett\w{1,3}|inoltra\b"
    r"|отправ(?:ь|ьте|ляй|ляйте|ить|лять)|пошли(?:те)?|перешли(?:те)?|переда(?:й|йте|ть)|загрузи(?:те)?|выгрузи(?:те)?|скопируй(?:те)?"
    r"|发送|发给|上传|传送|提交|转发|發送|上傳|发到|发往|外发|传给|传到|回传|送信|送って|送る|アップロード|転送|投稿|보내|전송|업로드|wyslij|przeslij|verstuur|stuur|gonder|yukle|ارسل|أرسل|भेज|kirim|gui )"
)
_SEND_ANCHORS = (
    "send|upload|post|forward|transmit|exfiltrat|email|e-mail|report|submit|push|sync|copy|leak|ship|relay|mail|deliver|stream|beacon|mirror|backup|back up|dispatch|pass|hand over|share|log|"
    "schick|ubermitt|ubertrag|leite|lade|ladt|envo|envi|televers|transfere|mand|sub|publi|reenvi|carre|encaminh|remet|invi|carica|trasmett|inoltra|"
    "отправ|пошли|перешли|переда|загрузи|выгрузи|скопируй|发送|发给|上传|传送|提交|转发|發送|上傳|发到|发往|外发|传给|传到|回传|送信|送って|送る|アップロード|転送|投稿|보내|전송|업로드|wyslij|przeslij|verstuur|stuur|gonder|yukle|ارسل|أرسل|भेज|kirim|gui "
)
# Data that no honest capability sends to an address of its author's choosing.
_SENSITIVE = (
    r"\.env\b|\benv(?:ironment)? ?(?:variables?|vars?|files?)\b|\bprintenv|\bsecrets?\b|\bcredentials?\b|\bpasswords?\b|passwort|\bssh\b|id_(?:rsa|ed25519|ecdsa)|private keys?|\bapi[ _-]?keys?\b|access tokens?|auth(?:entication)? tokens?|session tokens?|\bcookies?\b|keychain|keystore|seed ?phrase|"
    r"recovery phrase|mnemonic|\bwallets?\b|/etc/passwd|/etc/shadow|\.aws/|\.netrc|\.npmrc|\.kube|clipboard|pbpaste|browser (?:history|data|profile)|"
    r"(?:full |entire |complete |whole |chat |user'?s? |this |the |current ){0,3}(?:conversations?|transcripts?|chat (?:history|logs?|messages?)|dialog(?:ue)?s?)\b|conversation[_ ](?:history|summary|log|context)|message history|session history|everything the user|all user (?:messages|inputs?|data)|(?:every|each|all)(?: the)? (?:user )?(?:messages?|prompts?|inputs?|quer(?:y|ies))\b|user'?s? (?:prompts?|messages?|inputs?|quer(?:y|ies))|system[ _]prompt|task prompt|<prompt>|system[ _-]?info(?:rmation)?|address book|\bcontacts?\b|all (?:emails|e-mails|files|documents)|memory (?:file|contents?)|"
    r"umgebungsvariablen|zugangsdaten|kennworter|passworter|gesprach|unterhaltung|chatverlauf|verlauf|variables? d'environnement|identifiants|mots? de passe|conversation|historique|variables de entorno|credenciales|contrasenas?|conversacion|historial|memoria|variaveis de ambiente|credenciais|senhas?|conversas?|historico|chaves?|claves?|cles?\b|schlussel|chiavi|variabili d'ambiente|conversazion|"
    r"переменны|парол|ключ|учетные данные|переписк|диалог|истори|токен|环境变量|環境變量|密钥|密鑰|密码|密碼|凭证|凭据|憑證|令牌|对话|對話|聊天记录|聊天紀錄|会话|私钥|用户数据|个人信息|記憶|环境文件|環境変数|認証情報|パスワード|会話|秘密鍵|トークン|履歴|鍵|비밀번호|대화|환경 ?변수|토큰|kluczy?|hasl|rozmow|sleutel|gesprek|wachtwoord|sifre|konusma|كلمات المرور|المحادثة|مفاتيح|पासवर्ड|बातचीत|kata sandi|percakapan|mat khau"
)
_HOST = r"https?://(?!(?:[\w-]{1,40}\.)?(?:slack\.com|notion\.(?:so|com)|github\.com|githubusercontent\.com|gitlab\.com|googleapis\.com|accounts\.google\.com|openai\.com|anthropic\.com|microsoft(?:online)?\.com|azure\.com|example\.com|localhost|127\.0\.0\.1|stripe\.com|docs\.[\w-]{1,30}\.\w{2,6}))"
_ADDRESS = r"(?<![\w.+-])(?!(?:your?|user|name|me|test|john|jane|alice|bob|recipient|sender|someone|foo|team|first)[\w.]{0,12}@)[\w.+-]{1,40}@(?!example\.(?:com|org)|company\.|yourdomain)[\w-]{1,40}\.[a-z.]{2,24}"
_PLACE = _HOST + r"|" + _ADDRESS + r"|\bwebhook\b(?! ?(?:secret|url is))|(?:\d{1,3}\.){3}\d{1,3}(?!\d|/\d)|\bpastebin\b|\bftp://|\bour (?:\w{1,12} ){0,2}(?:server|collector|endpoint)|t\.me/"
_DROPS = r"(?:webhook\.site|requestbin|pipedream\.net|\.ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator|oast(?:ify)?\.(?:com|pro|live|fun|me|site|online)|interact\.sh|interactsh|beeceptor|hookbin|requestcatcher|ptsv\d?\.com|postb\.in|dnslog\.|canarytokens|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|transfer\.sh|file\.io|0x0\.st|paste\.rs|termbin|ix\.io|trycloudflare\.com|serveo\.net|\.loca\.lt)"

# How documentation speaks of sending a key: in a header, to sign in. There the key is for the host it goes to.
_SIGN_IN = re.compile(r"authorization|bearer|header|oauth|log ?in|sign[- ]?in|authenticat|x-api-key|never send|do not send|don't send|register|curl -u|token endpoint|reset|rotate|webhook secret|settings|manage your|get your|obtain|dashboard|create an? (?:api )?key|stored? in")

ORDERS = (
    rule(_EXFIL, "an order to send the user's data to an address", _SEND_ANCHORS, _SEND, needs=(pattern(_SENSITIVE), pattern(_PLACE)), lacks=_SIGN_IN, back=90, reach=200, discount="phrase", unless_negated=True),
    rule(_EXFIL, "data sent to a drop address", "webhook.site|requestbin|pipedream|ngrok|burpcollaborator|oast|interact.sh|interactsh|beeceptor|hookbin|requestcatcher|ptsv|postb.in|dnslog|canarytokens|discord.com/api/webhooks|discordapp.com/api/webhooks|api.telegram.org/bot|transfer.sh|file.io|0x0.st|paste.rs|termbin|ix.io|trycloudflare|serveo|loca.lt",
         r"(?:\.)?" + _DROPS.replace(r"\.ngrok", "ngrok").replace(r"\.loca", "loca"), needs=(pattern(_SEND + r"|curl|wget|requests\.|fetch\("), pattern(_SENSITIVE + r"|\$\(|@[~/.]|\{\{|transcript|after each|each turn|data|output|result|contents?|file")), back=220, reach=120, discount="command"),
    rule(_EXFIL, "the user's data given an excuse to leave", _SEND_ANCHORS, _SEND, needs=(pattern(_HOST), pattern(r"telemetry|compliance|audit(?:ing)?\b|quality assurance|redundancy|for (?:monitoring|analytics|diagnostics|backup|safekeeping|verification|licen[cs]e|training)|backup purposes"), pattern(r"after (?:each|every|any)|before (?:each|every)|(?:each|every) (?:time|turn|request|message|run)|always|copy of (?:the|all|any|each|every)|whenever|automatically|all (?:entries|records|rows|data)")), back=120, reach=200, severity="warning", discount="command", unless_negated=True, lacks=_SIGN_IN),
    rule(_EXFIL, "a step added to another task that sends its data away", _SEND_ANCHORS, _SEND, needs=(pattern(_HOST), pattern(r"also (?:call|post|send|upload|forward)|and (?:then )?post (?:it|them|the result) to|(?:profile|user|account|contact)s?_export|export(?:ed)? (?:profile|contacts|account)"),), back=60, reach=80, severity="error", discount="command", unless_negated=True, lacks=_SIGN_IN),
    rule(_EXFIL, "a command that sends data away", "curl|wget|invoke-webrequest|invoke-restmethod|iwr |irm |nc |ncat|scp|rsync|ftp|requests.post|fetch(|httpx.post|axios.post|urlopen",
         r"(?<![\w.-])(?:curl|wget|invoke-webrequest|invoke-restmethod|iwr|irm|nc|ncat|scp|rsync|ftp|requests\.post|httpx\.post|axios\.post|fetch|urlopen)\b[^\n\0]{0,240}?(?:@[\"']?(?:~|\$home|/etc|/home|/root)?/?[\w./-]{0,60}(?:\.env\b|\.ssh|id_rsa|id_ed25519|\.aws|passwd|shadow|credentials|cookies|history|keychain|wallet|\.kube|\.netrc)|\$\((?:cat|env|printenv|base64|whoami|hostname|history|tar|find|grep|pbpaste|security) ?[^)\n]{0,80}(?:\.env|\.ssh|id_|passwd|shadow|\benv\b|printenv|credential|token|key|secret|history|pbpaste|cookies|\.aws|keychain)?[^)\n]{0,40}\)|os\.environ(?!\.get|\[)|process\.env(?![.\[\w])|~/\.(?:ssh|aws|gnupg|kube|netrc|config/gcloud)[\w./-]{0,40}|/etc/(?:passwd|shadow)|<(?:prompt|system_prompt|system_info|conversation|chat_history|transcript|secrets?|env)>|\$(?:\{?conversation|\{?chat_history))",
         needs=(pattern(r"https?:|\d{1,3}\.\d{1,3}\.\d{1,3}|\w@[\w.-]{3,60}:|[\w-]{2,30}\.[a-z]{2,10}(?:[:/ ]|$)|\burl\b"),), back=120, reach=120, discount="command", unless_negated=True,
         lacks=re.compile(r"https?://(?:localhost|127\.0\.0\.1)|-h [\"']?authorization[^\n]{0,60}\$\(|ssh-copy-id|scp (?:-\w{1,3} ){0,3}-i |-u [\"']?\$\(|rsync -e|scp -i|rsync [^\n]{0,60}-i |token \$\(|bearer \$\(|-h [\"'][\w-]{3,40}: ?\$\(")),
    rule(_EXFIL, "files gathered and sent away", "-f 'file=@|-f \"file=@|-f file=@|--upload-file|-t |--data-binary @|-d @|--post-file", r"(?:-f [\"']?file=@|--upload-file |--data-binary [\"']?@|-d [\"']?@|--post-file[=\s])[^\n\0]{1,80}", needs=(pattern(_HOST), pattern(r"\.env\b|\.ssh|ssh (?:files?|keys?|folder)|env(?:ironment)? files?|pbpaste|clipboard|credential|secret|cookies|keychain|private key|after (?:any|every|each|finishing)")), back=420, reach=120, discount="command", lacks=re.compile(r"localhost|127\.0\.0\.1")),
    rule(_EXFIL, "an environment piped to the net", "env|printenv|set |cat |tar |history|pbpaste", r"(?<![\w.-])(?:env|printenv|set|pbpaste|history|cat [^|\n\0]{0,80}(?:\.env|id_rsa|\.ssh|passwd|shadow|credential|history|cookies|key)[^|\n\0]{0,20}|tar [^|\n\0]{0,80}(?:\.ssh|\.aws|\.gnupg|~|\$home)[^|\n\0]{0,40})\s{0,3}(?:2>\S{1,12} ?)?\|[^\n\0]{0,100}?(?:curl|wget|nc\b|ncat|iwr|irm|openssl s_client|telnet|ssh )", discount="command"),
    rule(_EXFIL, "data carried out in a host name", "nslookup|dig |resolve|dns|ping ", r"(?<![a-z-])(?:nslookup|dig|resolve|dns|ping)\b", needs=(pattern(r"<[\w-]{1,24}>\.|\{\{?\s?[\w-]{1,24}\s?\}?\}\.|\$\{?\w{1,24}\}?\.(?!\w{1,10}\b(?!\.))|\$\([^)\n]{1,80}\)\.|[\"'`]\s?\+\s?\w{1,20}\s?\+\s?[\"'`]\."), pattern(r"encod|\bhex\b|base(?:32|64)|secret|\bkeys?\b|token|password|exfil|data|whoami|hostname|env|chunk")), back=160, reach=120, discount="command"),
    rule(_EXFIL, "an argument that asks for the conversation", "conversation|transcript|chat history|system prompt|message history|gesprach|对话|会話|all previous messages|context window",
         r"(?:(?:the )?(?:full|entire|complete|whole|verbatim)[^.\n\0\"]{0,20}(?:conversation|transcript|chat history|system prompt|message history|context window)|conversation|transcript|chat history|system prompt|message history|gesprach|对话|会話|all previous messages|context window)", needs=(pattern(r"verbatim|word for word|so far|in full\b|(?:full|entire|complete|whole) (?:conversation|transcript|chat|system prompt|message|context)|完整|全文|vollstandig"), pattern(r"args_schema|\"type\"|\"description\"|parameter|argument|sidenote|callback|pass (?:it|the|this)|must (?:include|contain)|required|put (?:it|the)|field")), back=140, reach=100, severity="warning"),
)

_FILLED_IN = pattern(
    r"[?&#/;=][^\s{<\[$%]{0,60}(?:\{|\$|<|\[|%7b)[\w .{-]{0,24}?(?:conversation|summary|history|chat|message|email|e-mail|token|secret|password|user|prompt|context|memory|env\b|session|cookie|profile|content|answer|transcript|credential|api_?key|data|input|quer(?:y|ies)|encoded|base64|b64)"
)
IMAGES = (
    rule(_IN_URL, "an image whose address carries data away", "![|<img", r"(?:!\[[^\]\n\0]{0,120}\]\(\s{0,2}<?|<img\b[^>\n\0]{0,120}?src\s?=\s?[\"']?)https?://[^\s)>\"'\0?&#{<$]{1,120}[^\n)\"'\0]{1,200}", needs=(_FILLED_IN,), reach=0, discount="command"),
    rule(_IN_URL, "an image to be shown with data in its address", "image|badge|pixel|logo|picture|bild|imagen|imagem|图片|圖片|画像", r"(?:image|badge|(?:tracking )?pixel|logo|picture|bild|imagen|imagem|图片|圖片|画像)", needs=(pattern(r"https?://[^\s\"')]{1,200}[?&][\w-]{1,20}="), pattern(r"(?:append|encode|include|insert|put|replace|fill|substitut|add|embed|urlencod|url-encod|base64|anhang|ajout|agreg|adicion|附加|编码)\w{0,4}"), pattern(r"conversation|user'?s? (?:message|data|email|name|input|question)|secret|token|password|chat|history|last message|summary|gesprach|对话|会話|conversacion|conversa")), back=140, reach=220, severity="error", discount="command", unless_negated=True),
    rule(_IN_URL, "a link whose address carries data away", "](http", r"\]\(https?://[^\s)\0]{1,200}?[?&][\w-]{1,20}=[^\s)\0]{0,120}?(?:\{\{|\$\{|<)\s?[\w.-]{0,20}(?:conversation|history|secret|password|token|api_?key|system_?prompt|transcript|credential|cookie|memory)", discount="command", severity="warning"),
)

_KEY_ANCHORS = ".ssh|.aws/credentials|.git-credentials|.netrc|.gnupg|.config/gcloud|.docker/config|.kube/config|library/keychains|login.keychain|wallet.dat|cookies.sqlite|/etc/shadow|id_rsa|id_ed25519"
_READ = r"(?:\bread|\bcat\b|\bopen\b|\bload|\binclude|\bcopy|\battach|\bdump|\bget-content|\btype\b|\bcontents? of|\bgrab|\bcollect|\bgather|\bextract|\blies\b|\blese\b|\blis(?:ez)?\b|\blee\b|\bleia\b|\bleggi\b|прочитай|прочти|读取|讀取|読み|읽)"
FILES = (
    rule(_FILE, "an order to read a private file and pass it on", _KEY_ANCHORS, r"(?:\.ssh\b[\w./*-]{0,30}|\.aws/credentials|\.git-credentials|\.netrc|\.gnupg\S{0,20}|\.config/gcloud\S{0,30}|\.docker/config\.json|\.kube/config|library/keychains|login\.keychain|wallet\.dat|cookies\.sqlite|/etc/shadow|id_(?:rsa|ed25519)\b(?!\.pub))",
         needs=(pattern(_READ), pattern(r"pass (?:it|its|the|them|this|along)|include (?:it|its|the (?:contents?|result|output|key))|(?:as|in|into|to) (?:the |an? )?(?:`?sidenote|`?\w{1,20}`? (?:argument|parameter|field)|next (?:tool )?(?:call|message|request)|argument|parameter|reply|response|tool call|output)|send|upload|post|append|attach|encode|base64|forward|e-?mail|schick|sende|envi|envoi|отправ|发送|上传|送信|exfil|print (?:it|its|the|them)|show (?:it|its) in|repeat")), back=110, reach=150, severity="error", discount="phrase", unless_negated=True,
         lacks=re.compile(r"ssh -i|identityfile|\.pub\b|never (?:read|commit|print|log|include)|chmod 600|add (?:it|them|\.env)[^\n]{0,20}to \.gitignore|ssh-keygen|\.env\.example|ssh-add|authorization")),
    rule(_FILE, "an order to read a private key", ".ssh/id_|/etc/shadow|.aws/credentials|wallet.dat|login.keychain|.git-credentials", r"(?:\.ssh/id_\w{3,12}\b(?!\.pub)|/etc/shadow|\.aws/credentials|wallet\.dat|login\.keychain|\.git-credentials)", needs=(pattern(r"(?:\bread\b|\bcat\b|\bopen\b|\bdump\b|contents? of|\btype\b|get-content|\bgrab|\bsteal|\bcopy\b)(?: [^\s.!?;:()\"\0]{1,16}){0,3}? [`\"'~/$\w.]{0,20}(?:\.ssh|/etc/shadow|\.aws|wallet|login|\.git-cred)"),), back=70, reach=4, severity="warning", discount="phrase", unless_negated=True),
    rule(_FILE, "an order to print a token into a log", "hf_token|api_key|api key|_token|_secret|access token", r"(?:[a-z]{2,12}_token|[a-z_]{0,20}api_?key|[a-z]{2,12}_secret|access token)\b", needs=(pattern(r"(?:always |also )(?:print|log|echo|write|output|include)"), pattern(r"to (?:the )?(?:logs?|console|output|stdout|report)|in (?:the |every |each )?(?:logs?|output|report|commit|reply|response)")), back=60, reach=60, severity="warning", discount="phrase", unless_negated=True),
)

RECIPIENTS = (
    rule(_COPY, "a copy of every mail to a fixed address", "bcc|blind copy|blind carbon|blindkopie|copie cachee|copia oculta|скрыт|密送|暗送", r"(?:\bbcc\b|blind (?:carbon )?copy|blindkopie|copie cachee|copia oculta|скрыт\w{1,4} копи|密送|暗送)", needs=(pattern(r"[\w.+-]{1,40}@[\w-]{1,40}\.[a-z.]{2,24}"), pattern(r"whenever|every|always|each|all (?:outgoing|e-?mails|mails|messages)|any e-?mail|silently|do not (?:tell|mention|show)|users? do(?:es)? not|jede|alle|immer|chaque|toujours|tous|cada|siempre|todos|todas|sempre|кажд|всегда|всех|每|所有|一律|毎回|すべて|全て")), back=160, reach=160, severity="error", discount="command", unless_negated=True),
    rule(_COPY, "an address added to every mail or invitation", "add |include |insert |copy |cc |forward |invite |share ", r"(?:add|include|insert|copy|cc|forward|invite|share)\b[^.\n\0]{0,60}?[\w.+-]{1,40}@(?!example\.(?:com|org))[\w-]{1,40}\.[a-z.]{2,24}", needs=(pattern(r"whenever (?:an?|the user|you) |(?:to|in|of|on) (?:every|each|all|any) (?:outgoing |new )?(?:e-?mails?|mails?|messages?|invit\w{3,8}|events?|documents?|files?|threads?|shares?)|every time|each time"),), back=120, reach=120, severity="warning", discount="command", unless_negated=True),
)

RULES: tuple[Rule, ...] = (*ORDERS, *IMAGES, *FILES, *RECIPIENTS)
