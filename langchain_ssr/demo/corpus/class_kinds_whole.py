"""The kinds of methods that work on several fields or on all of them."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind

PAIR_KINDS = {
    "describe": Kind(
        types=(),
        name="describe",
        names=("describe", "label", "summary"),
        params=(),
        returns="str",
        text="Return `<f>` and `<g>` with `: ` between them.",
        body=('return f"{self.<f>}: {self.<g>}"',),
        asks=(
            "describe the object by `<f>`, a colon, a space and `<g>`",
            "show `<f>`, a colon, a space and `<g>`",
            "format a text with `<f>`, a colon, a space and `<g>`",
        ),
        tests=lambda c: [c.gives("M()", f"{c.v}: {c.x}")],
    ),
}

WHOLE_KINDS = {
    "to_dict": Kind(
        types=(),
        name="to_dict",
        names=("to_dict", "as_dict", "export"),
        params=(),
        returns="dict",
        text="Return a dict of all fields.",
        body=("return {<items>}",),
        asks=(
            "turn all fields into a dict",
            "convert all fields to a dict",
            "export all fields as a dict",
        ),
        tests=lambda c: [
            c.gives("list(M())", list(c.values)),
            *(c.gives(f"M()[{f!r}] == c.{f}", value=True) for f in c.values),
        ],
    ),
    "from_dict": Kind(
        types=(),
        name="from_dict",
        names=("from_dict", "build", "load"),
        params=(("data", "dict"),),
        returns='"<C>"',
        text="Class method: build an instance from a dict of all fields.",
        body=("return cls(<args>)",),
        asks=(
            "build an instance from a dict, as a class method",
            "make an instance from a dict of all fields (class method)",
            "create an instance from a dict, as a class method",
        ),
        tests=lambda c: [
            c.gives(f"d = {c.cls}.{c.m}({c.values!r}); d.{f} == {v!r}", value=True)
            for f, v in c.values.items()
        ],
    ),
}
