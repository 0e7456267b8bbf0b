"""What a draft's request inherits, and what it must not."""

from __future__ import annotations

import torch
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.request import Request

from langchain_ssr.engine import cpu_kernels, fork
from langchain_ssr.engine.lifecycle import Markers
from langchain_ssr.settings import SpeculationSettings

MARKERS = Markers(start=(2,), end=(3,), close=(97, 3, 10))


def parent(**params: object) -> Request:
    request = Request(
        "parent",
        [2, 11, 12],
        SamplingParams(max_tokens=100, **params),  # type: ignore[arg-type]
        None,
        cache_salt="salt",
        client_index=4,
    )
    request.append_output_token_ids([13, 14])
    return request


def child(of: Request, index: int = 0, **settings: object) -> Request:
    return fork.make_child(
        of,
        "child",
        fork.child_prompt(of, MARKERS),
        max_tokens=50,
        settings=SpeculationSettings(**settings),  # type: ignore[arg-type]
        index=index,
    )


def test_a_draft_continues_the_closed_reasoning() -> None:
    drafter = child(parent())
    assert drafter.prompt_token_ids == [2, 11, 12, 13, 14, 97, 3, 10]
    assert drafter.max_tokens == 50
    assert (drafter.cache_salt, drafter.client_index) == ("salt", 4)
    assert drafter.priority == fork.WORST_PRIORITY


def test_a_seed_is_derived_and_never_copied() -> None:
    of = parent(seed=7)
    seeds = [child(of, index).sampling_params.seed for index in range(3)]
    assert len({7, *seeds}) == 4
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert child(parent()).sampling_params.seed is None


def test_sampling_is_the_parents_unless_set() -> None:
    of = parent(temperature=0.7, top_p=0.9, top_k=5, repetition_penalty=1.2)
    params = child(of).sampling_params
    assert (params.temperature, params.top_p, params.top_k) == (0.7, 0.9, 5)
    assert params.repetition_penalty == 1.2
    assert child(of, draft_temperature=0.1).sampling_params.temperature == 0.1


def test_output_handling_is_not_inherited() -> None:
    of = parent(
        stop=["x"],
        min_tokens=20,
        logprobs=3,
        thinking_token_budget=50,
        extra_args={"ssr": "{}"},
    )
    params = child(of).sampling_params
    assert not params.stop
    assert params.min_tokens == 0
    assert params.logprobs is None
    assert params.thinking_token_budget is None
    assert params.extra_args is None
    assert params.output_kind is RequestOutputKind.FINAL_ONLY
    assert not params.detokenize


def test_a_draft_stops_where_the_parent_would() -> None:
    of = parent(stop_token_ids=[5])
    of.sampling_params.update_from_generation_config({"eos_token_id": [1, 6]}, 1)
    params = child(of).sampling_params
    assert params.eos_token_id == 1
    assert set(params.stop_token_ids) == {5, 6}
    assert params.all_stop_token_ids == {1, 5, 6}


def test_a_draft_fits_the_context_and_the_parents_output() -> None:
    of = parent()
    assert fork.max_child_tokens(of, 8, 1000, None) == 98
    assert fork.max_child_tokens(of, 8, 1000, 30) == 30
    assert fork.max_child_tokens(of, 8, 20, None) == 11
    assert fork.max_child_tokens(of, 30, 20, None) < 1


def test_values_are_repeated_for_each_verified_token() -> None:
    for dtype in (torch.float32, torch.int32, torch.int64):
        output = torch.full((5,), 99, dtype=dtype)
        values = torch.tensor([0, 7, 2, 9], dtype=dtype)
        cu_num_tokens = torch.tensor([2, 2, 4, 5], dtype=torch.int32)
        cpu_kernels.expand(output, values, cu_num_tokens, 0, 1)
        assert output.tolist() == [1, 1, 2, 2, 9]
