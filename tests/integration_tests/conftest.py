"""One pool of engines for the session: equal settings share one, one runs at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ModelError

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import REGISTRY
from langchain_ssr.models import DEMO, resolve
from tests.integration_tests import tiny_models

REASONING_MODEL = os.environ.get("SSR_TEST_MODEL", DEMO)
"""The model of the tests that need one that was trained to reason."""
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


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put tests of the same engine together, in files that tell (`engine_of`)."""
    if config.getoption("--backend") == "remote":
        skip = pytest.mark.skip(reason="about an engine in this process")
        for item in items:
            if item.get_closest_marker("embedded"):
                item.add_marker(skip)
    files = {path: number for number, path in enumerate(item.path for item in items)}

    def place(item: pytest.Item) -> tuple[int, str]:
        engine_of = getattr(getattr(item, "module", None), "engine_of", lambda _: "")
        return files[item.path], engine_of(item)

    items.sort(key=place)


class EnginePool:
    """Hands out chat models; closes the running engine before another starts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: ChatSSR | None = None

    def settings(self, name: str = "smollm2", **settings: Any) -> dict[str, Any]:
        """Return the arguments of `ChatSSR` for `name`, with the pool's defaults."""
        if name in tiny_models.SHAPES:
            name = str(tiny_models.make(self._folder / name, name))
        engine_kwargs = FLOAT32 | settings.pop("engine_kwargs", {})
        defaults = {"temperature": 0, "max_tokens": 24}
        return {"model": name, "engine_kwargs": engine_kwargs, **defaults, **settings}

    def model(self, name: str = "smollm2", **settings: Any) -> ChatSSR:
        """Return a model on the pool's engine for `name` and its engine settings."""
        llm = ChatSSR(**self.settings(name, **settings))
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
def backend(pytestconfig: pytest.Config) -> str:
    """Where engines are: "embedded" in this process, or "remote"."""
    return str(pytestconfig.getoption("--backend"))


@pytest.fixture(scope="session")
def pool(
    tmp_path_factory: pytest.TempPathFactory, backend: str
) -> Iterator[EnginePool]:
    from tests.integration_tests.served_pool import ServedPool

    kind = ServedPool if backend == "remote" else EnginePool
    pool = kind(tmp_path_factory.mktemp("models"))
    yield pool
    with contextlib.suppress(ModelError):
        pool.close()


@pytest.fixture
def smollm2(pool: EnginePool) -> ChatSSR:
    return pool.model("smollm2")


@pytest.fixture
def tiny(pool: EnginePool) -> ChatSSR:
    return pool.model("qwen3")
