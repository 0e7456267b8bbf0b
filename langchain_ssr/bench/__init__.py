"""Benchmarks that a user runs on a model of their own."""
