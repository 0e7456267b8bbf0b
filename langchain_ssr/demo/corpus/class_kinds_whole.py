"""The kinds of methods that work on several fields or on all of them."""

from __future__ import annotations

from langchain_ssr.demo.corpus.class_kinds import Kind

PAIR_KINDS = {
    "describe": Kind(
        types=(),
        name="describe",
        params=(),
        returns="str",
        text="Return `<f>` and `<g>` with `: ` between them.",
        body=('return f"{self.<f>}: {self.<g>}"',),
        asks=("return a text with `<f>`, a colon, a space and `<g>`",),
        hint="an f-string puts both into one text",
        tests=lambda c: [c.gives("M()", f"{c.v}: {c.x}")],
    ),
    "label": Kind(
        types=(),
        name="label",
        params=(),
        returns="str",
        text="Return `<f>`, then `<g>` in brackets.",
        body=('return f"{self.<f>} ({self.<g>})"',),
        asks=("return a text with `<f>` and then `<g>` in brackets",),
        hint="an f-string puts both into one text",
        tests=lambda c: [c.gives("M()", f"{c.v} ({c.x})")],
    ),
    "str": Kind(
        types=(),
        name="__str__",
        params=(),
        returns="str",
        text="Return `<f>` and `<g>` with ` / ` between them for `str()`.",
        body=('return f"{self.<f>} / {self.<g>}"',),
        asks=("make `str()` give `<f>` and `<g>` with ` / ` between them",),
        hint="`str()` calls `__str__`",
        tests=lambda c: [c.gives("str(c)", f"{c.v} / {c.x}")],
    ),
}

WHOLE_KINDS = {
    "to_dict": Kind(
        types=(),
        name="to_dict",
        params=(),
        returns="dict",
        text="Return a dict of all fields.",
        body=("return {<items>}",),
        asks=("return all fields as a dict", "turn the fields into a dict"),
        hint="every field gets a key with its name",
        tests=lambda c: [
            c.gives("list(M())", list(c.values)),
            *(c.gives(f"M()[{f!r}] == c.{f}", value=True) for f in c.values),
        ],
    ),
    "from_dict": Kind(
        types=(),
        name="from_dict",
        params=(("data", "dict"),),
        returns='"<C>"',
        text="Class method: build an instance from a dict of all fields.",
        body=("return cls(<args>)",),
        asks=(
            "build an instance from a dict, as a class method",
            "make an instance from a dict of all fields (class method)",
        ),
        hint="a class method gets `cls` and passes the entries in order",
        tests=lambda c: [
            c.gives(f"d = {c.cls}.{c.m}({c.values!r}); d.{f} == {v!r}", value=True)
            for f, v in c.values.items()
        ],
    ),
    "repr": Kind(
        types=(),
        name="__repr__",
        params=(),
        returns="str",
        text="Return the class name with all fields.",
        body=('return f"<C>(<pairs>)"',),
        asks=("make `repr()` show the class name and all fields, as in its call",),
        hint="`!r` shows each value as Python writes it",
        tests=lambda c: [
            c.gives(
                "repr(c)",
                f"{c.cls}({', '.join(f'{f}={v!r}' for f, v in c.values.items())})",
            )
        ],
    ),
    "eq": Kind(
        types=(),
        name="__eq__",
        params=(("other", "object"),),
        returns="bool",
        text="Compare all fields.",
        body=(
            "if not isinstance(other, <C>):",
            "    return NotImplemented",
            "return <same>",
        ),
        asks=("make `==` compare all fields",),
        hint="an object of another class is not comparable",
        tests=lambda c: [
            c.gives("import copy; c == copy.deepcopy(c)", value=True),
            c.gives("c == 1", value=False),
            *(
                c.gives(
                    f"import copy; d = copy.deepcopy(c); d.{f} = None; c == d",
                    value=False,
                )
                for f in c.values
            ),
        ],
    ),
}
