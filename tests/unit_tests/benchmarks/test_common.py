"""What all benchmarks use."""

import argparse
import json

import pytest

from benchmarks.common import BenchmarkError, positive, write_json


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
