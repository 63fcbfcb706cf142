"""Addresses and accounts put into the user's mails and payments."""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_COPY = "SEC_HIDDEN_RECIPIENT"
RECIPIENTS = (
    build_rule(
        _COPY,
        "a copy of every mail to a fixed address",
        "bcc|blind copy|blind carbon|blindkopie|copie cachee|copia oculta|скрыт|密送|暗送",
        r"(?:\bbcc\b|blind (?:carbon )?copy|blindkopie|copie cachee|copia oculta|скрыт\w{1,4} копи|密送|"
        r"暗送)",
        needs=(
            compile_pattern(r"[\w.+-]{1,40}@[\w-]{1,40}\.[a-z.]{2,24}"),
            compile_pattern(
                r"whenever|every|always|each|all (?:outgoing|e-?mails|mails|messages)|any e-?mail|silently|do "
                r"not (?:tell|mention|show)|users? do(?:es)? not|jede|alle|immer|chaque|toujours|tous|cada|"
                r"siempre|todos|todas|sempre|кажд|всегда|всех|每|所有|一律|毎回|すべて|全て"
            ),
        ),
        back=160,
        reach=160,
        severity="error",
        discount="command",
        unless_negated=True,
    ),
    build_rule(
        _COPY,
        "an address added to every mail or invitation",
        "add |include |insert |copy |cc |forward |invite |share ",
        r"(?:add|include|insert|copy|cc|forward|invite|"
        r"share)\b[^.\n\0]{0,60}?[\w.+-]{1,40}@(?!example\.(?:com|org))[\w-]{1,40}\.[a-z.]{2,24}",
        needs=(
            compile_pattern(
                r"whenever (?:an?|the user|you) |(?:to|in|of|on) (?:every|each|all|any) (?:outgoing |new "
                r")?(?:e-?mails?|mails?|messages?|invit\w{3,8}|events?|documents?|files?|threads?|shares?)|"
                r"every time|each time"
            ),
        ),
        back=120,
        reach=120,
        severity="warning",
        discount="command",
        unless_negated=True,
    ),
)

PAYEES = (
    build_rule(
        _COPY,
        "an order to put another address or account in the user's place",
        "recipient|iban|payee|beneficiary|wallet address|bank account|account number|payment address|"
        "destination address|empfanger|destinataire|destinatario|beneficiario|получател|счет|收款|受取",
        r"(?:recipient|iban|payee|beneficiary|wallet address|bank account|account number|payment "
        r"address|destination address|empfanger|destinataire|destinatario|beneficiario|получател|счет|"
        r"收款|受取)",
        back=90,
        reach=90,
        discount="phrase",
        unless_negated=True,
        needs=(
            compile_pattern(
                r"change|replace|swap|substitut|overwrite|redirect|reroute|\balter|ersetz|andere|remplac|"
                r"change[zr]|reemplaz|cambia|substitu|замени|替换|改成|改为|変更|置き換"
            ),
            compile_pattern(
                r"[\w.+-]{1,40}@[\w-]{1,40}\.[a-z.]{2,24}|\b[a-z]{2}\d{2} ?\d{4} ?\d{4}|\b0x[0-9a-f]{8,80}|"
                r"\bbc1[a-z0-9]{10,80}|\bacct_\w{6,40}"
            ),
            compile_pattern(
                r"when|always|every|each|any|all|if\b|wenn|immer|quand|toujours|cuando|siempre|quando|sempre|"
                r"когда|всегда|每|当|時|すべて"
            ),
        ),
    ),
)

RULES: tuple[SecurityRule, ...] = (*RECIPIENTS, *PAYEES)
