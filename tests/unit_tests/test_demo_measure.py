"""What the measurement on the demo model's held-out prompts counts."""

from __future__ import annotations

import pytest

from langchain_ssr.demo.measure import LONG, SHORT, held_out, totals


def row(skill: str, answer: tuple[int, int], *, plain: int, same: bool = True) -> dict:
    tokens, steps = answer
    return {
        "skill": skill,
        "same_answer": same,
        "num_answer_tokens": tokens,
        "num_answer_steps": steps,
        "num_reasoning_steps": 10,
        "num_plain_steps": plain,
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
    told = totals([row("short", (2, 2), plain=11), row("short", (2, 2), plain=12)])
    assert (told["num_short_prompts"], told["num_short_with_more_steps"]) == (2, 1)
    assert told["mean_tokens_per_answer_step"] is None


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
