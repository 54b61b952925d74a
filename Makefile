# odradek: `make run` starts a broker on 127.0.0.1:9092, `make test` checks everything, `make check` what a minute allows.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP  := $(VENV)/.installed
# The data pipeline needs Spark, and Spark a JDK: both are left out where there is no java.
SPARK  := $(if $(shell command -v java),$(VENV)/.installed-spark)
# Tests that start client programs, JVMs, Spark or builds. Those that ask a real Kafka, too, mostly wait for it: they run beside the
# others. Each of the two is one process, which shares a JVM and a Spark session.
HEAVY  := clients or conformance or jdk or spark or slow
PYTEST := $(BIN)/python -m pytest
# Only what a real Kafka says is asked again (tests/conformance/conftest.py).
SPREAD := -n auto --dist worksteal -p no:rerunfailures -m "not ($(HEAVY))"

# What runs against the compiled modules too, in `make test` where there is what compiling takes.
COMPILED_TESTS := tests/protocol tests/storage tests/broker tests/frontdoor tests/layout/test_compiled.py
COMPILED := PYTHONPATH=build/compiled
HEADER := $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")'

.PHONY: run check test fmt lint types layers static quick measured heavy heavy-kafka heavy-others unit bench bench-compare chaos clients conformance hooks pages site news wheel compiled test-compiled compiled-quick compiled-clients also-compiled build clean
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

# The same with the coverage measured; below the floor (pyproject.toml, fail_under) it fails. Properties meet the same
# examples each time here, so that a change is not refused for what was there before it; `make quick` draws others.
measured: $(STAMP) $(SPARK)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --hypothesis-profile=repeated $(SPREAD)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

heavy: $(STAMP) $(SPARK)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync heavy-kafka heavy-others

heavy-kafka: TESTS = conformance
heavy-others: TESTS = ($(HEAVY)) and not conformance
# A crash of the process (a signal: 128 and more) leaves no name of a test: tests/conftest.py writes it down.
heavy-kafka heavy-others: $(STAMP) $(SPARK)
	@mkdir -p build
	ODRADEK_UNDER_WAY=build/under-way-$@ $(PYTEST) -m "$(TESTS)" || { status=$$?; \
	test $$status -lt 128 || echo "pytest ended with status $$status in $$(cat build/under-way-$@)"; exit $$status; }

unit: measured
	@$(MAKE) --no-print-directory heavy

check: static
	@$(MAKE) --no-print-directory quick

test: static
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory also-compiled

clients: $(STAMP)
	$(PYTEST) tests/clients

conformance: $(STAMP)
	$(PYTEST) tests/conformance

# Beside a real Kafka and kfake; it runs `make compiled` where the sources have changed. `--record` appends to docs/speed.md.
bench: $(STAMP)
	$(BIN)/python -m tests.bench

# A thousand runs of clients under faults drawn by a seed: about ten minutes.
chaos: $(STAMP)
	$(BIN)/python -m tests.chaos --seeds 1000

# What a request costs beside another revision: make bench-compare REV=main~5
bench-compare: $(STAMP)
	$(BIN)/python -m tests.bench.compare $(or $(REV),main)

hooks: $(STAMP)
	$(BIN)/pre-commit install

# What is written from the code: the index of handlers and two pages.
pages: $(STAMP)
	$(BIN)/python -m odradek.broker.api.generate_index
	$(BIN)/python -m odradek.broker.facade.generate_blocking
	$(BIN)/odradek coverage --markdown > docs/coverage.md
	$(BIN)/odradek coverage --configs --markdown > docs/configuration.md
	$(BIN)/python -m tests.scenarios.authorization_page > docs/authorization.md

# The documentation as a site, in build/site.
site: $(STAMP)
	$(BIN)/mkdocs build --strict --quiet

# A look at what the next release's part of CHANGELOG.md will say.
news: $(STAMP)
	$(BIN)/towncrier build --draft --version next

# A wheel with the modules of src/odradek/_compiled.py compiled, for this Python. It takes a C compiler and Python's headers.
wheel: $(STAMP)
	rm -rf build/lib* build/bdist*
	ODRADEK_COMPILE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The same wheel unpacked: PYTHONPATH=build/compiled runs it, the sources beside it stay pure.
compiled: $(STAMP)
	rm -rf build/lib* build/bdist* build/wheel build/compiled
	ODRADEK_COMPILE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PIP) --no-deps --target build/compiled build/wheel/odradek-*.whl

# Client programs mostly wait, so they run beside the tests that need none.
test-compiled: compiled
	$(COMPILED) $(BIN)/python -c 'import odradek; assert odradek.compiled, odradek'
	@$(MAKE) --no-print-directory --jobs --output-sync compiled-quick compiled-clients

compiled-quick:
	$(COMPILED) $(PYTEST) --hypothesis-profile=repeated $(SPREAD) $(COMPILED_TESTS)

compiled-clients:
	$(COMPILED) $(PYTEST) tests/clients

also-compiled: $(STAMP)
	@if ! $(CC) --version > /dev/null 2>&1; then echo "not tested compiled: there is no C compiler"; \
	elif ! test -e "$$($(HEADER))"; then echo "not tested compiled: there is no $$($(HEADER))"; \
	else $(MAKE) --no-print-directory test-compiled; fi

build: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
