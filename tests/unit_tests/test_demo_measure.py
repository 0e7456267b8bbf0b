"""What the measurement on the demo model's held-out prompts counts."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from langchain_ssr import cli
from langchain_ssr.demo import measure
from langchain_ssr.demo.measure import LONG, SHORT, held_out, problems, totals


def row(
    skill: str,
    answer: tuple[int, int],
    *,
    plain: int,
    engine: int = 11,
    same: bool = True,
) -> dict:
    tokens, steps = answer
    return {
        "skill": skill,
        "same_answer": same,
        "num_answer_tokens": tokens,
        "num_answer_steps": steps,
        "num_reasoning_steps": 10,
        "num_engine_steps": engine,
        "num_plain_engine_steps": plain,
    }


def test_the_mean_is_over_prompts_and_the_ratio_over_tokens():
    told = totals(
        [
            row("code", (100, 10), plain=110),
            row("data", (20, 10), plain=30),
            row("short", (2, 1), plain=12),
        ]
    )
    assert told["mean_tokens_per_answer_step"] == pytest.approx(6)
    assert told["tokens_per_answer_step"] == pytest.approx(6)
    assert told["num_same_answer"] == told["num_prompts"] == 3
    assert told["num_short_with_more_steps"] == 0


def test_a_step_too_many_on_a_short_answer_is_counted():
    # The answer itself took 12 steps in both: in one, a step only drafted.
    rows = [row("short", (2, 2), plain=12, engine=steps) for steps in (13, 12)]
    told = totals(rows)
    assert (told["num_short_prompts"], told["num_short_with_more_steps"]) == (2, 1)
    assert told["mean_tokens_per_answer_step"] is None


GOOD = [row("code", (100, 10), plain=110), row("short", (2, 1), plain=12)]


@pytest.mark.parametrize(
    ("rows", "at_least", "told"),
    [
        (GOOD, None, None),
        (GOOD, 10.0, None),
        (GOOD, 10.5, "10.00 tokens per answer step, not 10.50"),
        ([*GOOD, row("data", (9, 3), plain=19, same=False)], None, "1 answers are not"),
        ([*GOOD, row("short", (2, 2), plain=10)], None, "1 short answers took more"),
        ([row("code", (9, 9), plain=11)], None, "no step was saved"),
        ([row("code", (9, 9), plain=11, engine=0)], None, "no step was saved"),
    ],
)
def test_what_is_not_as_it_must_be_is_told(rows, at_least, told):
    found = problems(totals(rows), at_least)
    assert len(found) == (told is not None)
    assert all(told in each for each in found)


def test_another_answer_is_counted():
    assert totals([row("code", (9, 3), plain=9, same=False)])["num_same_answer"] == 0


@pytest.mark.parametrize("skills", [LONG, SHORT])
def test_held_out_prompts_are_one_question_each(skills):
    examples = held_out(skills, 12, seed=3)
    assert len(examples) == 12
    assert {example.skill for example in examples} <= set(skills)
    assert all(example.messages[-1]["role"] == "assistant" for example in examples)
    assert not any(example.tools for example in examples)
    assert held_out(skills, 12, seed=3) == examples


@pytest.mark.parametrize(("floor", "code"), [("10", 0), ("10.5", 1)])
def test_the_command_asks_the_demo_model_and_fails_below_the_floor(
    monkeypatch, floor, code
):
    asked = []

    def answer(num, *, model, report):
        asked.append((num, model))
        return {"rows": GOOD, "totals": totals(GOOD)}

    monkeypatch.setattr(measure, "measure", answer)
    command = ["bench-lite", "--num", "3", "--at-least", floor]
    assert CliRunner().invoke(cli.app, command).exit_code == code
    assert asked == [(3, "demo")]
