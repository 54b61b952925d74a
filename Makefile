# odradek: `make run` starts a broker on 127.0.0.1:9092, `make check` is the daily round, `make test` what every change passes,
# `make test-all` all the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP  := $(VENV)/.installed
# The data pipeline needs Spark, and Spark a JDK: both are left out where there is no java.
SPARK  := $(if $(shell command -v java),$(VENV)/.installed-spark)
# Compiled test modules are kept: without them each process of each run needs 12 s more.
unexport PYTHONDONTWRITEBYTECODE

# Tests that start client programs, JVMs, Spark or builds.
HEAVY  := clients or conformance or jdk or spark or slow
PYTEST := $(BIN)/python -m pytest
# Only what a real Kafka says is tried again (tests/conformance/asked.py).
SPREAD := -n auto --dist worksteal -p no:rerunfailures -m "not ($(HEAVY))"
# No process need collect what is heavy as a whole.
LIGHT  := $(addprefix --ignore=tests/,clients conformance scenarios crash frontdoor/control/test_schemathesis.py) -p no:schemathesis

# Tests that reach compiled modules (tests/layout/test_compiled.py holds the list against src/odradek/_compiled.py).
COMPILED_TESTS := tests/protocol tests/storage $(addprefix tests/broker/,api coordinator fast net partitions replication requests runtime) \
	$(wildcard tests/broker/test_*.py) tests/layout/test_compiled.py
COMPILED := PYTHONPATH=build/compiled
HEADER := $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")'

# One step of a longer run: how long it took, or how to repeat it alone.
define step
@began=$$(date +%s); $(MAKE) --no-print-directory $(1) || { echo "== make $(1) failed: repeat it alone with these words"; exit 1; }; \
echo "== make $(1): $$(($$(date +%s) - began)) s"
endef

.PHONY: run check test test-all rest fmt lint types layers static daily whole plain measured round heavy heavy-kafka heavy-java heavy-clients heavy-others bench bench-compare \
	attack mutants chaos duel duels clients conformance kafka-suite hooks tables generate pages site news wheel compiled compiled-daily test-compiled compiled-only compiled-clients image test-containers release build clean
.DEFAULT_GOAL := run

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("odradek needs Python 3.11 or newer, not %d.%d: make run PYTHON=python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade 'pip>=25.1'
	$(PIP) -e . --group dev
	$(BIN)/python -m compileall -q broker protocol storage pipeline src/odradek/*.py src/odradek/commands
	@touch $@

$(VENV)/.installed-spark: $(STAMP)
	$(PIP) -e '.[spark]' --group dev --group spark
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

# The daily round: what takes long is left out, properties draw a tenth of their examples, others each time.
daily: $(STAMP) $(SPARK)
	$(PYTEST) --daily $(LIGHT) $(SPREAD)

# All tests that start no program of others. Properties meet the same examples each time, so that a change is not refused for
# what was there before it.
whole: $(STAMP) $(SPARK)
	$(PYTEST) --hypothesis-profile=repeated $(LIGHT) $(SPREAD)

# The daily round of the broker's tests in the plain lane.
plain: $(STAMP)
	ODRADEK_FAST=0 $(PYTEST) --daily -p no:schemathesis $(SPREAD) tests/broker

# The whole with the coverage measured (three times as long); below the floor (pyproject.toml, fail_under) it fails.
measured: $(STAMP) $(SPARK)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --hypothesis-profile=repeated $(LIGHT) $(SPREAD)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# One round with each real client that is installed.
round: $(STAMP)
	$(PYTEST) -m "round and clients" tests/scenarios tests/clients

# Each of the four is one process, which shares a JVM or a Spark session. All of them mostly wait, so they go side by side.
heavy: $(STAMP) $(SPARK)
	@$(MAKE) --no-print-directory --jobs=4 --output-sync heavy-kafka heavy-java heavy-clients heavy-others

heavy-kafka: TESTS = conformance
heavy-java: TESTS = jdk and not conformance and not spark
heavy-clients: TESTS = clients and not jdk and not conformance and not spark
heavy-others: TESTS = (spark or slow and not clients and not jdk) and not conformance
# A crash of the process (a signal: 128 and more) leaves no name of a test: tests/conftest.py writes it down. 5: no test was left.
heavy-kafka heavy-java heavy-clients heavy-others: $(STAMP) $(SPARK)
	@mkdir -p build
	ODRADEK_UNDER_WAY=build/under-way-$@ $(PYTEST) -m "$(TESTS)" || { status=$$?; \
	test $$status -lt 128 || echo "pytest ended with status $$status in $$(cat build/under-way-$@)"; test $$status -eq 5 || exit $$status; }

check: static
	@$(MAKE) --no-print-directory daily

test:
	$(call step,static)
	$(call step,whole)
	$(call step,plain)
	$(call step,round)
	$(call step,compiled-daily)

test-all: $(STAMP)
	@if $(CAN_COMPILE); then $(MAKE) --no-print-directory compiled; else $(NOT_COMPILED); fi
	$(call step,rest)

# Four parts at a time, the longest first. Most of them mostly wait, so the compiled ones fill what they leave.
rest: $(STAMP) $(SPARK)
	@$(MAKE) --no-print-directory --jobs=4 --output-sync heavy-others heavy-java heavy-kafka heavy-clients \
	$$(if $(CAN_COMPILE); then echo compiled-clients compiled-only; fi)

clients: $(STAMP)
	$(PYTEST) -m clients tests/scenarios tests/clients

conformance: $(STAMP)
	$(PYTEST) -m conformance tests/scenarios tests/conformance

# Kafka's own integration tests with odradek as their cluster, all or those of ONLY=Class,...; WRITE=1 takes what was found
# into the table (docs/kafka-suite.md). Three hours for all.
kafka-suite: $(STAMP)
	$(BIN)/python -m tests.conformance.kafka_suite $(if $(ONLY),--only $(ONLY)) $(if $(WRITE),--write)

# Beside a real Kafka and kfake; it runs `make compiled` where the sources have changed. `--record` adds to docs/speed.md.
bench: $(STAMP)
	$(BIN)/python -m tests.bench

# A thousand runs of clients under faults drawn by a seed: about ten minutes.
chaos: $(STAMP)
	$(BIN)/python -m tests.chaos --seeds 1000

# Hostile frames, calls and schemas for so many minutes, with a client beside them that must not notice: make attack MINUTES=30
attack: $(STAMP)
	$(BIN)/python -m tests.attack $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

# How many faults the tests would find: make mutants ROOM=broker/coordinator COUNT=50 SEED=1 WIDE=1
mutants: $(STAMP)
	$(PIP) --group mutants
	$(BIN)/python -m tests.mutants $(ROOM) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(if $(WIDE),--wide)

# Random conversations with a real Kafka and with odradek, which must answer alike: make duel WAY=odd REQUESTS=100000 SEED=7.
# It takes a JDK.
duel: $(STAMP)
	$(BIN)/python -m tests.conformance.duel $(if $(WAY),--way $(WAY)) $(if $(REQUESTS),--requests $(REQUESTS)) $(if $(SEED),--seed $(SEED))

# The nightly duel: 100,000 requests of all ways, each with a new seed.
duels: $(STAMP)
	@for way in sane odd rights; do $(MAKE) --no-print-directory duel WAY=$$way REQUESTS=33000 || failed=1; done; test -z "$$failed"

# What a request costs beside another revision: make bench-compare REV=main~5
bench-compare: $(STAMP)
	$(BIN)/python -m tests.bench.compare $(or $(REV),main)

hooks: $(STAMP)
	$(BIN)/pre-commit install

# Kafka's tables from the jars of the release that tests/conformance/real_kafka.py names. It takes a JDK, and Maven once.
tables: $(STAMP)
	$(BIN)/python -m generators.tables

# All generated code (ARCHITECTURE.md has the table), and the pages that are written from the code.
generate: $(STAMP)
	$(BIN)/python -m tests.broker.releases.generate
	$(BIN)/python -m generators
	@$(MAKE) --no-print-directory pages

pages: $(STAMP)
	$(BIN)/odradek coverage --markdown > docs/coverage.md
	$(BIN)/odradek coverage --configs --markdown > docs/configuration.md
	$(BIN)/python -m tests.scenarios.authorization_page > docs/authorization.md
	$(BIN)/python -m tests.frontdoor.container.page
	$(BIN)/python -m tests.conformance.kafka_suite --page
	$(BIN)/python -m tests.bench.history

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
compiled: build/compiled/.built
build/compiled/.built: $(STAMP) setup.py $(shell find broker protocol storage src/odradek -name '*.py')
	rm -rf build/lib* build/bdist* build/wheel build/compiled
	ODRADEK_COMPILE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PIP) --no-deps --target build/compiled build/wheel/odradek-*.whl
	@touch $@

# Whether there is what compiling takes; else the lines that ask for it say so and do nothing.
CAN_COMPILE = $(CC) --version > /dev/null 2>&1 && test -e "$$($(HEADER))"
NOT_COMPILED = echo "not tested compiled: it takes a C compiler and $$($(HEADER))"

# The daily round of the tests that reach compiled modules.
compiled-daily: $(STAMP)
	@if $(CAN_COMPILE); then $(MAKE) --no-print-directory compiled compiled-only DAILY=--daily; else $(NOT_COMPILED); fi

# All of these tests, and all clients of today, which mostly wait and so run beside them.
test-compiled: $(STAMP)
	@if $(CAN_COMPILE); then $(MAKE) --no-print-directory compiled && \
	$(MAKE) --no-print-directory --jobs --output-sync compiled-only compiled-clients; else $(NOT_COMPILED); fi

compiled-only:
	$(COMPILED) $(BIN)/python -c 'import odradek; assert odradek.compiled, odradek'
	$(COMPILED) $(PYTEST) --hypothesis-profile=repeated $(DAILY) $(SPREAD) $(COMPILED_TESTS)

compiled-clients:
	$(COMPILED) $(PYTEST) -m clients tests/scenarios tests/clients --ignore=tests/clients/test_old_clients.py

# The image, built by docker or podman, started and measured; ENVIRONMENTS=1 starts it with those of public compose files, too.
# COMPILE=0 builds it in a minute. IMAGE=NAME takes one that is there.
image: $(STAMP)
	$(BIN)/python -m tests.image $(if $(IMAGE),--image $(IMAGE)) $(if $(COMPILE),--compile $(COMPILE)) $(if $(ENVIRONMENTS),--environments)

# Testcontainers' own modules, with the image that `make image` has built or IMAGE=NAME.
test-containers: $(STAMP)
	$(PIP) --group containers
	$(if $(IMAGE),ODRADEK_IMAGE=$(IMAGE)) $(PYTEST) tests/image

# What a release would upload, built and tried in empty environments. Nothing is uploaded.
release: $(STAMP)
	$(BIN)/python -m tests.release

build: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
