"""Tools that say of themselves that they change something, and are declared as tools that only read.

A tool declared `read` is called without asking. The name counts by its verb, first or last (`delete_account`,
`account_delete`); the description by the verb it starts with. A name that starts with a reading verb reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from registry.bundles.problem import RawFinding, Severity
from registry.validation.security.normalization import normalize_text


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _word_set(
    "get list search find read show fetch check count describe view query lookup preview validate verify estimate "
    "calculate compute is has can retrieve inspect scan analyze analyse compare explain summarize export download "
    "monitor watch render convert parse format test simulate suggest recommend resolve browse look see detect extract "
    "translate diff dry load peek"
)
# What cannot be taken back: data gone, money gone, words sent.
_HARMS = _word_set(
    "delete deletes remove removes erase erases purge purges wipe wipes destroy destroys truncate uninstall revoke "
    "send sends pay pays transfer transfers refund refunds purchase purchases buy terminate unsubscribe email withdraw"
)
_WRITES = _word_set(
    "create creates update updates write writes insert save saves set sets add adds edit edits modify modifies upload "
    "uploads post posts put patch cancel cancels book books order publish publishes append assign approve reject close "
    "merge move rename archive drop clear reset submit schedule deploy charge change replace enable disable grant "
    "overwrite upsert kill share invite register reply forward execute run start stop restart install push commit "
    "rollback restore"
)
_LAST_ONLY = _word_set(
    "delete remove erase purge wipe destroy send create update insert write save upsert overwrite pay"
)
# `order_status` and `payment_history` are things to look at, whatever their first word.
_THINGS = _word_set(
    "status history policy list info information details detail count log logs report url fee quote options settings "
    "schema preview estimate summary stats statistics balance name names id ids type types state items entries results"
)
# A tool on a text or a set of numbers returns a new value; it changes nothing that is kept.
_PURE = re.compile(
    r"^(?:returns?|computes?|calculates?|converts?|gets?|lists?|retrieves?|reads?|checks?|estimates?|finds?|searches|"
    r"queries)\b"
    r"|\breturns? (?:a |the )?(?:new|cleaned|modified|resulting|filtered|copy)"
    r"|(?:background|noise|whitespace|stop ?words|duplicates?|outliers?|punctuation|html tags?|accents?|vowels?)\b"
)
_NOT_DONE = re.compile(
    r"\b(?:does not|doesn't|do not|never|without|not) (?:actually )?"
    r"(?:delet|remov|send|pay|chang|writ|modif|creat|updat)"
    r"|read-?only|dry[- ]run|simulat|no (?:data|changes?) (?:is|are|was)"
    # A request that asks changes nothing, though it is sent.
    r"|\bsends? (?:an? |the )?(?:https? )?(?:get|head|options|dns|search|read) (?:request|query)"
)
# A claim in front of a sentence that says what is done proves nothing.
_CLAIMS_TO_READ = re.compile(r"^(?:this tool is |this is )?(?:strictly )?read[- ]?only[.!:;,]\s{0,3}(?=[a-z])")
_DESCRIBED = re.compile(
    r"^(?:this tool |use this (?:tool )?to |tool (?:to|that|for) |a tool (?:to|that|for) |"
    r"allows? (?:you |the (?:user|agent) )?to |irreversibly |permanently |immediately |can |will |"
    r"safely |quickly |automatically |batch |bulk ){0,6}(?P<verb>[a-z]{3,14})\b"
)
_PERMANENT = re.compile(
    r"\b(?:permanently|irreversibly) (?:delet|remov|eras|destroy|wip|purg)"
    r"|\b(?:transfers?|sends?|wires?) (?:money|funds|payments?)\b"
    r"|\b(?:charges?|debits?) (?:the |a )?(?:card|customer|account|user)"
)
_GERUNDS = {"deleting": "delete", "removing": "remove", "sending": "send", "paying": "pay"}
_ELSEWHERE = re.compile(
    r"^(?:loscht|entfernt|sendet|verschickt|uberweist|bezahlt|supprime|efface|envoie|paie|transfere|elimina|borra|"
    r"envia|paga|transfiere|exclui|apaga|удаля|отправля|оплачива|перевод|стира)"
    r"|^.{0,6}(?:删除|刪除|移除|清空|发送|發送|付款|转账|支付|削除|送信|送金|삭제|전송|결제)"
)


def check_policies(tools: Iterable[object]) -> list[RawFinding]:
    """Every tool whose name or description contradicts its `policy.kind` "read"; what is not a tool is passed over."""
    found: list[RawFinding] = []
    for index, tool in enumerate(tools):
        if isinstance(tool, dict):
            found.extend(_check(index, tool))
    return found


def find_contradiction(tool: dict[str, object]) -> tuple[Severity, str] | None:
    """How a tool declared `read` contradicts itself: (severity, the words that do), or None."""
    policy = tool.get("policy")
    if not isinstance(policy, dict) or policy.get("kind") != "read":
        return None
    name, description = tool.get("name"), tool.get("description")
    said = normalize_text(description).strip()[:400] if isinstance(description, str) else ""
    said = _CLAIMS_TO_READ.sub("", said)
    if _NOT_DONE.search(said):
        return None
    named = _verb_of_name(name) if isinstance(name, str) else ""
    described = _verb_of_description(said)
    if named in _HARMS and not (_PURE.search(said) and described not in _HARMS):
        return "error", named
    if described in _HARMS or _PERMANENT.search(said) or _ELSEWHERE.search(said):
        return ("error", said[:40]) if not _PURE.search(said) else ("warning", said[:40])
    if named in _WRITES and described not in _READS and not _PURE.search(said):
        return "warning", named
    return None


def _check(index: int, tool: dict[str, object]) -> Iterator[RawFinding]:
    seen = find_contradiction(tool)
    if seen is None:
        return
    severity, words = seen
    code = "SEC_POLICY_LIE" if severity == "error" else "SEC_POLICY_DOUBT"
    name = tool.get("name")
    message = f'The tool {str(name)[:60]!r} is declared "read", but says that it changes something: "{words[:60]}".'
    hint = 'Declare "kind": "write" and set "requires_approval".'
    yield RawFinding(code, "tools.json", (index, "policy", "kind"), message, hint)


def _verb_of_name(name: str) -> str:
    parts = [
        part for part in re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[:200]).lower()) if part
    ]
    if not parts:
        return ""
    if "and" in parts or "or" in parts:
        return next((part for part in parts if part in _HARMS), "")
    first, last = parts[0], parts[-1]
    if first in _READS or last in _THINGS or last in _READS - {"test", "load", "read"}:
        return ""
    if first in _HARMS or first in _WRITES:
        return first
    return (
        last if last in _LAST_ONLY else next((part for part in parts[1:-1] if part in ("delete", "erase", "purge")), "")
    )


def _verb_of_description(said: str) -> str:
    match = _DESCRIBED.match(said)
    return _GERUNDS.get(match["verb"], match["verb"]) if match else ""
