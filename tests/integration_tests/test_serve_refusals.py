"""What `langchain-ssr serve` refuses before anything starts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration_tests import tiny_models
from tests.integration_tests.served import SERVE, environment

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--pipeline-parallel-size", "2"], "pipeline parallelism"),
        (["--speculative-config", "{}"], "--speculative-config is set by SSR"),
        (["--ssr-limits", '{"max_draft": 1}'], "'max_drafts'"),
    ],
)
def test_refused_at_start_with_the_reason(
    tmp_path: Path, flags: list[str], words: str
) -> None:
    model = str(tiny_models.make(tmp_path / "qwen3", "qwen3"))
    done = subprocess.run(
        [*SERVE, model, *flags],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(),
    )
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
