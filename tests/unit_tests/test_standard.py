"""LangChain's standard unit tests for chat models, with every ability that we have."""

from __future__ import annotations

import importlib

import pytest
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_ssr import ChatSSR
from tests.capabilities import Capabilities


class TestChatSSR(Capabilities, ChatModelUnitTests):
    @pytest.fixture(autouse=True)
    def trusted(self, monkeypatch):
        """Put the class on langchain-core's list of what may be loaded.

        The list is fixed there, and `test_serdes` loads nothing else. Users say
        `allowed_objects=[ChatSSR]`; test_chat_model_copies.py does.
        """
        load = importlib.import_module("langchain_core.load.load")
        path = tuple(ChatSSR.lc_id())
        monkeypatch.setitem(load.ALL_SERIALIZABLE_MAPPINGS, path, path)
        monkeypatch.setattr(load, "_default_class_paths_cache", {})

    @property
    def chat_model_class(self) -> type[ChatSSR]:
        return ChatSSR

    @property
    def chat_model_params(self) -> dict:
        return {"model": "smollm2"}

    @property
    def init_from_env_params(self) -> tuple[dict, dict, dict]:
        return {"SSR_API_KEY": "key"}, self.chat_model_params, {"api_key": "key"}

    @property
    def supported_usage_metadata_details(self) -> dict:
        details = ["reasoning_output", "cache_read_input"]
        return {"invoke": details, "stream": details}

    @property
    def supports_image_inputs(self) -> bool:
        return False  # the engine loads the language model only

    @property
    def supports_model_override(self) -> bool:
        return False  # another model is another engine
