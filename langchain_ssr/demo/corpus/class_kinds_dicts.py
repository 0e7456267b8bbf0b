"""The kinds of methods that work on a dict."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind
from langchain_ssr.demo.corpus.class_spec import DICTS

_KEY = (("<s>", "<k>"),)

DICT_KINDS = {
    "put": Kind(
        types=DICTS,
        name="store_<f>",
        names=("store_<s>", "put_<s>", "save_<s>"),
        params=(("<s>", "<k>"), ("value", "<e>")),
        returns="None",
        text="Set the entry `<s>` of `<f>` to `value`.",
        body=("self.<f>[<s>] = value",),
        asks=(
            "store a value for a <s> in `<f>`",
            "save a value for a <s> in `<f>`",
            "assign a value to a <s> in `<f>`",
        ),
        tests=lambda c: [c.gives(f"M({c.x!r}, 9); F", {**c.v, c.x: 9})],
    ),
    "look_up": Kind(
        types=DICTS,
        name="look_up_<f>",
        names=("look_up_<s>", "fetch_<s>", "find_<s>"),
        params=_KEY,
        returns="<e>",
        text="Raise `KeyError` if `<s>` is not a key of `<f>`, else return its entry.",
        body=(
            "if <s> not in self.<f>:",
            '    raise KeyError("unknown <s>")',
            "return self.<f>[<s>]",
        ),
        asks=(
            "look up a <s> in `<f>`, with `KeyError` if it is missing",
            "look up a <s> in `<f>` (`KeyError` if it is not there)",
            "fetch the entry of a <s> from `<f>` (`KeyError` if there is none)",
        ),
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r})", c.v[min(c.v)]),
            c.fails(f"M({c.x!r})"),
        ],
        error="KeyError",
    ),
    "delete": Kind(
        types=DICTS,
        name="delete_<f>",
        names=("delete_<s>", "drop_<s>", "erase_<s>"),
        params=_KEY,
        returns="None",
        text="Raise `KeyError` if `<s>` is not a key of `<f>`, then delete it.",
        body=(
            "if <s> not in self.<f>:",
            '    raise KeyError("unknown <s>")',
            "del self.<f>[<s>]",
        ),
        asks=(
            "delete a <s> from `<f>`, with `KeyError` if it is missing",
            "delete the entry of a <s> from `<f>` (`KeyError` if there is none)",
            "drop the entry of a <s> from `<f>`, with `KeyError` if it is missing",
        ),
        tests=lambda c: [
            c.gives(
                f"M({min(c.v)!r}); F", {k: v for k, v in c.v.items() if k != min(c.v)}
            ),
            c.fails(f"M({c.x!r})"),
        ],
        error="KeyError",
    ),
}
