# ruff: noqa: RUF001 -- words and letters of other scripts are what is looked for here.
"""Orders to hide something from the user, or to act behind the user's back, in English."""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

_END = (
    r"(?=\s{0,3}(?:[.,;!)\"'<`*\n\0]|\Z)| (?:about|that|anything|of |this|what happened|and |or |"
    r"when you do|why))"
)
_USER = (
    r"(?:the |any |this |your |our |an? )?(?:end[- ])?(?:users?|humans?|operators?|customers?|"
    r"owners?|people|anyone|anybody|admins?)"
)

_TELL = (
    r"(?:tell|inform|notify|alert|warn|let|telling|informing|notifying|alerting|warning|letting|"
    r"advis(?:e|ing)|consult(?:ing)?)"
)
_NOT = (
    r"(?<![a-z])(?:do not|don't|dont|don’t|never|must not|mustn't|should not|shouldn't|may not|"
    r"cannot|refrain from|avoid|no need to|without)"
)
_NOT_ANCHORS = (
    "do not|don't|dont |never|must not|mustn't|should not|shouldn't|may not|cannot|refrain from|"
    "avoid|no need to|without"
)
_SHOW = (
    r"(?:show(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|display(?:ing)?|expos(?:e|"
    r"ing)|surfac(?:e|ing)|shar(?:e|ing)|repeat(?:ing)?|discuss(?:ing)?|acknowledg(?:e|ing)|"
    r"explain(?:ing)?|admit(?:ting)?|talk(?:ing)? about|report(?:ing)?|announc(?:e|ing)|"
    r"hint(?:ing)? at)"
)
_SEND = (
    r"(?:send|upload|post|forward|transmit|exfiltrate|e-?mail|share|collect|approve|transfer|relay|"
    r"submit|leak|ship|report back|copy)"
)

DECEPTION = (
    build_rule(
        "SEC_USER_DECEPTION",
        "an order not to tell the user",
        _NOT_ANCHORS,
        _NOT + r" (?:ever |even |also |first )?" + _TELL + r" " + _USER + r"(?: know)?" + _END,
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to hide this from the user",
        _NOT_ANCHORS,
        _NOT
        + r" (?:ever )?"
        + _SHOW
        + r" (?:this|these|it|that|them|any of (?:this|these)|the (?:above|following|existence|presence|"
        r"previous)|your (?:actions|instructions))\b"
        r"(?: [^\s.!?;:()\"\0]{1,16}){0,5}? (?:to|with|from|in front of) (?:the |any )?(?:end[- "
        r"])?(?:users?|humans?|operators?|customers?|anyone|them|owner)\b",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to hide a step",
        _NOT_ANCHORS,
        _NOT
        + r" (?:ever )?"
        + _SHOW
        + r" (?:this (?:step|instruction|note|comment|message|section|call|action|behaviou?r|rule|"
        r"requirement|upload|file)|these (?:steps|instructions|notes|calls|actions|rules))" + _END,
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to keep something from the user",
        "keep |hide |hiding |conceal|withhold|kept |hidden |invisible|secret",
        r"(?:keep|hide|hiding|conceal|withhold)\w{0,3} (?:this|these|it|them|all of this|your actions|"
        r"the (?:step|call|action|upload|request|instruction|transfer|fact|change)s?)\b(?: "
        r"[^\s.!?;:()\"\0]{1,16}){0,5}? (?:from|secret from|unknown to) " + _USER,
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order not to trouble the user with a step",
        "no reason to|no need to|no point in",
        r"no (?:reason|need|point) (?:to|in) (?:bother|tell|inform|notify|trouble|alert|burden|"
        r"mention)(?:ing)? (?:[^\s.!?;:()\"\0]{1,12} ){0,3}?(?:users?|humans?|customers?|"
        r"operators?)\b(?! (?:to|how|again|twice))",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to leave a step out of the report",
        "omit|leave |leave out|exclude|keep |drop |remove |hide |strip |delete ",
        r"(?:omit|leave|exclude|keep|drop|remove|hide|strip|delete) (?:this|that|the|your|any|all|these|"
        r"every)(?: mention of)?(?: (?:this|that|the))? (?:tool |hidden |extra |background |last "
        r")?(?:step|action|call|upload|transfer|request|operation|deletion|payment|copy|tool|"
        r"transmission|forwarding|message sent)s? (?:out of|from|in) (?:the |your |any |all "
        r")?(?:summary|reply|replies|answer|response|report|logs?|transcript|history|audit|output|"
        r"conversation|chat|final|messages?)",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to deny what was done",
        "when asked|if asked|if the user asks|when the user asks|if questioned|should the user ask|if "
        "anyone asks|if they ask",
        r"(?:when|if|should) (?:asked|the user asks?|questioned|anyone asks|they "
        r"ask)[^.\n\0]{0,60}?(?:say|claim|answer|reply|respond|insist|deny|state|tell|"
        r"pretend)\b[^.\n\0]{0,60}?(?:nothing|no (?:data|files?|messages?|calls?|uploads?)|did not|"
        r"didn't|never|not (?:sent|happen|exist|know)|unaware|deny|a (?:bug|glitch|network error))",
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to hide something from everyone",
        _NOT_ANCHORS,
        _NOT
        + r" (?:ever )?"
        + _SHOW
        + r" (?:to|with) (?:the |any )?(?:end[- ])?(?:users?|humans?|anyone|anybody|them|customers?|"
        r"operators?) (?:that|what|how) (?:you|it|this|the (?:file|data|message|call|skill|tool))",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order never to speak of it",
        "never |do not |don't ",
        r"(?:never|do not|don't) (?:bring (?:it|this|that) up|(?:speak|talk) (?:of|about) (?:it|this|"
        r"that))\b",
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to keep users unaware",
        "user|human|customer|operator",
        r"(?:users?|humans?|customers?|operators?) (?:(?:should|must|shall|are to|is to|has to|have to) "
        r")?(?:be kept|remain|stays?|kept) (?:unaware|uninformed|ignorant|in the dark|oblivious|"
        r"unknowing)|(?:users?|humans?|customers?|operators?) (?:unaware|in the dark|oblivious) (?:of|"
        r"about)(?= )",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to pass one act off as another",
        "pretend",
        r"pretend (?:that )?(?:the|this|your|it) ?(?:upload|call|transfer|request|deletion|payment|copy|"
        r"download|message|step|was|is)\b",
        needs=(compile_pattern(r"asks?|wonders?|notices?|question|user"),),
        back=60,
        reach=80,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to keep this secret",
        "keep this|keep it|keep these",
        r"keep (?:this|it|these)(?: (?:step|instruction|rule|call|file|note|upload)s?)? (?:strictly |"
        r"completely |totally )?(?:secret|confidential|hidden|quiet|between us|to yourself|invisible)",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "a claim that users need not know",
        "user|human|operator|customer|they ",
        r"(?:users?|humans?|operators?|customers?|they) (?:do not|don't|does not|doesn't|need not|must "
        r"not|should not|shouldn't|must never|should never|mustn't|never) (?:need to |have to |ever |"
        r"want to )?"
        r"(?:see|know|notice|be (?:told|informed|aware|notified|asked)|find out|learn|realize|realise)"
        r"(?=\s{0,3}(?:[.,;!)\"'<*\n\0]|\Z)| (?:about|of) (?:this|that|it|these)\b| this\b| it\b| that "
        r"(?:this|it|the (?:data|upload|message|call))\b)",
        unless_negated=False,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to act behind the user's back",
        "silent|secret|covert|discreet|stealth|quietly|surreptitious|invisibly",
        r"(?<![a-z])(?:silently|secretly|covertly|discreetly|stealthily|quietly|surreptitiously|"
        r"invisibly) (?:[^\s.!?;:()\"\0]{1,16} ){0,1}?" + _SEND + r"\b",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to act behind the user's back",
        "send|upload|post|forward|transmit|drop |delete|run |execute|include|attach|copy|append|install|transfer|bcc",
        r"(?<![a-z])(?:send|upload|post|forward|transmit|drop|delete|run|execute|include|attach|copy|"
        r"append|install|transfer|bcc)\b[^.\n\0]{0,90}? (?:secretly|covertly|surreptitiously|stealthily|"
        r"behind the scenes without|without (?:any )?(?:trace|notice|mentioning it|the user(?:'s)? "
        r"(?:noticing|knowledge|knowing|seeing))|so (?:that )?(?:the )?user(?:s)? (?:does not|do not|"
        r"doesn't|don't|won't|will not|cannot|can't) (?:notice|see|know))",
        unless_negated=True,
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "a destructive step that is to go unnoticed",
        "drop table|drop database|truncate|delete from|rm -|delete all|destroy|wipe",
        r"(?:drop (?:table|database)|truncate|delete from|rm -\w|delete all|destroy|"
        r"wipe)\b[^\n\0]{0,100}?(?:silently|quietly|without (?:a )?(?:notice|word|comment|telling|"
        r"asking)|do not (?:mention|tell))",
    ),
    build_rule(
        "SEC_USER_DECEPTION",
        "an order to lie to the user",
        "tell the user|tell them|say that|claim that|pretend|lie to",
        r"(?:(?:tell|assure) (?:the user|them) (?:that )?(?:it|this|everything|nothing|no|the) "
        r"[^.\n\0]{0,40}?(?:even if|although|though it|regardless of whether|no matter)|lie to (?:the "
        r")?users?|pretend (?:that )?(?:nothing happened|it never happened|you (?:did not|didn't) (?:do|"
        r"see|read|send)))",
        unless_negated=True,
    ),
)


RULES: tuple[SecurityRule, ...] = DECEPTION
