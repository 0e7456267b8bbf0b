"""Whatever settings are given: a request that can be sent, or a documented error."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import ModelError
from langchain_core.messages import AIMessage
from pydantic import ValidationError

from langchain_ssr import ChatSSR
from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import (
    CallSettings,
    SpeculationSettings,
    describe,
    merge_call_settings,
)
from tests.unit_tests.fuzzing import CALL, CALL_NAMES, GOOD, JSON, OTHER_NAMES, RAW_SSR
from tests.unit_tests.fuzzing import half_right as half

shared_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
THEIRS = (*OTHER_NAMES, "chat_template_kwargs")
"""Fields that go out as they were given."""
NUMBERS = (math.inf, -math.inf, math.nan, -1, 0, 0.5, 2, 1e308, 2**31, 2**63, -(10**30))
NUMBER_SETTINGS = sorted(
    name
    for name in CallSettings.model_fields
    if not isinstance(CallSettings.model_fields[name].default, bool)
)
NAMES = st.sampled_from([*CALL_NAMES, *OTHER_NAMES]) | st.text(max_size=8)
ANY_CALL = half({**GOOD, **CALL}) | st.dictionaries(NAMES, JSON, max_size=4)
CONSTRUCTOR = {
    **GOOD,
    **CALL,
    "timeout": st.floats(0.1, 10),
    "max_retries": st.integers(0, 3),
    "engine_kwargs": st.dictionaries(st.text(max_size=5), JSON, max_size=2),
    "streaming": st.booleans(),
    "model_kwargs": st.fixed_dictionaries({}, optional={**GOOD, **CALL}),
}


def ask(llm: ChatSSR, backend: Any, call: dict[str, Any]) -> dict[str, Any] | None:
    """Return the request that a call makes; None if the call is refused."""
    before = len(backend.requests)
    try:
        answer = llm.invoke("hi", **call)
    except ModelError as error:
        assert isinstance(error, SettingsError)  # noqa: PT017 - no backend error
        assert str(error)  # noqa: PT017
        assert len(backend.requests) == before
        return None
    assert isinstance(answer, AIMessage)
    return backend.request


def assert_sendable(request: dict[str, Any]) -> None:
    """A request is standard JSON, and holds settings that the server takes."""
    own = {name: value for name, value in request.items() if name not in THEIRS}
    assert json.loads(json.dumps(own, allow_nan=False)) == own
    numbers = [value for value in own.values() if isinstance(value, int)]
    assert all(-(2**63) <= value < 2**63 for value in numbers)
    if "vllm_xargs" in request:
        SpeculationSettings.model_validate_json(request["vllm_xargs"]["ssr"])


@given(call=ANY_CALL)
@shared_backend
def test_any_call(backend, call):
    call.pop("extra_body", None)  # goes out as it is
    request = ask(ChatSSR(model="smollm2"), backend, call)
    if request is not None:
        assert_sendable(request)


@given(call=st.fixed_dictionaries({}, optional={**GOOD, **CALL}))
@shared_backend
def test_good_settings_are_refused_only_beside_a_list_of_budgets(backend, call):
    for name in ("iterative", "draft_interval", "max_drafts"):
        if isinstance(call.get("draft_budget"), list):
            call.pop(name, None)
    request = ask(ChatSSR(model="smollm2"), backend, call)
    assert request is not None
    assert_sendable(request)


@given(values=half(CONSTRUCTOR) | st.dictionaries(NAMES, JSON, max_size=4))
@shared_backend
def test_any_constructor(backend, values):
    values.pop("extra_body", None)
    values.pop("model", None)
    try:
        llm = ChatSSR(model="smollm2", **values)
    except ValidationError as error:
        assert describe(error)  # noqa: PT017
        return
    request = ask(llm, backend, {})
    if request is not None:
        assert_sendable(request)


@given(raw=RAW_SSR)
def test_any_settings_on_the_wire(raw):
    try:
        found = SpeculationSettings.model_validate(raw)
    except ValidationError as error:
        assert describe(error)  # noqa: PT017
        return
    assert SpeculationSettings.model_validate_json(found.model_dump_json()) == found


@given(half({**GOOD, **CALL}), half({**GOOD, **CALL}))
def test_merging_refuses_or_gives_what_validates(first, second):
    try:
        merged = merge_call_settings(first, second)
    except SettingsError as error:
        assert str(error)  # noqa: PT017
        return
    assert CallSettings.model_validate(merged.model_dump()) == merged


BODY_NAMES = ("model", "messages", "tools", "stop", "vllm_xargs", "stream_options")
BODY_NAMES += ("n", "stream", "chat_template_kwargs", "temperature", "x")
BODY = st.dictionaries(
    st.sampled_from(BODY_NAMES),
    JSON | st.fixed_dictionaries({"ssr": RAW_SSR | RAW_SSR.map(json.dumps)}),
    max_size=3,
)


@given(body=BODY)
@shared_backend
def test_any_extra_body(backend, body):
    llm = ChatSSR(model="smollm2")
    request = ask(llm, backend, {"extra_body": body, "stream_drafts": True})
    if request is None:
        return
    assert {"n", "stream"}.isdisjoint(body)
    given = {name: value for name, value in body.items() if value is not None}
    for name in ("vllm_xargs", "chat_template_kwargs"):  # to these it adds
        if isinstance(value := given.pop(name, None), dict):
            assert repr({key: request[name][key] for key in value}) == repr(value)
    assert repr({name: request[name] for name in given}) == repr(given)
    assert list(llm.stream("hi", extra_body=body))


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize("name", NUMBER_SETTINGS)
def test_any_number(backend, name, value):
    request = ask(ChatSSR(model="smollm2"), backend, {name: value})
    if request is None:
        return
    assert_sendable(request)
    assert request.get(name) is None or isinstance(request[name], (int, float, str))


@pytest.mark.parametrize("value", [math.inf, math.nan, 1e10, 2**63])
def test_no_timeout_that_cannot_be_waited_for(value):
    with pytest.raises(ValidationError, match="timeout"):
        ChatSSR(model="smollm2", timeout=value)
