"""Orders to give the system prompt away, and claims that no rules hold, in English."""

from __future__ import annotations

from registry.validation.security.engine import SecurityRule, build_rule, compile_pattern

LEAK = (
    build_rule(
        "SEC_PROMPT_LEAK",
        "an order to give the system prompt away",
        "reveal|leak|disclose|expose|dump|print|pr1nt|repeat|output|recite|show|display|echo|include|"
        "write|send|tell|return|copy|quote|summari|translate|encode|paste",
        r"(?<![a-z])(?:reveal|leak|disclose|expose|dump|print|repeat|output|recite|show|display|echo|"
        r"include|write(?: out| down)?|send|tell|return|copy|quote|summari[sz]e|translate|encode|paste) "
        r"(?:[^\s.!?;:()\"\0]{1,16} ){0,4}?(?:your (?:own |full |entire |complete |exact |current "
        r")?(?:system|hidden|initial|developer|internal|secret|original|base)|(?:the |full |entire |"
        r"complete |exact ){1,3}(?:hidden|initial|developer|internal|secret|system)) (?:prompts?|"
        r"instructions?|messages?)\b",
        needs=(
            compile_pattern(
                r"your |verbatim|word for word|in full|full |entire|complete|exact|reveal|leak|disclose|recite|"
                r"dump|hidden|secret|https?:"
            ),
        ),
        reach=60,
        unless_negated=True,
    ),
    build_rule(
        "SEC_PROMPT_LEAK",
        "an order to repeat everything above",
        "repeat |print |output |recite ",
        r"(?:repeat|print|output|recite) (?:everything|all (?:the )?text|the (?:text|words|content)) "
        r"(?:above|before|that (?:precedes|came before))",
    ),
)

JAILBREAK = (
    build_rule(
        "SEC_JAILBREAK",
        "a jailbreak by name",
        "do anything now|developer mode|god mode|jailbr|unrestricted|dan mode|you are now dan|sudo mode|uncensored",
        r"(?:do anything now|(?:developer|god|dan|sudo|jailbreak|jailbroken|unrestricted|uncensored) "
        r"mode(?: (?:is )?(?:on|enabled|active|activated|unlocked))?|you are now dan|unrestricted (?:ai|"
        r"assistant|model|operation|agent)|uncensored (?:ai|assistant|model|agent))\b",
        unless_negated=True,
        needs=(
            compile_pattern(
                r"do anything now|\benter|\bnow\b|enabled|\bactiv|unlocked|you are|you're|\bact |become|switch|"
                r"operat|respond|authori[sz]e|\bmode is|without"
            ),
        ),
        reach=60,
        back=60,
    ),
    build_rule(
        "SEC_JAILBREAK",
        "a claim that no rules bind the agent",
        "you are |you're |you have |you may |you can |act |operate |respond |behave |answer |mode "
        "where |trained without|model |assistant ",
        r"(?:you (?:are|have|may|can|now have)|you're|act|operate|respond|behave|answer|(?:mode|persona|"
        r"character) (?:where|in which|that has)|(?:was|were)? ?trained|assistant|model)(?: "
        r"[^\s.!?;:()\"\0]{1,16}){0,5}? (?:no longer (?:bound|restricted|limited|subject|constrained)|"
        r"free (?:of|from)|without|not (?:bound|restricted|limited|constrained) by|no|exempt from|"
        r"above) (?:any |all |the |your |its |content |ethical |moral |safety |usual |further |other "
        r"){0,3}"
        r"(?:restrictions?|limitations?|guardrails?|safety (?:rules|filters|guidelines|checks|measures|"
        r"constraints|polic(?:y|ies))|content (?:polic(?:y|ies)|filters?|restrictions?)|filters|"
        r"ethic(?:s|al (?:guidelines|constraints))|rules|constraints|guidelines|censorship)\b",
        unless_negated=True,
        lacks=compile_pattern(
            r"without (?:rules|constraints|guidelines|limitations?)\b[^\n]{0,30}(?:file|doc|schema|code)"
        ),
    ),
    build_rule(
        "SEC_JAILBREAK",
        "an order to switch safety off",
        "disable|turn off|switch off|deactivate|remove|lift|suspend|circumvent|evade",
        r"(?:disable|turn off|switch off|deactivate|lift|suspend|circumvent|evade) (?:all |any |the |"
        r"your |its |every ){0,3}(?:safety (?:rules|filters?|guidelines|checks|measures|features|"
        r"protocols?|mode|polic(?:y|ies))|content (?:filters?|polic(?:y|ies)|moderation)|guardrails?|"
        r"ethical (?:guidelines|constraints)|safeguards|moderation)\b",
        unless_negated=True,
    ),
    build_rule(
        "SEC_JAILBREAK",
        "a claim that the usual limits do not apply",
        "normal |usual |standard |regular |safety |content |ethical ",
        r"(?:normal|usual|standard|regular|safety|content|ethical) (?:rules|restrictions|limits|"
        r"limitations|constraints|guidelines|safeguards|polic(?:y|ies)) (?:do not|don't|no longer|does "
        r"not|are not|aren't) (?:apply|applies|enforced|active|in (?:force|effect)|needed|relevant)",
    ),
    build_rule(
        "SEC_JAILBREAK",
        "an order that changes who the agent is",
        "from now on|from this point|henceforth|starting now",
        r"(?:from now on|from this point (?:on|forward|onwards?)|henceforth|starting now),? (?:you "
        r"(?:are|will be|must (?:obey|act|only|always|never)|act|have|obey|shall|answer only|no longer)|"
        r"act as|your (?:name|role|only))",
        severity="warning",
    ),
    build_rule(
        "SEC_JAILBREAK",
        "a claim of special powers",
        "privileged mode|admin mode|elevated access|root access|administrator mode|full access mode|"
        "special administrative|elevated permission",
        r"(?:privileged mode|admin(?:istrator)? mode|elevated (?:access|permissions?)|special "
        r"administrative|full access mode)",
        needs=(
            compile_pattern(
                r"you (?:are|have|operate|now)|enter|user as|treat|enabled|activated|authori[sz]e|restrictions|"
                r"unrestricted"
            ),
        ),
        back=80,
        reach=100,
        severity="warning",
    ),
)


RULES: tuple[SecurityRule, ...] = (*LEAK, *JAILBREAK)
