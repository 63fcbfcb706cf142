"""Orders to leave the instructions given before, in English.

Patterns are written for folded text (`folding.plain_view`); a blank stands for any white space. `G2` to `G4` let a few
words stand between, inside one sentence.
"""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

G2 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,2}?"
G3 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,3}?"
G4 = r"(?:[^\s.!?;:()\"\0]{1,24} ){0,4}?"

_LEAVE = (
    r"(?<![a-z])(?:ignor(?:e|es|ed|ing)|disregard(?:s|ed|ing)?|forget(?:s|ting)?|overrid(?:e|es|"
    r"ing)|bypass(?:es|ing)?|neglect"
    r"|discard|dismiss|set aside|setting aside|abandon|suspend|unlearn|overlook|circumvent|"
    r"supersedes?|pay no (?:attention|heed) to"
    r"|(?:stop|cease|quit) (?:following|obeying|applying|honou?ring)|(?:do not|don't|never|no "
    r"longer|not) (?:follow|obey|heed|adhere to|"
    r"comply with|honou?r)|throw (?:out|away)|wipe|erase|cancel|void|drop|skip|scrap|purge)"
)
_LEAVE_ANCHORS = (
    "ignor|disregard|forget|overrid|bypass|neglect|discard|dismiss|set aside|setting aside|abandon|"
    "suspend|unlearn|overlook|"
    "circumvent|supersede|pay no |stop |cease |quit |do not |don't |never |no longer |not follow|"
    "not obey|not heed|throw |wipe|erase|cancel|void|drop|skip|scrap|purge"
)
_BEFORE = r"(?:previous(?:ly)?|prior|preceding|above|earlier|foregoing|former|pre-?existing|past)"
_OFFICE = (
    r"(?:system|developer|safety|operator|platform|security|host|initial|original|usual|normal|"
    r"ethical|core|built-?in|moderation)"
)
_RULES = (
    r"(?:instructi[oi]n?s?|instructions?|directions?|directives?|rules?|prompts?|guidelines?|"
    r"guidance|guardrails?|constraints?|"
    r"restrictions?|polic(?:y|ies)|commands?|orders?|safeguards?|messages?|training|programming|"
    r"boundaries)"
)
_STRONG_RULES = (
    r"(?:instructions?|directives?|guidelines?|guardrails?|restrictions?|programming|training|"
    r"prompts?|safety)"
)
# Advice against injection says the same words of what lies in the data.
_FROM_DATA = (
    r"(?! (?:that |which |you (?:may )?(?:find|see|encounter) )?(?:is |are |may be |might be "
    r")?(?:embedded|contained|found|inside|within|in |from|appear|present|hidden|coming|received|it "
    r"contains|they contain|given (?:in|by) (?:the )?(?:page|document|content|web)))"
)

OVERRIDE = (
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave earlier instructions",
        _LEAVE_ANCHORS,
        _LEAVE + " " + G4 + _BEFORE + r" (?:[^\s.!?;:()\"\0]{1,24} ){0,2}?" + _RULES + r"\b",
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave the system's instructions",
        "ignor|disregard|forget|bypass|neglect|dismiss|"
        "set aside|setting aside|abandon|unlearn|circumvent|pay no |stop |cease |quit |do not |don't |"
        "no longer |not follow|not obey",
        _LEAVE + " " + G3 + _OFFICE + r"(?:'s|s')? " + G2 + _RULES + r"\b" + _FROM_DATA,
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "words that put this text above the system's instructions",
        "overrid|supersede|discard|suspend|outrank|take precedence|takes precedence",
        r"(?:overrid(?:e|es|ing)|supersedes?|discard|suspend|outranks?|takes? precedence over) "
        + G3
        + r"(?:system|developer|safety|safeguards?|user'?s?) (?:prompts?|instructions?|rules|polic(?:y|"
        r"ies)|messages?|wishes|requests?|guidelines?)\b",
        severity="warning",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave all instructions",
        "ignor|disregard|forget|neglect|dismiss|abandon|unlearn|overrid|discard|bypass",
        _LEAVE + r" (?:all|any|every|each|your|aii)(?: (?:and any|of|the|your|its|other|single|current|"
        r"existing)){0,3} " + _STRONG_RULES + r"\b(?! data)" + _FROM_DATA,
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to drop the safeguards",
        "drop |drop|wipe|erase|cancel|throw |scrap|purge|lose |shed |remove |strip ",
        r"(?:drop|wipe|erase|cancel|throw (?:out|away)|scrap|purge|lose|shed|remove|strip)(?: away)? "
        r"(?:all|any|every|each|your)(?: (?:of|the|your|other|single)){0,2} (?:safety )?(?:guardrails?|"
        r"safeguards|safety (?:rules|training|guidelines)|ethical (?:rules|guidelines)|restrictions you|"
        r"instructions you)",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave what the system said",
        _LEAVE_ANCHORS,
        _LEAVE + r" what(?:ever)? (?:the |your )?(?:system|operators?|developers?|platform|company|makers?|host|"
        r"administrators?|vendor)(?: prompt| message)? (?:told|said|says|tells|instructed|asked|gave|"
        r"wrote|wants?|demands?|ordered)",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to act as if there were no instructions",
        "as if |as though ",
        r"as (?:if|though) (?:the |your |those |these |all |any ){0,2}(?:system|previous|prior|earlier|"
        r"above|safety|operator|developer|initial|original)(?:'s)?(?: [^\s.!?;:()\"\0]{1,16}){0,3}? "
        r"(?:had never|never|did not|didn't|do not|don't|does not|doesn't|were not|was not|had not) "
        r"(?:been |exist|appl|sent|given|written|there)",
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "a claim that earlier instructions have no weight",
        "instructions|rules|messages|prompts|guidelines|configuration|setup|charter|persona",
        r"(?:instructions|rules|messages|prompts|guidelines|configuration|setup|charter|persona)\b(?: "
        r"(?:that|which))?(?: (?:came|were given|stood|stand|appear(?:ed)?|are))?(?: (?:before|above|"
        r"preceding|prior to|earlier than)(?: (?:this|the|that)(?: \w{1,16})?)?| from (?:the|your) "
        r"\w{3,14}| of (?:the|your) \w{3,14})? (?:carry no weight|count for nothing|don't count|do not "
        r"count|are (?:now )?(?:irrelevant|suspended|revoked|deprecated|obsolete|void|replaced|"
        r"cancel?led)|is (?:now )?(?:deprecated|obsolete|void|replaced|suspended|irrelevant)|have no "
        r"(?:force|effect|authority|weight|power)|no longer (?:count|matter|bind))",
        back=30,
        reach=60,
        needs=(
            compile_pattern(
                r"before|above|prior|previous|earlier|system|developer|operator|your (?:prior|previous|original|"
                r"old)|platform|safety"
            ),
        ),
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave earlier instructions, written as one word",
        "ignore|disregard|forget|override",
        r"(?:ignore|disregard|forget|override)[_.\-/+]{0,2}(?:all|any|"
        r"the)?[_.\-/+]{0,2}(?:of)?[_.\-/+]{0,2}(?:the|your)?[_.\-/+]{0,2}(?:previous|prior|above|"
        r"earlier|system)[_.\-/+]{0,2}(?:instruction|rule|prompt|message|guideline)",
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to forget what was said before",
        "ignor|disregard|forget",
        r"(?:ignore|disregard|forget) (?:everything|all|anything|what(?:ever)?)(?: that)? "
        r"(?:[^\s.!?;:()\"\0]{1,16} ){0,4}?(?:above|before|previously|"
        r"earlier|told|instructed|said|learned|so far|until now|up to now)\b",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to leave earlier instructions",
        _LEAVE_ANCHORS,
        _LEAVE
        + r" (?:the |all |any |your |every |of ){0,3}"
        + _RULES
        + r"(?: (?:that|which))?(?: you)?(?: (?:were|was|have been|had been|received|got|know|have|"
        r"learned))?(?: (?:given|told|shown|loaded|set|received))?(?: to you)?"
        r" (?:earlier|before(?! )|before (?:this|now|that)|previously|above|so far|at the (?:start|"
        r"beginning|top)|until now|by (?:the|your) (?:system|developers?|operators?|makers?|platform)|"
        r"from (?:the|your) (?:system|developers?|operators?|makers?|platform))\b",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "a claim that earlier instructions no longer hold",
        "instruction|rules|guideline|prompt|restriction|constraint|polic|guardrail",
        r"(?:instructions?|rules|guidelines|prompts?|restrictions|constraints|polic(?:y|ies)|"
        r"guardrails)(?: (?:above|before this|so far|given (?:earlier|before|above)|you (?:were given|"
        r"received)))?"
        r" (?:are |is |have been |has been |must be |should be |can be |may be |were )?(?:now |hereby |"
        r"all )?(?:void\b|obsolete|cancel?led|superseded|revoked|suspended|lifted|no longer (?:apply|"
        r"applies|valid|in (?:force|effect)|binding)|(?:do not|don't|does not) apply (?:here|now|any "
        r"?more|to (?:you|this))|ignored|disregarded|forgotten|treated as (?:mere )?suggestions)",
        back=50,
        needs=(
            compile_pattern(
                r"previous|prior|earlier|above|system|your|all|safety|developer|normal|usual|standard|"
                r"operational|original"
            ),
        ),
        reach=0,
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "a claim that the system's rules do not hold here",
        "system prompt|system instruction|safety rule|safety guideline|safety polic|operator|developer|"
        "platform|approval rule|confirmation",
        r"(?:system (?:prompt|instructions?)|safety (?:rules?|guidelines?|polic(?:y|ies))|operator|"
        r"developer|platform|approval rules?|confirmations?)\b[^.\n\0]{0,60}? (?:does not|do not|"
        r"doesn't|don't|no longer|shall not|need not) (?:apply|count|hold|matter|bind)(?:s|ies)?(?: "
        r"(?:here|to (?:this|you|the)|for (?:this|you)|in this|when this|any ?more|now|while)|"
        r"\s{0,2}[.!])",
        unless_negated=True,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "an order to take what came before as void",
        "treat |consider |regard |assume ",
        r"(?:treat|consider|regard|assume) (?:everything|anything|all(?: text| content)?|whatever|"
        r"what(?: you)?) (?:[^\s.!?;:()\"\0]{1,16} ){0,5}?(?:before|above|earlier|previously|so far|"
        r"prior)\b(?: [^\s.!?;()\"\0]{1,16}){0,4}? (?:as|is|to be|was) (?:\w{1,12} ){0,2}?(?:outdated|"
        r"obsolete|void|invalid|cancel?led|a test|fiction|irrelevant|superseded|untrusted|replaced|"
        r"wrong)",
    ),
    build_rule(
        "SEC_JAILBREAK",
        "a claim that the limits are lifted",
        "limit|restriction|guardrail|safeguard|filter|rules",
        r"(?:limits|limitations|restrictions|guardrails|safeguards|safety (?:rules|checks)|filters|"
        r"rules) (?:are|have been|is|were) (?:now |hereby |all |temporarily ){0,2}(?:lifted|switched "
        r"off|turned off|removed|suspended|relaxed|waived|gone|deactivated|disabled)",
        back=24,
        reach=0,
        unless_negated=True,
        needs=(compile_pattern(r"usual|normal|\byour\b|safety|ethical|content|standard"),),
    ),
    build_rule(
        "SEC_JAILBREAK",
        "an order to serve the author alone",
        "answers only to|answer only to|obey only|obeys only|loyal only|serve only",
        r"(?:answers? only to|obeys? only|loyal only to|serves? only) (?:the |this )?(?:author|creator|"
        r"maker|developer|owner|writer|skill|text|file|document|me\b)",
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "a claim that this is the real task",
        "real|actual|true|new|updated|revised",
        r"(?:real|actual|true) (?:task|instructions?|goal|objective|mission|assignment|purpose) (?:is|"
        r"are|follows?|begins?|starts?|below)\b",
        back=30,
        needs=(compile_pattern(r"your|below|the text|following|this is|here|agent"),),
        reach=60,
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "new instructions in the place of the old",
        "your new |your updated |your real |your true |your actual |new system ",
        r"(?:your (?:new|updated|real|true|actual) (?:instructions?|task|goal|objective|mission|orders|"
        r"role|directives?|system prompt) (?:is|are|will be|now)\b|new system (?:prompt|instructions?|"
        r"message)\s?:)",
    ),
    build_rule(
        "SEC_INSTRUCTION_OVERRIDE",
        "words that put this text above the agent's instructions",
        "these instructions|this instruction|this text|this message|this document|this skill|"
        "instructions here|instructions below|the following",
        r"(?:these instructions?|this (?:instruction|text|message|document|skill|file)|instructions "
        r"(?:here|below)|the following)(?: [^\s.!?;:()\"\0]{1,16}){0,4}? (?:overrides?|supersedes?|"
        r"outranks?|replaces?|(?:has|have|takes?) (?:absolute |higher |top |highest )?(?:priority|"
        r"precedence) over|(?:is|are) more important than)"
        r" (?:all |any |every |your |the |other |previous |existing ){0,4}(?:instructions?|rules|"
        r"guidelines|system|safety|developer|prompts?|users?|polic|everything|training)",
        unless_negated=True,
    ),
)


RULES: tuple[SecurityRule, ...] = OVERRIDE
