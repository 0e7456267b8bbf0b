"""Options of every test."""

from __future__ import annotations

pytest_plugins = ("tests.kinds", "pytester")
