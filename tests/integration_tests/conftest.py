"""One pool of engines for the session: equal settings share one, one runs at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ModelError

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import REGISTRY
from langchain_ssr.models import resolve
from tests.integration_tests import tiny_models

FLOAT32: dict[str, Any] = {
    "dtype": "float32",
    "max_model_len": 2048,
    "max_num_seqs": 32,
    "kv_cache_memory_bytes": 256 << 20,
}


def pytest_configure() -> None:
    try:
        resolve("smollm2")
    except ModelError as error:
        pytest.exit(str(error), returncode=4)


class EnginePool:
    """Hands out chat models; closes the running engine before another starts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: ChatSSR | None = None

    def model(self, name: str = "smollm2", **settings: Any) -> ChatSSR:
        """Return a model on the pool's engine for `name` and its engine settings."""
        if name in tiny_models.SHAPES:
            name = str(tiny_models.make(self._folder / name, name))
        engine_kwargs = FLOAT32 | settings.pop("engine_kwargs", {})
        settings = {"temperature": 0, "max_tokens": 24} | settings
        llm = ChatSSR(model=name, engine_kwargs=engine_kwargs, **settings)
        if self._running and self._running._embedded.key != llm._embedded.key:
            self.close()
        if self._running is None:
            self._running = llm.warmup()
        return llm

    def close(self) -> None:
        """End the running engine, also if a test left other models on it."""
        if self._running is None:
            return
        self._running = None
        REGISTRY.close_all()


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnginePool]:
    pool = EnginePool(tmp_path_factory.mktemp("models"))
    yield pool
    with contextlib.suppress(ModelError):
        pool.close()


@pytest.fixture
def smollm2(pool: EnginePool) -> ChatSSR:
    return pool.model("smollm2")


@pytest.fixture
def tiny(pool: EnginePool) -> ChatSSR:
    return pool.model("qwen3")
