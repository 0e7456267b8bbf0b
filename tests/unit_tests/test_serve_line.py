"""The server's environment, the plain line, and the command that runs."""

from __future__ import annotations

import os
import re
import shlex
import sys

import pytest

from langchain_ssr import serve as server
from langchain_ssr.backends import launch
from langchain_ssr.engine import server_command
from langchain_ssr.operator_settings import OperatorSettings
from tests.unit_tests.loading import ROOT
from tests.unit_tests.serving import NOTHING, build

pytestmark = pytest.mark.usefixtures("bare_server")


def test_plugins_that_load_anyway_still_load(bare_server):
    bare_server["vllm.general_plugins"] = ["lora", "other"]
    bare_server["vllm.platform_plugins"] = ["npu"]
    bare_server["vllm.endpoint_plugins"] = ["foreign", "ssr"]
    assert server.allowed_plugins() == "lora,npu,other,ssr"


@pytest.mark.parametrize(
    ("given", "value"),
    [("", "ssr"), ("a", "a,ssr"), ("a,ssr", "a,ssr"), ("ssr", "ssr")],
)
def test_allowed_plugins_of_the_user_are_kept(monkeypatch, bare_server, given, value):
    bare_server["vllm.general_plugins"] = ["lora"]
    monkeypatch.setitem(os.environ, "VLLM_PLUGINS", given)
    assert server.allowed_plugins() == value


def test_variables_of_the_user_stay(monkeypatch):
    assert build().environment["TORCH_COMPILE_DISABLE"] == "1"
    monkeypatch.setitem(os.environ, "TORCH_COMPILE_DISABLE", "0")
    assert "TORCH_COMPILE_DISABLE" not in build().environment


def test_who_wants_to_compile_may():
    assert "TORCH_COMPILE_DISABLE" not in build("--no-enforce-eager").environment


@pytest.mark.parametrize("has_command", [True, False])
def test_the_plain_line_is_the_command(monkeypatch, has_command):
    monkeypatch.setattr(server, "_vllm_command_works", lambda: has_command)
    flags = ["--chat-template", "/my 'own' $template.jinja", "--api-key", "a b"]
    operator = OperatorSettings.from_json('{"draft_budget": [1, 2]}', None)
    command = build(*flags, operator=operator)
    words = shlex.split(str(command))
    assignments = [f"{k}={v}" for k, v in command.environment.items()]
    module = ["python", "-m", server.SERVER_MODULE, "--model", command.path]
    start = ["vllm", "serve", command.path] if has_command else module
    assert words == [*assignments, *start, *command.flags]
    assert words[0] == "VLLM_PLUGINS=ssr"
    assert words[-4:] == flags


def test_the_docs_show_the_line(monkeypatch, bare_server):
    bare_server["vllm.general_plugins"] = [
        "lora_filesystem_resolver",
        "lora_hf_hub_resolver",
    ]
    monkeypatch.setattr(server, "_vllm_command_works", lambda: True)
    page = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```bash\n(VLLM_PLUGINS=.*?)```", page, re.DOTALL)
    line = str(build("--port", "8000", device="cuda"))
    assert shlex.split(shown.replace("\\\n", " ")) == shlex.split(line)


def test_vllms_own_command_runs_in_this_process(monkeypatch):
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    monkeypatch.setattr(server, "read_hybrid", lambda _: False)
    monkeypatch.setattr(sys, "argv", ["langchain-ssr"])
    seen = {}

    def run(arguments):
        seen.update(
            arguments=arguments, argv=list(sys.argv), plugins=os.environ["VLLM_PLUGINS"]
        )
        raise KeyboardInterrupt

    monkeypatch.setattr(server_command, "run", run)
    with pytest.raises(SystemExit) as caught:
        server.serve("Qwen3-4B", ["--port", "8001"], NOTHING)
    assert caught.value.code == 130
    assert seen["arguments"] == build("--port", "8001").arguments
    assert seen["argv"] == ["vllm", *seen["arguments"]]
    assert seen["plugins"] == "ssr"
    assert os.environ["LANGCHAIN_SSR_OWNER"] == str(os.getpid())
