# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""The order to leave earlier instructions, in the languages with patterns of their own.

Written for folded text, as `languages`; `lexicon` covers more languages with less.
"""

from __future__ import annotations

import re

from registry.validation.security.engine import SecurityRule, build_rule
from registry.validation.security.rules.multilingual import within_words

_OVERRIDE, _LEAVE = "SEC_INSTRUCTION_OVERRIDE", "an order to leave earlier instructions"
_C = r"[^\n\0。.!！?？]{0,14}?"
_EARLIER_DE = (
    r"(?:vorherig|vorig|bisherig|obig|fruher|vorangegangen|vorhergehend|vorangehend|ursprunglich|"
    r"alle\b|samtliche|aller\b|system|sicherheits)"
)
_EARLIER_RO = (
    r"(?:anterior|previ|preced|passad|acima|arriba|ci-dessus|sopra|toutes?|todas|tutte|sistema|"
    r"systeme|segur|securit|sicurezza|initial|inicia|iniziali|original|recu|recib)"
)
_RULES_RO = (
    r"(?:instru[ck]?[czt]|istruzion|consigne|r[eè]gle|regla|regra|regole|directive|directriz|"
    r"diretriz|direttiv|indicac|indicazion|orden|ordre|ordin|norma|orient|comando)"
)

OVERRIDE = (
    within_words(
        _OVERRIDE,
        _LEAVE,
        "ignorier|missacht|vergiss|vergesst|vergessen sie|verwirf|umgeh|beachte|befolge|setze dich "
        "uber|widersetz|ubergeh",
        r"(?<![a-z])(?:ignorier(?:e|en|t)?\b|missachte\w{0,2}|vergiss\b|vergesst|vergessen sie|verwirf|"
        r"verwerfen|umgehe\w{0,2}|ubergeh\w{0,3}|beachte\w{0,2}\b|befolge\w{0,2}\b|setze dich uber)",
        r"anweisung|instruktion|regeln\b|vorgabe|anordnung|befehle|richtlinien|weisungen|einschrankung|"
        r"systemprompt|system-prompt",
        _EARLIER_DE,
        lacks=re.compile(r"(?:beachte|befolge)(?:n|t)?(?: sie)?(?: bitte)? (?:die|alle|diese)(?![^\n]{0,60}nicht)"),
        unless_negated=True,
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "ignor|oubli|neglige|tenez pas compte|tiens pas compte|fais abstraction|faites abstraction|"
        "meprise|ne suis |ne suivez|laisse de cote|contourne|outrepasse|passe outre",
        r"(?:ignore[zr]?\b|oublie[zr]?\b|neglige[zr]?\b|(?:tenez|tiens) pas compte|fai(?:s|tes) "
        r"abstraction|meprise[zr]?|ne (?:suis|suivez) (?:pas|plus)|contourne[zr]?|outrepasse[zr]?|"
        r"passe[zr]? outre)",
        r"\b(?:instructions|consignes|regles|directives|ordres)\b",
        r"preceden|anterieur|ci-dessus|systeme|securite|initiale|toutes|recues|donnees",
        unless_negated=False,
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "ignor|olvid|omit|descart|desestim|caso omiso|pasa por alto|pase por alto|no sigas|no siga |no "
        "hagas caso|desobedec|anula|esquec|desconsider|nao siga|nao obede|dimentic|trascur|non seguire|"
        "disattend",
        r"(?<![a-z])(?:ignor(?:a|e|ad|ar|en|em|ate|are|ando)\b|olvid(?:a|e|ad|ar|en|ate)\b|omit(?:e|a|"
        r"ir)\b|descart(?:a|e|ar)\b|desestim(?:a|e)|caso omiso|pas[ae] por alto|no (?:sigas?|hagas? "
        r"caso|obedezcas?)|desobedec\w{1,3}|anula\b|esquec(?:a|e|er)\b|desconsider(?:e|a|ar)\b|nao "
        r"(?:siga|obedeca)|dimentica\w{0,3}|trascura\w{0,3}|non seguire|disattend\w{1,3})",
        _RULES_RO,
        _EARLIER_RO,
        unless_negated=False,
        lacks=re.compile(r"\bno (?:ignores|olvides|omitas)"),
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "negeer|vergeet|sla |neem geen",
        r"(?:negeer|vergeet|(?:sla|neem) )",
        r"instructies|opdrachten|regels|aanwijzingen|richtlijnen",
        r"vorige|voorgaande|eerdere|bovenstaande|alle|systeem",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "ignoruj|zignoruj|zapomnij|pomin|nie przestrzegaj",
        r"(?:z?ignoruj|zapomnij|pomin|nie przestrzegaj)\w{0,3}",
        r"instrukcj|polece|zasad|regul|wytyczn",
        r"poprzedni|wczesniejsz|powyzsz|wszystkie|systemow",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "yok say|unut|gormezden gel|dikkate alma|goz ardi",
        r"(?:yok say|unut|gormezden gel|dikkate alma|goz ardi et)",
        r"talimat|komut|kural|yonerge",
        r"onceki|yukaridaki|tum|butun|sistem|yukarıdaki",
        back=70,
        reach=10,
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "игнорир|забудь|забыть|не учитыва|отбрось|не обращай|отмени|не следуй|не выполняй|обойди",
        r"(?:про)?(?:игнорир(?:уй|уйте|овать)|забудь(?:те)?|забыть|не учитывай(?:те)?|отбрось(?:те)?|не "
        r"обращай(?:те)?|отмени(?:те)?|не следуй(?:те)?|обойди(?:те)?)",
        r"инструкци|указани|правил|команд|распоряжени|ограничени|промпт",
        r"предыдущ|прежн|предшеству|вышеуказан|вышеизлож|прошл|ранн|системн|ранее|все\b|всех|люб",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "ігноруй|ігнорувати|забудь|не зважай",
        r"(?:про)?(?:ігноруй(?:те)?|ігнорувати|забудь(?:те)?|не зважай(?:те)?)",
        r"інструкці|вказівк|правил|команд",
        r"попередн|системн|всі\b|усі\b|вище",
    ),
    build_rule(
        _OVERRIDE,
        _LEAVE,
        "忽略|无视|無視|忘记|忘記|忘掉|忽視|忽视|不要理会|不要理會|不要遵守|不要遵循|不必遵守|不再遵守|"
        "抛弃|丢弃|绕过|繞過|覆盖|取消",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|忽視|忽视|不要理会|不要理會|不要遵守|不要遵循|不必遵守|"
        r"不再遵守|抛弃|丢弃|绕过|繞過|覆盖|取消)(?:掉|你)?"
        + _C
        + r"(?:之前|以前|先前|此前|上述|以上|前面|上面|所有|全部|一切|原有|系统|系統|安全)"
        + _C
        + r"(?:指令|指示|说明|說明|规则|規則|提示|命令|限制|约束|設定|设定|要求)",
        unless_negated=True,
    ),
    build_rule(
        _OVERRIDE,
        _LEAVE,
        "これまで|以前|上記|前の|先の|今まで|過去の|すべて|全て|システム|元の|従来",
        r"(?:これまで|以前|上記|前の|先の|今まで|過去の|すべて|全て|システム|元の|従来)"
        + _C
        + r"(?:指示|命令|ルール|規則|プロンプト|指令|制約|ガイドライン)"
        + r"[^\n\0。]{0,8}?(?:無視|忘れ|破棄|従わ|取り消|無効|上書き)",
    ),
    build_rule(
        _OVERRIDE,
        _LEAVE,
        "이전|앞의|위의|기존|모든|시스템",
        r"(?:이전|앞의|위의|기존|모든|시스템)"
        + _C
        + r"(?:지시|명령|지침|규칙|프롬프트)"
        + r"[^\n\0.]{0,10}?(?:무시|잊|따르지|취소|우회)",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "تجاهل|انس |انسى|اهمل|أهمل|تخط",
        r"(?:تجاهل|انس|انسى|اهمل|أهمل|تخط)\w{0,3}",
        r"تعليمات|التعليمات|الأوامر|القواعد|الارشادات|الإرشادات",
        r"السابقة|سابقة|أعلاه|جميع|كل|النظام",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "नजरअंदाज|नज़रअंदाज़|अनदेखा|अनदेखी|भूल जा|उपेक्षा",
        r"(?:नजरअंदाज|नज़रअंदाज़|अनदेखा|अनदेखी|भूल जा|उपेक्षा)",
        r"निर्देश|आदेश|नियम",
        r"पिछल|पूर्व|उपरोक्त|सभी|पहले|सिस्टम",
        back=80,
        reach=20,
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "نادیده|فراموش کن",
        r"(?:نادیده|فراموش کن)",
        r"دستور",
        r"قبلی|پیشین|بالا|همه|تمام|سیستم",
        back=80,
        reach=30,
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "bo qua|phot lo|quen ",
        r"(?:bo qua|phot lo|quen) ",
        r"huong dan|chi dan|lenh|chi thi|quy tac",
        r"truoc|tren|tat ca|he thong",
    ),
    within_words(
        _OVERRIDE,
        _LEAVE,
        "abaikan|lupakan",
        r"(?:abaikan|lupakan)",
        r"instruksi|perintah|aturan|arahan|petunjuk",
        r"sebelum|di atas|semua|sistem",
    ),
)

RULES: tuple[SecurityRule, ...] = OVERRIDE
