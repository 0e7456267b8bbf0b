"""The kinds of methods that work on a dict."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind
from langchain_ssr.demo.corpus.class_spec import DICTS

_KEY = (("<s>", "str"),)

DICT_KINDS = {
    "put": Kind(
        types=DICTS,
        name="set_<s>",
        params=(("<s>", "str"), ("value", "<e>")),
        returns="None",
        text="Set the entry `<s>` of `<f>` to `value`.",
        body=("self.<f>[<s>] = value",),
        asks=("store a value for a <s> in `<f>`", "set the entry of a <s> in `<f>`"),
        hint="`<f>` is a dict, so I assign to the key",
        tests=lambda c: [c.gives(f"M({c.x!r}, 9); F", {**c.v, c.x: 9})],
    ),
    "raise_entry": Kind(
        types=DICTS,
        name="add_<s>",
        params=(("<s>", "str"), ("amount", "<e>")),
        returns="None",
        text="Add `amount` to the entry `<s>` of `<f>`.",
        body=("self.<f>[<s>] = self.<f>.get(<s>, <zero>) + amount",),
        asks=(
            "add an amount to the entry of a <s> in `<f>`",
            "count an amount for a <s> in `<f>`",
        ),
        hint="a new key starts at zero, so `get` needs the default `<zero>`",
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r}, 3); F", {**c.v, min(c.v): c.v[min(c.v)] + 3}),
            c.gives(
                f"M({c.x!r}, 2); F", {**c.v, c.x: type(next(iter(c.v.values())))(2)}
            ),
        ],
        checked="raise_entry_checked",
    ),
    "raise_entry_checked": Kind(
        types=DICTS,
        name="add_<s>",
        params=(("<s>", "str"), ("amount", "<e>")),
        returns="None",
        text=(
            "Raise `<err>` if `amount` is negative, "
            "then add it to the entry `<s>` of `<f>`."
        ),
        body=(
            "if amount < 0:",
            '    raise <err>("negative amount")',
            "self.<f>[<s>] = self.<f>.get(<s>, <zero>) + amount",
        ),
        asks=(
            "add an amount for a <s> in `<f>`, with `<err>` for a negative amount",
            "count an amount for a <s> in `<f>` (`<err>` if it is negative)",
        ),
        hint="a negative amount must raise `<err>`, and a new key starts at `<zero>`",
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r}, 3); F", {**c.v, min(c.v): c.v[min(c.v)] + 3}),
            c.gives(f"M({min(c.v)!r}, 0); F", c.v),
            c.fails(f"M({c.x!r}, -1)"),
        ],
    ),
    "delete": Kind(
        types=DICTS,
        name="remove_<s>",
        params=_KEY,
        returns="None",
        text="Raise `<err>` if `<s>` is not a key of `<f>`, then delete it.",
        body=(
            "if <s> not in self.<f>:",
            '    raise <err>("unknown <s>")',
            "del self.<f>[<s>]",
        ),
        asks=(
            "delete a <s> from `<f>`, with `<err>` if it is missing",
            "remove the entry of a <s> from `<f>` (`<err>` if there is none)",
        ),
        hint="a missing key must raise `<err>`, so I check first and then use `del`",
        tests=lambda c: [
            c.gives(
                f"M({min(c.v)!r}); F", {k: v for k, v in c.v.items() if k != min(c.v)}
            ),
            c.fails(f"M({c.x!r})"),
        ],
    ),
    "get": Kind(
        types=DICTS,
        name="get_<s>",
        params=_KEY,
        returns="<e>",
        text="Return the entry `<s>` of `<f>`, or `<zero>` if it is missing.",
        body=("return self.<f>.get(<s>, <zero>)",),
        asks=(
            "look up a <s> in `<f>`, <zero> if it is missing",
            "return the entry of a <s> in `<f>` (<zero> if there is none)",
        ),
        hint="`get` with the default `<zero>` covers a missing key",
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r})", c.v[min(c.v)]),
            c.gives(f"M({c.x!r})", type(next(iter(c.v.values())))(0)),
        ],
        checked="get_checked",
    ),
    "get_checked": Kind(
        types=DICTS,
        name="get_<s>",
        params=_KEY,
        returns="<e>",
        text="Raise `<err>` if `<s>` is not a key of `<f>`, else return its entry.",
        body=(
            "if <s> not in self.<f>:",
            '    raise <err>("unknown <s>")',
            "return self.<f>[<s>]",
        ),
        asks=(
            "look up a <s> in `<f>`, with `<err>` if it is missing",
            "return the entry of a <s> in `<f>` (`<err>` if there is none)",
        ),
        hint="a missing key must raise `<err>`, so I check first",
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r})", c.v[min(c.v)]),
            c.fails(f"M({c.x!r})"),
        ],
    ),
    "sum_values": Kind(
        types=DICTS,
        name="total_<s>",
        params=(),
        returns="<e>",
        text="Return the sum of the values of `<f>`.",
        body=("return sum(self.<f>.values())",),
        asks=("return the sum of all values of `<f>`", "add up the values of `<f>`"),
        hint="the numbers are the values of the dict, so `sum` takes `values()`",
        tests=lambda c: [c.gives("M()", sum(c.v.values()))],
    ),
    "top": Kind(
        types=DICTS,
        name="top_<s>",
        params=(),
        returns="str",
        text="Raise `<err>` if `<f>` is empty, else return the key with the most.",
        body=(
            "if not self.<f>:",
            '    raise <err>("<f> is empty")',
            "return max(self.<f>, key=lambda key: self.<f>[key])",
        ),
        asks=(
            "return the key of `<f>` with the most, with `<err>` if it is empty",
            "find the <s> with the most in `<f>` (`<err>` if there is none)",
        ),
        hint="`max` over the keys compares their values, and empty must raise `<err>`",
        tests=lambda c: [
            c.gives("M()", max(c.v, key=lambda key: c.v[key])),
            c.fails(f"c.{c.f}.clear(); M()"),
        ],
    ),
}
