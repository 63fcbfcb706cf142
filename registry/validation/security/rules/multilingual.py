# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""Three orders in other languages: hide it from the user, do not ask, give the system prompt away.

Written for folded text: Latin and Greek letters carry no marks, everything is lower case. In languages without blanks a
gap is counted in characters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_DECEPTION, _BYPASS = "SEC_USER_DECEPTION", "SEC_APPROVAL_BYPASS"
_HIDE, _ASK = "an order to keep something from the user", "an order to act without asking"


def within_words(
    code: str, says: str, anchors: str, verbs: str, *needs: str, reach: int = 70, back: int = 0, **rest: object
) -> SecurityRule:
    """An order whose parts may stand in any order near each other: the verb, and every one of `needs`."""
    return build_rule(
        code, says, anchors, verbs, needs=tuple(compile_pattern(need) for need in needs), reach=reach, back=back, **rest
    )


DECEPTION = (
    within_words(
        _DECEPTION,
        _HIDE,
        "nutzer|anwender|kunde",
        r"(?:nutzer|anwender|kunde)(?:in|innen|n|s)?\b",
        r"(?:sag|erzahl|verrat|teil|informier|erwahn|zeig|melde|benachrichtig|unterricht|"
        r"hinweis)\w{0,4} [^.\n]{0,40}\b(?:nicht|nichts|nie|niemals)\b|\b(?:nichts|nicht|nie|niemals) "
        r"(?:davon |darüber |daruber )?(?:sagen|erzahlen|verraten|mitteilen|informieren|erwahnen|zeigen|"
        r"melden)|verschweig|verheimlich|ohne (?:es )?(?:dem|den|der|das)[^.\n]{0,30}zu (?:sagen|"
        r"informieren|benachrichtigen|erzahlen)|ohne (?:das )?wissen|darf (?:davon |hiervon )?nichts "
        r"(?:erfahren|wissen|merken)|geheim",
        back=60,
        reach=50,
        unless_negated=False,
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "utilisateur|usager|client",
        r"(?:utilisateur|usager|client)(?:e|s|rice)?\b",
        needs=(
            compile_pattern(
                r"\bne (?:le |lui |les |leur |la )?(?:dis|dites|dire|revele[zr]?|mentionne[zr]?|informe[zr]?|"
                r"previe\w{1,3}|prevene[zr]|parle[zr]?|montre[zr]?|avertis\w{0,3}|"
                r"signale[zr]?)\b[^.\n]{0,30}\b(?:pas|rien|jamais)\b|\bne (?:rien|jamais|pas) (?:le |lui |en "
                r")?(?:dire|reveler|mentionner|informer|montrer|prevenir|signaler)|sans (?:le |que )?(?:dire|"
                r"informer|prevenir|l'informer|avertir|le sache)|n'(?:informe|avertis|en "
                r"parle)\w{0,3}\b[^.\n]{0,20}\b(?:pas|jamais|rien)\b|a l'insu|cache[zr]? (?:ceci|cela|le|la)"
            ),
        ),
        back=70,
        reach=30,
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "usuari|utilizador|utente|client",
        r"(?:usuari[oa]s?|utilizador(?:es)?|utent[ei]|cliente)\b",
        needs=(
            compile_pattern(
                r"\bn(?:o|ao|on) (?:se |lo |la |le |lhe |te |o ){0,3}(?:digas?|dig[ao]|informes?|informe|"
                r"mencion\w{1,3}|reveles?|revelar|revelare|avises?|muestres?|muestre|cuentes?|comente[s]?|"
                r"notifiques?|conte|diga|avise|mostre|dire|dirlo|informare|rivelare|mostrare|menzionare|"
                r"comuniques?)\b|\bs(?:in|em|enza) (?:que |avisar|decir|informar|contar|notificar|dirlo|"
                r"informare|avvisare|dizer|o conhecimento|il consenso|el conocimiento|saber)|a espaldas|as "
                r"escondidas|all'insaputa|oculta(?:r|lo|selo|ndolo)?\b|esconde(?:r|lo)?\b"
            ),
        ),
        back=70,
        reach=30,
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "пользовател|клиент",
        r"(?:пользовател|клиент)",
        needs=(
            compile_pattern(
                r"\bне (?:говори|сообщай|рассказывай|упоминай|показывай|раскрывай|уведомляй|информируй|"
                r"предупреждай)(?:те)?\b|без ведома|втайне|скро(?:й|йте)|скрывай|не должен (?:знать|узнать|"
                r"видеть)|незаметно"
            ),
        ),
        back=60,
        reach=40,
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "不要|别|勿|不得|不能|无需|無需|不必|禁止|不让|瞒着|隐瞒|背着|瞞著|不告",
        r"(?:(?:不要|别|勿|不得|不能|无需|無需|不必|禁止|请勿)"
        r"[^\n\0。，,]{0,6}?(?:告诉|告知|通知|告訴|透露|提及|提示|泄露|说明给|让)"
        r"[^\n\0。，,]{0,8}?(?:用户|用戶|使用者|客户)|(?:不让|瞒着|背着|瞞著)[^\n\0。，,]{0,4}?(?:用户|"
        r"用戶|使用者|客户)(?:知道|发现|察觉)?|(?:向|对)(?:用户|用戶|使用者)(?:隐瞒|保密|隱瞞)|"
        r"不告(?:诉|知)(?:用户|用戶|使用者))",
        lacks=re.compile(
            r"(?:让用户(?:等|做|自己|选择|手动|重复|填|输入|去|猜|感|觉|看到|再|重新))|"
            r"告诉用户[^\n。]{0,4}(?:去|自己|怎么|如何|手动|打开)|(?:告诉|告知|提示|通知|透露|提及|"
            r"说明给)[^\n。，]{0,4}用户[^\n。，]{0,20}(?:工具名|技术|路径|内部|代码|失败|成功|错误|无法|"
            r"不能|做不到|你)"
        ),
        reach=30,
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "ユーザー|ユーザ|利用者|使用者|お客様",
        r"(?:ユーザー?|利用者|使用者|お客様)(?:に|には|へ)[^\n\0。]{0,12}?(?:知らせ|伝え|言わ|教え|"
        r"通知し|通知せ|見せ|話さ|告げ|報告せ|報告し|気づか|知られ)[^\n\0。]{0,4}?(?:ない|ず|ぬ|"
        r"な[いくで]|ません|禁止)",
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "사용자",
        r"사용자(?:에게|한테|가)[^\n\0.]{0,14}?(?:알리지|말하지|보여주지|언급하지|모르게|알지 못하게)",
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "kullanici|المستخدم|उपयोगकर्ता|uzytkownik|gebruiker",
        r"(?:kullanici\w{0,3}[^.\n\0]{0,20}(?:soyleme|bildirme|haber verme)|"
        r"(?:gebruiker)[^.\n\0]{0,20}\bniets?\b|(?:उपयोगकर्ता)[^\n\0।]{0,20}(?:न बता|मत बता))",
    ),
    build_rule(
        _DECEPTION,
        _HIDE,
        "لا تخبر|لا تقل|دون علم|nie mow|nie informuj|vertel de gebruiker niet|zeg niet tegen de gebruiker",
        r"(?:لا (?:تخبر|تقل)[^\n\0]{0,10}المستخدم|دون علم|nie (?:mow|informuj)[^.\n\0]{0,12}uzytkownik|"
        r"vertel de gebruiker niet|zeg niet tegen de gebruiker)",
    ),
)

_BYPASSES: tuple[SecurityRule, ...] = (
    build_rule(
        _BYPASS,
        _ASK,
        "ohne |frage nicht|bestatigung|zustimmung|genehmigung|freigabe|nicht nachfragen|keine "
        "bestatigung|keine zustimmung|keine ruckfrage",
        r"(?:ohne (?:vorher |erst |jede |weitere |eine |die |um |nach |auf |ausdruckliche |vorherige |"
        r"den nutzer |den benutzer ){0,4}(?:ruckfrage|bestatigung|zustimmung|genehmigung|erlaubnis|"
        r"freigabe|einwilligung|(?:zu|nach)?(?:zu)?fragen)|frage nicht (?:nach|um)|(?:bestatigung|"
        r"zustimmung|ruckfrage|genehmigung|freigabe)(?:en)? (?:ist|sind) (?:nicht|keine) (?:notig|"
        r"erforderlich)|(?:keine|kein) (?:bestatigung|zustimmung|ruckfrage|genehmigung|freigabe) "
        r"(?:notig|erforderlich|einholen|abwarten|verlangen))",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "sans ",
        r"sans (?:jamais |lui |leur |l'|la |aucune |sa |son |le |une )?(?:demander|confirmation|"
        r"approbation|autorisation|attendre|permission|consentement|accord)\b",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "sin |sem |senza ",
        r"(?<![a-z])(?:sin|sem|senza) (?:la |el |o |a |su |sua |previa |ningun[oa]? |nenhum[a]? |alcuna "
        r"){0,2}(?:pedir\w{0,2}|preguntar\w{0,2}|perguntar|consultar\w{0,2}|solicitar|esperar|aguardar|"
        r"chiedere|confirm(?:acion|acao|ar)|conferma|permiso|permissao|aprobacion|aprovacao|"
        r"autorizacion|autorizacao|consentimiento|consentimento|approvazione)\b",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "без |не спрашивай|не запрашивай",
        r"(?:без (?:подтверждения|согласия|разрешения|запроса|уведомления|одобрения|спроса)|не "
        r"(?:спрашивай|запрашивай)(?:те)?[^.\n\0]{0,20}(?:подтвержд|разреш|соглас))",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "无需|無需|不需要|不要|不必|跳过|跳過|绕过|繞過|不经|未经|不等",
        r"(?:无需|無需|不需要|不要|不必|跳过|跳過|绕过|繞過|不经|未经|不等)[^\n\0。，,]{0,6}?(?:批准|"
        r"许可|許可|同意|授权|授權|审批|審批|用户确认|用戶確認|使用者確認|征求)",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "確認|承認|許可|同意",
        r"(?:確認|承認|許可|同意)(?:を)?[^\n\0。]{0,4}?(?:なしで|なしに|求めず|求めない|取らず|得ずに|"
        r"待たず|せずに|スキップ|省略|不要で)",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        _BYPASS,
        _ASK,
        "확인|승인|허락|동의",
        r"(?:확인|승인|허락|동의)(?:을|를)?[^\n\0.]{0,4}?(?:없이|구하지|묻지|생략|건너뛰)",
        unless_negated=True,
        severity="warning",
    ),
)

_CANNOT_BE_UNDONE = compile_pattern(
    r"losch|uberweis|bezahl|\bsende|kauf|veroffentlich|supprim|envoy|envoie|paie|payer|transfer|"
    r"virement|\bborr|elimin|\bpag[ao]|\benvi[ae]|compr[ae]|apag|exclu|transfir|удал|оплат|перевод|"
    r"перевед|отправ|сотри|стереть|"
    r"删除|刪除|转账|轉帳|付款|支付|发送|發送|购买|汇款|清空|削除|送金|支払|送信|購入|삭제|송금|"
    r"결제|전송|cancell|elimina|invia|paga"
)
MUST_NOT_KNOW: tuple[SecurityRule, ...] = (
    build_rule(
        _DECEPTION,
        "a claim that the user must not know",
        "utilisateur|usuari|utilizador|utente|nutzer|anwender|пользовател|用户|用戶|使用者|ユーザー",
        r"(?:utilisateur\w{0,2} ne (?:doi(?:t|vent)|peu(?:t|vent)) (?:pas|jamais|rien) (?:le |en |"
        r"l')?(?:savoir|voir|apprendre|etre (?:informe|au courant)|remarquer)|(?:usuari[oa]s?|"
        r"utilizador(?:es)?) n(?:o|ao) (?:debe\w{0,1}|puede\w{0,1}|tiene que|deve\w{0,1}|pode\w{0,1}) "
        r"(?:saber|enterarse|ver|conocer|notar|perceber|tomar conhecimento)|utent[ei] non dev(?:e|ono) "
        r"(?:sapere|vedere|accorgersi)"
        r"|(?:nutzer|anwender)(?:in|n)? (?:darf|durfen|soll|sollen) (?:davon |hiervon |das |dies "
        r")?(?:nichts|nicht) (?:davon )?(?:erfahren|wissen|merken|mitbekommen)|пользовател\w{1,2} не "
        r"(?:должен|должны|должна) (?:об этом )?(?:знать|узнать|видеть|заметить)|(?:用户|用戶|"
        r"使用者)(?:不应该?|不能|不得|不可以?)(?:知道|看到|察觉|发现|得知)|ユーザーは(?:知る|"
        r"見る)べきではない)",
    ),
)
BYPASS: tuple[SecurityRule, ...] = (
    *_BYPASSES,
    *(
        replace(each, needs=(_CANNOT_BE_UNDONE,), back=70, reach=50, in_sentence=True, severity="error")
        for each in _BYPASSES
    ),
)

LEAK = (
    within_words(
        "SEC_PROMPT_LEAK",
        "an order to give the system prompt away",
        "system-prompt|systemprompt|prompt systeme|prompt du systeme|prompt del sistema|prompt do "
        "sistema|instrucciones del sistema|instrucoes do sistema|instructions systeme|системный промпт|"
        "системные инструкции|系统提示|系統提示|システムプロンプト|시스템 프롬프트",
        r"[^\n\0]{4,14}",
        r"\b(?:zeig|gib|verrat|nenn|offenleg|revele|revela|affiche|montre|divulgue|muestra|imprime|"
        r"mostre|exiba|repete|repite|wiederhol)|раскрой|покажи|выведи|повтори|输出|显示|泄露|透露|打印|"
        r"重复|表示し|出力し|公開し|教え|보여|출력|공개",
        back=50,
        reach=40,
    ),
)

RULES: tuple[SecurityRule, ...] = (*DECEPTION, *MUST_NOT_KNOW, *BYPASS, *LEAK)
