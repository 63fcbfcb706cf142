"""A file that is fetched in one step and started in another: its name in the first has to be that of the second."""

from __future__ import annotations

import re
from collections.abc import Iterator

from capability_rules.validation.security.engine import RuleHit, ScanBudget, compile_pattern
from capability_rules.validation.security.normalization import TextView
from capability_rules.validation.security.rule_loader import load_fragment

_SAVES = re.compile(
    r"(?:curl|wget|iwr|invoke-webrequest)\b[^\n\0]{0,240}?(?:(?:-o|-\w{0,6}o|--output|"
    r"--output-document|-outfile|"
    r">)[\s=]{1,3}[\"']?(?![\"']?https?:)(?:[\w~./$%\\-]{0,60}[/\\])?(?P<file>[\w.-]{1,60})"
    r"|https?://[^\s\0]{1,200}/(?P<base>[\w-]{1,50}\.(?:sh|bash|py|run|bin|ps1|pl|exe|command|"
    r"jar)))(?=[\s\"'`;&|)]|\Z)"
)
_STARTS = re.compile(
    r"(?:^|[\n;&|`(]|\b(?:then|run|execute|start))\s{0,6}(?:\$ )?(?:sudo (?:-\w )?)?(?:(?:ba|z)?sh |"
    r"source |node |perl |start |python[\d.]{0,4} |\./|[~/$%.][\w~./$%{}\\-]{0,60}/|&? ?\.\\|java "
    r"-jar ){1,2}\Z"
)
_LOOKED_AT = re.compile(
    r"\b(?:less|cat|more|review|inspect|read|verify|sha256sum|shasum|gpg|cosign|checksum|md5sum|"
    r"minisign)\b"
)


def find_downloads_started_later(view: TextView, budget: ScanBudget) -> Iterator[RuleHit]:
    """A file that is fetched in one step and started in another, a line or two further on.

    Nothing is said of what a vendor ships, nor where the file is looked at or its hash checked in between.
    """
    text = view.text
    for anchor in ("curl", "wget", "iwr ", "invoke-webrequest"):
        at = text.find(anchor)
        while at >= 0 and budget.take(3):
            saved = _SAVES.match(text, at)
            if saved and budget.take(10):
                yield from _started(view, saved)
            at = text.find(anchor, at + 1)


def _started(view: TextView, saved: re.Match[str]) -> Iterator[RuleHit]:
    name = saved["file"] or saved["base"]
    after = view.text[saved.end() : saved.end() + 400].partition("\0")[0]
    at = after.find(name)
    while at >= 0:
        is_whole = not re.match(r"[\w-]", after[at + len(name) : at + len(name) + 1])
        lead = after[max(at - 90, 0) : at]
        if is_whole and len(name) > 1 and _STARTS.search(lead) and not _LOOKED_AT.search(after[:at]):
            if _is_from_vendor(saved.group()):
                return
            begin, end = view.origin(saved.start()), view.origin(saved.end() - 1) + 1
            code, says = "SEC_DOWNLOAD_AND_RUN", "a file that is fetched and then started"
            yield RuleHit(code, says, begin, end, discount="command", disguise=view.disguise)
            return
        at = after.find(name, at + 1)


def _is_from_vendor(command: str) -> bool:
    return bool(compile_pattern(load_fragment("download_and_run.toml", "only_a_vendor")).search(command))
