"""LoRA on CPUs: an empty slot for requests of the model itself, and its warning."""

from __future__ import annotations

import logging

import pytest

from langchain_ssr.backends.launch import engine_arguments
from langchain_ssr.models import QWEN3, ModelSpec
from tests.unit_tests.serving import arguments, build

SPEC = ModelSpec("/models/x", QWEN3)


def made(device="cpu", **engine_kwargs):
    return engine_arguments(SPEC, "x", {"enable_lora": True, **engine_kwargs}, device)


@pytest.mark.parametrize(
    ("modules", "slots"),
    [
        (None, 2),  # one will be loaded later, else LoRA would not be on
        ("a=/a", 2),
        (["a=/a"], 2),
        (("a=/a", "b=/b", "c=/c"), 4),
        ({"name": "a", "path": "/a"}, 2),
    ],
)
def test_one_slot_more_than_adapters(modules, slots, caplog):
    assert made(lora_modules=modules)["max_loras"] == slots
    assert not caplog.records


def test_without_lora_and_on_gpus_nothing_is_set():
    assert "max_loras" not in engine_arguments(SPEC, "x", {}, "cpu")
    assert "max_loras" not in made(enable_lora=False, lora_modules=["a=/a"])
    assert "max_loras" not in made("cuda", lora_modules=["a=/a"])


@pytest.mark.parametrize("slots", [1, "1", 2, "2"])
def test_too_few_slots_of_the_user_are_kept_with_a_warning(slots, caplog):
    with caplog.at_level(logging.WARNING):
        own = made(max_loras=slots, lora_modules=["a=/a", "b=/b"])
    assert own["max_loras"] == slots
    [record] = caplog.records
    assert f"max_loras={slots} leaves no slot" in record.getMessage()
    assert "Set it to 3 or more" in record.getMessage()


@pytest.mark.parametrize("slots", [3, "8"])
def test_enough_slots_of_the_user_are_kept(slots, caplog):
    assert made(max_loras=slots, lora_modules=["a=/a", "b=/b"])["max_loras"] == slots
    assert not caplog.records


def test_a_gpu_needs_none(caplog):
    assert made("cuda", max_loras=1, lora_modules=["a=/a"])["max_loras"] == 1
    assert not caplog.records


@pytest.mark.usefixtures("bare_server")
def test_a_server_has_it_too():
    flags = ["--enable-lora", "--lora-modules", "a=/a", "b=/b"]
    assert arguments(build(*flags))["max_loras"] == "3"
    assert "max_loras" not in arguments(build(*flags, device="cuda"))
    own = build(*flags, "--max-loras", "4")
    assert [flag for flag in own.flags if "max-loras" in flag] == ["--max-loras"]
