"""Short questions about numbers: sums, comparisons, even or odd, what comes next."""

from __future__ import annotations

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.short_question import Short, ShortMaker

_THINGS = ("books", "coins", "cards", "apples", "keys", "stamps", "shells", "cups")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


def _sum(draw: Draw) -> Short:
    one, other = draw.rng.randint(0, 10), draw.rng.randint(0, 9)
    total = one + other
    who, things = draw.words.person(), draw.pick(*_THINGS)
    question = draw.pick(
        f"What is {one} + {other}?",
        f"What is {one} plus {other}?",
        f"How much is {one} and {other}?",
        f"Add {one} and {other}.",
        f"{one} + {other} = ?",
        f"{who} has {one} {things} and gets {other} more. How many are that?",
        f"There are {one} people in {draw.words.place()}. {other} more come. How many?",
    )
    reasoning = f"This is a sum.\n{one} plus {other} is {total}."
    return Short([question], reasoning, str(total), f"It is {total}.")


def _minus(draw: Draw) -> Short:
    other = draw.rng.randint(0, 9)
    one = draw.rng.randint(other, 12)
    rest = one - other
    who, things = draw.words.person(), draw.pick(*_THINGS)
    question = draw.pick(
        f"What is {one} - {other}?",
        f"What is {one} minus {other}?",
        f"How much is {one} less {other}?",
        f"Take {other} from {one}. What is left?",
        f"{one} - {other} = ?",
        f"{who} has {one} {things} and loses {other}. How many are left?",
    )
    reasoning = f"This is a difference.\n{one} minus {other} is {rest}."
    return Short([question], reasoning, str(rest), f"It is {rest}.")


def _compare(draw: Draw) -> Short:
    tens = draw.rng.sample(range(1, 10), 2)  # they differ, so that they decide
    one, other = (10 * ten + draw.rng.randrange(10) for ten in tens)
    up = draw.chance(0.5)
    true = (one > other) == up
    word = (
        draw.pick("more", "larger", "greater") if up else draw.pick("less", "smaller")
    )
    question = draw.pick(
        f"Is {one} {word} than {other}?",
        f"I have two numbers, {one} and {other}. Is the first {word} than the second?",
        f"Tell me whether {one} is {word} than {other}.",
    )
    fact = "more" if one > other else "less"
    reasoning = (
        f"I compare {one} with {other}.\nThe first digits are {tens[0]} and {tens[1]}. "
        f"{tens[0]} is {fact} than {tens[1]}, so {one} is {fact} than {other}.\n"
        f"It asks for {word}, and it is {fact}."
    )
    sentence = f"{'Yes' if true else 'No'}, {one} is {fact} than {other}."
    return Short([question], reasoning, "Yes" if true else "No", sentence)


def _even(draw: Draw) -> Short:
    number = draw.rng.randint(1, 99)
    asked = draw.pick("even", "odd")
    really = "odd" if number % 2 else "even"
    question = draw.pick(
        f"Is {number} {asked}?",
        f"Is {number} an {asked} number?",
        f"Is the number {number} {asked}?",
        f"I have the number {number}. Is it {asked}?",
    )
    reasoning = (
        f"The last digit of {number} is {number % 10}.\n"
        f"{number % 10} is {really}, so {number} is {really}.\n"
        f"It asks for {asked}, and it is {really}."
    )
    answer = "Yes" if asked == really else "No"
    return Short([question], reasoning, answer, f"{answer}, {number} is {really}.")


def _next_number(draw: Draw) -> Short:
    step, start = draw.pick(1, 2, 10), draw.rng.randint(1, 5)
    if step == 10:  # noqa: PLR2004
        start *= 10
    series = [start + step * index for index in range(4)]
    text, after = ", ".join(map(str, series)), series[-1] + step
    question = draw.pick(
        f"What comes next: {text}?",
        f"Which number follows {text}?",
        f"Continue the series with one number: {text}.",
        f"{text}: what is the next number?",
    )
    reasoning = (
        f"From {series[0]} to {series[1]} it is {step} more.\n"
        f"{series[-1]} plus {step} is {after}."
    )
    return Short([question], reasoning, str(after), f"The next number is {after}.")


def _next_name(draw: Draw) -> Short:
    what, names = draw.pick(("day", _DAYS), ("month", _MONTHS))
    index = draw.rng.randrange(len(names))
    name, after = names[index], names[(index + 1) % len(names)]
    question = draw.pick(
        f"Which {what} comes after {name}?",
        f"What is the {what} after {name}?",
        f"Which {what} follows {name}?",
        f"What comes next after {name}?",
    )
    reasoning = f"The question is what follows `{name}`.\nAfter `{name}` is `{after}`."
    return Short([question], reasoning, after, f"{after} comes after {name}.")


NUMBER_MAKERS: dict[str, ShortMaker] = {
    "sum": _sum,
    "minus": _minus,
    "compare": _compare,
    "even": _even,
    "next_number": _next_number,
    "next_name": _next_name,
}
