"""Two servers behind vLLM's router, one of them killed under load: examples/scaling.py.

`make verify-served` installs the router; without it the test is skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration_tests.conftest import EnginePool

pytestmark = pytest.mark.engine

ROUTER = Path(sys.executable).with_name("vllm-router")
EXAMPLE = Path(__file__).parents[2] / "examples" / "scaling.py"


@pytest.mark.skipif(not ROUTER.exists(), reason="needs pip install vllm-router")
@pytest.mark.embedded
def test_clients_get_over_the_loss_of_a_server(
    pool: EnginePool, record_property: Callable[[str, object], None]
) -> None:
    pool.close()
    assert shutil.which(str(ROUTER))
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--router", str(ROUTER), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    record_property("scaling", json.dumps(told))
    assert told["recovered"]
    assert told["errors"] == []
    assert told["answers"] == told["questions"] == 24
    assert told["answers_after_the_kill"] > 0
    assert min(told["answered_by_server"]) > 0
    assert told["cached_tokens"] > 0  # conversations stay where their prefix is
