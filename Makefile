# make demo   set up what is missing, then show the demo
# make test   set up what is missing, then run every test
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
export VENV
REPORTS := .test-reports

.PHONY: setup demo test unit integration integration_test verify-served standard-tests features equality exactness soak distribution compat snippets notebook quickstart screenshots screenshots-samples docs mutants wheel-test lint format model clean

setup:
	@$(PYTHON) scripts/bootstrap.py

model: setup
	@$(BIN)/langchain-ssr models get smollm2

demo: setup
	@$(BIN)/langchain-ssr demo

# the tests, and that all that docs/features.md names have passed
test: unit integration
	@$(BIN)/python scripts/features.py --check --junit $(REPORTS)/unit.xml $(REPORTS)/integration.xml

unit: setup
	@$(BIN)/python -m pytest tests/unit_tests --disable-socket --allow-unix-socket --junit-xml $(REPORTS)/unit.xml

integration integration_test: model
	@$(BIN)/python -m pytest tests/integration_tests --junit-xml $(REPORTS)/integration.xml

# everything of the served part: servers, clients, documents; JSON=OUT writes a report
verify-served: model
	@$(BIN)/python -m pip install --quiet vllm-router
	@$(BIN)/python scripts/verify_served.py $(if $(JSON),--json $(JSON))

# what passed, was skipped and was expected to fail, with reasons
standard-tests: model
	@$(BIN)/python -m pytest tests/unit_tests/test_standard.py tests/integration_tests/test_standard.py -v -rsx

# docs/features.md; `make features --check` or CHECK=1 compares only, JUNIT="unit.xml
# integration.xml" also wants the tests passed. (make takes --check as its own
# --check-symlink-times, which it calls L.)
features: setup
	@$(BIN)/python scripts/features.py $(if $(CHECK)$(findstring L,$(firstword -$(MAKEFLAGS))),--check) $(if $(JUNIT),--junit $(JUNIT))

equality: model
	@$(BIN)/python -m pytest tests/integration_tests/test_equality.py -q -s

# the big form of `equality`, some fifteen minutes; JSON=out.json writes a report;
# ARGS="--shape qwen3 --resume ..."
exactness: model
	@$(BIN)/python -m tests.exactness $(if $(JSON),--json $(JSON)) $(ARGS)

# random requests on one engine: N of them, drawn from SEED; JSON=OUT writes a report
soak: setup
	@$(BIN)/python -m benchmarks.soak --num $(or $(N),10000) --seed $(or $(SEED),1) $(if $(JSON),--json $(JSON))

# sampled answers against exact probabilities, some ten minutes; SAMPLES, SEED, JSON
distribution: setup
	@$(BIN)/python -m benchmarks.distribution --samples $(or $(SAMPLES),5000) --seed $(or $(SEED),0) $(if $(JSON),--json $(JSON))

# the integration tests on another vLLM release, in .venv-vllm-VERSION; ARGS for pytest
compat: model
	@$(PYTHON) scripts/compat.py $(VLLM) $(ARGS)

# code in README.md, docs/ and the docstrings of docs/api.md is run, or says why not;
# PAGES, MODEL instead of the demo
snippets: setup
	@$(BIN)/python scripts/snippets.py $(PAGES) $(if $(MODEL),--model $(MODEL))

# the cells of examples/tour.ipynb are run by a Jupyter kernel, and counted; MODEL instead of the demo
notebook: setup
	@$(BIN)/python -m tests.notebooks $(if $(MODEL),--model $(MODEL))

# the quick start's commands and code, in a new environment
quickstart: setup
	@$(BIN)/python scripts/quickstart.py

# pictures of the page that the demo writes, in screenshots/, or OUT=DIR; HTML=FILE takes
# another page instead, MODEL another model
SHOTS := $(or $(OUT),screenshots)
screenshots: setup
	@mkdir -p $(SHOTS)
	@$(if $(HTML),,$(BIN)/langchain-ssr demo --html $(SHOTS)/demo.html $(if $(MODEL),--model $(MODEL)))
	@$(BIN)/python scripts/screenshots.py --html $(or $(HTML),$(SHOTS)/demo.html) --out $(SHOTS)

# the same of made-up pages, for which no engine is needed
screenshots-samples: setup
	@$(BIN)/python scripts/screenshots.py --out $(SHOTS)

# the documentation site in site/, in an environment of its own
docs:
	@$(PYTHON) scripts/docs.py

# each breakage in tests/mutants must be noticed; NAMES="ONE ANOTHER" takes a part
mutants: model
	@$(BIN)/python scripts/mutants.py $(NAMES)

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
	rm -rf $(VENV) .venv-docs site screenshots build dist $(REPORTS) .pytest_cache .mypy_cache .ruff_cache
