"""What every unit test starts from: no user's environment, quick hypothesis."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

EXAMPLES = int(os.environ.get("SSR_EXAMPLES", "60"))
"""Examples of each property; more of them find more: `SSR_EXAMPLES=5000 make unit`."""

settings.register_profile("unit", max_examples=EXAMPLES, deadline=None, database=None)
settings.load_profile("unit")

VARIABLES = (
    "LANGCHAIN_SSR_CACHE",
    "SSR_API_KEY",
    "SSR_BASE_URL",
    "SSR_PROGRESS",
    "VLLM_API_KEY",
    "VLLM_CPU_KVCACHE_SPACE",
    "XDG_CACHE_HOME",
)


@pytest.fixture(autouse=True)
def no_user_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def backend(monkeypatch):
    """Let every `ChatSSR` answer from memory."""
    from langchain_ssr import ChatSSR
    from tests.unit_tests.fake_backend import FakeBackend

    fake = FakeBackend()
    monkeypatch.setattr(ChatSSR, "_backend", property(lambda _: fake))
    return fake
