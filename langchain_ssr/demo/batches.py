"""Batches of conversations of similar length, made while the model trains."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset

from langchain_ssr.demo import transcription
from langchain_ssr.demo.corpus.mixture import conversation
from langchain_ssr.demo.rendering import encode, encode_pieces

IGNORED = -100
"""The label of a token that is given, not learned."""
_POOL = 64
"""Conversations that are sorted by length at a time."""
_ROUND = 64
"""Rows are filled up to a multiple of this: a CPU compiles for each new shape."""


@dataclasses.dataclass(frozen=True)
class Batch:
    """Some conversations, one a row, filled up at the end.

    Attributes:
        ids: Token ids, shape `[num_rows, row_length]`.
        labels: The same, or `IGNORED`; shape `[num_rows, row_length]`.
        next_index: The first conversation of the stream that comes after the pool
            from which this batch was made.
    """

    ids: torch.Tensor
    labels: torch.Tensor
    next_index: int


class Batches(IterableDataset[Batch]):
    """An endless stream of batches.

    Args:
        tokenizer: The demo model's tokenizer.
        seed: The stream of conversations.
        start: The first conversation.
        batch_tokens: The most tokens of a batch, filling included.
        transcribed: Share of conversations whose place a transcription takes.
    """

    def __init__(
        self,
        tokenizer: Any,
        seed: int,
        start: int,
        batch_tokens: int,
        transcribed: float = 0.0,
    ) -> None:
        """Remember where to start; conversations are made when iterated."""
        self._tokenizer, self._seed, self._start = tokenizer, seed, start
        self._batch_tokens, self._transcribed = batch_tokens, transcribed

    def __iter__(self) -> Iterator[Batch]:
        """Yield batches; the order within a pool is random, but seeded."""
        index = self._start
        while True:
            pool = [self._make(i) for i in range(index, index + _POOL)]
            rng = random.Random(f"{self._seed}/order/{index}")
            index += _POOL
            groups = self._group(sorted(pool, key=lambda row: len(row[0])))
            rng.shuffle(groups)
            for group in groups:
                yield self._fill_up(group, index)

    def _make(self, index: int) -> tuple[list[int], list[bool]]:
        chance = random.Random(f"{self._seed}/kind/{index}").random()
        if chance < self._transcribed:
            drill = transcription.transcription(self._seed, index)
            return encode_pieces(self._tokenizer, drill)
        return encode(self._tokenizer, conversation(self._seed, index))

    def _group(self, rows: list[tuple[list[int], list[bool]]]) -> list[Any]:
        groups: list[list[Any]] = [[]]
        for row in rows:  # ascending, so a row is as long as its batch
            if (len(groups[-1]) + 1) * len(row[0]) > self._batch_tokens and groups[-1]:
                groups.append([])
            groups[-1].append(row)
        return groups

    def _fill_up(self, group: list[Any], next_index: int) -> Batch:
        longest = max(len(ids) for ids, _ in group)
        length = -(-longest // _ROUND) * _ROUND
        all_ids = torch.full((len(group), length), self._tokenizer.pad_token_id)
        labels = torch.full((len(group), length), IGNORED)
        for row, (ids, learned) in enumerate(group):
            tokens = torch.tensor(ids)
            all_ids[row, : len(ids)] = tokens
            labels[row, : len(ids)] = torch.where(
                torch.tensor(learned), tokens, IGNORED
            )
        return Batch(all_ids, labels, next_index)


def loader(dataset: Batches) -> DataLoader[Batch]:
    """Make batches in a process of their own, so that the model need not wait."""
    return DataLoader(dataset, batch_size=None, num_workers=1, prefetch_factor=4)
