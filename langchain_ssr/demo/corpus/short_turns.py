"""Short questions about what was said in earlier turns."""

from __future__ import annotations

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.short_question import Short, ShortMaker, people
from langchain_ssr.demo.corpus.wording import listed, tick

# What the user tells, what the assistant says to it, the questions for it later, the
# answer as a sentence, and where the value comes from.
_TOLD = (
    (
        ("My name is {v}.", "I am called {v}.", "Hi, my name is {v}."),
        ("Nice to meet you, {v}.", "Hello {v}!"),
        ("What is my name?", "Who am I?", "Do you remember my name?"),
        "Your name is {v}.",
        "person",
    ),
    (
        ("I live in {v}.", "My city is {v}.", "I am in {v}."),
        ("{v} is a nice city.", "I see."),
        ("Where do I live?", "Which city am I in?", "What is my city?"),
        "You live in {v}.",
        "place",
    ),
    (
        ("My favorite thing is the {v}.", "I like the {v} most."),
        ("Good choice.", "I see."),
        ("What do I like most?", "What is my favorite thing?"),
        "You like the {v} most.",
        "noun",
    ),
    (
        ("My project is called {v}.", "The project has the name {v}."),
        ("Good to know.", "A nice name."),
        ("What is my project called?", "What is the name of the project?"),
        "Your project is called {v}.",
        "snake",
    ),
    (
        ("My best friend is {v}.", "{v} is my best friend."),
        ("Good to know.", "That is nice."),
        ("Who is my best friend?", "What is the name of my friend?"),
        "Your best friend is {v}.",
        "person",
    ),
    (
        ("My number is {v}.", "Please remember the number {v}."),
        ("I see.", "Noted."),
        ("What is my number?", "Which number did I give you?"),
        "Your number is {v}.",
        "number",
    ),
)


def _value(draw: Draw, source: str) -> str:
    if source == "number":
        return str(draw.rng.randint(1, draw.pick(99, 999, 9999)))
    return str(getattr(draw.words, source)())


def _recall(draw: Draw) -> Short:
    told = draw.rng.sample(_TOLD, draw.pick(1, 2, 2, 3))
    turns, facts = [], []
    for says, replies, questions, sentence, source in told:
        value = _value(draw, source)
        said = draw.pick(*says).format(v=value)
        turns += [said, draw.pick(*replies).format(v=value)]
        facts.append((said, draw.pick(*questions), sentence.format(v=value), value))
    said, question, sentence, value = draw.pick(*facts)
    reasoning = f"The user asks for something said before: {said}"
    return Short([*turns, question], reasoning, value, sentence)


def _corrected(draw: Draw) -> Short:
    says, replies, questions, sentence, source = draw.pick(*_TOLD)
    old, new = _value(draw, source), _value(draw, source)
    first = draw.pick(*says).format(v=old)
    said = draw.pick("No, it is {v}.", "Sorry, I meant {v}.", "Now it is {v}.")
    said = said.format(v=new)
    turns = [
        first,
        draw.pick(*replies).format(v=old),
        said,
        draw.pick("I see.", "Noted."),
    ]
    reasoning = f"First the user said: {first} Later: {said} The later one counts."
    question = draw.pick(*questions)
    return Short([*turns, question], reasoning, new, sentence.format(v=new))


def _follow_up(draw: Draw) -> Short:
    names = people(draw, draw.pick(3, 3, 4))
    ages = draw.rng.sample(range(10, 100), len(names))
    facts = listed([f"{n} is {a}" for n, a in zip(names, ages, strict=True)])
    first, second = draw.rng.sample(range(len(names)), 2)
    question = draw.pick(f"How old is {names[first]}?", f"What age has {names[first]}?")
    again = draw.pick(f"And {names[second]}?", f"And how old is {names[second]}?")
    age = str(ages[second])
    reasoning = f"Now it is about {tick(names[second])}.\n{names[second]} is {age}."
    turns = [f"{facts}. {question}", str(ages[first]), again]
    return Short(turns, reasoning, age, f"{names[second]} is {age}.")


TURN_MAKERS: dict[str, ShortMaker] = {
    "recall": _recall,
    "corrected": _corrected,
    "follow_up": _follow_up,
}
