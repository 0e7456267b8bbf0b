"""The test of the sampled distribution can fail, on made-up samples of a made-up model.

The real one runs in tests/integration_tests/test_distribution.py.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

np = pytest.importorskip("numpy")

from benchmarks import distribution  # noqa: E402
from benchmarks.common import BenchmarkError  # noqa: E402
from benchmarks.distribution import correct, failures  # noqa: E402
from benchmarks.distribution_cases import CASES, NUM_TESTED, Asked  # noqa: E402
from benchmarks.distribution_check import Exercise, check  # noqa: E402
from benchmarks.distribution_samples import Sample  # noqa: E402
from benchmarks.exact_probabilities import Sampling, constrain  # noqa: E402

ALLOWED = (10, 11, 12, 13)
END = 3
ASKED = Asked("made up", Sampling(ALLOWED, 0.8), num_reasoning=2)
TABLE = np.random.default_rng(0).normal(0, 1, (20, 20, 4))


def logits(texts, num_last, tokens):
    """A model that looks at the last two tokens."""
    assert tokens == ALLOWED
    return np.array(
        [
            [TABLE[text[i - 2] % 20, text[i - 1] % 20] for i in range(-num_last, 0)]
            for text in texts
        ]
    ).reshape(len(texts), num_last, 4)


def make_samples(count, *, seed=0, wrong=None):
    """Sample from the model.

    Args:
        count: How many.
        seed: Of the random numbers.
        wrong: Says from answer position and flags so far which temperature is taken.
    """
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        tokens, flags = [*rng.choice(ALLOWED, 2).tolist(), END], [False] * 3
        for position in range(NUM_TESTED + 1):
            sampling = ASKED.sampling
            if wrong and (temperature := wrong(position, flags[3:])):
                sampling = dataclasses.replace(sampling, temperature=temperature)
            (row,), _ = constrain(logits([[*tokens, 0]], 1, ALLOWED)[:, 0], sampling)
            tokens.append(ALLOWED[rng.choice(4, p=row)])
            flags.append(bool(rng.random() < 0.4))
        sample = Sample((1, 2), tuple(tokens), tuple(flags), (3, 2), (1, 1))
        samples.append(sample)
    return samples


def messages_of(samples, least_p=0.01):
    outcomes = [check(ASKED, samples, logits)]
    return failures(outcomes, correct(outcomes), least_p)


def test_right_samples_pass():
    samples = make_samples(2000)
    assert messages_of(samples) == []
    outcome = check(ASKED, samples, logits)
    assert outcome.unclear == outcome.malformed == 0
    # Nothing stands before a first token; 0.4 of the tokens come from a draft.
    prefix, resumed = outcome.fits["prefix"].draws, outcome.fits["resumed"].draws
    assert prefix == pytest.approx(2000 * (1 + 0.4 + 0.4**2), rel=0.05)
    assert prefix + resumed == pytest.approx(2000 * NUM_TESTED, rel=0.05)
    json.dumps(outcome.to_dict(), allow_nan=False)


def test_a_wrong_first_token_is_noticed():
    wrong = make_samples(2000, wrong=lambda at, _: 1.6 if at == 0 else None)
    (message,) = messages_of(wrong)
    assert message.startswith("made up, prefix: another distribution")


def test_a_wrong_token_after_a_rejected_one_is_noticed():
    wrong = make_samples(2000, wrong=lambda _, flags: 1.6 if not all(flags) else None)
    (message,) = messages_of(wrong)
    assert message.startswith("made up, resumed: another distribution")


def test_only_the_first_tokens_are_tested():
    wrong = make_samples(2000, wrong=lambda at, _: 5.0 if at == NUM_TESTED else None)
    assert messages_of(wrong) == []


@pytest.mark.parametrize(
    "tokens",
    [
        (10, 10, END, 10, 11, 1, 12),  # a token that is not allowed
        (10, 10, END, 10, 11),  # too short
        (10, END, 10, 10, 11, 12, 13),  # too little reasoning
        (10, 10, 10, 10, 11, 12, 13),  # too much of it
    ],
)
def test_a_malformed_sample_fails(tokens):
    samples = make_samples(2000)
    flags = (False,) * len(tokens)
    samples.append(dataclasses.replace(samples[0], tokens=tokens, from_draft=flags))
    assert messages_of(samples) == ["made up: 1 samples are malformed"]


def test_malformed_samples_alone_fail_too():
    sample = Sample((1,), (10,), (False,), (3, 2), (1, 1))
    messages = messages_of([sample] * 10)
    assert "made up: 10 samples are malformed" in messages
    assert "made up, prefix: too few samples to test" in messages


def test_a_report_that_does_not_fit_ends_the_test():
    sample = dataclasses.replace(make_samples(1)[0], from_draft=(True,))
    with pytest.raises(BenchmarkError, match="spans do not add up"):
        check(ASKED, [sample], logits)


@pytest.mark.parametrize(
    ("proposed", "accepted"),
    [
        ((0, 2), (0, 1)),  # none at the beginning
        ((3, 2), (0, 0)),  # none accepted
        ((3, 2), (3, 2)),  # none rejected
        ((3, 0), (1, 0)),  # none after a mismatch
    ],
)
def test_samples_without_drafts_at_work_fail(proposed, accepted):
    idle = [
        dataclasses.replace(sample, proposed=proposed, accepted=accepted)
        for sample in make_samples(2000)
    ]
    (message,) = messages_of(idle)
    assert "drafts were hardly at work" in message


def test_drafts_may_be_missing_now_and_then():
    at_work = make_samples(10)
    idle = [
        dataclasses.replace(sample, proposed=(0, 0), accepted=(0, 0))
        for sample in make_samples(10)
    ]
    assert Exercise.of(at_work + idle).suffices
    assert not Exercise.of(at_work + idle + idle[:1]).suffices


def test_corrected_values_keep_their_places():
    bad = make_samples(2000, wrong=lambda at, _: 1.6 if at == 0 else None)
    outcomes = [check(ASKED, each, logits) for each in (make_samples(2000), bad)]
    good, wrong = correct(outcomes)
    assert wrong["prefix"] == pytest.approx(4 * outcomes[1].fits["prefix"].p_value)
    assert wrong["prefix"] < 1e-3
    assert good["prefix"] > 0.01
    assert set(good) == set(wrong) == {"prefix", "resumed"}


def test_a_response_is_read():
    counts = {"num_draft_tokens": 0, "num_accepted_draft_tokens": 0}
    sources = {"draft_prefix": {**counts, "num_draft_tokens": 3}}
    sources["draft_suffix"] = {"num_draft_tokens": 2, "num_accepted_draft_tokens": 1}
    spans = [["decoded", 3], ["draft_suffix", 1], ["prompt", 1], ["draft_prefix", 1]]
    response = {
        "prompt_token_ids": [1, 2],
        "choices": [{"token_ids": [5, 6, 7, 8, 9, 10]}],
        "metrics": {"ssr": {"sources": sources, "spans": spans}},
    }
    assert Sample.of(response) == Sample(
        prompt=(1, 2),
        tokens=(5, 6, 7, 8, 9, 10),
        from_draft=(False, False, False, True, False, True),
        proposed=(3, 2),
        accepted=(0, 1),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_draft_while_they_think(case):
    for asked in case.asked:
        assert max(asked.drafts["draft_budget"]) < asked.num_reasoning
        assert 4 <= len(set(asked.sampling.allowed)) <= 8
        settings = asked.settings()
        assert settings["max_tokens"] > asked.num_reasoning + 1 + NUM_TESTED
        assert END not in asked.sampling.allowed


def test_the_cases_cover_what_sampling_knows():
    every = [asked for case in CASES for asked in case.asked]
    assert {asked.sampling.temperature for asked in every} == {1.0, 0.6}
    assert {asked.seeded for asked in every} == {True, False}
    for name in ("top_k", "top_p"):
        assert any(getattr(asked.sampling, name) is not None for asked in every)
    assert any(len(case.asked) == 2 for case in CASES)
    assert len({asked.name for asked in every}) == len(every)


def test_an_unknown_case_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        distribution.main(["--case", "nonsense"])
    assert ended.value.code == 2
    assert "nonsense" in capsys.readouterr().err
