"""LongProc's prompts and judges, and benchmarks from the hub."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import types

import pytest

from langchain_ssr.bench import fitting, hub
from langchain_ssr.bench.code_tasks import classeval, humaneval
from langchain_ssr.bench.items import Item
from langchain_ssr.bench.longproc import longproc
from langchain_ssr.errors import SettingsError
from tests.unit_tests.test_bench_workloads import CLASSEVAL, HUMANEVAL

PROMPTS = {
    "countdown": "{demonstration} {nums} {target}",
    "tom_tracking": "{story} {question}",
    "html_to_tsv": "{html_str} {task_topic} {task_description}{filtering_instruction} "
    "{tsv_header} {{x}}",
    "pseudo_to_code": "{pseudocode}",
}
ENTRIES = {
    "countdown": {"nums": [5, 2, 3, 4], "target": 6, "demonstration": "d"},
    "tom_tracking": {
        "story": "s",
        "question": "q",
        "solution": "...\nFinal Answer: the sauna's table",
    },
    "html_to_tsv": {
        "html_path": "webpage/a.html",
        **dict.fromkeys(
            ("task_topic", "task_description", "filtering_instruction"), "t"
        ),
        "tsv_header": "n\tp",
        "gt": "n\tp\na\t1\nb\t2",
    },
    "pseudo_to_code": {"pseudocode_lines": ["x", "y"]},
}


@pytest.fixture
def folder(tmp_path):
    for task, entry in ENTRIES.items():
        (tmp_path / f"{task}_2k.json").write_text(json.dumps([entry]))
        prompt = json.dumps({"USER_PROMPT": PROMPTS[task]})  # JSON is YAML
        (tmp_path / f"{task}_prompts.yaml").write_text(prompt)
    with tarfile.open(tmp_path / "html_to_tsv_2k_webpages.tar.xz", "w:xz") as pages:
        info = tarfile.TarInfo("html_to_tsv/webpage/a.html")
        info.size = 6
        pages.addfile(info, io.BytesIO(b"<p></p>"[:6]))
    return tmp_path


JUDGED = [
    ("countdown", "<Solution>\n5 - 4 = 1\n3 - 1 = 2\n2 + 2 = 4\n</Solution>", 0),
    ("countdown", "<Solution>\n5 - 4 = 1\n1 * 3 = 3\n3 * 2 = 6\n</Solution>", 1),
    ("countdown", "<Solution>\n5 - 4 = 1\n1 * 3 = 4\n</Solution>", 0),
    ("countdown", "<Solution>\n3 * 2 = 6\n</Solution>", 0),  # two are left
    ("countdown", "<Solution>\n3 * 3 = 9\n</Solution>", 0),
    ("countdown", "<Solution>\n3 / 0 = 0\n</Solution>", 0),
    ("countdown", "6", 0),
    ("tom_tracking", "Final Answer: sauna's table.", 1),
    ("tom_tracking", "Final Answer: none\nFinal answer: The sauna's table", 1),
    ("tom_tracking", "Final Answer: the sauna's shelf", 0),
    ("tom_tracking", "the sauna's table", 0),
    ("html_to_tsv", "```tsv\nn\tp\na\t1\nb\t2\n```", 1),
    ("html_to_tsv", "```tsv\nn\tp\na\t1\nc\t3\n```", 0.5),
    ("html_to_tsv", "```\nn\tp\na\t1\n```", 2 / 3),
    ("html_to_tsv", "a\t1", 0),
]


@pytest.mark.parametrize(("task", "content", "score"), JUDGED)
def test_longproc_is_judged(folder, task, content, score):
    items = {item.workload.split()[1]: item for item in longproc(folder)}
    assert items[task].judge({"content": content}).score == pytest.approx(score)


def test_longproc_prompts_are_filled_in(folder):
    items = {item.workload.split()[1]: item for item in longproc(folder)}
    said = {task: item.messages[0]["content"] for task, item in items.items()}
    assert said == {
        "countdown": "d [5, 2, 3, 4] 6",
        "tom_tracking": "s q",
        "html_to_tsv": "<p></p t tt n\tp {x}",
        "pseudo_to_code": "x\ny",
    }
    assert items["pseudo_to_code"].judge is None


def test_longproc_as_in_its_repository(tmp_path):
    (tmp_path / "countdown").mkdir()
    data = json.dumps([ENTRIES["countdown"]])
    (tmp_path / "countdown" / "countdown_2k.json").write_text(data)
    with pytest.raises(SettingsError, match="but not countdown_prompts"):
        longproc(tmp_path)
    prompts = json.dumps({"USER_PROMPT": PROMPTS["countdown"]})
    (tmp_path / "countdown" / "prompts.yaml").write_text(prompts)
    assert len(longproc(tmp_path)) == 1


def test_a_folder_without_longproc_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="none of LongProc's tasks"):
        longproc(tmp_path)


def test_a_page_that_is_missing_is_named(folder):
    (folder / "html_to_tsv_2k_webpages.tar.xz").unlink()
    with pytest.raises(SettingsError, match=r"no web page webpage/a\.html"):
        longproc(folder)


# --- what fits -----------------------------------------------------------------------


def test_only_prompts_that_fit_are_counted(tmp_path):
    entries = [{"story": "s" * size, "question": "q"} for size in (9, 1, 9, 9, 2, 3)]
    (tmp_path / "tom_tracking_2k.json").write_text(json.dumps(entries))
    prompt = json.dumps({"USER_PROMPT": PROMPTS["tom_tracking"]})
    (tmp_path / "tom_tracking_prompts.yaml").write_text(prompt)

    def misfit(item):
        return "long" if len(item.messages[0]["content"]) > 6 else None

    items = longproc(tmp_path, 2, misfit)
    assert [item.left_out for item in items] == ["long", None, "long", "long", None]
    assert [item.left_out for item in longproc(tmp_path, 2)] == [None] * 2
    assert len(longproc(tmp_path, None, misfit)) == 6


@pytest.mark.parametrize(
    ("settings", "room"),
    [
        ({"max_tokens": 10, "thinking_budget": 7}, 10),
        ({"thinking_budget": 7}, 7 + fitting.OUTPUT_TOKENS),
        ({}, fitting.OUTPUT_TOKENS),
    ],
)
def test_a_prompt_fits_with_its_output(monkeypatch, settings, room):
    class Model:
        def __init__(self, model, engine_kwargs):
            assert (model, engine_kwargs) == ("m", {"max_model_len": room + 3})

        def get_num_tokens_from_messages(self, messages):
            return len(messages[0].content.split())

    monkeypatch.setattr(fitting, "ChatSSR", Model)
    monkeypatch.setattr(
        fitting,
        "model_profile",
        lambda _, kw: {"max_input_tokens": kw["max_model_len"]},
    )
    misfit = fitting.misfit_of("m", {"max_model_len": room + 3}, settings)
    assert misfit(ask("one two three")) is None
    why = misfit(ask("one two three four"))
    assert why.startswith(f"4 tokens of prompt and {room} of output do not fit")


def test_where_the_context_is_not_known_everything_fits(monkeypatch):
    monkeypatch.setattr(fitting, "model_profile", lambda *_: {})
    assert fitting.misfit_of("owner/name", {}, {})(ask("long " * 99)) is None


def ask(text):
    return Item("x", "w", [{"role": "user", "content": text}])


# --- the hub -------------------------------------------------------------------------


@pytest.fixture
def on_hub(monkeypatch):
    """A hub that has rows by dataset and configuration; what was asked is noted."""
    rows, asked = {}, []

    def download(repo_id, filename, **where):
        asked.append((repo_id, filename, where))
        if (repo_id, filename) not in rows:
            raise OSError("no network")
        return repo_id, filename

    def read_table(file):
        return types.SimpleNamespace(to_pylist=lambda: rows[file])

    client = types.SimpleNamespace(hf_hub_download=download)
    reader = types.SimpleNamespace(parquet=types.SimpleNamespace(read_table=read_table))
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    monkeypatch.setitem(sys.modules, "pyarrow", reader)
    rows["asked"] = asked
    return rows


def test_code_tasks_come_from_the_hub(on_hub):
    path = "openai_humaneval/test/0000.parquet"
    on_hub["openai/openai_humaneval", path] = [HUMANEVAL] * 3
    on_hub["FudanSELab/ClassEval", "default/test/0000.parquet"] = [CLASSEVAL]
    assert len(humaneval(hub.HUB, 2)) == 2
    assert classeval(hub.HUB)[0].id == "ClassEval_0"
    where = {"repo_type": "dataset", "revision": "refs/convert/parquet"}
    assert on_hub["asked"][0] == ("openai/openai_humaneval", path, where)


def test_longproc_comes_from_the_hub(on_hub):
    told = {
        "countdown": ({"nums": [5, 2, 3, 4], "target": 6}, "..."),
        "html_to_tsv": ({}, "```tsv\nn\tp\na\t1\nb\t2\n```"),
        "pseudo_to_code": ({}, "int main() {}"),
        "tom_tracking": ({}, "Final Answer: the sauna's table"),
    }
    for task, (metadata, wanted) in told.items():
        row = {"input_prompt": f"Do {task}", "reference_output": wanted}
        row["metadata"] = json.dumps(metadata)
        on_hub["PrincetonPLI/LongProc", f"{task}_2k/test/0000.parquet"] = [row]
    items = {item.workload.split()[1]: item for item in longproc(hub.HUB)}
    assert items["countdown"].messages[0]["content"] == "Do countdown"
    for task, content, score in JUDGED:
        assert items[task].judge({"content": content}).score == pytest.approx(score)
    on_hub["PrincetonPLI/LongProc", "countdown_2k/test/0000.parquet"] = [{"id": 1}]
    with pytest.raises(SettingsError, match="is not LongProc's countdown: KeyError"):
        longproc(hub.HUB)


@pytest.mark.parametrize("read", [humaneval, classeval, longproc])
def test_a_hub_that_cannot_be_reached_is_told(on_hub, read):
    with pytest.raises(SettingsError, match=r"from the hub: no network\. Name a file"):
        read(hub.HUB)


def test_the_hub_needs_its_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SettingsError, match="pip install huggingface_hub pyarrow"):
        humaneval(hub.HUB)
