"""Short questions about a list: the largest, how many, whether one is in it."""

from __future__ import annotations

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.short_question import Short, ShortMaker, distinct_names
from langchain_ssr.demo.corpus.wording import listed, tick

# What a number says, the unit, the word for the most and the word for the least.
_SCALES = (
    ("{n} is {v} years old", "oldest", "youngest", "person"),
    ("{n} is {v}", "oldest", "youngest", "person"),
    ("{n} is {v} meters high", "highest", "lowest", "word"),
    ("{n} costs {v} euros", "most expensive", "cheapest", "word"),
    ("{n} has the size {v}", "largest", "smallest", "word"),
    ("{n} weighs {v} kilos", "heaviest", "lightest", "word"),
    ("{n} takes {v} minutes", "slowest", "fastest", "word"),
    ("{n} is {v} degrees warm", "warmest", "coldest", "place"),
    ("{n} is {v} kilometers away", "farthest", "nearest", "place"),
)


def _most(draw: Draw) -> Short:
    fact, most, least, sort = draw.pick(*_SCALES)
    source = getattr(draw.words, sort)
    found: dict[str, None] = {}
    count = draw.pick(3, 3, 4, 5)
    while len(found) < count:
        found[source()] = None
    names = list(found)
    # The first digits differ, so that they decide.
    tens = draw.rng.sample(range(1, 10), count)
    values = [10 * ten + draw.rng.randrange(10) for ten in tens]
    up = draw.chance(0.5)
    what = most if up else least
    facts = [fact.format(n=n, v=v) for n, v in zip(names, values, strict=True)]
    text = draw.pick(f"{'. '.join(facts)}.", f"{listed(facts)}.")
    who = "Who" if sort == "person" else "Which"
    question = draw.pick(
        f"{text} {who} is the {what}?",
        f"{who} is the {what}? {text}",
        f"{text} Name the {what}.",
        f"{text} Tell me the {what} of them.",
    )
    best, line = 0, [f"{tick(names[0])}: {values[0]}."]
    for index in range(1, count):
        more = values[index] > values[best]
        word = "more" if more else "less"
        line.append(
            f"{tick(names[index])}: {values[index]}, {word} than {values[best]}."
        )
        if more == up:
            best = index
    side = "most" if up else "least"
    reasoning = f"The {what} has the {side}.\n" + "\n".join(line)
    sentence = f"{names[best]} is the {what}."
    return Short([question], reasoning, names[best], sentence)


def _count(draw: Draw) -> Short:
    names = distinct_names(draw, draw.rng.randint(2, 9))
    text = draw.pick(", ".join(names), listed(names))
    question = draw.pick(
        f"How many items are in this list: {text}?",
        f"How many words are these: {text}?",
        f"Count these: {text}.",
        f"Here is a list: {text}. How many entries does it have?",
        f"What is the length of the list {text}?",
    )
    lines = [f"{number} {tick(name)}" for number, name in enumerate(names, 1)]
    reasoning = f"I count them.\n{', '.join(lines)}."
    return Short([question], reasoning, str(len(names)), f"There are {len(names)}.")


def _member(draw: Draw) -> Short:
    count = draw.rng.randint(3, 6)
    *names, other = distinct_names(draw, count + 1)
    wanted = draw.pick(*names) if draw.chance(0.5) else other
    text = ", ".join(names)
    question = draw.pick(
        f"Is {wanted} in this list: {text}?",
        f"Does the list {text} contain {wanted}?",
        f"Here are some names: {text}. Is {wanted} one of them?",
        f"I have {listed(names)}. Do I have {wanted}?",
    )
    found = wanted in names
    lines = [
        f"{tick(name)} and {tick(wanted)}: "
        f"{'the same' if name == wanted else 'another'}"
        for name in names[: names.index(wanted) + 1 if found else None]
    ]
    reasoning = f"I look for {tick(wanted)}.\n" + ".\n".join(lines) + "."
    sentence = f"Yes, {wanted} is there." if found else f"No, {wanted} is not there."
    return Short([question], reasoning, "Yes" if found else "No", sentence)


def _place_in_list(draw: Draw) -> Short:
    names = distinct_names(draw, draw.rng.randint(3, 6))
    ordinals = ["first", "second", "third", "fourth", "fifth", "sixth"][: len(names)]
    index = draw.rng.randrange(len(names))
    word = ordinals[index]
    if index == len(names) - 1 and draw.chance(0.7):
        word = "last"
    text = ", ".join(names)
    question = draw.pick(
        f"Which is the {word} of these: {text}?",
        f"What is the {word} item of the list {text}?",
        f"Here is a list: {text}. Name the {word} one.",
        f"From {text}, take the {word}.",
    )
    lines = [f"{number} {tick(name)}" for number, name in enumerate(names, 1)]
    number = "" if word == "last" else f", number {index + 1}"
    reasoning = f"I need the {word} one{number}.\n{', '.join(lines[: index + 1])}."
    sentence = f"The {word} one is {names[index]}."
    return Short([question], reasoning, names[index], sentence)


LIST_MAKERS: dict[str, ShortMaker] = {
    "most": _most,
    "count": _count,
    "member": _member,
    "place_in_list": _place_in_list,
}
