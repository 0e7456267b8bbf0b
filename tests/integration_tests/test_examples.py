"""The examples on a real engine: each runs, and shows what it is there to show.

Their command lines are tested without an engine (tests/unit_tests); here they share the
pool's one. Only the first is started as a user does.
"""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from langchain_ssr import ChatSSR
from tests.integration_tests.conftest import REASONING_MODEL, EnginePool

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"examples_{name}", EXAMPLES / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def llm(pool: EnginePool) -> ChatSSR:
    engine_kwargs = {"max_model_len": 4096}
    settings = {"max_tokens": 1500, "draft_budget": 128}  # not one that is learned
    return pool.model(REASONING_MODEL, engine_kwargs=engine_kwargs, **settings)


def assert_saved(total: dict[str, Any]) -> None:
    assert total["num_responses"] == total["num_ssr_responses"]
    assert total["num_saved_steps"] > 0


def test_a_table_goes_there_and_back(llm: ChatSSR) -> None:
    told = load("chain").run(llm)
    assert "|" in told["markdown"]
    assert told["same"]
    assert told["total"]["num_responses"] == 2
    assert_saved(told["total"])


def test_drafts_come_before_the_answer(llm: ChatSSR) -> None:
    told = load("drafts").run(llm, io.StringIO())
    assert told["num_early_drafts"] == len(told["drafts"]) > 0
    assert "class" in told["answer"]
    assert told["statistics"]["num_saved_steps"] > 0


def test_the_record_fits_the_schema(llm: ChatSSR) -> None:
    told = load("structured").run(llm)
    assert told["record"] == {"city": "Lisbon", "guests": 4, "name": "Clara"}
    assert told["reasoning"].strip()


def test_code_is_reviewed_and_written_again(llm: ChatSSR) -> None:
    told = load("review_graph").run(llm)
    assert (told["num_tries"], told["problem"]) == (2, "")
    predicted = [call["sources"]["prediction"] for call in told["calls"]]
    assert predicted[0]["num_draft_tokens"] == 0
    assert predicted[1]["num_accepted_draft_tokens"] > 0
    assert_saved(told["total"])


@pytest.mark.parametrize(("drafts", "fewer"), [(True, 1), (False, 3)])
def test_a_prediction_changes_no_answer_and_saves_steps(
    llm: ChatSSR, drafts: bool, fewer: int
) -> None:
    if not drafts:
        llm = llm.model_copy(update={"draft_budget": 10**6})
    told = load("edit_file").run(llm)
    assert told["same"]
    assert [line for line in told["diff"] if line.startswith("+ ")] == [
        "+    play_count: int = 0"
    ]
    accepted = told["with"]["sources"]["prediction"]["num_accepted_draft_tokens"]
    assert accepted > 0
    steps = [told[name]["num_answer_steps"] for name in ("with", "without")]
    assert steps[0] * fewer < steps[1]


def test_every_row_is_answered(llm: ChatSSR) -> None:
    example = load("batch_csv")
    rows = example.read(example.QUESTIONS, "question")
    told = example.run(llm, rows)
    assert [row["id"] for row in told["rows"]] == [row["id"] for row in rows]
    assert all(row["expected"] in row["answer"] for row in told["rows"])
    assert not any(row["error"] for row in told["rows"])
    assert told["total"]["num_responses"] == len(rows)


def test_chat_openai_is_left_behind(pool: EnginePool) -> None:
    pytest.importorskip("langchain_openai")
    pool.close()  # the example's engine has settings of its own
    example = load("from_chat_openai")
    with example.after(example.before(), REASONING_MODEL) as moved:
        told = example.run(moved)
    assert "Bern" in told["reasoning"]
    assert told["answer"].strip() == "No"
    assert told["speculation"]["num_ssr_responses"] == 1


@pytest.mark.parametrize(
    "name", ["chain", "drafts", "structured", "review_graph", "edit_file", "batch_csv"]
)
def test_an_example_runs_as_a_script(pool: EnginePool, name: str) -> None:
    pool.close()
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--json"]
    done = subprocess.run(
        [*command, "--model", REASONING_MODEL],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["model"] == REASONING_MODEL
    if name == "chain":
        assert_saved(told["total"])
    if name == "batch_csv":  # its progress bar
        assert "answering" in done.stderr
        assert "100%" in done.stderr
