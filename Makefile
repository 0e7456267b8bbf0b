# make demo   set up what is missing, then show the demo
# make test   set up what is missing, then run every test
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
export VENV

.PHONY: setup demo test unit integration equality mutants wheel-test lint format model clean

setup:
	@$(PYTHON) scripts/bootstrap.py

model: setup
	@$(BIN)/langchain-ssr models get smollm2

demo: model
	@$(BIN)/langchain-ssr demo

test: unit integration

unit: setup
	@$(BIN)/python -m pytest tests/unit_tests --disable-socket --allow-unix-socket

integration: model
	@$(BIN)/python -m pytest tests/integration_tests

equality: model
	@$(BIN)/python -m pytest tests/integration_tests/test_equality.py -q -s

mutants: setup
	@$(BIN)/python scripts/mutants.py

wheel-test: setup
	@$(BIN)/python scripts/wheel_test.py

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
