"""How each source looks: a name, and marks that do not depend on colour alone."""

from __future__ import annotations

from dataclasses import dataclass

from langchain_ssr.rendering.pieces import DECODED


@dataclass(frozen=True)
class Look:
    """The look of one source.

    Attributes:
        label: Its name for a person.
        about: What it is.
        letter: Stands before each of its spans.
        underline: A CSS style of underlines.
        light: Background in the light scheme.
        dark: Background in the dark scheme.
    """

    label: str
    about: str
    letter: str
    underline: str
    light: str
    dark: str


LOOKS = {
    "draft_prefix": Look(
        "draft prefix",
        "the beginning of a draft, verified in bulk",
        "D",
        "solid 0.15em",
        "#c9ebd3",
        "#1d4a30",
    ),
    "draft_suffix": Look(
        "draft resumed",
        "a later part of a draft, after a difference",
        "R",
        "double 0.1em",
        "#c8e3f8",
        "#1a4263",
    ),
    "prompt": Look(
        "prompt",
        "repeats a part of the prompt",
        "P",
        "dotted 0.15em",
        "#fde0b5",
        "#5a3d0c",
    ),
    "reasoning": Look(
        "reasoning",
        "repeats a part of the thinking",
        "T",
        "dashed 0.1em",
        "#e5d8f7",
        "#432f66",
    ),
    "answer": Look(
        "answer",
        "repeats a part of the answer so far",
        "A",
        "wavy 0.08em",
        "#fbd5e0",
        "#612439",
    ),
    "prediction": Look(
        "prediction",
        "a part of the text that the user expected",
        "X",
        "solid 0.3em",
        "#efeca2",
        "#494708",
    ),
    DECODED: Look("decoded", "decoded one by one", "", "none", "none", "none"),
}


def look_of(source: str) -> tuple[str, Look]:
    """Return a source's name and look; one that is not known looks decoded."""
    name = source if source in LOOKS else DECODED
    return name, LOOKS[name]
