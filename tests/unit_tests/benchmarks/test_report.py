"""What the benchmarks' reports have in common."""

import argparse
import json
import random
import statistics

import pytest

from benchmarks.report import BenchmarkError, interval, positive, write_json


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [(1, 0, 0), (3, 0, 2), (5, 0, 4), (6, 0, 5), (9, 1, 7), (11, 1, 9), (20, 5, 14)],
)
def test_interval_takes_the_ranks_of_the_textbook(size, low, high):
    values = random.Random(0).sample(range(size), size)
    assert interval(values) == (low, high)


def test_interval_covers_the_median_as_often_as_it_says():
    rng = random.Random(0)
    samples = [[rng.gauss(0, 1) for _ in range(11)] for _ in range(2000)]
    bounds = [interval(sample) for sample in samples]
    assert statistics.fmean(low <= 0 <= high for low, high in bounds) > 0.95


@pytest.mark.parametrize("text", ["0", "-1"])
def test_positive_refuses(text):
    with pytest.raises(argparse.ArgumentTypeError, match="positive"):
        positive(text)


def test_write_json(tmp_path):
    path = tmp_path / "out.json"
    write_json(path, {"a": 1})
    write_json(path, {"a": 2})
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 2}
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BenchmarkError, match="cannot write"):
        write_json(tmp_path / "missing" / "out.json", {})
