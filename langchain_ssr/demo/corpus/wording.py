"""Wording that all questions about data and all short questions share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_ssr.demo.corpus.example import Check, Draw, Example, Skill

_NO_THINKING_SHARE = 0.04
_SYSTEM_SHARE = 0.1
_GREETING_SHARE = 0.04

SYSTEM_MESSAGES = (
    "You are a helpful assistant.",
    "You are a helpful and brief assistant.",
    "You are a careful assistant. Follow the request exactly.",
    "You help with data, code and tools.",
    "Answer exactly what is asked.",
    "You are a friendly assistant for developers.",
    "You are an assistant. Keep your answers short.",
    "Be precise and do not explain more than needed.",
)
GREETINGS = (
    ("Hello", "Hello! What can I do for you?"),
    ("Hi there", "Hi! What can I do for you?"),
    ("Good morning", "Good morning! What can I do for you?"),
    ("Can you help me?", "Yes, with small tasks. What is it?"),
    ("I have some data.", "Good. What do you need?"),
)

# Where the reasoning notices a sentence follows from how the sentence begins. A model
# that decodes greedily then changes its mind as often as the corpus does.
EARLY_CUES = ("Also, ", "And please ", "Please also ", "In addition, ")
LATE_CUES = ("P.S. Please ", "One more thing: ", "Oh, and ", "Before I forget: ")
WAIT = "Wait, the request also says to "


def noticed(sentence: str, conclusion: str) -> str:
    """Change one's mind: notice an instruction of the request late.

    Args:
        sentence: The instruction, an imperative without its full stop.
        conclusion: What follows from it.
    """
    return f"{WAIT}{sentence}. {conclusion}"


def tick(name: str) -> str:
    """Put a name or a value into backticks, as reasoning mentions it."""
    return f"`{name}`"


def numbered(items: Iterable[str]) -> str:
    """Write items in backticks with their numbers, as the reasoning counts keys."""
    return ", ".join(f"{n} `{item}`" for n, item in enumerate(items, 1))


def ticks(names: Iterable[str]) -> str:
    """List names or values in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def listed(names: list[str]) -> str:
    """List names as prose does: `a, b and c`."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def capitalized(sentence: str) -> str:
    """Make the first letter of a sentence a capital one, leaving the others alone."""
    return sentence[:1].upper() + sentence[1:]


def conversation(
    draw: Draw,
    kind: tuple[Skill, str],
    turns: list[str],
    reply: tuple[str, str],
    check: Check,
) -> Example:
    """Assemble a conversation that ends with the assistant message to be learned.

    Args:
        draw: Decides about a system message, a greeting before, and thinking.
        kind: The skill and the kind within it.
        turns: Texts of user and assistant in turn, the user's request last.
        reply: The reasoning and the content of the last assistant message.
        check: How to judge that message. Earlier assistant messages are history, which
            is given and not learned: they have neither reasoning nor a check.

    Returns:
        The conversation.
    """
    skill, name = kind
    messages: list[dict[str, Any]] = []
    if draw.chance(_SYSTEM_SHARE):
        messages.append({"role": "system", "content": draw.pick(*SYSTEM_MESSAGES)})
    if len(turns) == 1 and draw.chance(_GREETING_SHARE):
        turns = [*draw.pick(*GREETINGS), *turns]
    for index, text in enumerate(turns):
        role = "assistant" if index % 2 else "user"
        messages.append({"role": role, "content": text})
    reasoning, content = reply
    thinking = not draw.chance(_NO_THINKING_SHARE)
    answer = {"role": "assistant", "content": content}
    if thinking:
        answer["reasoning_content"] = reasoning
    else:
        check = Check(check.kind, check.expected)
    return Example(skill, name, [*messages, answer], [check], enable_thinking=thinking)
