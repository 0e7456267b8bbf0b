"""One change of mind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.class_spec import ClassSpec

STYLE, NO_FIELD = -2, -1
"""Stand for a key if a change is about no field."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of mind. It makes one decision differ.

    Attributes:
        tail: The sentence at the end of the request.
        thought: What follows from it, in a few words.
        apply: Makes the class after the change from the class before it.
        keys: The fields that it is about, `STYLE` or `NO_FIELD`; two changes of one
            class share none.
        before: The class as the reasoning plans it first.
    """

    tail: str
    thought: str
    apply: Callable[[ClassSpec], ClassSpec]
    keys: frozenset[int]
    before: ClassSpec
