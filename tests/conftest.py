"""Options of every test."""

from __future__ import annotations

import pytest

pytest_plugins = ("tests.kinds", "pytester")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend",
        choices=["embedded", "remote"],
        default="embedded",
        help="whether integration tests ask an engine in this process or a server",
    )
