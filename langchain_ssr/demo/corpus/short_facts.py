"""Short questions about facts that the request states: a record, who lives where."""

from __future__ import annotations

import json

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.short_question import Short, ShortMaker, people
from langchain_ssr.demo.corpus.wording import tick

# A statement, the question for what it states and, last, the answer as a sentence.
_RELATIONS = (
    ("{n} lives in {v}.", "Where does {n} live?", "place"),
    ("{n} comes from {v}.", "Where does {n} come from?", "place"),
    ("{n} works in {v}.", "In which city does {n} work?", "place"),
    ("{n} likes the {v}.", "What does {n} like?", "noun"),
    ("{n} owns a {v}.", "What does {n} own?", "noun"),
    ("{n} is a friend of {v}.", "Who is {n} a friend of?", "person"),
    ("{n} looks for the {v}.", "What does {n} look for?", "noun"),
)


def _record(draw: Draw) -> Short:
    keys = draw.words.distinct(draw.rng.randint(3, 6))
    values = [
        draw.pick(
            draw.words.person(),
            draw.words.place(),
            draw.words.word(),
            draw.rng.randint(1, 999),
        )
        for _ in keys
    ]
    record = dict(zip(keys, values, strict=True))
    text = draw.pick(
        json.dumps(record),
        "\n".join(f"{key}: {value}" for key, value in record.items()),
        ", ".join(f"{key}={value}" for key, value in record.items()),
    )
    key = draw.pick(*keys)
    question = draw.pick(
        f"What is the value of {key}?",
        f"Which value does {key} have?",
        f"Read the value of {key}.",
        f"What is {key}?",
    )
    ask = draw.pick(f"{question}\n\n{text}", f"{text}\n\n{question}")
    answer = str(record[key])
    reasoning = (
        f"I look for {tick(key)}.\nIn the record, {tick(key)} is {tick(answer)}."
    )
    return Short([ask], reasoning, answer, f"The value of {key} is {answer}.")


def _statement(draw: Draw) -> Short:
    fact, ask, sort = draw.pick(*_RELATIONS)
    names = people(draw, draw.rng.randint(2, 5))
    source = getattr(draw.words, sort)
    values = []
    for _ in names:
        value = source()
        while value in names:
            value = source()
        values.append(value)
    index = draw.rng.randrange(len(names))
    facts = [fact.format(n=n, v=v) for n, v in zip(names, values, strict=True)]
    question = ask.format(n=names[index])
    text = draw.pick(" ", "\n").join(facts)
    question = draw.pick(f"{text} {question}", f"{question} {text}")
    reasoning = f"The question is about {tick(names[index])}.\n{facts[index]}"
    return Short([question], reasoning, values[index], facts[index])


def _is_it(draw: Draw) -> Short:
    fact, _, sort = draw.pick(*_RELATIONS[:3])
    names = people(draw, draw.rng.randint(2, 4))
    source = getattr(draw.words, sort)
    values = [source() for _ in names]
    index = draw.rng.randrange(len(names))
    asked = values[index] if draw.chance(0.5) else source()
    facts = [fact.format(n=n, v=v) for n, v in zip(names, values, strict=True)]
    statement = fact.format(n=names[index], v=asked)[:-1]
    question = draw.pick(
        f"Is it true that {statement}?", f"{statement}, is that right?"
    )
    true = asked == values[index]
    reasoning = (
        f"The question is about {tick(names[index])} and {tick(asked)}.\n"
        f"{facts[index]} {tick(values[index])} and {tick(asked)}: "
        f"{'the same' if true else 'another'}."
    )
    answer = "Yes" if true else "No"
    sentence = f"{answer}, {facts[index]}"
    return Short([f"{' '.join(facts)} {question}"], reasoning, answer, sentence)


FACT_MAKERS: dict[str, ShortMaker] = {
    "record": _record,
    "statement": _statement,
    "is_it": _is_it,
}
