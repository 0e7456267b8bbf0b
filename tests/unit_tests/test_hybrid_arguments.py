"""Engine arguments for models with recurrent layers (Qwen3.5)."""

from __future__ import annotations

import logging

import pytest

from langchain_ssr.backends.launch import (
    HYBRID_TOKENS,
    engine_arguments,
    hybrid_arguments,
    speculates,
    to_flags,
)
from langchain_ssr.errors import SettingsError
from langchain_ssr.models import QWEN3_5, ModelSpec

SPEC = ModelSpec("Qwen/Qwen3.5-4B", QWEN3_5)


def arguments(device: str, num_tokens: int = 32, **engine_kwargs) -> dict:
    made = engine_arguments(SPEC, "Qwen3.5-4B", engine_kwargs, device, num_tokens)
    assert speculates(made)
    return hybrid_arguments(made, device)


def num_tokens(made: dict) -> int:
    return made["speculative_config"]["num_speculative_tokens"]


@pytest.mark.parametrize(("given", "used"), [(1, 1), (16, 16), (17, 16), (128, 16)])
def test_on_a_gpu_few_tokens_are_proposed(given, used):
    assert HYBRID_TOKENS == 16
    assert num_tokens(arguments("cuda", given)) == used


def test_on_a_gpu_the_prefix_cache_stays_on():
    made = arguments("cuda")
    assert made["enable_prefix_caching"] is True
    assert "--enable-prefix-caching" in to_flags(made)
    assert arguments("cuda", enable_prefix_caching=True) == made


def test_on_a_gpu_without_the_prefix_cache_it_does_not_speculate():
    with pytest.raises(
        SettingsError, match=r"enable_prefix_caching.*speculation=False"
    ):
        arguments("cuda", enable_prefix_caching=False)


def test_on_a_cpu_it_decodes_plainly_and_says_so_once(caplog):
    with caplog.at_level(logging.WARNING):
        made = arguments("cpu", per_request_spec_decode_metrics="detailed")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "Qwen3.5-4B is a hybrid model" in caplog.text
    assert "hybrid_cpu" in caplog.text
    for name in ("speculative_config", "per_request_spec_decode_metrics"):
        assert name not in made
    assert made["scheduler_cls"].endswith("SSRScheduler")  # it reports the reason
    assert made["async_scheduling"] is False


def test_the_arguments_given_stay_as_they_are():
    made = engine_arguments(SPEC, "m", {}, "cuda", 32)
    before = {**made, "speculative_config": dict(made["speculative_config"])}
    hybrid_arguments(made, "cuda")
    hybrid_arguments(made, "cpu")
    assert made == before


def test_an_engine_without_ssr_is_left_alone():
    plain = engine_arguments(SPEC, "m", {"speculative_config": {"method": "mtp"}}, "x")
    assert not speculates(plain)
