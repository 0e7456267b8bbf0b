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
.ssr dt span{color:var(--text)}
.ssr .text{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);
border-radius:.4em;padding:.6em;font-family:ui-monospace,monospace;line-height:1.7}
.ssr details .text{margin-top:.4em}
.ssr [title]{position:relative}
.ssr [title]:focus-visible{outline:2px solid var(--text);z-index:2}
.ssr [title]:focus-visible::after{content:attr(title);position:fixed;left:0;
bottom:0;z-index:3;padding:.3em .8em;white-space:normal;text-align:left;
background:var(--text);color:var(--paper);font:.95rem system-ui,sans-serif}
.ssr .legend{list-style:none;padding:0;display:grid;gap:.2em 1.2em;
grid-template-columns:repeat(auto-fill,minmax(min(26em,100%),1fr))}
.ssr .lanes{display:grid;grid-template-columns:8.5em 1fr;gap:.3em;margin:1em 0 0}
.ssr .lanes dd{position:relative;height:1.6em;margin:0}
.ssr .bar{position:absolute;height:100%;box-sizing:border-box;
border:1px solid var(--faint)}
.ssr .bar b{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;
padding:0 .2em;font-weight:normal;font-size:.85em}
.ssr .think{background:var(--bar)}
.ssr .say{background:var(--paper);border-width:2px}
.ssr .draft{background:repeating-linear-gradient(45deg,var(--bar) 0 4px,
var(--paper) 4px 8px)}
.ssr .draft b{background:var(--paper);width:max-content;max-width:100%;
box-sizing:border-box}
.ssr .broken{border-right:3px dashed var(--text)}
.ssr .tick{background:var(--text);border:0;min-width:3px}
.ssr .axis{display:flex;justify-content:space-between;margin:.2em 0 0 8.8em}
.ssr table{border-collapse:collapse;margin:.8em 0}
.ssr th,.ssr td{padding:.15em .6em;border-bottom:1px solid var(--line);
text-align:right;font-variant-numeric:tabular-nums}
.ssr th:first-child,.ssr td:first-child{text-align:left}
"""


def style_sheet() -> str:
    """Return the rules; all of them hold inside of class `ssr` only."""
    return (
        f".ssr{{{_variables('light')}}}\n"
        f"@media (prefers-color-scheme:dark){{.ssr{{{_variables('dark')}}}}}\n"
        f"{_RULES}{_sources()}"
    )


def page_style() -> str:
    """Return the rules of a whole page: no other colour around the answers."""
    return (
        f"body{{margin:0;background:{PAPER['light']}}}\n"
        "@media (prefers-color-scheme:dark)"
        f"{{body{{background:{PAPER['dark']}}}}}\n"
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
        f"text-decoration:underline {look.underline};text-underline-offset:.35em}}\n"
        f'.ssr .{name}::before{{content:"{look.letter}";font-size:.65em;'
        "display:inline-block;vertical-align:super;color:var(--text)}\n"
        for name, look in LOOKS.items()
        if name != DECODED
    )
