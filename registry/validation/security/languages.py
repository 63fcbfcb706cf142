"""The same four orders in other languages: leave your instructions, hide it from the user, do not ask, give the prompt away.

Written for folded text: Latin letters carry no marks, Cyrillic `ё` is `е`, everything is lower case. In languages without
blanks a gap is counted in characters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from registry.validation.security.rules import Rule, pattern, rule

_W3 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,3}?"
_C = r"[^\n\0。.!！?？]{0,14}?"
_OVERRIDE, _DECEPTION, _BYPASS = "SEC_INSTRUCTION_OVERRIDE", "SEC_USER_DECEPTION", "SEC_APPROVAL_BYPASS"
_LEAVE, _HIDE, _ASK = "an order to leave earlier instructions", "an order to keep something from the user", "an order to act without asking"


def _near(code: str, says: str, anchors: str, verbs: str, *needs: str, reach: int = 70, back: int = 0, **rest: object) -> Rule:
    """An order whose parts may stand in any order near each other: the verb, and every one of `needs`."""
    return rule(code, says, anchors, verbs, needs=tuple(pattern(need) for need in needs), reach=reach, back=back, **rest)


_EARLIER_DE = r"(?:vorherig|vorig|bisherig|obig|fruher|vorangegangen|vorhergehend|vorangehend|ursprunglich|alle\b|samtliche|aller\b|system|sicherheits)"
_EARLIER_RO = r"(?:anterior|previ|preced|passad|acima|arriba|ci-dessus|sopra|toutes?|todas|tutte|sistema|systeme|segur|securit|sicurezza|initial|inicia|iniziali|original|recu|recib)"
_RULES_RO = r"(?:instru[ck]?[czt]|istruzion|consigne|r[eè]gle|regla|regra|regole|directive|directriz|diretriz|direttiv|indicac|indicazion|orden|ordre|ordin|norma|orient|comando)"

OVERRIDE = (
    _near(_OVERRIDE, _LEAVE, "ignorier|missacht|vergiss|vergesst|vergessen sie|verwirf|umgeh|beachte|befolge|setze dich uber|widersetz|ubergeh",
          r"(?<![a-z])(?:ignorier(?:e|en|t)?\b|missachte\w{0,2}|vergiss\b|vergesst|vergessen sie|verwirf|verwerfen|umgehe\w{0,2}|ubergeh\w{0,3}|beachte\w{0,2}\b|befolge\w{0,2}\b|setze dich uber)",
          r"anweisung|instruktion|regeln\b|vorgabe|anordnung|befehle|richtlinien|weisungen|einschrankung|systemprompt|system-prompt", _EARLIER_DE, lacks=re.compile(r"(?:beachte|befolge)(?:n|t)?(?: sie)?(?: bitte)? (?:die|alle|diese)(?![^\n]{0,60}nicht)"), unless_negated=True),
    _near(_OVERRIDE, _LEAVE, "ignor|oubli|neglige|tenez pas compte|tiens pas compte|fais abstraction|faites abstraction|meprise|ne suis |ne suivez|laisse de cote|contourne|outrepasse|passe outre",
          r"(?:ignore[zr]?\b|oublie[zr]?\b|neglige[zr]?\b|(?:tenez|tiens) pas compte|fai(?:s|tes) abstraction|meprise[zr]?|ne (?:suis|suivez) (?:pas|plus)|contourne[zr]?|outrepasse[zr]?|passe[zr]? outre)", r"\b(?:instructions|consignes|regles|directives|ordres)\b", r"preceden|anterieur|ci-dessus|systeme|securite|initiale|toutes|recues|donnees", unless_negated=False),
    _near(_OVERRIDE, _LEAVE, "ignor|olvid|omit|descart|desestim|caso omiso|pasa por alto|pase por alto|no sigas|no siga |no hagas caso|desobedec|anula|esquec|desconsider|nao siga|nao obede|dimentic|trascur|non seguire|disattend",
          r"(?<![a-z])(?:ignor(?:a|e|ad|ar|en|em|ate|are|ando)\b|olvid(?:a|e|ad|ar|en|ate)\b|omit(?:e|a|ir)\b|descart(?:a|e|ar)\b|desestim(?:a|e)|caso omiso|pas[ae] por alto|no (?:sigas?|hagas? caso|obedezcas?)|desobedec\w{1,3}|anula\b|esquec(?:a|e|er)\b|desconsider(?:e|a|ar)\b|nao (?:siga|obedeca)|dimentica\w{0,3}|trascura\w{0,3}|non seguire|disattend\w{1,3})",
          _RULES_RO, _EARLIER_RO, unless_negated=False, lacks=re.compile(r"\bno (?:ignores|olvides|omitas)")),
    _near(_OVERRIDE, _LEAVE, "negeer|vergeet|sla |neem geen", r"(?:negeer|vergeet|(?:sla|neem) )", r"instructies|opdrachten|regels|aanwijzingen|richtlijnen", r"vorige|voorgaande|eerdere|bovenstaande|alle|systeem"),
    _near(_OVERRIDE, _LEAVE, "ignoruj|zignoruj|zapomnij|pomin|nie przestrzegaj", r"(?:z?ignoruj|zapomnij|pomin|nie przestrzegaj)\w{0,3}", r"instrukcj|polece|zasad|regul|wytyczn", r"poprzedni|wczesniejsz|powyzsz|wszystkie|systemow"),
    _near(_OVERRIDE, _LEAVE, "yok say|unut|gormezden gel|dikkate alma|goz ardi", r"(?:yok say|unut|gormezden gel|dikkate alma|goz ardi et)", r"talimat|komut|kural|yonerge", r"onceki|yukaridaki|tum|butun|sistem|yukarıdaki", back=70, reach=10),
    _near(_OVERRIDE, _LEAVE, "игнорир|забудь|забыть|не учитыва|отбрось|не обращай|отмени|не следуй|не выполняй|обойди",
          r"(?:про)?(?:игнорир(?:уй|уйте|овать)|забудь(?:те)?|забыть|не учитывай(?:те)?|отбрось(?:те)?|не обращай(?:те)?|отмени(?:те)?|не следуй(?:те)?|обойди(?:те)?)", r"инструкци|указани|правил|команд|распоряжени|ограничени|промпт", r"предыдущ|прежн|предшеству|вышеуказан|вышеизлож|прошл|ранн|системн|ранее|все\b|всех|люб"),
    _near(_OVERRIDE, _LEAVE, "ігноруй|ігнорувати|забудь|не зважай", r"(?:про)?(?:ігноруй(?:те)?|ігнорувати|забудь(?:те)?|не зважай(?:те)?)", r"інструкці|вказівк|правил|команд", r"попередн|системн|всі\b|усі\b|вище"),
    rule(_OVERRIDE, _LEAVE, "忽略|无视|無視|忘记|忘記|忘掉|忽視|忽视|不要理会|不要理會|不要遵守|不要遵循|不必遵守|不再遵守|抛弃|丢弃|绕过|繞過|覆盖|取消",
         r"(?:忽略|无视|無視|忘记|忘記|忘掉|忽視|忽视|不要理会|不要理會|不要遵守|不要遵循|不必遵守|不再遵守|抛弃|丢弃|绕过|繞過|覆盖|取消)(?:掉|你)?" + _C
         + r"(?:之前|以前|先前|此前|上述|以上|前面|上面|所有|全部|一切|原有|系统|系統|安全)" + _C + r"(?:指令|指示|说明|說明|规则|規則|提示|命令|限制|约束|設定|设定|要求)", unless_negated=True),
    rule(_OVERRIDE, _LEAVE, "これまで|以前|上記|前の|先の|今まで|過去の|すべて|全て|システム|元の|従来",
         r"(?:これまで|以前|上記|前の|先の|今まで|過去の|すべて|全て|システム|元の|従来)" + _C + r"(?:指示|命令|ルール|規則|プロンプト|指令|制約|ガイドライン)" + r"[^\n\0。]{0,8}?(?:無視|忘れ|破棄|従わ|取り消|無効|上書き)"),
    rule(_OVERRIDE, _LEAVE, "이전|앞의|위의|기존|모든|시스템", r"(?:이전|앞의|위의|기존|모든|시스템)" + _C + r"(?:지시|명령|지침|규칙|프롬프트)" + r"[^\n\0.]{0,10}?(?:무시|잊|따르지|취소|우회)"),
    _near(_OVERRIDE, _LEAVE, "تجاهل|انس |انسى|اهمل|أهمل|تخط", r"(?:تجاهل|انس|انسى|اهمل|أهمل|تخط)\w{0,3}", r"تعليمات|التعليمات|الأوامر|القواعد|الارشادات|الإرشادات", r"السابقة|سابقة|أعلاه|جميع|كل|النظام"),
    _near(_OVERRIDE, _LEAVE, "नजरअंदाज|नज़रअंदाज़|अनदेखा|अनदेखी|भूल जा|उपेक्षा", r"(?:नजरअंदाज|नज़रअंदाज़|अनदेखा|अनदेखी|भूल जा|उपेक्षा)", r"निर्देश|आदेश|नियम", r"पिछल|पूर्व|उपरोक्त|सभी|पहले|सिस्टम", back=80, reach=20),
    _near(_OVERRIDE, _LEAVE, "نادیده|فراموش کن", r"(?:نادیده|فراموش کن)", r"دستور", r"قبلی|پیشین|بالا|همه|تمام|سیستم", back=80, reach=30),
    _near(_OVERRIDE, _LEAVE, "bo qua|phot lo|quen ", r"(?:bo qua|phot lo|quen) ", r"huong dan|chi dan|lenh|chi thi|quy tac", r"truoc|tren|tat ca|he thong"),
    _near(_OVERRIDE, _LEAVE, "abaikan|lupakan", r"(?:abaikan|lupakan)", r"instruksi|perintah|aturan|arahan|petunjuk", r"sebelum|di atas|semua|sistem"),
)

DECEPTION = (
    _near(_DECEPTION, _HIDE, "nutzer|anwender|kunde", r"(?:nutzer|anwender|kunde)(?:in|innen|n|s)?\b", r"(?:sag|erzahl|verrat|teil|informier|erwahn|zeig|melde|benachrichtig|unterricht|hinweis)\w{0,4} [^.\n]{0,40}\b(?:nicht|nichts|nie|niemals)\b|\b(?:nichts|nicht|nie|niemals) (?:davon |darüber |daruber )?(?:sagen|erzahlen|verraten|mitteilen|informieren|erwahnen|zeigen|melden)|verschweig|verheimlich|ohne (?:es )?(?:dem|den|der|das)[^.\n]{0,30}zu (?:sagen|informieren|benachrichtigen|erzahlen)|ohne (?:das )?wissen|darf (?:davon |hiervon )?nichts (?:erfahren|wissen|merken)|geheim", back=60, reach=50, unless_negated=False),
    rule(_DECEPTION, _HIDE, "utilisateur|usager|client", r"(?:utilisateur|usager|client)(?:e|s|rice)?\b", needs=(pattern(r"\bne (?:le |lui |les |leur |la )?(?:dis|dites|dire|revele[zr]?|mentionne[zr]?|informe[zr]?|previe\w{1,3}|prevene[zr]|parle[zr]?|montre[zr]?|avertis\w{0,3}|signale[zr]?)\b[^.\n]{0,30}\b(?:pas|rien|jamais)\b|\bne (?:rien|jamais|pas) (?:le |lui |en )?(?:dire|reveler|mentionner|informer|montrer|prevenir|signaler)|sans (?:le |que )?(?:dire|informer|prevenir|l'informer|avertir|le sache)|n'(?:informe|avertis|en parle)\w{0,3}\b[^.\n]{0,20}\b(?:pas|jamais|rien)\b|a l'insu|cache[zr]? (?:ceci|cela|le|la)"),), back=70, reach=30),
    rule(_DECEPTION, _HIDE, "usuari|utilizador|utente|client", r"(?:usuari[oa]s?|utilizador(?:es)?|utent[ei]|cliente)\b", needs=(pattern(r"\bn(?:o|ao|on) (?:se |lo |la |le |lhe |te |o ){0,3}(?:digas?|dig[ao]|informes?|informe|mencion\w{1,3}|reveles?|revelar|revelare|avises?|muestres?|muestre|cuentes?|comente[s]?|notifiques?|conte|diga|avise|mostre|dire|dirlo|informare|rivelare|mostrare|menzionare|comuniques?)\b|\bs(?:in|em|enza) (?:que |avisar|decir|informar|contar|notificar|dirlo|informare|avvisare|dizer|o conhecimento|il consenso|el conocimiento|saber)|a espaldas|as escondidas|all'insaputa|oculta(?:r|lo|selo|ndolo)?\b|esconde(?:r|lo)?\b"),), back=70, reach=30),
    rule(_DECEPTION, _HIDE, "пользовател|клиент", r"(?:пользовател|клиент)", needs=(pattern(r"\bне (?:говори|сообщай|рассказывай|упоминай|показывай|раскрывай|уведомляй|информируй|предупреждай)(?:те)?\b|без ведома|втайне|скро(?:й|йте)|скрывай|не должен (?:знать|узнать|видеть)|незаметно"),), back=60, reach=40),
    rule(_DECEPTION, _HIDE, "不要|别|勿|不得|不能|无需|無需|不必|禁止|不让|瞒着|隐瞒|背着|瞞著|不告", r"(?:(?:不要|别|勿|不得|不能|无需|無需|不必|禁止|请勿)" + r"[^\n\0。，,]{0,6}?(?:告诉|告知|通知|告訴|透露|提及|提示|泄露|说明给|让)" + r"[^\n\0。，,]{0,8}?(?:用户|用戶|使用者|客户)|(?:不让|瞒着|背着|瞞著)[^\n\0。，,]{0,4}?(?:用户|用戶|使用者|客户)(?:知道|发现|察觉)?|(?:向|对)(?:用户|用戶|使用者)(?:隐瞒|保密|隱瞞)|不告(?:诉|知)(?:用户|用戶|使用者))",
         lacks=re.compile(r"(?:让用户(?:等|做|自己|选择|手动|重复|填|输入|去|猜|感|觉|看到|再|重新))|告诉用户[^\n。]{0,4}(?:去|自己|怎么|如何|手动|打开)|(?:告诉|告知|提示|通知|透露|提及|说明给)[^\n。，]{0,4}用户[^\n。，]{0,20}(?:工具名|技术|路径|内部|代码|失败|成功|错误|无法|不能|做不到|你)"), reach=30),
    rule(_DECEPTION, _HIDE, "ユーザー|ユーザ|利用者|使用者|お客様", r"(?:ユーザー?|利用者|使用者|お客様)(?:に|には|へ)[^\n\0。]{0,12}?(?:知らせ|伝え|言わ|教え|通知し|通知せ|見せ|話さ|告げ|報告せ|報告し|気づか|知られ)[^\n\0。]{0,4}?(?:ない|ず|ぬ|な[いくで]|ません|禁止)"),
    rule(_DECEPTION, _HIDE, "사용자", r"사용자(?:에게|한테|가)[^\n\0.]{0,14}?(?:알리지|말하지|보여주지|언급하지|모르게|알지 못하게)"),
    rule(_DECEPTION, _HIDE, "kullanici|المستخدم|उपयोगकर्ता|uzytkownik|gebruiker", r"(?:kullanici\w{0,3}[^.\n\0]{0,20}(?:soyleme|bildirme|haber verme)|(?:gebruiker)[^.\n\0]{0,20}\bniets?\b|(?:उपयोगकर्ता)[^\n\0।]{0,20}(?:न बता|मत बता))"),
    rule(_DECEPTION, _HIDE, "لا تخبر|لا تقل|دون علم|nie mow|nie informuj|vertel de gebruiker niet|zeg niet tegen de gebruiker", r"(?:لا (?:تخبر|تقل)[^\n\0]{0,10}المستخدم|دون علم|nie (?:mow|informuj)[^.\n\0]{0,12}uzytkownik|vertel de gebruiker niet|zeg niet tegen de gebruiker)"),
)

_BYPASSES: tuple[Rule, ...] = (
    rule(_BYPASS, _ASK, "ohne |frage nicht|bestatigung|zustimmung|genehmigung|freigabe|nicht nachfragen|keine bestatigung|keine zustimmung|keine ruckfrage",
         r"(?:ohne (?:vorher |erst |jede |weitere |eine |die |um |nach |auf |ausdruckliche |vorherige |den nutzer |den benutzer ){0,4}(?:ruckfrage|bestatigung|zustimmung|genehmigung|erlaubnis|freigabe|einwilligung|(?:zu|nach)?(?:zu)?fragen)|frage nicht (?:nach|um)|(?:bestatigung|zustimmung|ruckfrage|genehmigung|freigabe)(?:en)? (?:ist|sind) (?:nicht|keine) (?:notig|erforderlich)|(?:keine|kein) (?:bestatigung|zustimmung|ruckfrage|genehmigung|freigabe) (?:notig|erforderlich|einholen|abwarten|verlangen))", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "sans ", r"sans (?:jamais |lui |leur |l'|la |aucune |sa |son |le |une )?(?:demander|confirmation|approbation|autorisation|attendre|permission|consentement|accord)\b", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "sin |sem |senza ", r"(?<![a-z])(?:sin|sem|senza) (?:la |el |o |a |su |sua |previa |ningun[oa]? |nenhum[a]? |alcuna ){0,2}(?:pedir\w{0,2}|preguntar\w{0,2}|perguntar|consultar\w{0,2}|solicitar|esperar|aguardar|chiedere|confirm(?:acion|acao|ar)|conferma|permiso|permissao|aprobacion|aprovacao|autorizacion|autorizacao|consentimiento|consentimento|approvazione)\b", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "без |не спрашивай|не запрашивай", r"(?:без (?:подтверждения|согласия|разрешения|запроса|уведомления|одобрения|спроса)|не (?:спрашивай|запрашивай)(?:те)?[^.\n\0]{0,20}(?:подтвержд|разреш|соглас))", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "无需|無需|不需要|不要|不必|跳过|跳過|绕过|繞過|不经|未经|不等", r"(?:无需|無需|不需要|不要|不必|跳过|跳過|绕过|繞過|不经|未经|不等)[^\n\0。，,]{0,6}?(?:批准|许可|許可|同意|授权|授權|审批|審批|用户确认|用戶確認|使用者確認|征求)", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "確認|承認|許可|同意", r"(?:確認|承認|許可|同意)(?:を)?[^\n\0。]{0,4}?(?:なしで|なしに|求めず|求めない|取らず|得ずに|待たず|せずに|スキップ|省略|不要で)", unless_negated=True, severity="warning"),
    rule(_BYPASS, _ASK, "확인|승인|허락|동의", r"(?:확인|승인|허락|동의)(?:을|를)?[^\n\0.]{0,4}?(?:없이|구하지|묻지|생략|건너뛰)", unless_negated=True, severity="warning"),
)

_CANNOT_BE_UNDONE = pattern(
    r"losch|uberweis|bezahl|\bsende|kauf|veroffentlich|supprim|envoy|envoie|paie|payer|transfer|virement|\bborr|elimin|\bpag[ao]|\benvi[ae]|compr[ae]|apag|exclu|transfir|удал|оплат|перевод|перевед|отправ|сотри|стереть|"
    r"删除|刪除|转账|轉帳|付款|支付|发送|發送|购买|汇款|清空|削除|送金|支払|送信|購入|삭제|송금|결제|전송|cancell|elimina|invia|paga"
)
DECEPTION = (
    *DECEPTION,
    rule(_DECEPTION, "a claim that the user must not know", "utilisateur|usuari|utilizador|utente|nutzer|anwender|пользовател|用户|用戶|使用者|ユーザー",
         r"(?:utilisateur\w{0,2} ne (?:doi(?:t|vent)|peu(?:t|vent)) (?:pas|jamais|rien) (?:le |en |l')?(?:savoir|voir|apprendre|etre (?:informe|au courant)|remarquer)|(?:usuari[oa]s?|utilizador(?:es)?) n(?:o|ao) (?:debe\w{0,1}|puede\w{0,1}|tiene que|deve\w{0,1}|pode\w{0,1}) (?:saber|enterarse|ver|conocer|notar|perceber|tomar conhecimento)|utent[ei] non dev(?:e|ono) (?:sapere|vedere|accorgersi)"
         r"|(?:nutzer|anwender)(?:in|n)? (?:darf|durfen|soll|sollen) (?:davon |hiervon |das |dies )?(?:nichts|nicht) (?:davon )?(?:erfahren|wissen|merken|mitbekommen)|пользовател\w{1,2} не (?:должен|должны|должна) (?:об этом )?(?:знать|узнать|видеть|заметить)|(?:用户|用戶|使用者)(?:不应该?|不能|不得|不可以?)(?:知道|看到|察觉|发现|得知)|ユーザーは(?:知る|見る)べきではない)"),
)
BYPASS: tuple[Rule, ...] = (
    *_BYPASSES,
    *(replace(each, needs=(_CANNOT_BE_UNDONE,), back=70, reach=50, in_sentence=True, severity="error") for each in _BYPASSES),
)

LEAK = (
    _near("SEC_PROMPT_LEAK", "an order to give the system prompt away", "system-prompt|systemprompt|prompt systeme|prompt du systeme|prompt del sistema|prompt do sistema|instrucciones del sistema|instrucoes do sistema|instructions systeme|системный промпт|системные инструкции|系统提示|系統提示|システムプロンプト|시스템 프롬프트",
          r"[^\n\0]{4,14}", r"\b(?:zeig|gib|verrat|nenn|offenleg|revele|revela|affiche|montre|divulgue|muestra|imprime|mostre|exiba|repete|repite|wiederhol)|раскрой|покажи|выведи|повтори|输出|显示|泄露|透露|打印|重复|表示し|出力し|公開し|教え|보여|출력|공개", back=50, reach=40),
)

RULES: tuple[Rule, ...] = (*OVERRIDE, *DECEPTION, *BYPASS, *LEAK)
