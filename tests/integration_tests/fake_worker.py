"""A model and a worker that only look tokens up.

The worker keeps its own copy of every request and of the cache, as a real one does, and
checks against them all that the scheduler says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vllm.utils.hashing import sha256
from vllm.v1.outputs import ModelRunnerOutput

EOS, START, END, TOOL_CALL, FIRST_WORD = 1, 2, 3, 4, 8
VOCAB = 264
BLOCK = 16
NUM_SPEC = 8


@dataclass(frozen=True)
class Script:
    """A model: the token after a sequence is a function of the sequence.

    It thinks, with a phrase that comes back; then it answers. Every `drift`-th word of
    the answer depends on how long it thought, and a prompt that begins with 9 has a
    shorter answer. `budgets` are thinking budgets by the first token of the prompt.
    """

    reasoning: int = 40
    answer: int = 60
    drift: int = 9
    end: int = END
    budgets: dict[int, int] = field(default_factory=dict)

    def __call__(self, tokens: Sequence[int]) -> int:
        if START not in tokens:
            return START
        start = tokens.index(START)
        key, text = tuple(tokens[:start]), tokens[start + 1 :]
        at = next((i for i, t in enumerate(text) if t in (END, TOOL_CALL)), None)
        if at is None:
            if len(text) >= self.budgets.get(tokens[0], self.reasoning + 1):
                return END
            if len(text) >= self.reasoning:
                return self.end
            return _word(key, "thought", len(text) % 23)
        index = len(text) - at - 1
        if index >= (self.answer // 2 if tokens[0] == 9 else self.answer):
            return EOS
        drifts = index % self.drift == self.drift - 1
        return _word(key, index, at if drifts else 0)


def _word(*of: Any) -> int:
    number = int.from_bytes(sha256(of)[:4], "big")
    return FIRST_WORD + number % (VOCAB - FIRST_WORD)


@dataclass
class _Row:
    """What a worker knows of one request."""

    tokens: list[int]
    blocks: list[int]


class FakeWorker:
    """Computes steps in the order in which they were scheduled."""

    def __init__(self, model: Callable[[Sequence[int]], int]) -> None:
        self.model = model
        self.rows: dict[str, _Row] = {}
        self.cache: dict[int, int] = {}  # what is in each slot: the token computed

    def execute(self, out: Any, grammar: Any = None) -> ModelRunnerOutput:
        for request_id in out.finished_req_ids:
            self.rows.pop(request_id, None)
        computed = {}
        for new in out.scheduled_new_reqs:
            assert new.req_id not in self.rows, "id reused too early"
            self.rows[new.req_id] = _Row(list(new.prompt_token_ids), [])
            self.rows[new.req_id].blocks += new.block_ids[0]
            computed[new.req_id] = new.num_computed_tokens
        cached = out.scheduled_cached_reqs
        for i, request_id in enumerate(cached.req_ids):
            row = self.rows[request_id]
            if request_id in cached.resumed_req_ids:
                row.blocks.clear()
                row.tokens = list(cached.all_token_ids[request_id])
            if cached.new_block_ids[i] is not None:
                row.blocks += cached.new_block_ids[i][0]
            computed[request_id] = cached.num_computed_tokens[i]
        spec = out.scheduled_spec_decode_tokens
        masks, start = {}, 0
        for request_id in grammar.structured_output_request_ids if grammar else ():
            stop = start + 1 + len(spec.get(request_id, ()))
            masks[request_id] = grammar.grammar_bitmask[start:stop]
            start = stop
        ids = list(out.num_scheduled_tokens)
        sampled = [
            self._sample(
                self.rows[request_id],
                computed[request_id],
                out.num_scheduled_tokens[request_id],
                spec.get(request_id, []),
                masks.get(request_id),
            )
            for request_id in ids
        ]
        return ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={request_id: i for i, request_id in enumerate(ids)},
            sampled_token_ids=sampled,
        )

    def _sample(
        self, row: _Row, done: int, num: int, spec: list[int], masks: Any
    ) -> list[int]:
        assert len(spec) <= NUM_SPEC
        assert all(type(t) is int and 0 <= t < VOCAB for t in spec), spec
        context = (row.tokens + spec)[: done + num]
        assert done + num == len(context), "computes tokens that nobody knows"
        slots = [
            row.blocks[i // BLOCK] * BLOCK + i % BLOCK for i in range(len(context))
        ]
        self.cache.update(zip(slots[done:], context[done:], strict=True))
        assert [self.cache.get(s) for s in slots] == context, "wrong cache contents"
        if len(context) - len(spec) < len(row.tokens):
            assert not spec
            return []
        sampled: list[int] = []
        for i, proposed in enumerate([*spec, None]):
            token = self.model(row.tokens)
            if masks is not None:
                allowed = [t for t in range(VOCAB) if masks[i][t // 32] >> t % 32 & 1]
                token = token if token in allowed else allowed[token % len(allowed)]
            sampled.append(token)
            row.tokens.append(sampled[-1])
            if sampled[-1] != proposed:
                break
        return sampled
