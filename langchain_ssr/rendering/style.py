"""The style sheet, for light and dark, and for who cannot tell colours apart."""

from __future__ import annotations

from langchain_ssr.rendering.looks import LOOKS
from langchain_ssr.rendering.pieces import DECODED

TEXT = {"light": "#1c1c1e", "dark": "#ececf0"}
PAPER = {"light": "#ffffff", "dark": "#1c1c1e"}
_FAINT = {"light": "#5c5c66", "dark": "#a8a8b3"}
_LINE = {"light": "#c9c9d1", "dark": "#4a4a52"}
_BAR = {"light": "#dcdce4", "dark": "#3a3a44"}

_RULES = """\
.ssr{color:var(--text);background:var(--paper);padding:1em;line-height:1.5;
font-family:system-ui,sans-serif;max-width:60em;margin:0 auto;text-align:left}
.ssr h2,.ssr h3{margin:1em 0 .3em}
.ssr .faint,.ssr .axis,.ssr dt{color:var(--faint)}
.ssr .text{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);
border-radius:.4em;padding:.6em;font-family:ui-monospace,monospace}
.ssr details .text{margin-top:.4em}
.ssr [title]{position:relative}
.ssr [title]:focus-visible{outline:2px solid var(--text);z-index:2}
.ssr [title]:focus-visible::after{content:attr(title);position:absolute;left:0;
top:100%;z-index:3;width:max-content;max-width:22em;padding:.2em .5em;
white-space:normal;background:var(--text);color:var(--paper);border-radius:.3em;
font:.85rem system-ui,sans-serif}
.ssr .legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2em 1.2em}
.ssr .lanes{display:grid;grid-template-columns:5em 1fr;gap:.3em;margin:1em 0 0}
.ssr .lanes dd{position:relative;height:1.6em;margin:0}
.ssr .bar{position:absolute;height:100%;box-sizing:border-box;
border:1px solid var(--faint)}
.ssr .bar b{display:block;overflow:hidden;white-space:nowrap;padding:0 .2em;
font-weight:normal;font-size:.85em}
.ssr dd .bar::before{content:none}
.ssr .think{background:var(--bar)}
.ssr .say{background:var(--paper);border-width:2px}
.ssr .draft{background:repeating-linear-gradient(45deg,var(--bar) 0 4px,
var(--paper) 4px 8px)}
.ssr .draft b{background:var(--paper);width:max-content;max-width:100%;
box-sizing:border-box}
.ssr .broken{border-right:3px dashed var(--text)}
.ssr .axis{display:flex;justify-content:space-between;margin:.2em 0 0 5.3em}
.ssr table{border-collapse:collapse;margin:.8em 0}
.ssr th,.ssr td{padding:.15em .8em;border-bottom:1px solid var(--line);
text-align:right}
.ssr th:first-child,.ssr td:first-child{text-align:left}
"""


_TICKS = ".ssr .tick::before{content:none}\n"
"""A tick of the timeline is too narrow for its source's letter."""


def style_sheet() -> str:
    """Return the rules; all of them hold inside of class `ssr` only."""
    return (
        f".ssr{{{_variables('light')}}}\n"
        f"@media (prefers-color-scheme:dark){{.ssr{{{_variables('dark')}}}}}\n"
        f"{_RULES}{_sources()}{_TICKS}"
    )


def _variables(scheme: str) -> str:
    values = {
        "text": TEXT,
        "paper": PAPER,
        "faint": _FAINT,
        "line": _LINE,
        "bar": _BAR,
    }
    named = [f"--{name}:{value[scheme]}" for name, value in values.items()]
    named += [
        f"--{name}:{look.light if scheme == 'light' else look.dark}"
        for name, look in LOOKS.items()
        if name != DECODED
    ]
    return f"color-scheme:{scheme};" + ";".join(named)


def _sources() -> str:
    """Give each source its background, its underline and its letter."""
    return "".join(
        f".ssr .{name}{{background:var(--{name});"
        f"text-decoration:underline {look.underline};text-underline-offset:.2em}}\n"
        f'.ssr .{name}::before{{content:"{look.letter}";font-size:.65em;'
        "display:inline-block;vertical-align:super;color:var(--text)}\n"
        for name, look in LOOKS.items()
        if name != DECODED
    )
