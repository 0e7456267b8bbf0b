"""The examples of one call or a few, with a backend that answers from memory."""

from __future__ import annotations

import io
import json

import pytest

from langchain_ssr import ChatSSR
from tests.unit_tests import ssr_backend
from tests.unit_tests.loading import load_example
from tests.unit_tests.ssr_backend import answer

pytest.importorskip("langgraph.graph")
pytest.importorskip("rich.progress")
NAMES = ("chain", "drafts", "structured", "review_graph", "edit_file", "batch_csv")
BARE = "class Playlist:\n    def remove_song(self): ...\n    def set_owner(self): ...\n"
CLASS = BARE.replace("...", '"Do."').replace("Playlist:", "Playlist:\n    'Songs.'\n")
RESERVATION = {"city": "Lisbon", "guests": 4, "name": "Clara"}


@pytest.fixture
def llm() -> ChatSSR:
    return ChatSSR(model="Qwen3-4B")


def printed(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMES)
def test_help_names_the_model_and_its_default(name, capsys):
    example = load_example(name)
    with pytest.raises(SystemExit, match="0"):
        example.main(["--help"])
    out = capsys.readouterr().out
    assert "--model MODEL" in out
    assert "--json" in out


@pytest.mark.parametrize("name", [*NAMES, "from_chat_openai", "agent"])
def test_the_demo_model_is_the_default(name, monkeypatch, capsys):
    if name == "from_chat_openai":
        pytest.importorskip("langchain_openai")
    text = json.dumps(RESERVATION) if name == "structured" else CLASS
    backend = ssr_backend.use(monkeypatch, answer(text))
    load_example(name).main(["--json"])
    assert printed(capsys)["model"] == "demo"
    assert {request["model"] for request in backend.requests} == {"demo"}


class TestChain:
    example = load_example("chain")

    def test_the_table_goes_there_and_back(self, llm, monkeypatch):
        backend = ssr_backend.use(monkeypatch, answer("| a |"), answer("a\n"))
        told = self.example.run(llm, "a")
        assert (told["markdown"], told["again"], told["same"]) == ("| a |", "a\n", True)
        assert told["total"]["num_responses"] == 2
        assert "| a |" in backend.requests[1]["messages"][-1]["content"]

    def test_a_table_that_changed_is_reported(self, monkeypatch, capsys):
        ssr_backend.use(monkeypatch, answer("| a |"), answer("b"))
        self.example.main(["--model", "Qwen3-4B"])
        out = capsys.readouterr().out
        assert "the table came back changed" in out
        assert "total: 2 responses, 2 with SSR" in out


class TestDrafts:
    example = load_example("drafts")

    def test_drafts_come_before_the_answer(self, llm, monkeypatch):
        ssr_backend.use(monkeypatch)
        out = io.StringIO()
        told = self.example.run(llm, out)
        assert told["drafts"] == ["Hello", "Hello"]
        assert told["num_early_drafts"] == 2
        assert (told["reasoning"], told["answer"]) == ("They greet.", "Hello")
        assert told["statistics"]["mode"] == "ssr"
        headings = [
            line[4:] for line in out.getvalue().splitlines() if line[:3] == "---"
        ]
        assert headings == ["thinking", "draft 1", "draft 2", "thinking", "answer"]

    def test_json_is_alone_on_stdout(self, monkeypatch, capsys):
        ssr_backend.use(monkeypatch)
        self.example.main(["--json", "--model", "Qwen3-4B"])
        out, err = capsys.readouterr()
        assert json.loads(out)["answer"] == "Hello"
        assert "--- thinking" in err


class TestStructured:
    example = load_example("structured")

    def test_the_record_fits_the_schema(self, llm, monkeypatch):
        backend = ssr_backend.use(monkeypatch, answer(json.dumps(RESERVATION)))
        told = self.example.run(llm)
        assert told["record"] == RESERVATION
        assert told["reasoning"] == "They greet."
        schema = backend.requests[0]["response_format"]["json_schema"]["schema"]
        assert set(schema["properties"]) == set(RESERVATION)

    def test_half_a_record_is_an_error(self, llm, monkeypatch):
        ssr_backend.use(monkeypatch, answer('{"city": "Lis'))
        with pytest.raises(Exception, match="Lis"):
            self.example.run(llm)

    def test_the_text_may_be_given(self, monkeypatch, capsys):
        backend = ssr_backend.use(monkeypatch, answer(json.dumps(RESERVATION)))
        self.example.main(["--text", "Clara and three friends", "--model", "Qwen3-4B"])
        assert "Clara and three" in backend.requests[0]["messages"][-1]["content"]
        assert "Reservation(city='Lisbon', guests=4" in capsys.readouterr().out


class TestReviewGraph:
    example = load_example("review_graph")

    @pytest.mark.parametrize(
        ("code", "problem"),
        [
            (CLASS, ""),
            (BARE, "There is no docstring in `Playlist`. Add docstrings."),
            ("class Playlist: ...", "There is no `remove_song`."),
            ("class", "There is a syntax error in line 1: invalid syntax."),
        ],
    )
    def test_the_review(self, code, problem):
        assert self.example.problem_of(code) == problem

    def test_fenced_code_is_found(self):
        assert self.example.code_of("Here:\n```python\na = 1\n```\nDone.") == "a = 1"
        assert self.example.code_of("a = 1\n") == "a = 1"

    def test_a_bad_try_is_followed_by_another(self, llm, monkeypatch):
        bad = "class Playlist: ..."
        backend = ssr_backend.use(monkeypatch, answer(bad), answer(CLASS))
        told = self.example.run(llm)
        assert (told["num_tries"], told["problem"]) == (2, "")
        assert told["code"] == CLASS.strip()
        second = backend.requests[1]["messages"]
        assert second[-1]["content"].startswith("There is no `remove_song`.")
        predictions = [settings.get("prediction") for settings in backend.settings]
        assert predictions == [None, bad]
        saved = [call["num_saved_steps"] for call in told["calls"]]
        assert sum(saved) == told["total"]["num_saved_steps"]

    def test_tries_come_to_an_end(self, monkeypatch, capsys):
        backend = ssr_backend.use(monkeypatch, answer("class"))
        self.example.main(["--max-tries", "2", "--model", "Qwen3-4B"])
        assert len(backend.requests) == 2
        assert "review after try 2: There is a syntax" in capsys.readouterr().out


class TestEditFile:
    example = load_example("edit_file")

    def test_the_second_call_has_the_prediction(self, llm, monkeypatch):
        new = self.example.OLD.replace("owner: str", "owner: str\n    plays: int = 0")
        backend = ssr_backend.use(monkeypatch, answer(f"```python\n{new}```"))
        told = self.example.run(llm)
        assert told["new"] == new
        assert [line for line in told["diff"] if line[0] == "+"] == [
            "+++ new",
            "+    plays: int = 0",
        ]
        assert told["same"]
        predictions = [settings.get("prediction") for settings in backend.settings]
        assert predictions == [None, self.example.OLD]

    def test_people_see_both_calls(self, monkeypatch, capsys):
        ssr_backend.use(monkeypatch, answer("a"), answer("b"))
        self.example.main(["--model", "Qwen3-4B"])
        out = capsys.readouterr().out
        assert "both answers are different" in out
        assert "without the prediction: 1 responses" in out
        assert "with the prediction: 1 responses" in out


class TestBatch:
    example = load_example("batch_csv")

    def test_rows_keep_their_order_and_their_columns(self, monkeypatch, tmp_path):
        ssr_backend.use(monkeypatch, answer("Yes"))
        out = tmp_path / "out.csv"
        self.example.main(["--out", str(out), "--model", "Qwen3-4B"])
        rows = self.example.read(self.example.QUESTIONS, "question")
        lines = out.read_text().splitlines()
        assert lines[0] == "id,question,expected," + ",".join(self.example.ADDED)
        assert [line.split(",")[0] for line in lines[1:]] == [row["id"] for row in rows]
        assert all(",Yes,8," in line for line in lines[1:])

    def test_a_row_that_fails_costs_no_other(self, llm, monkeypatch):
        backend = ssr_backend.use(monkeypatch, answer("Yes"))
        complete = backend.complete

        def fail_once(request: dict) -> dict:
            if request["messages"][-1]["content"] == "bad":
                raise ValueError("no")
            return complete(request)

        monkeypatch.setattr(backend, "complete", fail_once)
        told = self.example.run(llm, [{"question": q} for q in ("a", "bad", "c")])
        assert [row["answer"] for row in told["rows"]] == ["Yes", None, "Yes"]
        assert [row["error"] for row in told["rows"]] == [None, "ValueError: no", None]
        assert told["total"]["num_responses"] == 2

    @pytest.mark.parametrize(
        ("text", "message"),
        [("a,b\n", "has no column 'question'"), ("question,answer\n", "'answer' alr")],
    )
    def test_a_table_that_does_not_fit_is_refused(
        self, tmp_path, capsys, text, message
    ):
        file = tmp_path / "in.csv"
        file.write_text(text)
        with pytest.raises(SystemExit, match="2"):
            self.example.main(["--file", str(file)])
        assert message in capsys.readouterr().err

    def test_an_empty_table_stays_one(self, llm, monkeypatch, tmp_path):
        backend = ssr_backend.use(monkeypatch)
        told = self.example.run(llm, [])
        self.example.write(tmp_path / "out.csv", told["rows"])
        assert (told["rows"], backend.requests) == ([], [])


class TestFromChatOpenAI:
    @pytest.fixture
    def example(self):
        pytest.importorskip("langchain_openai")
        return load_example("from_chat_openai")

    def test_settings_move(self, example):
        llm = example.after(example.before(), "Qwen3-4B")
        assert (llm.model, llm.base_url) == ("Qwen3-4B", None)
        assert (llm.temperature, llm.max_tokens) == (0, 1000)
        assert llm.extra_body == {"top_k": 20}

    def test_a_server_may_stay(self, example):
        url = "http://localhost:8000/v1"
        assert example.after(example.before(), "Qwen3-4B", url).base_url == url

    def test_the_answer_has_more_than_before(self, example, monkeypatch, capsys):
        backend = ssr_backend.use(monkeypatch, answer("10"))
        example.main(["--model", "Qwen3-4B"])
        out = capsys.readouterr().out
        assert "reasoning: They greet.\nanswer: 10\n" in out
        assert backend.requests[0]["top_k"] == 20
