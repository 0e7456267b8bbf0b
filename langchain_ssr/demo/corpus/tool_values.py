"""Values of arguments: how a request writes them, and how the reasoning reads them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.tool_schemas import A_TYPE, Parameter
from langchain_ssr.demo.corpus.vocabulary import part_of

NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
_SCRIPTS = (
    "山水火木金土日月星雨雪風花草石林河海空田門車馬魚鳥米茶竹糸紙心手足目耳口力男女子",
    "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろ",
    "абвгдежзиклмнопрстуфхцчшщэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "äöüéèêñçåøæßáíóúàìòùâîôû",
)
_ONE_WORD = re.compile(r"[!-~]+")
_FEW_WORDS = re.compile(r"[!-~]+|[A-Za-z]+( [A-Za-z]+)?(, [A-Z]+)?")
_OTHER_JSON = re.compile(r"-?\d+(\.\d+)?|true|false|null")


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a request says about one parameter.

    Attributes:
        parameter: The parameter.
        value: The value of the argument.
        written: The value as the request writes it.
        reading: What the reasoning says before it settles the value.
        settled: The rest of that line.
        given: Whether the request gives it; if not, the call leaves it out.
        changed: Whether the reasoning changes its mind.
        words: What the request has before the value, for the reasoning to say before
            it copies the value; empty if that is the parameter's name.
    """

    parameter: Parameter
    value: Any
    written: str
    reading: str
    settled: str = ""
    given: bool = True
    changed: bool = False
    words: str = ""

    @property
    def thought(self) -> str:
        """The line of the reasoning that settles it."""
        words = f", {self.words}" if self.words else ""
        return f"{self.reading}{words}{self.settled}"

    def after(self, words: str) -> Argument:
        """Return the argument with the words before its value in the request."""
        known = words.removeprefix("the ") == self.parameter.name
        return dataclasses.replace(self, words="" if known else words)


def spell(value: Any) -> str:
    """Spell a value between the backticks of the reasoning.

    Strings are spelled bare unless they would read as another type.
    """
    if isinstance(value, str) and not _OTHER_JSON.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def decision(name: str, value: Any) -> str:
    """Return the line of the final decisions for one argument."""
    return f"`{name}` = `{spell(value)}`"


def foreign(draw: Draw) -> str:
    """Make a short text in letters beyond ASCII; each split has letters of its own."""
    letters = draw.rng.choice(_SCRIPTS)
    own = [letter for letter in letters if part_of(letter) == draw.words.part]
    return "".join(draw.rng.choice(own) for _ in range(draw.rng.randint(2, 6)))


def make_string(draw: Draw) -> str:
    """Draw a string of the sorts that arguments hold."""
    sort: _Sort = draw.rng.choices(_SORTS, _WEIGHTS)[0]
    return sort(draw)


def make_sentence(draw: Draw) -> str:
    """Draw a short sentence."""
    words = draw.words
    return draw.pick(
        f"The {words.noun()} is {words.adjective()}.",
        f"{words.person()} has the {words.noun()}",
        f"Please bring a {words.adjective()} {words.noun()}.",
        f"{words.adjective().capitalize()} {words.noun()} for {words.person()}",
        f"We meet at the {words.noun()} in {words.place()}.",
    )


def _town(draw: Draw) -> str:
    words = draw.words
    place = f"{draw.pick('', '', 'New ', 'Port ', 'North ')}{words.place()}"
    return f"{place}, {words.made_up()[:2].upper()}" if draw.chance(0.6) else place


def _code(draw: Draw) -> str:
    return f"{draw.words.word()[:2]}-{draw.rng.randint(10, 999)}"


def _date(draw: Draw) -> str:
    randint = draw.rng.randint
    return f"20{randint(10, 39)}-{randint(1, 12):02}-{randint(1, 28):02}"


def _time(draw: Draw) -> str:
    return f"{draw.rng.randint(0, 23):02}:{draw.pick(0, 15, 30, 45):02}"


def _mail(draw: Draw) -> str:
    words = draw.words
    return f"{words.person().lower()}@{words.word()}.{draw.pick('com', 'org')}"


def _file(draw: Draw) -> str:
    words = draw.words
    return f"{words.word()}/{words.snake()}.{draw.pick('txt', 'csv', 'py', 'md')}"


_Sort = Callable[[Draw], str]
_SORTS: list[_Sort] = [
    lambda draw: draw.words.place(),
    lambda draw: draw.words.person(),
    lambda draw: draw.words.word(),
    lambda draw: f"{draw.words.adjective()} {draw.words.word()}",
    _town,
    _code,
    _date,
    _time,
    _mail,
    _file,
    make_sentence,
    foreign,
]
_WEIGHTS = [18, 16, 16, 8, 8, 6, 5, 3, 4, 4, 8, 4]


def make_integer(draw: Draw) -> int:
    """Draw an integer; small ones are likelier."""
    largest = draw.pick(12, 12, 99, 99, 999, 9999)
    number = draw.rng.randint(0, largest)
    return -number if draw.chance(0.07) else number


def make_number(draw: Draw) -> float | int:
    """Draw a number that is mostly no integer."""
    if draw.chance(0.25):
        return make_integer(draw)
    digits = draw.pick(1, 1, 2)
    scale = 10**digits
    number = draw.rng.randint(1, draw.pick(9, 99, 999) * scale)
    return round((number + (number % 10 == 0)) / scale, digits)


def make_value(draw: Draw, parameter: Parameter) -> Any:
    """Draw a value that fits a parameter."""
    if parameter.options:
        return draw.rng.choice(parameter.options)
    makers: dict[str, Callable[[Draw], Any]] = {
        "string": make_string,
        "integer": make_integer,
        "number": make_number,
        "boolean": lambda draw: draw.chance(0.5),
        "array": lambda draw: _make_array(draw, parameter.items),
    }
    return makers[parameter.type](draw)


def _make_array(draw: Draw, items: str) -> list[Any]:
    count = draw.rng.randint(2, 3)
    if items == "integer":
        return [draw.rng.randint(0, 99) for _ in range(count)]
    return list(draw.words.distinct(count, 1))


def quote(draw: Draw, text: object) -> str:
    """Put a text between one of the usual quotes."""
    mark = draw.pick("'", '"')
    return f"{mark}{text}{mark}"


def one(noun: str) -> str:
    """Put the indefinite article before a noun."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def join(parts: list[str]) -> str:
    """Join parts as English does: commas, and `and` before the last."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def give(draw: Draw, parameter: Parameter, *, plain: bool = False) -> Argument:
    """Draw an argument that the request gives.

    Args:
        draw: The source of choices.
        parameter: What it is for.
        plain: Leave out the cases in which the value is not just copied.
    """
    reading = f"`{parameter.name}` is {A_TYPE[parameter.type]}"
    if not plain and not parameter.options:
        changed = _changed(draw, parameter, reading)
        if changed:
            return changed
    value = make_value(draw, parameter)
    settled = f": `{spell(value)}`."
    if parameter.options:
        options = ", ".join(f"`{option}`" for option in parameter.options)
        reading = f"`{parameter.name}` is one of {options}"
        return Argument(parameter, value, value, reading, settled)
    written = _write(draw, value)
    small = parameter.type == "integer" and 0 <= value < len(NUMBER_WORDS)
    if small and not plain and draw.chance(0.08):
        written = NUMBER_WORDS[value]
        settled = f", {written}{settled}"
    return Argument(parameter, value, written, reading, settled)


def _changed(draw: Draw, parameter: Parameter, reading: str) -> Argument | None:
    """Draw an argument that is not what it looks like at first, or none."""
    if parameter.type not in ("integer", "string"):
        return None
    if draw.chance(0.16):
        return _corrected(draw, parameter, reading)
    if parameter.type == "string" and draw.chance(0.02):
        value = str(draw.rng.randint(10, 9999))
        settled = f": `{value}`. Wait, a string has quotes: `{spell(value)}`."
        return Argument(parameter, value, value, reading, settled, changed=True)
    if parameter.type == "integer" and draw.chance(0.18):
        number = make_integer(draw)
        settled = f': `"{number}"`. Wait, an integer has no quotes: `{number}`.'
        written = quote(draw, number)
        return Argument(parameter, number, written, reading, settled, changed=True)
    return None


def _corrected(draw: Draw, parameter: Parameter, reading: str) -> Argument:
    """Draw an argument that the user gives twice: the second one counts."""
    first, second = "", ""
    value: Any = ""
    while first == second:
        number = parameter.type == "integer"
        value = make_integer(draw) if number else draw.words.word()
        first = str(make_integer(draw) if number else draw.words.word())
        second = str(value)
    written = draw.pick(
        f"{first}, no, {second}",
        f"{first} (sorry, {second})",
        f"{first}, I mean {second}",
    )
    settled = f": `{first}`. Wait, the user corrects it: `{second}`."
    return Argument(parameter, value, written, reading, settled, changed=True)


def _write(draw: Draw, value: Any) -> str:
    """Write a value as people do in a sentence."""
    if isinstance(value, str):
        simple = _FEW_WORDS if draw.chance(0.4) else _ONE_WORD
        bare = simple.fullmatch(value) and not draw.chance(0.3)
        return value if bare else quote(draw, value)
    if isinstance(value, list):
        if draw.chance(0.25):
            return json.dumps(value)
        return join([str(item) for item in value])
    return json.dumps(value)


def leave_out(parameter: Parameter) -> Argument:
    """Return what the reasoning says about a parameter that the request omits."""
    name = parameter.name
    if parameter.nullable:
        thought = f"`{name}` is not given, it may be null: `null`."
        return Argument(parameter, None, "", thought)
    if parameter.default is None:
        thought = f"`{name}` is optional, not given: leave it out."
        return Argument(parameter, None, "", thought, given=False)
    thought = (
        f"`{name}`: default `{spell(parameter.default)}`. Wait, it is optional, not "
        "given: leave it out."
    )
    return Argument(parameter, None, "", thought, given=False, changed=True)
