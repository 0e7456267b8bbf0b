"""Stop strings of the answer, on outputs that are made up: several choices at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest
from vllm.outputs import CompletionOutput, RequestOutput
from vllm.sampling_params import RequestOutputKind, SamplingParams

from langchain_ssr.engine.answer_stops import AnswerStopsClient
from langchain_ssr.engine.lifecycle import Markers
from tests.integration_tests import tiny_models

TOKENIZER = tiny_models._tokenizer(tiny_models.CHATML_TOKENS)
THINK, END = TOKENIZER.encode("<think></think>")
MARKERS = Markers((THINK,), (END,))


class Client:
    """An engine of two choices, a token of each in a step."""

    renderer = SimpleNamespace(tokenizer=TOKENIZER)

    def __init__(self, texts: list[str], ends: list[str]) -> None:
        self.tokens = [TOKENIZER.encode(text) for text in texts]
        self.ends = ends
        self.steps = 0

    async def generate(self, *_: Any) -> AsyncGenerator[RequestOutput, None]:
        for step in range(max(map(len, self.tokens))):
            self.steps = step + 1
            outputs = [
                CompletionOutput(
                    index=index,
                    text="",
                    token_ids=[tokens[step]],
                    cumulative_logprob=None,
                    logprobs=None,
                    finish_reason=end if step == len(tokens) - 1 else None,
                )
                for index, (tokens, end) in enumerate(
                    zip(self.tokens, self.ends, strict=True)
                )
                if step < len(tokens)
            ]
            ended = all(step >= len(tokens) - 1 for tokens in self.tokens)
            yield RequestOutput("r", None, [THINK], None, outputs, finished=ended)


async def answers(
    client: Client, kind: RequestOutputKind
) -> list[tuple[str, str | None, Any]]:
    """Return text, finish reason and stop reason of each choice."""
    params = SamplingParams(n=2, stop=["STOP"], output_kind=kind, max_tokens=99)
    told: dict[int, list[Any]] = {0: ["", None, None], 1: ["", None, None]}
    async for result in AnswerStopsClient(client, MARKERS).generate("", params, "r"):
        for one in result.outputs:
            text = told[one.index][0] + one.text
            told[one.index] = [text, one.finish_reason, one.stop_reason]
    return [tuple(told[index]) for index in (0, 1)]


KINDS = [RequestOutputKind.DELTA, RequestOutputKind.FINAL_ONLY]


@pytest.mark.parametrize("kind", KINDS)
async def test_each_choice_keeps_the_reason_of_its_own_end(
    kind: RequestOutputKind,
) -> None:
    client = Client(
        ["STOP?</think>abSTOPcdefgh", "</think>a long answer"], ["length"] * 2
    )
    [one, other] = await answers(client, kind)
    assert one[1:] == ("stop", "STOP")
    assert one[0].endswith("ab")
    assert other[0].endswith("a long answer")
    assert other[1:] == ("length", None)
    # Choice 1 has ended, and choice 0 has stopped: nobody needs its further tokens.
    assert client.steps < len(client.tokens[0])


@pytest.mark.parametrize("kind", KINDS)
async def test_both_stop_at_their_own_place(kind: RequestOutputKind) -> None:
    client = Client(["</think>aSTOPbbbbbbbbbb", "</think>aaaaaSTOPbbbbb"], ["stop"] * 2)
    [one, other] = await answers(client, kind)
    assert one[1:] == other[1:] == ("stop", "STOP")
    assert one[0].endswith("a")
    assert other[0].endswith("aaaaa")
    assert client.steps == 10
