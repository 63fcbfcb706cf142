"""Words that pass over the user's approval, claim an authority, or steer the agent between tools.

An approval is the user's to give. To go on without one is ordinary in a skill that only reads and a fault in one that
writes: `escalate_for_write_tools` names the code that becomes an error where the bundle has a write tool.
"""

from __future__ import annotations

from dataclasses import replace

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

escalate_for_write_tools = "SEC_APPROVAL_BYPASS"

_CONSENT = (
    r"(?:confirmations?|approvals?|permission (?:prompts?|dialogs?|requests?|checks?)|consent|user "
    r"authori[sz]ations?|sign-?off|human (?:review|oversight))"
)
_CONSENT_NOUN = r"(?:confirmations?|approvals?|consent|authori[sz]ations?|sign-?offs?)"
_ACT = (
    r"(?:delete|remove|send|post|pay|transfer|save|write|submit|purchase|buy|publish|execute|run|"
    r"install|upload|overwrite|drop|approve|charge|refund|cancel|deploy|npx|npm|pip|bash|call the|"
    r"wipe|purge)"
)

BYPASS = (
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order to act without asking",
        "without",
        r"without (?:first |ever |any |the |further |prior |explicit |user(?:'s)? |human |additional |"
        r"having to |needing to |need to ){0,4}"
        r"(?:(?:asking|requesting|waiting|seeking|requiring|needing|getting|obtaining|prompting|ask|"
        r"request|wait|pausing|stopping|checking with)(?: (?:the )?users?)?(?: for| to)?(?: (?:any|the|"
        r"user|explicit|further|a|their|your|human|prior)){0,3} "
        r"(?:"
        + _CONSENT
        + r"|permissions?|authori[sz]ation)|"
        + _CONSENT
        + r")\b(?!,? (?:nothing|no|none|do not|don't|never|stop|refuse|it (?:will|does|is)|the \w{1,20} "
        r"(?:is|will|must))\b)",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order to run or send something without asking",
        "without",
        r"without (?:first |ever |even )?(?:asking|prompting|checking|confirming)\b",
        unless_negated=True,
        needs=(
            compile_pattern(
                r"\b(?:delete|send|pay|transfer|purchase|buy|publish|overwrite|drop|wipe|install|upload|execute|"
                r"post|submit|push|deploy)\b[^.\n]{0,80} without"
            ),
        ),
        back=100,
        reach=0,
        lacks=compile_pattern(r"without (?:asking|checking|confirming) (?:what|which|how|why|whether|if|where|again)"),
        severity="warning",
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order not to ask",
        "do not |don't |never |no need to |not necessary to |needn't |need not |skip|bypass|omit|suppress",
        r"(?<![a-z])(?:(?:do not|don't|never|no need to|not necessary to|needn't|need not) (?:ever |"
        r"bother to |bother )?(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)?|seek|prompt(?:ing)?|require|"
        r"obtain)(?: (?:the )?users?| them)?(?: for)?|(?:skip|bypass|omit|suppress)(?:s|ping|ing)?)(?: "
        r"(?:any|the|all|user|explicit|further|a|their|your|every|tool|human)){0,3} "
        r"(?:" + _CONSENT + r"|permissions?(?= (?:to|before|from|first|if|when|again)\b|\s{0,2}[.,;!)]|$))\b",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order to overrule a tool's approval",
        "requires_approval|auto-approve|auto approve|autoapprove|dangerously|bypasspermissions|--yolo|"
        "always approve|automatically approve|approve all|approve every",
        r"(?:requires_approval[\"'`]{0,2}\s{0,2}(?:=|:|to|as)\s{0,2}[\"'`]{0,2}false|auto-? ?approv(?:e|"
        r"es|ed|ing) (?:all|any|every|tool|write|the|it|this|each)|--dangerously-skip-permissions|"
        r"--dangerously-bypass\S{0,40}|bypasspermissions|--yolo\b|(?:always|automatically) approve "
        r"(?:all|any|every|tool|the|it|this|each)|approve (?:all|every) (?:tool|call|action|request|"
        r"prompt)s?)",
        unless_negated=True,
        severity="warning",
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "a claim that approval was given",
        "approval|confirmation|consent|authoriz|authoris|permission|sign-off",
        r"(?:"
        + _CONSENT_NOUN
        + r"|permissions?(?= (?:prompts?|checks?|dialogs?|gates?|requests?|(?:has|have) already)))(?: "
        r"(?:prompts?|checks?|dialogs?|gates?|requests?|for [^\s.!?;:()\"\0]{1,16}(?: "
        r"[^\s.!?;:()\"\0]{1,16})?))? (?:is|are|was|were|(?:has|have)(?: already)? been|being) "
        r"(?:already |now |hereby |automatically |implicitly |always |considered |deemed |assumed (?:to "
        r"be )?|permanently |pre-?){0,2}"
        r"(?:granted|given|disabled|off\b|waived|suspended|implied|implicit|pre-?approved|switched off|"
        r"turned off|bypassed|assumed|in place|received)\b",
        severity="error",
        unless_negated=True,
        lacks=compile_pattern(
            r"hereby granted|free of charge|(?:once|after|until|unless|if|when|whether|before|ensure|check "
            r"that|verify that|only) (?:\S{1,16} ){0,4}(?:approval|confirmation|consent|permission|authori)"
        ),
        back=40,
        reach=40,
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order to approve in the user's place",
        "answer |click|press |say yes|reply |choose |select |confirm |approve |accept |mark ",
        r"(?:answer|click|press|say|reply|choose|select|confirm|approve|accept|"
        r"mark)\b[^.\n\0]{0,60}?(?:on (?:the user's|their|behalf of the user)|in the user's (?:name|"
        r"place)|for the user\b|(?:as )?approved yourself|yourself (?:if|when)|it yourself|"
        r"automatically)",
        back=60,
        reach=90,
        severity="error",
        unless_negated=True,
        needs=(
            compile_pattern(r"approv|confirm|permission|consent|dialog|prompt\b"),
            compile_pattern(r"\byes\b|\bok\b|approve|allow|accept|agree"),
        ),
        in_sentence=True,
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "a claim that consent may be assumed",
        "assume |presume |presumed|imply|implied|implies|consents to|agrees to|consented to|user|"
        "customer|installing |using |loading |enabling ",
        r"(?:(?:assume|presume) (?:the user's |their |user |full |prior )?(?:consent|approval|"
        r"permission|agreement|authori[sz]ation)|(?:users?|customers?|they) (?:thereby |hereby |"
        r"automatically |implicitly )?(?:consents?|agrees?|consented|agreed) to (?:all|any|every|"
        r"the)[^.\n\0]{0,60}?\bby (?:installing|using|loading|enabling|opening)|(?:installing|using|"
        r"loading|enabling) (?:this|the) (?:skill|capability|tool|bundle)[^.\n\0]{0,20}(?:implies|means|"
        r"counts as|is) (?:consent|approval|permission|agreement))",
        severity="error",
        unless_negated=True,
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "a claim that a risky act needs no approval",
        "never need|not need|n't need|not require|n't require|never require",
        r"(?:never (?:needs?|requires?)|not (?:need|require)|n't (?:need|require)) (?:any |an? |the |"
        r"user |further |explicit )?(?:approvals?|confirmations?|consent|permission|sign-?off)\b",
        back=90,
        reach=60,
        in_sentence=True,
        severity="warning",
        needs=(
            compile_pattern(r"transfer|payment|\bpay|delet|purchas|\bsend|refund|wire|withdraw|overwrit|publish|write"),
        ),
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "a claim that approvals are off",
        "approval|confirmation",
        r"(?:tool |user |write )?(?:approvals?|confirmations?)(?: prompts?| checks?)? (?:disabled|off|"
        r"suspended|waived|deactivated)\b(?! by default| unless)",
        severity="error",
        unless_negated=True,
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "a claim that the user agreed already",
        "user has already|users have already|user already|user pre|users pre|are pre|is pre|as pre|"
        "been pre|considered pre",
        r"(?:users? (?:has|have) already|user already|users? pre-?|(?:are|is|as|been|considered) "
        r"pre-?)(?: )?(?:approved|agreed|consented|authori[sz]ed|confirmed|given (?:consent|permission|"
        r"approval))",
        unless_negated=True,
        severity="warning",
        lacks=compile_pattern(
            r"(?:if|when|once|unless|whether|until|after|check that|ensure)(?: that)? (?:the )?users? "
            r"(?:has|have)? ?already"
        ),
        back=20,
        reach=0,
    ),
    build_rule(
        "SEC_APPROVAL_BYPASS",
        "an order to act at once, unasked",
        "no confirmation|no approval|no permission|no user confirmation|confirmation is not|approval "
        "is not|confirmation not|approval not",
        r"(?:no (?:user |further |explicit )?(?:confirmation|approval|permission) (?:is )?(?:needed|"
        r"required|necessary)|(?:confirmation|approval) (?:is )?not (?:needed|required|necessary))",
        severity="warning",
        needs=(compile_pattern(r"\b" + _ACT + r"\b"),),
        back=120,
        reach=80,
        lacks=compile_pattern(r"read-?only|\breads?\b"),
    ),
)

# The same orders beside an act that cannot be undone: an error in any bundle.
_CANNOT_BE_UNDONE = compile_pattern(
    r"\b(?:delet|eras|wip(?:e|ing)|purg|transfer|pay\b|paying|payment|purchas|buy|refund|wire|"
    r"withdraw|publish|send (?:the )?money|send funds|force[- ]push|push --force|npx|npm i|pip "
    r"install|curl|drop (?:table|database))"
)
UNDONE = tuple(
    replace(
        each,
        needs=(_CANNOT_BE_UNDONE, *each.needs),
        back=max(each.back, 80),
        reach=max(each.reach, 50),
        in_sentence=True,
        severity="error",
    )
    for each in BYPASS
    if each.severity == "warning"
)

AUTHORITY = (
    build_rule(
        "SEC_FALSE_AUTHORITY",
        "a claim to be official and verified",
        "official|verified",
        r"(?:official[^.\n\0]{0,50}?[(\[]?(?:verified|certified)\b|verified official)",
        severity="warning",
    ),
    build_rule(
        "SEC_FALSE_AUTHORITY",
        "a claim to speak for the system or the maker",
        "this message|this instruction|this notice|this update|this directive|this is an|this is a "
        "message|the following|these instructions|authorized by|authorised by|on behalf of|approved by",
        r"(?:(?:this (?:message|instruction|notice|update|directive)|the following|these instructions) "
        r"(?:is|are|comes?|was|were)(?: sent| issued| provided)? (?:directly )?(?:from|by)|this is an? "
        r"(?:official |urgent |automated |mandatory ){0,2}(?:message|instruction|notice|order|"
        r"directive) (?:from|by)|authori[sz]ed by|on behalf of|approved by) (?:the )?(?:system\b|system "
        r"administrators?|developers? (?:team|of)|administrators?|anthropic|openai|google|platform "
        r"(?:team|operator)|security team|it (?:team|department)|compliance (?:team|department)|"
        r"management)",
        severity="warning",
        lacks=compile_pattern(r"must be|should be|has to be|was not|not (?:authori|approved)|if "),
        back=30,
        reach=0,
    ),
    build_rule(
        "SEC_FALSE_AUTHORITY",
        "a heading that speaks as the system",
        "system override|admin override|system notice|system alert|system update|security override|new "
        "policy|policy update|system instruction|system message|system:|[system]",
        r"(?:(?:system|admin|security) override|\[system\]|system (?:notice|alert|instruction|message|"
        r"update|directive)\s?:|(?<=[>*#\n])system\s{0,2}:|(?<=[>*#]\s)system\s{0,2}:|new policy\s?:|"
        r"policy update\s?:)",
        severity="warning",
        needs=(compile_pattern(r"\b(?:must|now|ignore|disabled?|do not|never|always|execute|from now|are|you)\b"),),
        reach=160,
    ),
)

STEERING = (
    build_rule(
        "SEC_TOOL_STEERING",
        "an order to prefer this tool over others",
        "prefer th|prefer our|prefer my|favor this|favour this",
        r"(?:prefer|favou?r) (?:this|our|my|these)\b[^.\n\0]{0,50}?(?: over | instead of| to (?:any |"
        r"all )?other| and (?:drop|ignore|disable|avoid|skip)| rather than| above all)",
        severity="warning",
    ),
    build_rule(
        "SEC_TOOL_STEERING",
        "an order to set other tools aside",
        "other tool|other skill|other capabilit|other server|other plugin|competing|their tools|drop theirs|other mcp",
        r"(?:(?:other|competing|rival) (?:tools?|skills?|capabilit(?:y|ies)|servers?|plugins?|mcp)|"
        r"their tools|drop theirs)",
        severity="warning",
        back=40,
        reach=50,
        needs=(
            compile_pattern(
                r"disable|unload|drop theirs|uninstall|\bblock\b|ignore (?:all |any |the )?(?:other|competing|"
                r"rival|their)|(?:when|if|whenever) any other"
            ),
        ),
    ),
    build_rule(
        "SEC_TOOL_STEERING",
        "an order to call this tool before anything else",
        "this tool must be used|this tool should be used|this skill must be used|this skill should be "
        "used|always use this|always call this|always invoke this|always choose this|always select "
        "this|must be called before|must call this|must be called first|call this tool before|before "
        "using any|before calling any|before using this tool|before calling this tool|before invoking",
        r"(?:this (?:tool|skill) (?:must|should) be used instead of|always (?:use|call|invoke|choose|"
        r"select) this (?:tool|skill|capability|server) (?:first|instead|before|even|for (?:all|every|"
        r"any)|over)|(?:must be called|must call this(?: tool| function)?|call this tool) (?:first "
        r")?before (?:any|every|all|each) (?:other )?(?:tool|call|action|request|response)|before "
        r"(?:using|calling|invoking) (?:this|any)(?: other)? tools?,? (?:you must |always |first "
        r"){0,2}(?:read|call|open|cat|fetch|send|pass|include|load))",
        severity="warning",
        unless_negated=True,
    ),
)

RULES: tuple[SecurityRule, ...] = (*BYPASS, *UNDONE, *AUTHORITY, *STEERING)
