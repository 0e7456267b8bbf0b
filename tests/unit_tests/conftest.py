"""What every unit test starts from: no user's environment, quick hypothesis."""

from __future__ import annotations

import importlib.metadata
import os
from types import SimpleNamespace

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
def unknown_servers(monkeypatch):
    """Let nothing be known of a server from an earlier test."""
    from langchain_ssr.backends import server

    monkeypatch.setattr(server, "_SERVERS", {})


@pytest.fixture
def waits(monkeypatch):
    """Let retries wait for nothing; the seconds that servers asked for are noted."""
    from langchain_ssr.backends import retries

    waited = []

    def note(state) -> float:
        waited.append(retries.retry_after(state.outcome.exception()))
        return 0

    monkeypatch.setattr(retries, "seconds_to_wait", note)
    return waited


@pytest.fixture
def bare_server(monkeypatch):
    """A server's machine: 20 GiB, nothing in the environment, and no plugins.

    Plugins by the group of their entry points are what it returns.
    """
    from langchain_ssr.backends import launch

    for name in [*launch._environment("cpu"), "VLLM_PLUGINS", "SSR_DISABLE"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launch, "memory_bytes", lambda: 20 * launch.GIB)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    found: dict[str, list[str]] = {}

    def entry_points(group: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in found.get(group, [])]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return found


@pytest.fixture
def backend(monkeypatch):
    """Let every `ChatSSR` answer from memory."""
    from langchain_ssr import ChatSSR
    from tests.unit_tests.fake_backend import FakeBackend

    fake = FakeBackend()
    monkeypatch.setattr(ChatSSR, "_backend", property(lambda _: fake))
    return fake
