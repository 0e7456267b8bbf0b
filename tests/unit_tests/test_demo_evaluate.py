"""The evaluation of the demo model: accounting, exit codes, the model card."""

import json
import shlex

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.demo import evaluate, grading, heldout, model_card, results
from langchain_ssr.demo.corpus.mixture import conversation
from tests.unit_tests.demo_fakes import FakeModel, judge_in_process

TRAINING = {
    "seed": 1,
    "tokens": 26_000_000,
    "steps": 2000,
    "next_index": 60,
    "parameters": 5_246_976,
    "lr": 0.005,
}


def graded(index, skill, *reasons, runaway=False):
    turns = [
        results.Turn(reason, runaway and bool(reason), 10, 4, {"content": "x"})
        for reason in reasons
    ]
    return results.Graded(index, skill, f"{skill}_{index % 2}", turns)


class TestResults:
    @pytest.mark.parametrize(
        ("text", "shares"),
        [
            ("code=0.9", {"code": 0.9}),
            (
                "code=0.9, data=1,tools=0.95,runaway=0",
                {"code": 0.9, "data": 1.0, "tools": 0.95, "runaway": 0.0},
            ),
        ],
    )
    def test_minimum(self, text, shares):
        assert results.parse_minimum(text) == shares

    @pytest.mark.parametrize(
        "text",
        ["", "code", "code=", "code=1.1", "code=-1", "code=x", "a=1,a=1", "a=nan"],
    )
    def test_wrong_minimum(self, text):
        with pytest.raises(ValueError):
            results.parse_minimum(text)

    def test_a_conversation_is_right_if_its_turns_are(self):
        summary = results.summarize(
            [
                graded(4, "code", "bad", None, runaway=True),
                graded(0, "code", None, None),
                graded(1, "code", None),
                graded(2, "code", "late"),
                graded(3, "short", None),
            ]
        )
        code = summary["skills"]["code"]
        assert (code["right"], code["of"], code["accuracy"]) == (2, 4, 0.5)
        assert code["turns"] == {"right": 4, "of": 6}
        assert code["kinds"]["code_0"]["right"] == 1
        assert code["kinds"]["code_0"]["of"] == 3
        assert summary["skills"]["short"]["accuracy"] == 1
        assert summary["runaway"] == {"turns": 1, "of": 7, "share": 1 / 7}
        assert (summary["num_tokens"], summary["num_steps"]) == (70, 28)
        assert [f["index"] for f in summary["failures"]] == [2, 4]
        assert summary["failures"][1] == {
            "index": 4,
            "skill": "code",
            "kind": "code_0",
            "turn": 0,
            "reason": "bad",
            "message": {"content": "x"},
        }
        line = results.one_line(summary)
        assert line == "code 0.500 (2/4), short 1.000 (1/1), runaway 1"

    def test_few_messages_are_kept(self):
        failures = results.summarize(graded(i, "data", "bad") for i in range(30))
        kept = ["message" in failure for failure in failures["failures"]]
        assert kept == [True] * 10 + [False] * 20

    def test_shortfalls(self):
        one = [graded(0, "code", "bad", runaway=True), graded(1, "code", None)]
        summary = results.summarize(one)
        assert results.shortfalls(summary, {"code": 0.5, "runaway": 0.5}) == []
        assert results.shortfalls(summary, {"code": 0.51, "runaway": 0.4}) == [
            "code: 0.500 is less than 0.51",
            "runaway: 0.500 is more than 0.4",
        ]
        assert results.shortfalls(results.summarize([]), {"code": 0.1, "runaway": 0})


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text('{"model_type": "qwen3"}')
    (path / "tokenizer.json").write_text("{}")
    (path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    (path / "training.json").write_text(json.dumps(TRAINING))
    return path


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setitem(grading.ANSWER_JUDGES, "class", judge_in_process)
    seen = heldout.read_training(1, TRAINING["next_index"])
    fake = FakeModel(heldout.choose(1, 4, evaluate.SKILLS, seen).chosen)
    monkeypatch.setattr(ChatSSR, "_embedded", property(lambda _: fake))
    return fake


def run(folder, arguments):
    out = folder.parent / "out.json"
    out.unlink(missing_ok=True)
    command = f"--model {folder} --num 4 --json {out} {arguments}"
    code = evaluate.main(shlex.split(command))
    return code, json.loads(out.read_text())


def too_long(example, response):
    response["choices"][0]["finish_reason"] = "length"
    return response


def endless(example, response):
    if example.enable_thinking:
        message = response["choices"][0]["message"]
        message |= {"content": None, "tool_calls": []}
    return response


def no_data(example, response):
    if example.skill == "data":
        response["choices"][0]["message"]["content"] = "No."
    return response


ALL = "code=1,data=1,tools=1,short=1,runaway=0"


class TestEvaluate:
    def test_a_perfect_model(self, folder, model, capsys):
        code, figures = run(folder, f"--min {ALL}")
        assert code == 0
        assert figures["shortfalls"] == figures["failures"] == []
        for skill in evaluate.SKILLS:
            assert figures["skills"][skill]["accuracy"] == 1
            assert figures["skills"][skill]["of"] == 4
        assert figures["runaway"]["turns"] == 0
        assert figures["runaway"]["of"] == len(model.requests)
        assert figures["num_tokens"] == 7 * len(model.requests)
        assert figures["training"] == TRAINING
        assert figures["sha256"] == evaluate.sha256_of(folder)
        assert figures["command"].startswith("python -m langchain_ssr.demo.evaluate --")
        assert not figures["interrupted"]
        assert {request["temperature"] for request in model.requests} == {0}
        assert {r["max_completion_tokens"] for r in model.requests} == {2400}
        assert "vllm_xargs" in model.requests[0]
        assert "code: 1.000 of 4 conversations are right" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("mistake", "wrong"),
        [
            (too_long, ["code", "data", "tools", "short", "runaway"]),
            (endless, ["code", "data", "tools", "short", "runaway"]),
            (no_data, ["data"]),
        ],
    )
    def test_mistakes(self, folder, model, mistake, wrong, capsys):
        model.mistake = mistake
        code, figures = run(folder, f"--min {ALL}")
        assert code == 1
        assert [line.split(":")[0] for line in figures["shortfalls"]] == wrong
        assert "NOT ENOUGH data" in capsys.readouterr().out
        assert run(folder, "--min short=0,runaway=1")[0] == 0
        assert run(folder, "")[0] == 0

    def test_some_skills_without_speculation(self, folder, model):
        arguments = "--skills data,short --no-speculation --max-tokens 9"
        code, figures = run(folder, arguments)
        assert code == 0
        assert set(figures["skills"]) == {"data", "short"}
        assert "vllm_xargs" not in model.requests[0]
        assert model.requests[0]["max_completion_tokens"] == 9

    def test_ctrl_c_reports_what_is_there(self, folder, model, monkeypatch, capsys):
        async def interrupted(llm, chosen, done):
            await evaluate_some(llm, chosen[:3], done)
            raise KeyboardInterrupt

        evaluate_some = evaluate.evaluate
        monkeypatch.setattr(evaluate, "evaluate", interrupted)
        code, figures = run(folder, "")
        assert code == 130
        assert figures["interrupted"]
        assert sum(count["of"] for count in figures["skills"].values()) == 3
        assert "Interrupted" in capsys.readouterr().out

    def test_leakage_check_needs_no_engine(self, folder, monkeypatch, capsys):
        monkeypatch.setattr(ChatSSR, "_embedded", None)
        code, figures = run(folder, "--check-leakage --corpus-size 50")
        assert code == 0
        assert figures["leakage"]["num_training_conversations"] == 50
        assert figures["leakage"]["num_held_out_conversations"] == 16
        assert "0 prompts are in both" in capsys.readouterr().out

    @pytest.mark.parametrize("arguments", ["--check-leakage", ""])
    def test_a_leak_ends_it(self, folder, arguments, monkeypatch, capsys):
        monkeypatch.setattr(ChatSSR, "_embedded", None)
        monkeypatch.setattr(
            heldout, "conversation", lambda seed, i, _part="": conversation(seed, i)
        )
        code, figures = run(folder, arguments)
        assert code == 1
        assert figures["leakage"]["leaked"]
        assert "skills" not in figures
        assert "LEAKED" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("--min code", "name=share"),
            ("--min codes=1", "codes is not evaluated"),
            ("--skills data --min code=1", "code is not evaluated"),
            ("--skills code,chess", "no skill 'chess'"),
            ("--num 0", "no positive number"),
            ("--json nowhere/out.json", "no folder nowhere"),
            ("--model /nowhere", "no model"),
        ],
    )
    def test_wrong_commands(self, folder, arguments, message, capsys):
        with pytest.raises(SystemExit) as end:
            run(folder, arguments)
        assert end.value.code == 2
        assert message in capsys.readouterr().err

    def test_without_training_json_a_size_is_needed(self, folder, capsys):
        (folder / "training.json").unlink()
        with pytest.raises(SystemExit):
            run(folder, "--check-leakage")
        assert "--corpus-size" in capsys.readouterr().err
        assert run(folder, "--check-leakage --corpus-size 9")[0] == 0


class TestModelCard:
    def test_card(self, folder, model):
        run(folder, f"--min {ALL}")
        assert model_card.main([str(folder), str(folder.parent / "out.json")]) == 0
        text = (folder / "README.md").read_text()
        assert text.startswith("---\nlicense: mit\n")
        for part in (
            f"SHA-256 `{evaluate.sha256_of(folder)}`",
            "5,246,976 parameters",
            "26,000,000 tokens",
            "| data | 4 of 4 (100.0%) |",
            "0 of ",
            f"python -m langchain_ssr.demo.evaluate --model {folder} --num 4",
            "says\n  nothing of how much SSR gains on a real model",
        ):
            assert part in text

    def test_card_of_several_runs(self, folder, model):
        first = {"tokens": 1_000_000, "what": "drills"}
        last = {**TRAINING, "lr": 0.004, "decay": 0.85, "transcribed": 0.1}
        history = {**last, "begun_with": {**TRAINING, "begun_with": first}}
        (folder / "training.json").write_text(json.dumps(history))
        run(folder, "")
        text = model_card.write(folder, folder.parent / "out.json").read_text()
        assert f"{2 * TRAINING['tokens'] + 1_000_000:,} tokens" in text
        assert "in 3 runs" in text
        options = "--lr 0.004 --decay 0.85 --transcribed 0.1 --init EARLIER"
        assert f"--tokens {TRAINING['tokens']} --seed 1 {options}`" in text

    def test_results_of_other_weights(self, folder, model):
        run(folder, "")
        (folder / "model.safetensors").write_bytes(b"\x03\0\0\0\0\0\0\0{ }")
        with pytest.raises(ValueError, match="other weights"):
            model_card.write(folder, folder.parent / "out.json")

    def test_incomplete_results(self, folder):
        run(folder, "--check-leakage")
        with pytest.raises(ValueError, match="complete"):
            model_card.write(folder, folder.parent / "out.json")
