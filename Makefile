# odradek: `make run` starts a broker on 127.0.0.1:9092, `make test` checks everything, `make check` what a minute allows.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP  := $(VENV)/.installed
# The data pipeline needs Spark, and Spark a JDK: both are left out where there is no java.
SPARK  := $(if $(shell command -v java),$(VENV)/.installed-spark)
# Tests that start client programs, JVMs, Spark or builds. They share a JVM and a Spark session, so they run in one process.
HEAVY  := clients or conformance or jdk or spark or slow
PYTEST := $(BIN)/python -m pytest
SPREAD := -n auto --dist worksteal -m "not ($(HEAVY))"

.PHONY: run check test fmt lint types layers static quick measured heavy unit bench clients conformance hooks pages news build clean
.DEFAULT_GOAL := run

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) -e . --group dev
	$(BIN)/python -m compileall -q broker protocol storage pipeline src/odradek/*.py src/odradek/commands
	@touch $@

$(VENV)/.installed-spark: $(STAMP)
	$(PIP) -e '.[spark]' --group dev
	@touch $@

run: $(STAMP)
	$(BIN)/odradek serve --host 127.0.0.1 --port 9092

fmt: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP) $(SPARK)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

static: $(STAMP) $(SPARK)
	@$(MAKE) --no-print-directory --jobs --output-sync lint types layers

# The tests that need no client process, on all cores.
quick: $(STAMP) $(SPARK)
	$(PYTEST) $(SPREAD)

# The same with the coverage measured; below the floor (pyproject.toml, fail_under) it fails.
measured: $(STAMP) $(SPARK)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(SPREAD)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

heavy: $(STAMP) $(SPARK)
	$(PYTEST) -m "$(HEAVY)"

unit: measured
	@$(MAKE) --no-print-directory heavy

check: static
	@$(MAKE) --no-print-directory quick

test: static
	@$(MAKE) --no-print-directory unit

clients: $(STAMP)
	$(PYTEST) tests/clients

conformance: $(STAMP)
	$(PYTEST) tests/conformance

bench: $(STAMP)
	$(BIN)/python -m tests.bench

hooks: $(STAMP)
	$(BIN)/pre-commit install

# What is written from the code: the index of handlers and two pages.
pages: $(STAMP)
	$(BIN)/python -m odradek.broker.api.generate_index
	$(BIN)/odradek coverage --markdown > docs/coverage.md
	$(BIN)/odradek coverage --configs --markdown > docs/configuration.md

# A look at what the next release's part of CHANGELOG.md will say.
news: $(STAMP)
	$(BIN)/towncrier build --draft --version next

build: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
