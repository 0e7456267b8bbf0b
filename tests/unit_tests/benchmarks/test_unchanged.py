"""What a fresh run must have in common with the committed one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.aims import AIMS, Aim, aims_markdown, verdict
from benchmarks.unchanged import TOLERANCE, Essence, compare
from tests.unit_tests.benchmarks.figures_fakes import STEPS, figures_of_a_run


def compared(run, committed=None):
    return compare(Essence.of(run), Essence.of(committed or figures_of_a_run()))


def test_seconds_do_not_count():
    found = compared(figures_of_a_run(seconds=17.0))
    assert found.problems == []
    assert found.notes == ["2 requests, modes ngram, plain, ssr"]


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        (("a",), "demo code: request b is missing"),
        (("a", "b", "c"), "demo code: request c is new"),
    ],
)
def test_requests_are_the_same(items, problem):
    assert compared(figures_of_a_run(items=items)).problems == [problem]


def test_requests_ask_the_same():
    run = figures_of_a_run()
    run["requests"][0]["digest"] = "other"  # plain's a
    run["requests"][2]["digest"] = run["requests"][4]["digest"] = "other"
    found = compared(run)
    assert found.problems == ["demo code: request a asks something else"]


def test_rounds_are_requests():
    run = figures_of_a_run()
    run["requests"] += [{**row, "round": 1} for row in run["requests"]]
    problems = compared(run).problems
    assert problems[0] == "demo code: request a (round 2) is new"


def test_an_output_must_stay_plains():
    changed = figures_of_a_run(content="other")
    problem = "demo code, ssr: the output of b is no longer plain's"
    assert compared(changed).problems == [problem]
    assert compared(figures_of_a_run(), changed).problems == []


@given(st.integers(1, 2000), st.floats(-0.2, 0.2))
def test_steps_may_move_by_ties_only(before, share):
    now = max(1, round(before * (1 + share)))
    both = [
        figures_of_a_run(items=("a",), steps={**STEPS, "plain": 9000, "ssr": steps})
        for steps in (now, before)
    ]
    problems = compared(*both).problems
    in_answer = [problem for problem in problems if "steps in the answer" in problem]
    assert bool(in_answer) == (abs(now - before) > TOLERANCE * before)


def test_a_change_is_told_in_numbers():
    run = figures_of_a_run(steps={**STEPS, "ssr": 22})
    rest = "at most 2% are allowed)"
    assert compared(run).problems == [
        f"demo code, ssr: 124 engine steps, not 120 (+3.3%; {rest}",
        f"demo code, ssr: 44 engine steps in the answer, not 40 (+10.0%; {rest}",
    ]


def test_figures_that_are_missing_on_one_side():
    found = compared(figures_of_a_run(num_steps=None))
    words = "demo code, ssr: engine steps are known of one run only"
    assert found.problems == [words]


def test_modes_may_be_added_and_left_out():
    found = compared(figures_of_a_run(modes=("plain", "ssr")))
    assert found.problems == []
    assert found.notes == ["2 requests, modes plain, ssr; not in both: ngram"]


def test_a_mode_with_ssr_is_in_both():
    found = compared(figures_of_a_run(modes=("plain",)))
    assert found.problems == ["there is no mode with SSR that both have"]


def test_a_mode_of_the_same_name_is_the_same():
    run = figures_of_a_run()
    run["settings"]["modes"]["ssr"]["settings"] = {"max_drafts": 1}
    assert compared(run).problems == ["mode ssr is defined otherwise"]


def test_in_other_dtypes_texts_may_differ():
    one = figures_of_a_run(dtype="auto")
    other = figures_of_a_run(dtype="auto", steps={**STEPS, "ssr": 24}, content="other")
    found = compared(other, one)
    assert found.problems == []
    assert "outputs, tokens and steps were not compared" in found.notes[-1]
    worse = figures_of_a_run(dtype="auto", steps={**STEPS, "ssr": 30})
    [problem] = compared(worse, one).problems
    assert problem.startswith("aim: demo code: steps in the answer of `plain`")
    assert problem.endswith("missed (3.33; 0.67 less)")


def test_an_aim_that_the_committed_figures_miss_is_a_note():
    both = figures_of_a_run(steps={**STEPS, "ssr": 50})
    found = compared(both, both)
    assert found.problems == []
    assert found.notes[-1].endswith(
        "missed (2.00; 2.00 less), as in the committed figures"
    )


def test_aims_are_told():
    lines = aims_markdown(figures_of_a_run()).splitlines()
    start, end = "- aim: demo code: ", " times those of `ssr`: "
    steps = f"{start}steps in the answer of"
    assert lines == [
        f"{steps} `plain` at least 4{end}reached (5.00)",
        f"{steps} `suffix` at least 1.5{end}not measured",
        f"{start}seconds of `plain` at least 1.3{end}reached (5.00)",
    ]
    assert aims_markdown(figures_of_a_run(model="Qwen3-4B")) == ""
    assert len(set(AIMS)) == len(AIMS)


@pytest.mark.parametrize(
    ("value", "least", "interval", "told"),
    [
        (None, 1, None, "not measured"),
        (4.5, 4, (4.1, 5), "reached (4.50; 4.10 to 5.00)"),
        (4, 4, None, "reached (4.00)"),
        (
            1.1,
            1,
            (0.9, 1.4),
            "reached in the mean, not by all of the interval (1.10; 0.90 to 1.40)",
        ),
        (1.2, 1.5, (1.1, 1.6), "missed (1.20; 1.10 to 1.60; 0.30 less)"),
        (1.1, None, (0.9, 1.2), "reached (1.10; 0.90 to 1.20)"),
        (1.1, None, (1.05, 1.2), "missed (1.10; 1.05 to 1.20)"),
        (0.9, None, (0.8, 0.99), "missed (0.90; 0.80 to 0.99)"),
    ],
)
def test_verdicts_know_the_interval(value, least, interval, told):
    assert verdict(value, least, interval) == told


def test_an_aim_may_be_of_a_method_of_vllms():
    aim = Aim("demo", "demo code", "plain", "ratio_of_mean_answer_steps", 1, "ngram")
    assert aim.title.endswith("at least 1 times those of `ngram`")
    run = figures_of_a_run()
    ratio = {"value": 1.25, "interval": [1.1, 1.4]}
    run["workloads"]["demo code"]["ngram"]["ratio_of_mean_answer_steps"] = ratio
    assert aim.verdict(run) == "reached (1.25; 1.10 to 1.40)"


def test_an_aim_of_seconds_is_not_checked_elsewhere():
    aim = Aim("demo", "demo code", "plain", "ratio_of_mean_latencies", 1.3)
    assert not aim.anywhere
    slow = figures_of_a_run()
    slow["workloads"]["demo code"]["ssr"]["ratio_of_mean_latencies"]["value"] = 0.05
    assert aim.reached(slow) == 0.05
    assert compared(slow).problems == []


def test_an_aim_may_be_against_a_method_of_vllms():
    aim = Aim("demo", "demo code", "suffix", "ratio_of_mean_answer_steps", 1.5)
    run = figures_of_a_run()
    assert aim.reached(run) is None
    ratio = {"ratio_of_mean_answer_steps": {"value": 1.7}}
    run["workloads"]["demo code"]["ssr"]["against"] = {"suffix": ratio}
    assert aim.reached(run) == 1.7


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "not measured"), (1.25, "reached (1.25)"), (1, "missed (1.00; 0.25 less)")],
)
def test_verdicts(value, told):
    assert verdict(value, 1.25) == told
