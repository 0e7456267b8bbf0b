"""One change of mind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from langchain_ssr.demo.corpus.class_spec import ClassSpec

STYLE, NO_FIELD = -2, -1
"""Stand for a key if a change is about no field."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One change of mind.

    Attributes:
        tail: The sentence at the end of the request.
        thought: What the reasoning notices, to be read after "Wait,".
        apply: Makes the class after the change from the class before it.
        keys: The fields that it is about, `STYLE` or `NO_FIELD`; two changes of one
            class share none.
        after: The first step of the reasoning that it can follow: 0 is the class as a
            whole, then come the fields, then the methods.
        before: The class as the reasoning plans it first.
        at_once: Whether it is noticed right there. A tiny model finds the next item
            after the last one; a name that changes later breaks that chain.
    """

    tail: str
    thought: str
    apply: Callable[[ClassSpec], ClassSpec]
    keys: frozenset[int]
    after: int
    before: ClassSpec
    at_once: bool = False
