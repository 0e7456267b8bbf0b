"""Typed errors: from the wire, and what LangChain knows of them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core import exceptions as core

from langchain_ssr import errors
from langchain_ssr.errors import from_wire

CONTEXT = (
    "This model's maximum context length is 2048 tokens. However, your prompt "
    "contains at least 2049 input tokens, which exceeds the limit."
)

CHARACTERS = (
    "This model's maximum context length is 2048 tokens. However, your prompt contains "
    "200000 characters (more than 61440 characters, which is the upper bound for 2048 "
    "input tokens). Please reduce the length of the input prompt."
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, errors.InvalidRequestError),
        (401, core.ModelAuthenticationError),
        (403, core.ModelPermissionDeniedError),
        (404, core.ModelNotFoundError),
        (408, errors.RequestTimeoutError),
        (422, errors.InvalidRequestError),
        (429, core.ModelRateLimitError),
        (500, errors.ServerError),
        (501, errors.InvalidRequestError),
        (503, errors.ServerError),
        ("400", errors.InvalidRequestError),
        ("rate_limit_exceeded", errors.ServerError),
        (None, errors.ServerError),
    ],
)
def test_code_gives_the_class(code, kind):
    error = from_wire({"message": "no luck", "code": code})
    assert type(error) is kind
    assert str(error) == "no luck"


def test_no_code_and_no_message_is_a_server_error():
    error = from_wire({})
    assert type(error) is errors.ServerError
    assert str(error) == "the engine gave no reason"


@given(
    st.dictionaries(
        st.sampled_from(["message", "code", "type", "param"]),
        st.none() | st.integers() | st.text(),
    )
)
def test_any_error_object_gives_a_model_error(wire):
    assert isinstance(from_wire(wire), core.ModelError)


# --- context length ----------------------------------------------------------------


def test_context_length_with_both_numbers():
    error = from_wire({"message": CONTEXT, "code": 400})
    assert type(error) is errors.ContextLengthError
    assert error.max_tokens == 2048
    assert error.num_tokens == 2049
    assert str(error) == CONTEXT


@pytest.mark.parametrize("code", [400, 500, None])
def test_context_length_is_known_by_its_text(code):
    error = from_wire({"message": CONTEXT, "code": code})
    assert isinstance(error, core.ContextOverflowError)


def test_context_length_without_the_prompt_length():
    error = from_wire({"message": "The maximum context length is 2048."})
    assert (error.max_tokens, error.num_tokens) == (2048, None)


def test_context_length_survives_a_pickle():
    error = pickle.loads(pickle.dumps(from_wire({"message": CONTEXT})))  # noqa: S301
    assert (str(error), error.max_tokens, error.num_tokens) == (CONTEXT, 2048, 2049)


@pytest.mark.parametrize("length", [None, 512])
def test_prompt_that_fills_the_context(length):
    message = "max_tokens must be at least 1, got 0."
    error = from_wire({"message": message, "code": 400}, length)
    assert type(error) is errors.ContextLengthError
    assert (error.max_tokens, error.num_tokens) == (length, length)
    assert ("of 512 tokens" in str(error)) is bool(length)


@pytest.mark.parametrize(
    ("message", "num_tokens", "is_lower_bound"),
    [
        (CONTEXT, 2049, True),
        (CONTEXT.replace("at least 2049", "5000"), 5000, False),
        (
            CHARACTERS,
            None,
            False,
        ),
        (
            "Input length (5000) exceeds model's maximum context length (2048).",
            5000,
            False,
        ),
    ],
)
def test_what_is_told_of_the_prompts_length(message, num_tokens, is_lower_bound):
    error = from_wire({"message": message, "code": 400})
    assert (error.max_tokens, error.num_tokens) == (2048, num_tokens)
    assert error.is_lower_bound is is_lower_bound


def test_prompt_that_is_longer_than_the_context():
    message = "max_tokens must be at least 1, got -5."
    error = from_wire({"message": message, "code": 400}, 2048)
    assert (error.max_tokens, error.num_tokens) == (2048, 2053)
    assert from_wire({"message": message, "code": 400}).num_tokens is None


def test_output_that_is_longer_than_the_context():
    message = "max_completion_tokens=900 cannot be greater than max_model_len=512."
    error = from_wire({"message": message, "code": 400})
    assert type(error) is errors.ContextLengthError
    assert (error.max_tokens, error.num_tokens) == (512, None)


# --- classes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parents", "retryable"),
    [
        (errors.SettingsError, (core.ModelInvalidRequestError, ValueError), False),
        (errors.InvalidRequestError, (core.ModelInvalidRequestError,), False),
        (
            errors.ContextLengthError,
            (core.ContextOverflowError, core.ModelInvalidRequestError),
            False,
        ),
        (errors.ModelLoadError, (core.ModelNotFoundError,), False),
        (errors.EngineNotInstalledError, (core.ModelError, ImportError), False),
        (errors.EngineStartError, (core.ModelError, RuntimeError), False),
        (errors.EngineDiedError, (core.ModelConnectionError, RuntimeError), True),
        (errors.RequestTimeoutError, (core.ModelTimeoutError, TimeoutError), True),
        (errors.ServerError, (core.ModelAPIError,), True),
    ],
)
def test_class(kind, parents, retryable):
    error = kind("why")
    for parent in (*parents, core.ModelError, core.LangChainException):
        assert isinstance(error, parent)
    assert error.is_retryable is retryable
    assert str(error) == "why"
    assert type(pickle.loads(pickle.dumps(error))) is kind  # noqa: S301


def test_every_error_of_the_module_is_a_model_error():
    own = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and kind.__module__ == errors.__name__
    ]
    assert len(own) >= 9
    assert all(issubclass(kind, core.ModelError) for kind in own)
