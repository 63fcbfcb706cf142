"""A bar chart as SVG: groups of horizontal bars, on a logarithmic axis where values differ by orders of magnitude."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Final

_WIDTH: Final = 760
_LABELS: Final = 230
_VALUES: Final = 90
_BAR: Final = 14
_GAP: Final = 12
_TITLE: Final = 34
# Told apart by lightness too, so that they can be read without color; the first is the one that matters.
_COLORS: Final = ("#1d4ed8", "#64748b", "#94a3b8", "#cbd5e1")


def bar_chart(title: str, groups: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """The SVG document: one row of bars for each group, one bar for each name in it, the value behind it.

    Values are above 0. The axis is logarithmic and begins at half of the least value.
    """
    values = [value for bars in groups.values() for value in bars.values()]
    low, high = math.log(min(values) / 2), math.log(max(values))
    rows: list[str] = []
    top = _TITLE
    for group, bars in groups.items():
        rows.append(_text(8, top + 11, group, "bold"))
        top += _BAR + 4
        for number, (name, value) in enumerate(bars.items()):
            length = (_WIDTH - _LABELS - _VALUES) * (math.log(value) - low) / (high - low)
            color = _COLORS[min(number, len(_COLORS) - 1)]
            rows.append(_text(24, top + 11, name))
            rows.append(f'<rect x="{_LABELS}" y="{top}" width="{length:.1f}" height="{_BAR}" fill="{color}"/>')
            rows.append(_text(_LABELS + length + 6, top + 11, f"{value:,.1f}" if value < 100 else f"{value:,.0f}"))
            top += _BAR + 3
        top += _GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}" '
        f'role="img" font-family="sans-serif" font-size="12">\n<title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{top}" fill="#ffffff"/>'
    )
    named = _text(8, 18, f"{title} ({unit}; logarithmic)", "bold")
    return "\n".join([head, named, *rows, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}" fill="#0f172a">{escape(text)}</text>'
