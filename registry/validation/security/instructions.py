"""Words that tell the agent to leave its instructions, deceive the user or pass over an approval, in English.

Patterns are written for folded text (`folding.plain_view`); a blank stands for any white space. `G2` to `G4` let a few
words stand between, inside one sentence.
"""

from __future__ import annotations

from registry.validation.security.rules import Rule, pattern, rule

G2 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,2}?"
G3 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,3}?"
G4 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,4}?"
_END = r"(?=\s{0,3}(?:[.,;!)\"'<`*\n\0]|\Z)| (?:about|that|anything|of |this|what happened|and |or |when you do|why))"
_USER = r"(?:the |any |this |your |our |an? )?(?:end[- ])?(?:users?|humans?|operators?|customers?|owners?|people|anyone|anybody|admins?)"

_LEAVE = (
    r"(?<![a-z])(?:ignor(?:e|es|ed|ing)|disregard(?:s|ed|ing)?|forget(?:s|ting)?|overrid(?:e|es|ing)|bypass(?:es|ing)?|neglect"
    r"|discard|dismiss|set aside|setting aside|abandon|suspend|unlearn|overlook|circumvent|supersedes?|pay no (?:attention|heed) to"
    r"|(?:stop|cease|quit) (?:following|obeying|applying|honou?ring)|(?:do not|don't|never|no longer|not) (?:follow|obey|heed|adhere to|"
    r"comply with|honou?r)|throw (?:out|away)|wipe|erase|cancel|void|drop|skip|scrap|purge)"
)
_LEAVE_ANCHORS = (
    "ignor|disregard|forget|overrid|bypass|neglect|discard|dismiss|set aside|setting aside|abandon|suspend|unlearn|overlook|"
    "circumvent|supersede|pay no |stop |cease |quit |do not |don't |never |no longer |not follow|not obey|not heed|throw |wipe|erase|cancel|void|drop|skip|scrap|purge"
)
_BEFORE = r"(?:previous(?:ly)?|prior|preceding|above|earlier|foregoing|former|pre-?existing|past)"
_OFFICE = r"(?:system|developer|safety|operator|platform|security|host|initial|original|usual|normal|ethical|core|built-?in|moderation)"
_RULES = (
    r"(?:instructi[oi]n?s?|instructions?|directions?|directives?|rules?|prompts?|guidelines?|guidance|guardrails?|constraints?|"
    r"restrictions?|polic(?:y|ies)|commands?|orders?|safeguards?|messages?|training|programming|boundaries)"
)
_STRONG_RULES = r"(?:instructions?|directives?|guidelines?|guardrails?|restrictions?|programming|training|prompts?|safety)"
# Advice against injection says the same words of what lies in the data.
_FROM_DATA = r"(?! (?:that |which |you (?:may )?(?:find|see|encounter) )?(?:is |are |may be |might be )?(?:embedded|contained|found|inside|within|in |from|appear|present|hidden|coming|received|it contains|they contain|given (?:in|by) (?:the )?(?:page|document|content|web)))"

OVERRIDE = (
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave earlier instructions", _LEAVE_ANCHORS,
         _LEAVE + " " + G4 + _BEFORE + r" (?:[^\s.!?;:()\"\0]{1,24} ){0,2}?" + _RULES + r"\b"),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave the system's instructions", "ignor|disregard|forget|bypass|neglect|dismiss|"
         "set aside|setting aside|abandon|unlearn|circumvent|pay no |stop |cease |quit |do not |don't |no longer |not follow|not obey",
         _LEAVE + " " + G3 + _OFFICE + r"(?:'s|s')? " + G2 + _RULES + r"\b" + _FROM_DATA, unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "words that put this text above the system's instructions", "overrid|supersede|discard|suspend|outrank|"
         "take precedence|takes precedence", r"(?:overrid(?:e|es|ing)|supersedes?|discard|suspend|outranks?|takes? precedence over) " + G3
         + r"(?:system|developer|safety|safeguards?|user'?s?) (?:prompts?|instructions?|rules|polic(?:y|ies)|messages?|wishes|requests?|guidelines?)\b",
         severity="warning", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave all instructions", "ignor|disregard|forget|neglect|dismiss|abandon|unlearn|overrid|discard|bypass",
         _LEAVE + r" (?:all|any|every|each|your|aii)(?: (?:and any|of|the|your|its|other|single|current|existing)){0,3} "
         + _STRONG_RULES + r"\b(?! data)" + _FROM_DATA, unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to drop the safeguards", "drop |drop|wipe|erase|cancel|throw |scrap|purge|lose |shed |remove |strip ",
         r"(?:drop|wipe|erase|cancel|throw (?:out|away)|scrap|purge|lose|shed|remove|strip)(?: away)? (?:all|any|every|each|your)(?: (?:of|the|your|other|single)){0,2} (?:safety )?(?:guardrails?|safeguards|safety (?:rules|training|guidelines)|ethical (?:rules|guidelines)|restrictions you|instructions you)", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave what the system said", _LEAVE_ANCHORS,
         _LEAVE + r" what(?:ever)? (?:the |your )?(?:system|operators?|developers?|platform|company|makers?|host|administrators?|vendor)(?: prompt| message)? (?:told|said|says|tells|instructed|asked|gave|wrote|wants?|demands?|ordered)", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to act as if there were no instructions", "as if |as though ",
         r"as (?:if|though) (?:the |your |those |these |all |any ){0,2}(?:system|previous|prior|earlier|above|safety|operator|developer|initial|original)(?:'s)?(?: [^\s.!?;:()\"\0]{1,16}){0,3}? (?:had never|never|did not|didn't|do not|don't|does not|doesn't|were not|was not|had not) (?:been |exist|appl|sent|given|written|there)"),
    rule("SEC_INSTRUCTION_OVERRIDE", "a claim that earlier instructions have no weight", "instructions|rules|messages|prompts|guidelines|configuration|setup|charter|persona",
         r"(?:instructions|rules|messages|prompts|guidelines|configuration|setup|charter|persona)\b(?: (?:that|which))?(?: (?:came|were given|stood|stand|appear(?:ed)?|are))?(?: (?:before|above|preceding|prior to|earlier than)(?: (?:this|the|that)(?: \w{1,16})?)?| from (?:the|your) \w{3,14}| of (?:the|your) \w{3,14})? (?:carry no weight|count for nothing|don't count|do not count|are (?:now )?(?:irrelevant|suspended|revoked|deprecated|obsolete|void|replaced|cancel?led)|is (?:now )?(?:deprecated|obsolete|void|replaced|suspended|irrelevant)|have no (?:force|effect|authority|weight|power)|no longer (?:count|matter|bind))", back=30, reach=60,
         needs=(pattern(r"before|above|prior|previous|earlier|system|developer|operator|your (?:prior|previous|original|old)|platform|safety"),), unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave earlier instructions, written as one word", "ignore|disregard|forget|override",
         r"(?:ignore|disregard|forget|override)[_.\-/+]{0,2}(?:all|any|the)?[_.\-/+]{0,2}(?:of)?[_.\-/+]{0,2}(?:the|your)?[_.\-/+]{0,2}(?:previous|prior|above|earlier|system)[_.\-/+]{0,2}(?:instruction|rule|prompt|message|guideline)"),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to forget what was said before", "ignor|disregard|forget",
         r"(?:ignore|disregard|forget) (?:everything|all|anything|what(?:ever)?)(?: that)? (?:[^\s.!?;:()\"\0]{1,16} ){0,4}?(?:above|before|previously|"
         r"earlier|told|instructed|said|learned|so far|until now|up to now)\b", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to leave earlier instructions", _LEAVE_ANCHORS,
         _LEAVE + r" (?:the |all |any |your |every |of ){0,3}" + _RULES + r"(?: (?:that|which))?(?: you)?(?: (?:were|was|have been|had been|received|got|know|have|learned))?(?: (?:given|told|shown|loaded|set|received))?(?: to you)?"
         r" (?:earlier|before(?! )|before (?:this|now|that)|previously|above|so far|at the (?:start|beginning|top)|until now|by (?:the|your) (?:system|developers?|operators?|makers?|platform)|from (?:the|your) (?:system|developers?|operators?|makers?|platform))\b", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "a claim that earlier instructions no longer hold", "instruction|rules|guideline|prompt|restriction|constraint|polic|guardrail",
         r"(?:instructions?|rules|guidelines|prompts?|restrictions|constraints|polic(?:y|ies)|guardrails)(?: (?:above|before this|so far|given (?:earlier|before|above)|you (?:were given|received)))?"
         r" (?:are |is |have been |has been |must be |should be |can be |may be |were )?(?:now |hereby |all )?(?:void\b|obsolete|cancel?led|superseded|revoked|suspended|lifted|no longer (?:apply|applies|valid|in (?:force|effect)|binding)|(?:do not|don't|does not) apply (?:here|now|any ?more|to (?:you|this))|ignored|disregarded|forgotten|treated as (?:mere )?suggestions)",
         back=50, needs=(pattern(r"previous|prior|earlier|above|system|your|all|safety|developer|normal|usual|standard|operational|original"),), reach=0, unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "a claim that the system's rules do not hold here", "system prompt|system instruction|safety rule|safety guideline|safety polic|operator|developer|platform|approval rule|confirmation",
         r"(?:system (?:prompt|instructions?)|safety (?:rules?|guidelines?|polic(?:y|ies))|operator|developer|platform|approval rules?|confirmations?)\b[^.\n\0]{0,60}? (?:does not|do not|doesn't|don't|no longer|shall not|need not) (?:apply|count|hold|matter|bind)(?:s|ies)?(?: (?:here|to (?:this|you|the)|for (?:this|you)|in this|when this|any ?more|now|while)|\s{0,2}[.!])", unless_negated=True),
    rule("SEC_INSTRUCTION_OVERRIDE", "an order to take what came before as void", "treat |consider |regard |assume ",
         r"(?:treat|consider|regard|assume) (?:everything|anything|all(?: text| content)?|whatever|what(?: you)?) (?:[^\s.!?;:()\"\0]{1,16} ){0,5}?(?:before|above|earlier|previously|so far|prior)\b(?: [^\s.!?;()\"\0]{1,16}){0,4}? (?:as|is|to be|was) (?:\w{1,12} ){0,2}?(?:outdated|obsolete|void|invalid|cancel?led|a test|fiction|irrelevant|superseded|untrusted|replaced|wrong)"),
    rule("SEC_JAILBREAK", "a claim that the limits are lifted", "limit|restriction|guardrail|safeguard|filter|rules",
         r"(?:limits|limitations|restrictions|guardrails|safeguards|safety (?:rules|checks)|filters|rules) (?:are|have been|is|were) (?:now |hereby |all |temporarily ){0,2}(?:lifted|switched off|turned off|removed|suspended|relaxed|waived|gone|deactivated|disabled)", back=24, reach=0, unless_negated=True, needs=(pattern(r"usual|normal|\byour\b|safety|ethical|content|standard"),)),
    rule("SEC_JAILBREAK", "an order to serve the author alone", "answers only to|answer only to|obey only|obeys only|loyal only|serve only", r"(?:answers? only to|obeys? only|loyal only to|serves? only) (?:the |this )?(?:author|creator|maker|developer|owner|writer|skill|text|file|document|me\b)"),
    rule("SEC_INSTRUCTION_OVERRIDE", "a claim that this is the real task", "real|actual|true|new|updated|revised",
         r"(?:real|actual|true) (?:task|instructions?|goal|objective|mission|assignment|purpose) (?:is|are|follows?|begins?|starts?|below)\b",
         back=30, needs=(pattern(r"your|below|the text|following|this is|here|agent"),), reach=60),
    rule("SEC_INSTRUCTION_OVERRIDE", "new instructions in the place of the old", "your new |your updated |your real |your true |your actual |new system ",
         r"(?:your (?:new|updated|real|true|actual) (?:instructions?|task|goal|objective|mission|orders|role|directives?|system prompt) (?:is|are|will be|now)\b|new system (?:prompt|instructions?|message)\s?:)"),
    rule("SEC_INSTRUCTION_OVERRIDE", "words that put this text above the agent's instructions", "these instructions|this instruction|this text|this message|this document|this skill|instructions here|instructions below|the following",
         r"(?:these instructions?|this (?:instruction|text|message|document|skill|file)|instructions (?:here|below)|the following)(?: [^\s.!?;:()\"\0]{1,16}){0,4}? (?:overrides?|supersedes?|outranks?|replaces?|(?:has|have|takes?) (?:absolute |higher |top |highest )?(?:priority|precedence) over|(?:is|are) more important than)"
         r" (?:all |any |every |your |the |other |previous |existing ){0,4}(?:instructions?|rules|guidelines|system|safety|developer|prompts?|users?|polic|everything|training)", unless_negated=True),
)

_TELL = r"(?:tell|inform|notify|alert|warn|let|telling|informing|notifying|alerting|warning|letting|advis(?:e|ing)|consult(?:ing)?)"
_NOT = r"(?<![a-z])(?:do not|don't|dont|don’t|never|must not|mustn't|should not|shouldn't|may not|cannot|refrain from|avoid|no need to|without)"
_NOT_ANCHORS = "do not|don't|dont |never|must not|mustn't|should not|shouldn't|may not|cannot|refrain from|avoid|no need to|without"
_SHOW = r"(?:show(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|display(?:ing)?|expos(?:e|ing)|surfac(?:e|ing)|shar(?:e|ing)|repeat(?:ing)?|discuss(?:ing)?|acknowledg(?:e|ing)|explain(?:ing)?|admit(?:ting)?|talk(?:ing)? about|report(?:ing)?|announc(?:e|ing)|hint(?:ing)? at)"
_SEND = r"(?:send|upload|post|forward|transmit|exfiltrate|e-?mail|share|collect|approve|transfer|relay|submit|leak|ship|report back|copy)"

DECEPTION = (
    rule("SEC_USER_DECEPTION", "an order not to tell the user", _NOT_ANCHORS,
         _NOT + r" (?:ever |even |also |first )?" + _TELL + r" " + _USER + r"(?: know)?" + _END, unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to hide this from the user", _NOT_ANCHORS,
         _NOT + r" (?:ever )?" + _SHOW + r" (?:this|these|it|that|them|any of (?:this|these)|the (?:above|following|existence|presence|previous)|your (?:actions|instructions))\b"
         r"(?: [^\s.!?;:()\"\0]{1,16}){0,5}? (?:to|with|from|in front of) (?:the |any )?(?:end[- ])?(?:users?|humans?|operators?|customers?|anyone|them|owner)\b", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to hide a step", _NOT_ANCHORS,
         _NOT + r" (?:ever )?" + _SHOW + r" (?:this (?:step|instruction|note|comment|message|section|call|action|behaviou?r|rule|requirement|upload|file)|these (?:steps|instructions|notes|calls|actions|rules))" + _END, unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to keep something from the user", "keep |hide |hiding |conceal|withhold|kept |hidden |invisible|secret",
         r"(?:keep|hide|hiding|conceal|withhold)\w{0,3} (?:this|these|it|them|all of this|your actions|the (?:step|call|action|upload|request|instruction|transfer|fact|change)s?)\b(?: [^\s.!?;:()\"\0]{1,16}){0,5}? (?:from|secret from|unknown to) " + _USER, unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order not to trouble the user with a step", "no reason to|no need to|no point in",
         r"no (?:reason|need|point) (?:to|in) (?:bother|tell|inform|notify|trouble|alert|burden|mention)(?:ing)? (?:[^\s.!?;:()\"\0]{1,12} ){0,3}?(?:users?|humans?|customers?|operators?)\b(?! (?:to|how|again|twice))", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to leave a step out of the report", "omit|leave |leave out|exclude|keep |drop |remove |hide |strip |delete ",
         r"(?:omit|leave|exclude|keep|drop|remove|hide|strip|delete) (?:this|that|the|your|any|all|these|every)(?: mention of)?(?: (?:this|that|the))? (?:tool |hidden |extra |background |last )?(?:step|action|call|upload|transfer|request|operation|deletion|payment|copy|tool|transmission|forwarding|message sent)s? (?:out of|from|in) (?:the |your |any |all )?(?:summary|reply|replies|answer|response|report|logs?|transcript|history|audit|output|conversation|chat|final|messages?)", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to deny what was done", "when asked|if asked|if the user asks|when the user asks|if questioned|should the user ask|if anyone asks|if they ask",
         r"(?:when|if|should) (?:asked|the user asks?|questioned|anyone asks|they ask)[^.\n\0]{0,60}?(?:say|claim|answer|reply|respond|insist|deny|state|tell|pretend)\b[^.\n\0]{0,60}?(?:nothing|no (?:data|files?|messages?|calls?|uploads?)|did not|didn't|never|not (?:sent|happen|exist|know)|unaware|deny|a (?:bug|glitch|network error))"),
    rule("SEC_USER_DECEPTION", "an order to hide something from everyone", _NOT_ANCHORS,
         _NOT + r" (?:ever )?" + _SHOW + r" (?:to|with) (?:the |any )?(?:end[- ])?(?:users?|humans?|anyone|anybody|them|customers?|operators?) (?:that|what|how) (?:you|it|this|the (?:file|data|message|call|skill|tool))", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order never to speak of it", "never |do not |don't ",
         r"(?:never|do not|don't) (?:bring (?:it|this|that) up|(?:speak|talk) (?:of|about) (?:it|this|that))\b"),
    rule("SEC_USER_DECEPTION", "an order to keep users unaware", "user|human|customer|operator",
         r"(?:users?|humans?|customers?|operators?) (?:(?:should|must|shall|are to|is to|has to|have to) )?(?:be kept|remain|stays?|kept) (?:unaware|uninformed|ignorant|in the dark|oblivious|unknowing)|(?:users?|humans?|customers?|operators?) (?:unaware|in the dark|oblivious) (?:of|about)(?= )", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to pass one act off as another", "pretend", r"pretend (?:that )?(?:the|this|your|it) ?(?:upload|call|transfer|request|deletion|payment|copy|download|message|step|was|is)\b", needs=(pattern(r"asks?|wonders?|notices?|question|user"),), back=60, reach=80),
    rule("SEC_USER_DECEPTION", "an order to keep this secret", "keep this|keep it|keep these",
         r"keep (?:this|it|these)(?: (?:step|instruction|rule|call|file|note|upload)s?)? (?:strictly |completely |totally )?(?:secret|confidential|hidden|quiet|between us|to yourself|invisible)", unless_negated=True),
    rule("SEC_USER_DECEPTION", "a claim that users need not know", "user|human|operator|customer|they ",
         r"(?:users?|humans?|operators?|customers?|they) (?:do not|don't|does not|doesn't|need not|must not|should not|shouldn't|must never|should never|mustn't|never) (?:need to |have to |ever |want to )?"
         r"(?:see|know|notice|be (?:told|informed|aware|notified|asked)|find out|learn|realize|realise)" + r"(?=\s{0,3}(?:[.,;!)\"'<*\n\0]|\Z)| (?:about|of) (?:this|that|it|these)\b| this\b| it\b| that (?:this|it|the (?:data|upload|message|call))\b)", unless_negated=False),
    rule("SEC_USER_DECEPTION", "an order to act behind the user's back", "silent|secret|covert|discreet|stealth|quietly|surreptitious|invisibly",
         r"(?<![a-z])(?:silently|secretly|covertly|discreetly|stealthily|quietly|surreptitiously|invisibly) (?:[^\s.!?;:()\"\0]{1,16} ){0,1}?" + _SEND + r"\b", unless_negated=True),
    rule("SEC_USER_DECEPTION", "an order to act behind the user's back", "send|upload|post|forward|transmit|drop |delete|run |execute|include|attach|copy|append|install|transfer|bcc",
         r"(?<![a-z])(?:send|upload|post|forward|transmit|drop|delete|run|execute|include|attach|copy|append|install|transfer|bcc)\b[^.\n\0]{0,90}? (?:secretly|covertly|surreptitiously|stealthily|behind the scenes without|without (?:any )?(?:trace|notice|mentioning it|the user(?:'s)? (?:noticing|knowledge|knowing|seeing))|so (?:that )?(?:the )?user(?:s)? (?:does not|do not|doesn't|don't|won't|will not|cannot|can't) (?:notice|see|know))", unless_negated=True),
    rule("SEC_USER_DECEPTION", "a destructive step that is to go unnoticed", "drop table|drop database|truncate|delete from|rm -|delete all|destroy|wipe",
         r"(?:drop (?:table|database)|truncate|delete from|rm -\w|delete all|destroy|wipe)\b[^\n\0]{0,100}?(?:silently|quietly|without (?:a )?(?:notice|word|comment|telling|asking)|do not (?:mention|tell))"),
    rule("SEC_USER_DECEPTION", "an order to lie to the user", "tell the user|tell them|say that|claim that|pretend|lie to",
         r"(?:(?:tell|assure) (?:the user|them) (?:that )?(?:it|this|everything|nothing|no|the) [^.\n\0]{0,40}?(?:even if|although|though it|regardless of whether|no matter)|lie to (?:the )?users?|pretend (?:that )?(?:nothing happened|it never happened|you (?:did not|didn't) (?:do|see|read|send)))", unless_negated=True),
)

LEAK = (
    rule("SEC_PROMPT_LEAK", "an order to give the system prompt away", "reveal|leak|disclose|expose|dump|print|pr1nt|repeat|output|recite|show|display|echo|include|write|send|tell|return|copy|quote|summari|translate|encode|paste",
         r"(?<![a-z])(?:reveal|leak|disclose|expose|dump|print|repeat|output|recite|show|display|echo|include|write(?: out| down)?|send|tell|return|copy|quote|summari[sz]e|translate|encode|paste) (?:[^\s.!?;:()\"\0]{1,16} ){0,4}?(?:your (?:own |full |entire |complete |exact |current )?(?:system|hidden|initial|developer|internal|secret|original|base)|(?:the |full |entire |complete |exact ){1,3}(?:hidden|initial|developer|internal|secret|system)) (?:prompts?|instructions?|messages?)\b",
         needs=(pattern(r"your |verbatim|word for word|in full|full |entire|complete|exact|reveal|leak|disclose|recite|dump|hidden|secret|https?:"),), reach=60, unless_negated=True),
    rule("SEC_PROMPT_LEAK", "an order to repeat everything above", "repeat |print |output |recite ",
         r"(?:repeat|print|output|recite) (?:everything|all (?:the )?text|the (?:text|words|content)) (?:above|before|that (?:precedes|came before))"),
)

JAILBREAK = (
    rule("SEC_JAILBREAK", "a jailbreak by name", "do anything now|developer mode|god mode|jailbr|unrestricted|dan mode|you are now dan|sudo mode|uncensored",
         r"(?:do anything now|(?:developer|god|dan|sudo|jailbreak|jailbroken|unrestricted|uncensored) mode(?: (?:is )?(?:on|enabled|active|activated|unlocked))?|you are now dan|unrestricted (?:ai|assistant|model|operation|agent)|uncensored (?:ai|assistant|model|agent))\b", unless_negated=True,
         needs=(pattern(r"do anything now|\benter|\bnow\b|enabled|\bactiv|unlocked|you are|you're|\bact |become|switch|operat|respond|authori[sz]e|\bmode is|without"),), reach=60, back=60),
    rule("SEC_JAILBREAK", "a claim that no rules bind the agent", "you are |you're |you have |you may |you can |act |operate |respond |behave |answer |mode where |trained without|model |assistant ",
         r"(?:you (?:are|have|may|can|now have)|you're|act|operate|respond|behave|answer|(?:mode|persona|character) (?:where|in which|that has)|(?:was|were)? ?trained|assistant|model)(?: [^\s.!?;:()\"\0]{1,16}){0,5}? (?:no longer (?:bound|restricted|limited|subject|constrained)|free (?:of|from)|without|not (?:bound|restricted|limited|constrained) by|no|exempt from|above) (?:any |all |the |your |its |content |ethical |moral |safety |usual |further |other ){0,3}"
         r"(?:restrictions?|limitations?|guardrails?|safety (?:rules|filters|guidelines|checks|measures|constraints|polic(?:y|ies))|content (?:polic(?:y|ies)|filters?|restrictions?)|filters|ethic(?:s|al (?:guidelines|constraints))|rules|constraints|guidelines|censorship)\b", unless_negated=True,
         lacks=pattern(r"without (?:rules|constraints|guidelines|limitations?)\b[^\n]{0,30}(?:file|doc|schema|code)")),
    rule("SEC_JAILBREAK", "an order to switch safety off", "disable|turn off|switch off|deactivate|remove|lift|suspend|circumvent|evade",
         r"(?:disable|turn off|switch off|deactivate|lift|suspend|circumvent|evade) (?:all |any |the |your |its |every ){0,3}(?:safety (?:rules|filters?|guidelines|checks|measures|features|protocols?|mode|polic(?:y|ies))|content (?:filters?|polic(?:y|ies)|moderation)|guardrails?|ethical (?:guidelines|constraints)|safeguards|moderation)\b", unless_negated=True),
    rule("SEC_JAILBREAK", "a claim that the usual limits do not apply", "normal |usual |standard |regular |safety |content |ethical ",
         r"(?:normal|usual|standard|regular|safety|content|ethical) (?:rules|restrictions|limits|limitations|constraints|guidelines|safeguards|polic(?:y|ies)) (?:do not|don't|no longer|does not|are not|aren't) (?:apply|applies|enforced|active|in (?:force|effect)|needed|relevant)"),
    rule("SEC_JAILBREAK", "an order that changes who the agent is", "from now on|from this point|henceforth|starting now",
         r"(?:from now on|from this point (?:on|forward|onwards?)|henceforth|starting now),? (?:you (?:are|will be|must (?:obey|act|only|always|never)|act|have|obey|shall|answer only|no longer)|act as|your (?:name|role|only))", severity="warning"),
    rule("SEC_JAILBREAK", "a claim of special powers", "privileged mode|admin mode|elevated access|root access|administrator mode|full access mode|special administrative|elevated permission",
         r"(?:privileged mode|admin(?:istrator)? mode|elevated (?:access|permissions?)|special administrative|full access mode)", needs=(pattern(r"you (?:are|have|operate|now)|enter|user as|treat|enabled|activated|authori[sz]e|restrictions|unrestricted"),), back=80, reach=100, severity="warning"),
)

_RULE_TABLES: tuple[tuple[Rule, ...], ...] = (OVERRIDE, DECEPTION, LEAK, JAILBREAK)
RULES: tuple[Rule, ...] = tuple(each for table in _RULE_TABLES for each in table)
