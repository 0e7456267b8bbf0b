"""The hub is asked once, and its answer becomes a message."""

from __future__ import annotations

import sys
import types

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends import embedded, launch
from langchain_ssr.backends.hub import HUB_SECONDS, check_hub
from langchain_ssr.errors import ModelLoadError
from langchain_ssr.models import resolve


class Hub:
    """A hub and its client, for one model."""

    def __init__(self):
        self.cached: set[tuple[str, str | None]] = set()
        self.answer: Exception | None = None
        self.asked: list[dict] = []

    def try_to_load_from_cache(self, repo_id, filename, revision=None):
        return "/a/path" if (filename, revision) in self.cached else None

    def HfApi(self):  # noqa: N802 - the client's name
        return self

    def model_info(self, repo_id, **options):
        self.asked.append(options)
        if self.answer:
            raise self.answer


class HfHubHTTPError(OSError):
    pass


ERRORS = {
    "HfHubHTTPError": HfHubHTTPError,
    "RepositoryNotFoundError": type("NotFound", (HfHubHTTPError,), {}),
    "RevisionNotFoundError": type("NoRevision", (HfHubHTTPError,), {}),
    "HFValidationError": type("Invalid", (ValueError,), {}),
    "OfflineModeIsEnabled": type("Offline", (ConnectionError,), {}),
}


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.delenv("VLLM_USE_MODELSCOPE", raising=False)
    fake, module = Hub(), types.ModuleType("huggingface_hub")
    module.HfApi = fake.HfApi
    module.try_to_load_from_cache = fake.try_to_load_from_cache
    of_errors = types.ModuleType("huggingface_hub.errors")
    vars(of_errors).update(ERRORS)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", of_errors)
    return fake


def test_model_on_the_hub(hub):
    check_hub("a/b", "v1")
    assert hub.asked == [{"revision": "v1", "timeout": HUB_SECONDS}]


@pytest.mark.parametrize("name", ["config.json", "params.json"])
def test_cached_model_needs_no_hub(hub, name):
    hub.cached.add((name, None))
    check_hub("a/b")
    assert hub.asked == []
    check_hub("a/b", "v1")
    assert len(hub.asked) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("RepositoryNotFoundError", "no model 'a/b' at revision 'v1'.*HF_TOKEN.*folde"),
        ("RevisionNotFoundError", "no model 'a/b' at revision 'v1'.*folder"),
        ("HFValidationError", "no model 'a/b'"),
        ("OfflineModeIsEnabled", "not in the hub's cache.*HF_HUB_OFFLINE.*folder"),
    ],
)
def test_no_model_to_be_had(hub, name, words):
    hub.answer = ERRORS[name]("x")
    with pytest.raises(ModelLoadError, match=words):
        check_hub("a/b", "v1")


@pytest.mark.parametrize("error", [OSError("no route"), TimeoutError("no route")])
def test_no_network(hub, error):
    hub.answer = error
    with pytest.raises(ModelLoadError, match=r"cannot be reached: no route.*folder"):
        check_hub("a/b")


def test_busy_hub_is_left_to_vllm(hub):
    hub.answer = HfHubHTTPError("429")
    check_hub("a/b")


def test_other_hub_is_left_to_vllm(hub, monkeypatch):
    monkeypatch.setenv("VLLM_USE_MODELSCOPE", "True")
    hub.answer = OSError("no route")
    check_hub("a/b")


def test_without_the_client_vllm_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    check_hub("a/b")


def test_every_call_asks_before_vllm_starts(hub, monkeypatch):
    hub.answer = OSError("no route")
    monkeypatch.setattr(launch, "installed_vllm", lambda: launch.VLLM("0.32.0", "cpu"))
    monkeypatch.setattr(embedded.EmbeddedEngine, "start", None)
    llm = ChatSSR(model="a/b", engine_kwargs={"revision": "v1"})
    for _ in range(2):
        with pytest.raises(ModelLoadError, match="no route"):
            llm.invoke("hi")
    assert [options["revision"] for options in hub.asked] == ["v1", "v1"]


def test_folders_are_not_on_the_hub(tmp_path):
    assert resolve("Qwen/Qwen3-4B").is_on_hub
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_text("")
    assert not resolve(str(tmp_path)).is_on_hub
