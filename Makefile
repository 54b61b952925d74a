# odradek: `make run` starts a broker on 127.0.0.1:9092, `make test` checks everything.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP  := $(VENV)/.installed
# The data pipeline needs Spark, and Spark a JDK: both are left out where there is no java.
SPARK  := $(if $(shell command -v java),$(VENV)/.installed-spark)

.PHONY: run test fmt lint types layers unit bench clients conformance build clean
.DEFAULT_GOAL := run

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[dev]'
	$(BIN)/python -m compileall -q broker protocol storage pipeline src/odradek/*.py src/odradek/commands
	@touch $@

$(VENV)/.installed-spark: $(STAMP)
	$(PIP) -e '.[dev,spark]'
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

unit: $(STAMP) $(SPARK)
	$(BIN)/python -m pytest

test: lint types layers unit

clients: $(STAMP)
	$(BIN)/python -m pytest tests/clients

conformance: $(STAMP)
	$(BIN)/python -m pytest tests/conformance

bench: $(STAMP)
	$(BIN)/python -m tests.bench

build: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
