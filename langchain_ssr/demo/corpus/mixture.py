"""The whole corpus: an endless, seeded stream of conversations of every kind."""

from __future__ import annotations

import dataclasses
import random

from langchain_ssr.demo.corpus import code, data, short, tools
from langchain_ssr.demo.corpus.example import Draw, Example, Maker
from langchain_ssr.demo.corpus.vocabulary import Part, Vocabulary

MIXTURE: tuple[tuple[Maker, float], ...] = (
    (code.make_class, 0.20),
    (code.make_write_file, 0.08),
    (data.make_table, 0.14),
    (data.make_config, 0.09),
    (tools.make_call, 0.17),
    (tools.make_structured, 0.07),
    (tools.make_agent_loop, 0.05),
    (short.make_short, 0.20),
)
"""Each kind of conversation and its share."""
_CUT_SHARE = 0.12
_TIGHT_SHARE = 0.18


def conversation(seed: int, index: int, part: Part = "train") -> Example:
    """Make one conversation of the stream.

    Args:
        seed: The stream.
        index: Its place in the stream, from 0.
        part: Training or held-out names.

    Returns:
        The conversation; equal arguments give an equal one.
    """
    rng = random.Random(f"{seed}/{part}/{index}")
    makers, weights = zip(*MIXTURE, strict=True)
    (maker,) = rng.choices(makers, weights)
    example = maker(Draw(rng, Vocabulary(rng, part)))
    cut = rng.random() if rng.random() < _CUT_SHARE else None
    return dataclasses.replace(example, cut=cut, tight=rng.random() < _TIGHT_SHARE)
