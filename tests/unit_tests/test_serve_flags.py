"""What a command line of `vllm serve` says, read without vLLM."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.backends.launch import to_flags
from langchain_ssr.errors import SettingsError
from langchain_ssr.serve_flags import given_arguments, without

NAMES = st.sampled_from(["port", "max_model_len", "dtype", "kv_cache_memory_bytes"])


@pytest.mark.parametrize(
    ("flags", "arguments"),
    [
        ([], {}),
        (["--port", "80"], {"port": "80"}),
        (["--port=80"], {"port": "80"}),
        (["--max_model_len", "-1"], {"max_model_len": "-1"}),
        (["--enforce-eager"], {"enforce_eager": True}),
        (["--no-enforce-eager"], {"enforce_eager": False}),
        (["--served-model-name", "a", "b"], {"served_model_name": ["a", "b"]}),
        (["-pp", "2"], {"pipeline_parallel_size": "2"}),
        (["-sc={}"], {"speculative_config": "{}"}),
        (["--speculative-config.method", "x"], {"speculative_config": "x"}),
        (["--a", "--b", "1"], {"a": True, "b": "1"}),
        (["--node-rank", "1"], {"node_rank": "1"}),
    ],
)
def test_arguments(flags, arguments):
    assert given_arguments(flags) == arguments


@given(st.dictionaries(NAMES, st.text("abc0123", min_size=1)))
def test_flags_of_ours_are_read_back(arguments):
    assert given_arguments(to_flags(arguments)) == arguments


def test_file_gives_way_to_the_command_line(tmp_path):
    file = tmp_path / "server.yaml"
    file.write_text("port: 1\npipeline-parallel-size: 2\nenforce-eager: false\n")
    assert given_arguments(["--config", str(file), "--port", "3"]) == {
        "config": str(file),
        "port": "3",
        "pipeline_parallel_size": 2,
        "enforce_eager": False,
    }


@pytest.mark.parametrize("text", [None, "a: [", "- a", "just text"])
def test_unreadable_file_is_named(tmp_path, text):
    file = tmp_path / "server.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(SettingsError, match=r"--config: .*server\.yaml"):
        given_arguments(["--config", str(file)])


def test_a_flag_is_left_out_with_its_value():
    flags = ["--port", "1", "--additional-config", "{}", "--x", "--additional_config=1"]
    assert without(flags, "additional_config") == ["--port", "1", "--x"]
