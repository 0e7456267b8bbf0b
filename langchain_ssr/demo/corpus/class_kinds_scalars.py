"""The kinds of methods that work on a number, a text or a flag."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind
from langchain_ssr.demo.corpus.class_spec import NUMBERS, SCALARS

_AMOUNT = (("amount", "<t>"),)
_INCREASE_NAMES = ("increase_<f>", "add_<f>", "raise_<f>", "grow_<f>")
_DECREASE_NAMES = ("decrease_<f>", "use_<f>", "lower_<f>", "spend_<f>")

NUMBER_KINDS = {
    "increase": Kind(
        types=NUMBERS,
        name="increase_<f>",
        names=_INCREASE_NAMES,
        params=_AMOUNT,
        returns="None",
        text="Add `amount` to `<f>`.",
        body=("self.<f> += amount",),
        asks=(
            "add an amount to `<f>`",
            "increase `<f>` by an amount",
            "let `<f>` grow by an amount",
        ),
        tests=lambda c: [c.gives("M(5); F", c.v + 5)],
        checked="increase_checked",
    ),
    "increase_checked": Kind(
        types=NUMBERS,
        name="increase_<f>",
        names=_INCREASE_NAMES,
        params=_AMOUNT,
        returns="None",
        text="Raise `ValueError` if `amount` is negative, then add it to `<f>`.",
        body=(
            "if amount < 0:",
            '    raise ValueError("negative amount")',
            "self.<f> += amount",
        ),
        asks=(
            "add an amount to `<f>`, with `ValueError` for a negative amount",
            "increase `<f>` by an amount (`ValueError` if it is negative)",
            "let `<f>` grow by an amount, with `ValueError` if it is negative",
        ),
        tests=lambda c: [
            c.gives("M(5); F", c.v + 5),
            c.gives("M(0); F", c.v + 0),
            c.fails("M(-1)"),
        ],
        error="ValueError",
    ),
    "decrease": Kind(
        types=NUMBERS,
        name="decrease_<f>",
        names=_DECREASE_NAMES,
        params=_AMOUNT,
        returns="None",
        text="Subtract `amount` from `<f>`.",
        body=("self.<f> -= amount",),
        asks=(
            "subtract an amount from `<f>`",
            "decrease `<f>` by an amount",
            "take an amount from `<f>`",
        ),
        tests=lambda c: [c.gives("M(2); F", c.v - 2)],
        checked="decrease_checked",
    ),
    "decrease_checked": Kind(
        types=NUMBERS,
        name="decrease_<f>",
        names=_DECREASE_NAMES,
        params=_AMOUNT,
        returns="None",
        text="Raise `ValueError` if `amount` is more than `<f>`, then subtract it.",
        body=(
            "if amount > self.<f>:",
            '    raise ValueError("not enough <f>")',
            "self.<f> -= amount",
        ),
        asks=(
            "subtract an amount from `<f>`, with `ValueError` if there is not enough",
            "decrease `<f>` by an amount (`ValueError` if there is not enough)",
            "take an amount from `<f>` (`ValueError` if it is more than there is)",
        ),
        tests=lambda c: [
            c.gives("M(2); F", c.v - 2),
            c.gives(f"M({c.v}); F", c.v - c.v),
            c.fails(f"M({c.v + 1})"),
        ],
        error="ValueError",
    ),
}

SCALAR_KINDS = {
    "set": Kind(
        types=SCALARS,
        name="set_<f>",
        names=("set_<f>", "change_<f>", "update_<f>"),
        params=(("value", "<t>"),),
        returns="None",
        text="Set `<f>` to `value`.",
        body=("self.<f> = value",),
        asks=(
            "set `<f>` to a new value",
            "change `<f>` to a new value",
            "replace `<f>` by a new value",
        ),
        tests=lambda c: [c.gives(f"M({c.x!r}); F", c.x)],
    ),
    "get": Kind(
        types=SCALARS,
        name="get_<f>",
        names=("get_<f>", "read_<f>", "current_<f>"),
        params=(),
        returns="<t>",
        text="Return `<f>`.",
        body=("return self.<f>",),
        asks=(
            "get the value of `<f>`",
            "read the value of `<f>`",
            "return the value of `<f>`",
        ),
        tests=lambda c: [c.gives("M()", c.v)],
    ),
    "reset": Kind(
        types=SCALARS,
        name="reset_<f>",
        names=("reset_<f>", "restore_<f>", "restart_<f>"),
        params=(),
        returns="None",
        text="Set `<f>` back to `<d>`.",
        body=("self.<f> = <d>",),
        asks=(
            "reset `<f>` to its default",
            "restore the default of `<f>`",
            "bring `<f>` back to its default",
        ),
        tests=lambda c: [c.gives("M(); F", c.d)],
    ),
    "toggle": Kind(
        types=("bool",),
        name="toggle_<f>",
        names=("toggle_<f>", "flip_<f>", "invert_<f>"),
        params=(),
        returns="None",
        text="Flip `<f>`.",
        body=("self.<f> = not self.<f>",),
        asks=("toggle `<f>`", "flip `<f>`", "invert `<f>`"),
        tests=lambda c: [
            c.gives("M(); F", value=not c.v),
            c.gives(f"M(); c.{c.m}(); F", c.v),
        ],
    ),
}
