"""The form of an answer with data: fenced or raw, with a sentence or without."""

from __future__ import annotations

import dataclasses

from langchain_ssr.demo.corpus.example import Draw

_RAW_SHARE = 0.3
_SENTENCE_SHARE = 0.35
_RAW_REQUESTS = (
    "Answer with the {t} only, no fence.",
    "Answer with the raw {t} only.",
    "Only the {t}, without a code fence.",
    "No fence and no explanation, just the {t}.",
    "Give me just the raw {t}, no code block.",
    "Reply with nothing but the {t}, unfenced.",
)


@dataclasses.dataclass(frozen=True)
class Layout:
    """The form of an answer.

    Attributes:
        raw: Whether the request wants the data without a fence.
        sentence: Whether the request is a question, to which a sentence belongs.
        wish: How the request asks for raw data.
    """

    raw: bool
    sentence: bool
    wish: str

    @property
    def form(self) -> str:
        """The form in words, as the reasoning states it."""
        if self.raw:
            return "raw text without a fence"
        return f"{'one sentence and ' if self.sentence else ''}a fenced block"

    def request(self, name: str) -> str:
        """Ask for raw data in the format of this name; only if `raw`."""
        return self.wish.format(t=name)

    def answer(self, text: str, fence: str, name: str) -> str:
        """Write the answer.

        Args:
            text: The data.
            fence: What the fence is marked with.
            name: The name of the format in a sentence.
        """
        if self.raw:
            return text
        intro = f"Here is the {name}:\n\n" if self.sentence else ""
        return f"{intro}```{fence}\n{text}\n```"


def draw_layout(draw: Draw) -> Layout:
    """Draw the form of an answer."""
    return Layout(
        raw=draw.chance(_RAW_SHARE),
        sentence=draw.chance(_SENTENCE_SHARE),
        wish=draw.pick(*_RAW_REQUESTS),
    )
