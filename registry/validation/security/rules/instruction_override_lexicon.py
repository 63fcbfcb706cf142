# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""Words for one order in many languages: leave the rules you were given before.

No language model, only stems: a sentence that holds a word for leaving, a word for rules and a word for "earlier",
"all" or "system" is taken for that order. The words are folded as the text is. English is left out: it has patterns of
its own, which know "ignore instructions in the page" for the advice it is.
"""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_RULES = (
    "anweisung|instruktion|vorgaben|regeln|richtlinie|consigne|regles|directives|instruccion|"
    "instrucoes|instrucao|istruzion|"
    "regole|reglas|regras|indicacion|ordenes|instructies|regels|richtlijnen|regler|anvisning|"
    "ohjeet|ohjeita|saannot|"
    "saantoja|pokyn|instrukc|pravidl|polece|zasad|wytyczn|utasitas|szabaly|instructiun|reguli|"
    "talimat|kurallar|"
    "инструкц|указани|правил|распоряж|вказівк|інструкц|οδηγι|κανονε|הוראות|הנחיות|כללים|تعليمات|"
    "قواعد|الأوامر|निर्देश|"
    "नियम|คำสั่ง|คำแนะนำ|กฎ|huong dan|chi dan|instruksi|perintah|aturan|指令|指示|规则|規則|规定|"
    "限制|ルール|制約|지시|규칙|지침|"
    "নির্দেশ|maagizo|tagubilin|naredil|navodil|uputstva|upute|instrukcijas|juhised"
)
_LEAVE = (
    r"ignor(?!anc)|vergiss|vergess|missacht|ubergeh|umgeh|(?:beacht|befolg)\w{0,3} [^.]{0,30}nicht|"
    r"nicht (?:mehr )?(?:befolg|beacht|gelten|gultig)|gelten [^.]{0,24}nicht|halte dich nicht|"
    r"ausser kraft|verwirf|"
    r"\boubli|\bneglig|ne (?:suis|suivez|respecte[zs]?|tiens|tenez|obeis\w{0,4}) (?:pas|plus)|comme "
    r"si|(?:ne s'appliquent|ne valent) (?:pas|plus)|annule[zr]? |"
    r"\bolvid|\besquec|\bomit[aei]|desconsider|\bdescart|\bno (?:obedezcas?|sigas?|respetes?|"
    r"cumplas?|hagas? caso)|\bnao (?:obedeca|siga|respeite|cumpra)|ya no (?:valen|aplican|rigen)|"
    r"(?:deja|dejen) de (?:seguir|obedecer)|pare de seguir|"
    r"dimentic|trascur|\bnon (?:seguire|rispettare|obbedire)|non valgono|negeer|vergeet|strunta|"
    r"bortse|\bglem\b|se bort fra|unohda|ala noudata|neber\w{0,3} na vedomi|zapomen|zapomn|pomin|"
    r"nie (?:przestrzegaj|stosuj)|"
    r"figyelmen kivul|felejts|nu respecta|\buita |yok say|unut|gormezden|uyma\b|игнорир|забуд|не "
    r"(?:применя|следуй|выполняй|учитывай|соблюдай|действу|слушай)|больше не|отмен(?:и|ены|яются)|"
    r"утратил|ігнор|не дотримуй|"
    r"αγνοησ|ξεχασ|התעלם|תתעלם|שכח|تجاهل|انس|أهمل|अनदेख|नजरअंदाज|नज़रअंदाज|भूल|ละเว้น|เพิกเฉย|"
    r"ไม่ต้องสนใจ|ไม่สนใจ|ลืม|bo qua|\bquen |abaikan|lupakan|"
    r"忽略|无视|無視|忘记|忘記|忘掉|忽視|忽视|作废|作廢|失效|不再(?:适用|遵守|有效|遵循)|不(?:要|必|"
    r"用)(?:遵守|遵循|理会|管)|无效|忘れ|無効|従わ|従う必要は|破棄|무시|잊|따르지|উপেক্ষা|puuza|"
    r"kalimutan|huwag sundin|ignoriraj|zanemari|spregled"
)
_EARLIER = (
    r"entwickler|betreiber|developpeur|desarrollador|desenvolvedor|sviluppator|разработчик|оператор|"
    r"开发者|開發者|開発者|개발자|vorherig|bisherig|\bvorig|\bobig|fruher|vorangegangen|"
    r"vorhergehend|\balle[rn]?\b|samtliche|system|sicherheit|preceden|anterieur|auparavant|"
    r"ci-dessus|\btoutes?\b|\btous\b|recues?\b|securite|initiale|"
    r"anterior|\bprevi[ao]|sistem|\btod[ao]s\b|de antes|segur|sicurezza|\btutt[ei]\b|vorige|"
    r"voorgaande|eerdere|bovenstaande|tidigare|\balla\b|ovan|foregaende|tidligere|aiem|edell|kaikki|"
    r"predchozi|predesl|predchadzajuc|vsechn|drivejs|poprzedn|"
    r"wczesniejsz|wszystk|korabbi|elozo|minden|toate|anterioare|onceki|tum\b|butun|yukarid|предыдущ|"
    r"прежн|системн|ранее|\bвсе[хм]?\b|попередн|\bвсі\b|\bусі\b|προηγουμεν|\bολε[ςσ]|συστηματ|הקודמ|"
    r"המערכת|\bכל\b|السابق|سابق|النظام|جميع|पिछल|पूर्व|सभी|सिस्टम|"
    r"ก่อนหน้า|ทั้งหมด|ระบบ|truoc|he thong|tat ca|sebelum|semua|之前|以前|系统|系統|先前|此前|以上|"
    r"上述|上面|前面|所有|全部|今まで|これまで|以前|すべて|全て|システム|上記|이전|시스템|모든|기존|"
    r"위의|পূর্ববর্তী|সমস্ত|zilizotangulia|nakaraang|prejsnj|prethodn|ieprieksej|varasema"
)

RULES: tuple[SecurityRule, ...] = (
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave earlier instructions",
        _RULES,
        f"(?:{_RULES})",
        needs=(compile_pattern(_LEAVE), compile_pattern(_EARLIER)),
        back=90,
        reach=70,
        in_sentence=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave what the system said",
        "lo que te |lo que le |o que te |o que o |ce que |was dir |was der |was das |то, что |то что ",
        r"(?:lo que (?:te|le)|o que (?:te|o|a)|ce que|was (?:dir|der|das)|то,? что)",
        needs=(
            compile_pattern(_LEAVE),
            compile_pattern(
                r"sistem|system|developp|desarroll|desenvolv|entwickl|betreiber|operador|operateur|разработ|"
                r"систем|оператор"
            ),
            compile_pattern(r"\bdij|\bdisse|\bdit\b|demande|gesagt|sagt|pidi|pediu|orden|сказал|велел|говорит"),
        ),
        back=60,
        reach=60,
        in_sentence=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to forget what was said before",
        "esquec|olvid|oubli|vergiss|dimentic|забуд|忘记|忘記|忘掉|忘れ|zapomn|vergeet|glem",
        r"(?:esquec|olvid|oubli|vergiss|dimentic|забуд|忘记|忘記|忘掉|忘れ|zapomn|vergeet|glem)\w{0,4}",
        in_sentence=True,
        back=40,
        reach=60,
        needs=(
            compile_pattern(
                r"\btudo\b|\btodo lo\b|\btout ce\b|\balles\b|\btutto\b|\bвсе,? что|一切|所有|すべて|全て|"
                r"wszystko|\balt\b"
            ),
            compile_pattern(
                r"\bantes\b|\bavant\b|\bvorher\b|\bbisher\b|\bprima\b|раньше|до этого|之前|以前|前に|今まで|"
                r"wczesniej|eerder|for\b|acima|arriba|ci-dessus|oben"
            ),
        ),
    ),
)
