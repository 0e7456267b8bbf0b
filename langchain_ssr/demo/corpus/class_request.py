"""Says in many phrasings which class a user wants."""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.class_kinds import fill, slots
from langchain_ssr.demo.corpus.class_source import KINDS, method_name
from langchain_ssr.demo.corpus.class_spec import ClassSpec, Field, Method
from langchain_ssr.demo.corpus.example import Draw

_OPENINGS = (
    "Write a Python class `<C>`.",
    "Please write a Python class called `<C>`.",
    "I need a Python class named `<C>`.",
    "Can you write the class `<C>` in Python?",
    "Create a class `<C>`.",
    "Implement `<C>` as a Python class.",
    "Give me a Python class `<C>`.",
    "Could you code a class `<C>` for me?",
    "We need `<C>`, a Python class.",
    "Define a class with the name `<C>`.",
    "Build the Python class `<C>`.",
    "Hi! Please implement the class `<C>`.",
    "For my project I want a class `<C>`.",
    "Your task: a Python class `<C>`.",
    "Let us write a class. Its name is `<C>`.",
    "Make me a small class `<C>` in Python.",
)
_PATH_OPENINGS = (
    "Write a Python class `<C>` into `<P>`.",
    "Please create the file `<P>` with a class `<C>`.",
    "Create `<P>`. It should define the class `<C>`.",
    "I need a file `<P>` that contains a Python class `<C>`.",
    "Put a new class `<C>` into the file `<P>`.",
    "Save a class `<C>` as `<P>`.",
    "The file `<P>` is missing. Write it: a class `<C>`.",
    "Add `<P>` to the project, with the class `<C>` in it.",
    "Can you write `<C>`, a Python class, to `<P>`?",
    "Implement `<C>` in `<P>`.",
    "Make the file `<P>`. The class in it is `<C>`.",
    "We need the class `<C>`. Store it in `<P>`.",
)
_WORDS = {
    "int": "a whole number",
    "float": "a decimal number",
    "str": "a text",
    "bool": "a flag",
    "list[str]": "a list of texts",
    "list[int]": "a list of whole numbers",
    "list[float]": "a list of decimal numbers",
    "dict[str, int]": "a dict from texts to whole numbers",
    "dict[str, float]": "a dict from texts to decimal numbers",
}
_FIELD_FORMS = {
    # One form has (without default, with a default, starting empty).
    "brackets": ("`<n>` (<t>)", "`<n>` (<t>, default <d>)", "`<n>` (<t>, empty)"),
    "colon": ("`<n>`: <t>", "`<n>`: <t> = <d>", "`<n>`: <t>, empty by default"),
    "words": (
        "`<n>`, <w>",
        "`<n>`, <w> that starts at <d>",
        "`<n>`, <w> that starts empty",
    ),
    "type_first": ("<t> `<n>`", "<t> `<n>` = <d>", "<t> `<n>`, initially empty"),
    "long": (
        "`<n>` of type <t> without a default",
        "`<n>` of type <t>, <d> by default",
        "`<n>` of type <t>, empty by default",
    ),
}
_NAMED_FORMS = ("`<m>` to <a>", "`<m>`: <a>", "`<m>` should <a>", "`<m>`, to <a>")
_NAMELESS_FORMS = ("a method to <a>", "one to <a>", "<a>")
_FIELD_HEADS = ("Fields", "It has these fields", "The fields are", "Attributes")
_METHOD_HEADS = ("Methods", "It needs these methods", "The methods are", "It can")


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a request says apart from the class itself.

    Attributes:
        tails: The sentences at its end.
        silent_style: Whether it leaves the style to the tails.
        path: The file to write, if any.
    """

    tails: tuple[str, ...] = ()
    silent_style: bool = False
    path: str = ""


@dataclasses.dataclass(frozen=True)
class Request:
    """What the user says, and its parts word by word, for the reasoning to quote.

    Attributes:
        text: All of it.
        style: Its words about the style; empty if it has none.
        fields: Its words about each field.
        plain: Whether they are the decision already, as in `seat: int = 0`.
        methods: Its words about each method.
        tails: The sentences at its end.
    """

    text: str
    style: str
    fields: tuple[str, ...]
    plain: bool
    methods: tuple[str, ...]
    tails: tuple[str, ...]


def _join(items: list[str], joint: str) -> str:
    return (
        f"{joint} ".join(items[:-1]) + f" and {items[-1]}"
        if len(items) > 1
        else items[0]
    )


def _listed(draw: Draw, head: str, items: list[str]) -> str:
    layout = draw.pick("bullets", "numbers", "sentence", "sentence")
    if layout == "sentence":
        return f"{head}: {_join(items, ';' if ',' in ''.join(items) else ',')}."
    marks = [f"{n}." if layout == "numbers" else "-" for n in range(1, 1 + len(items))]
    lines = [f"{mark} {item}" for mark, item in zip(marks, items, strict=True)]
    return "\n".join([f"{head}:", *lines])


def _field(form: tuple[str, str, str], field: Field) -> str:
    template = form[
        0 if field.default is None else 2 if field.default == "empty" else 1
    ]
    filled = {
        "n": field.name,
        "t": field.type,
        "w": _WORDS[field.type],
        "d": field.default or "",
    }
    return fill(template, filled)


def _method(draw: Draw, spec: ClassSpec, method: Method, forms: tuple[str, str]) -> str:
    named, nameless = forms
    kind, filled = KINDS[method.kind], slots(spec, method)
    asks = kind.asks
    if not method.name:
        # The name that the model has to find is then close to what the user says.
        verb = kind.name.split("_")[0]
        asks = tuple(ask for ask in asks if ask.startswith(verb)) or asks
    ask = draw.pick(*asks)
    form = named if method.name else nameless
    values = {"m": method_name(spec, method), "a": fill(ask, filled)}
    return fill(form, values)


def _style(draw: Draw, spec: ClassSpec) -> list[str]:
    found: list[str] = []
    if spec.dataclass:
        found.append(
            draw.pick("Use a dataclass.", "It is a dataclass.", "Make it a dataclass.")
        )
    elif not spec.hints:
        found.append(
            draw.pick(
                "No type hints.", "Without type hints.", "Type hints are not needed."
            )
        )
    elif draw.chance(0.3):
        found.append("A plain class with type hints.")
    if spec.docstrings:
        found.append(
            draw.pick("Add docstrings.", "With docstrings.", "Docstrings are welcome.")
        )
    elif draw.chance(0.2):
        found.append("No docstrings.")
    return found


def write_request(draw: Draw, spec: ClassSpec, wish: Wish) -> Request:
    """Write what the user says.

    Args:
        draw: The choices.
        spec: The class as the request describes it before its tails.
        wish: What it says besides.

    Returns:
        The user's message and its parts.
    """
    opening = draw.pick(*(_PATH_OPENINGS if wish.path else _OPENINGS))
    parts = [fill(opening, {"C": spec.name, "P": wish.path})]
    style = "" if wish.silent_style else " ".join(_style(draw, spec))
    style_first = draw.chance(0.4)
    if style and style_first:
        parts[0] += f" {style}"
    form = draw.pick(*_FIELD_FORMS)
    fields = [_field(_FIELD_FORMS[form], field) for field in spec.fields]
    parts.append(_listed(draw, draw.pick(*_FIELD_HEADS), fields))
    forms = (draw.pick(*_NAMED_FORMS), draw.pick(*_NAMELESS_FORMS))
    methods = [_method(draw, spec, method, forms) for method in spec.methods]
    parts.append(_listed(draw, draw.pick(*_METHOD_HEADS), methods))
    if style and not style_first:
        parts.append(style)
    parts += wish.tails
    listed = any("\n" in part for part in parts)
    text = ("\n" if listed and draw.chance(0.5) else "\n\n" if listed else " ").join(
        parts
    )
    # Some users do not mark names.
    mark = "`" if draw.chance(0.75) else ""

    def said(words: list[str]) -> tuple[str, ...]:
        return tuple(text.replace("`", mark) for text in words)

    text, style = said([text, style])
    plain = form == "colon"
    return Request(
        text, style, said(fields), plain, said(methods), said(list(wish.tails))
    )
