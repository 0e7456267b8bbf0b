"""The kinds of methods that work on a list or on any container."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind
from langchain_ssr.demo.corpus.class_spec import CONTAINERS, LISTS, NUMERIC_LISTS

_ELEMENT = (("<s>", "<k>"),)

LIST_KINDS = {
    "append": Kind(
        types=LISTS,
        name="append_<f>",
        names=("append_<s>", "add_<s>", "push_<s>"),
        params=_ELEMENT,
        returns="None",
        text="Append `<s>` to `<f>`.",
        body=("self.<f>.append(<s>)",),
        asks=(
            "append a <s> to `<f>`",
            "push a <s> onto `<f>`",
            "put a <s> at the end of `<f>`",
        ),
        tests=lambda c: [c.gives(f"M({c.x!r}); F", [*c.v, c.x])],
    ),
    "remove": Kind(
        types=LISTS,
        name="remove_<f>",
        names=("remove_<s>", "discard_<s>", "take_<s>"),
        params=_ELEMENT,
        returns="None",
        text="Raise `KeyError` if `<s>` is not in `<f>`, then remove it.",
        body=(
            "if <s> not in self.<f>:",
            '    raise KeyError("unknown <s>")',
            "self.<f>.remove(<s>)",
        ),
        asks=(
            "remove a <s> from `<f>`, with `KeyError` if it is missing",
            "remove a <s> from `<f>` (`KeyError` if it is not there)",
            "discard a <s> from `<f>`, with `KeyError` if it is not there",
        ),
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r}); F", [x for x in c.v if x != min(c.v)]),
            c.fails(f"M({c.x!r})"),
        ],
        error="KeyError",
    ),
    "total": Kind(
        types=NUMERIC_LISTS,
        name="total_<f>",
        names=("total_<s>", "sum_<f>", "sum_<s>"),
        params=(),
        returns="<e>",
        text="Return the sum of `<f>`.",
        body=("return sum(self.<f>)",),
        asks=(
            "sum up `<f>`",
            "total the numbers in `<f>`",
            "compute the sum of `<f>`",
        ),
        tests=lambda c: [c.gives("M()", sum(c.v))],
    ),
    "largest": Kind(
        types=NUMERIC_LISTS,
        name="largest_<f>",
        names=("largest_<s>", "max_<s>", "top_<s>"),
        params=(),
        returns="<e>",
        text="Raise `ValueError` if `<f>` is empty, else return its maximum.",
        body=(
            "if not self.<f>:",
            '    raise ValueError("<f> is empty")',
            "return max(self.<f>)",
        ),
        asks=(
            "find the largest number in `<f>`, with `ValueError` if it is empty",
            "find the maximum of `<f>` (`ValueError` if it is empty)",
            "pick the largest number of `<f>` (`ValueError` if it is empty)",
        ),
        tests=lambda c: [
            c.gives("M()", max(c.v)),
            c.fails(f"c.{c.f}.clear(); M()"),
        ],
        error="ValueError",
    ),
}

ANY_CONTAINER_KINDS = {
    "has": Kind(
        types=CONTAINERS,
        name="check_<f>",
        names=("has_<s>", "contains_<s>", "knows_<s>"),
        params=_ELEMENT,
        returns="bool",
        text="Return whether `<s>` is in `<f>`.",
        body=("return <s> in self.<f>",),
        asks=(
            "check whether a <s> is in `<f>`",
            "tell whether a <s> is in `<f>`",
            "ask whether a <s> is in `<f>`",
        ),
        tests=lambda c: [
            c.gives(f"M({min(c.v)!r})", value=True),
            c.gives(f"M({c.x!r})", value=False),
        ],
    ),
    "count": Kind(
        types=CONTAINERS,
        name="count_<f>",
        names=("count_<s>", "count_<f>", "size_<f>"),
        params=(),
        returns="int",
        text="Return the length of `<f>`.",
        body=("return len(self.<f>)",),
        asks=(
            "count the elements of `<f>`",
            "count how many elements `<f>` has",
            "measure the length of `<f>`",
        ),
        tests=lambda c: [c.gives("M()", len(c.v))],
    ),
    "clear": Kind(
        types=CONTAINERS,
        name="clear_<f>",
        names=("clear_<f>", "empty_<f>", "wipe_<f>"),
        params=(),
        returns="None",
        text="Remove everything from `<f>`.",
        body=("self.<f>.clear()",),
        asks=("clear `<f>`", "empty `<f>`", "wipe `<f>`"),
        tests=lambda c: [c.gives("M(); F", type(c.v)())],
    ),
    "is_empty": Kind(
        types=CONTAINERS,
        name="is_empty_<f>",
        names=("is_empty_<f>", "no_<f>", "lacks_<s>"),
        params=(),
        returns="bool",
        text="Return whether `<f>` is empty.",
        body=("return not self.<f>",),
        asks=(
            "say if `<f>` is empty",
            "see if `<f>` is empty",
            "report if `<f>` is empty",
        ),
        tests=lambda c: [
            c.gives("M()", value=False),
            c.gives(f"c.{c.f}.clear(); M()", value=True),
        ],
    ),
}
