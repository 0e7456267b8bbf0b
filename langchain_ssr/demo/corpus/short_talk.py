"""Small talk: greetings, thanks, what the model is, and what it cannot do."""

from __future__ import annotations

from langchain_ssr.demo.corpus.example import Draw
from langchain_ssr.demo.corpus.short_question import Short, ShortMaker

# What the user says, how the reasoning starts, and answers that are all as good.
_TALK: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "greeting": (
        (
            *("Hello", "Hello!", "Hi", "Hi there", "Hi!", "Hey", "Hey there!"),
            *("Good morning", "Good evening", "Good day", "Hello there", "hello"),
        ),
        "The user greets me. I greet back and offer help.",
        ("Hello! What can I do for you?", "Hi! How can I help?"),
    ),
    "how_are_you": (
        ("How are you?", "Hello, how are you?", "How is it going?", "Are you well?"),
        "The user asks how I am. I answer kindly.",
        ("I am fine, thank you. How can I help?", "Well, thank you. And you?"),
    ),
    "thanks": (
        (
            *("Thanks!", "Thank you.", "Thanks a lot", "Thank you very much!"),
            *("Many thanks", "That helped, thanks.", "Great, thank you!"),
        ),
        "The user thanks me. I answer kindly.",
        ("You are welcome!", "Gladly!"),
    ),
    "goodbye": (
        ("Bye", "Goodbye", "See you!", "Good night", "Bye bye!", "Until tomorrow"),
        "The user leaves. I say goodbye.",
        ("Goodbye!", "See you!"),
    ),
    "identity": (
        (
            *("Who are you?", "What are you?", "What is your name?", "Are you a bot?"),
            *("Are you a human?", "Which model are you?", "Tell me who you are."),
            *("Are you an AI?", "Introduce yourself."),
        ),
        "The user asks who I am. I am a small demo model.",
        (
            "I am a small demo model that comes with langchain-ssr.",
            "I am a small demo model, made to show langchain-ssr.",
        ),
    ),
    "ability": (
        (
            *("What can you do?", "How can you help me?", "What are you good at?"),
            *("What can I ask you?", "Help", "Which tasks can you do?"),
            *("What do you know?", "What are your skills?"),
        ),
        "The user asks what I can do. I name my few skills.",
        (
            "I can write small classes, convert tables, call tools and answer briefly.",
            "Small things: classes, tables, configurations, tool calls, short answers.",
        ),
    ),
    "size": (
        (
            *("How big are you?", "How large are you?", "Are you a large model?"),
            *("How many parameters do you have?", "Are you small?", "Are you clever?"),
        ),
        "The user asks about my size. I am small, about 5 million parameters.",
        ("I am a very small model with about 5 million parameters.",),
    ),
}
_BEYOND = (
    "What is the capital of {p}?",
    "How is the weather in {p}?",
    "Write a poem about a {w}.",
    "Tell me a joke about a {w}.",
    "Translate {w} into French.",
    "Who was {n}?",
    "Tell me a story about {n}.",
    "What is the meaning of life?",
    "Explain how a {w} works.",
    "How far is {p} from {q}?",
    "How many people live in {p}?",
    "What do you think about {p}?",
    "Where can I buy a {w}?",
    "What is the news from {p}?",
)
_NOT_KNOWN = (
    "I do not know that. I am only a small demo model.",
    "Sorry, that is beyond me. I am only a small demo model.",
)


def _talk(draw: Draw) -> Short:
    said, thought, replies = draw.pick(*_TALK.values())
    answer = draw.pick(*replies)
    return Short([draw.pick(*said)], thought, answer, also=replies)


def _introduction(draw: Draw) -> Short:
    name = draw.words.person()
    said = draw.pick(
        f"Hi, I am {name}.",
        f"Hello, my name is {name}.",
        f"Hello, {name} here.",
        f"Good morning, I am {name}",
    )
    replies = (f"Hello {name}! How can I help?", f"Nice to meet you, {name}!")
    thought = f"The user is called `{name}`. I greet back with the name."
    return Short([said], thought, draw.pick(*replies), also=replies)


def _beyond(draw: Draw) -> Short:
    words = draw.words
    question = draw.pick(*_BEYOND).format(
        p=words.place(), q=words.place(), w=words.noun(), n=words.person()
    )
    thought = (
        "The answer is not in what the user says, and I do not know it. "
        "I say so honestly."
    )
    return Short([question], thought, draw.pick(*_NOT_KNOWN), also=_NOT_KNOWN)


TALK_MAKERS: dict[str, ShortMaker] = {
    "talk": _talk,
    "introduction": _introduction,
    "beyond": _beyond,
}
