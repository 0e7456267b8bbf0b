"""Prometheus counters, in a registry of their own."""

from __future__ import annotations

import pytest

prometheus_client = pytest.importorskip("prometheus_client")

from langchain_ssr.engine.metrics import Metrics  # noqa: E402 - needs the package
from langchain_ssr.sources import SOURCES  # noqa: E402
from tests.unit_tests.test_stats_report import real_report, report  # noqa: E402


@pytest.fixture
def registry():
    return prometheus_client.CollectorRegistry()


@pytest.fixture
def value(registry):
    def read(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, {"model_name": "m", **labels})

    return read


def draft(finish_reason):
    return {"finish_reason": finish_reason}


def test_drafts_are_counted_by_their_end(registry, value):
    ends = ["stop", "length", "cut", "cut", "dropped", "preempted", None]
    Metrics("m", registry).count(report(drafts=[draft(end) for end in ends]), 9)
    assert value("ssr:num_drafts_started_total") == 7
    finished = {
        e: value("ssr:num_drafts_finished_total", finish_reason=e) for e in ends[:3]
    }
    assert finished == {"stop": 1, "length": 1, "cut": 2}
    for end in ("dropped", "preempted"):
        assert value("ssr:num_drafts_dropped_total", finish_reason=end) == 1
        assert value("ssr:num_drafts_finished_total", finish_reason=end) is None


def test_tokens_are_counted_by_source(registry, value):
    counts = {
        name: {"num_draft_tokens": 10 + i, "num_accepted_draft_tokens": i}
        for i, name in enumerate(SOURCES)
    }
    metrics = Metrics("m", registry)
    for _ in range(2):
        metrics.count(report(sources=counts), 9)
    for i, name in enumerate(SOURCES):
        assert value("ssr:num_proposed_tokens_total", source=name) == 2 * (10 + i)
        assert value("ssr:num_accepted_tokens_total", source=name) == 2 * i


@pytest.mark.parametrize(("num_tokens", "saved"), [(9, 2), (7, 0), (6, 0)])
def test_saved_steps_are_tokens_without_a_step(registry, value, num_tokens, saved):
    Metrics("m", registry).count(report(), num_tokens)  # 5 + 2 steps
    assert value("ssr:num_saved_steps_total") == saved


def test_one_choice_of_several_is_not_counted(registry, value):
    Metrics("m", registry).count(report(reason="n", mode="off"), 100)
    assert value("ssr:num_saved_steps_total") is None


def test_steps_are_not_known_after_a_failure(registry, value):
    failed = report(mode="off", reason="error", drafts=[draft("dropped")])
    Metrics("m", registry).count(failed, 100)
    assert value("ssr:num_drafts_started_total") == 1
    assert value("ssr:num_saved_steps_total") is None


def test_a_real_report(registry, value):
    Metrics("m", registry).count(real_report(), 6)
    assert value("ssr:num_drafts_finished_total", finish_reason="stop") == 1
    assert value("ssr:num_accepted_tokens_total", source="draft_prefix") == 3
    assert value("ssr:num_saved_steps_total") == 3


def test_several_engines_share_the_counters(registry, value):
    Metrics("m", registry).count(report(drafts=[draft("cut")]), 7)
    Metrics("other", registry).count(report(drafts=[draft("cut")]), 7)
    Metrics("m", registry).count(report(drafts=[draft("cut")]), 7)
    assert value("ssr:num_drafts_started_total") == 2


def test_names_are_valid_in_the_exposition(registry):
    Metrics("m", registry).count(real_report(), 6)
    text = prometheus_client.generate_latest(registry).decode()
    assert 'ssr:num_drafts_started_total{model_name="m"} 1.0' in text
