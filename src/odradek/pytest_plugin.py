"""pytest plugin: a Kafka broker for each test, or one for the session.

Fixtures: `kafka_broker` (fresh for each test), `kafka_broker_session`, `kafka_broker_factory` and
`kafka_broker_session_factory`; `odradek_spark`: a local Spark session with the Kafka connector.
`@pytest.mark.kafka(nodes=3, topics={"orders": 6}, config={...})` says how
`kafka_broker` starts; its arguments are those of `odradek.KafkaBroker`. The brokers run in threads of their own,
so sync, asyncio, anyio and trio tests use them alike.

A bug in the broker (an exception that a handler should not have raised) fails the test that met it.

Loading this plugin imports neither trio nor the broker; the fixtures do.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.broker.facade.threaded import BrokerFactory, KafkaBroker
    from odradek.broker.requests.bugs import Bug

_SHOWN_REQUESTS = 30


class _Watched:
    """A running broker, the bugs `reported` so far, and the last request that earlier tests have `seen`."""

    def __init__(self, broker: KafkaBroker, *, for_session: bool) -> None:
        self.broker = broker
        self.for_session = for_session
        self.reported = 0
        self.seen: str | None = None

    def begin_test(self) -> None:
        """Requests up to now belong to other tests."""
        self.seen = next(iter(reversed(self.broker.last_requests())), None)

    def requests(self) -> list[str]:
        """What the broker was asked in this test, as far as it remembers."""
        lines = self.broker.last_requests()
        if self.seen in lines:
            del lines[: len(lines) - lines[::-1].index(self.seen)]
        return lines[-_SHOWN_REQUESTS:]


class _Watch:
    """The brokers that are running."""

    def __init__(self) -> None:
        self.brokers: list[_Watched] = []

    def begin_test(self) -> None:
        """A test begins."""
        for watched in self.brokers:
            watched.begin_test()

    def new_bugs(self) -> list[Bug]:
        """Bugs that nobody has been told of yet."""
        found: list[Bug] = []
        for watched in self.brokers:
            bugs = watched.broker.bugs
            found += bugs[watched.reported :]
            watched.reported = len(bugs)
        return found

    def requests_of(self, item: pytest.Item) -> str:
        """What the test's own brokers, and those of the session that it uses, were asked in it, as lines."""
        fixtures = getattr(item, "fixturenames", ())
        uses_session = any(name.startswith("kafka_broker_session") for name in fixtures)
        mine = [watched for watched in self.brokers if uses_session or not watched.for_session]
        return "\n".join("\n".join([repr(watched.broker), *watched.requests()]) for watched in mine)


_WATCH: pytest.StashKey[_Watch] = pytest.StashKey()


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Keep pytest from rewriting the asserts of the broker's modules.

    pytest does so for every module of a plugin's distribution. It parses each one when it is first imported, which
    happens in the broker's threads. The first start would be slow, and Python 3.11 cannot parse in two threads at once.
    """
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("odradek")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.stash[_WATCH] = _Watch()
    config.addinivalue_line(
        "markers",
        "kafka(nodes=1, topics={'orders': 6}, config={...}): how the kafka_broker fixture starts (odradek.KafkaBroker)",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Show the requests when a fixture fails."""
    item.config.stash[_WATCH].begin_test()
    try:
        return (yield)
    except BaseException:
        _report(item, "setup")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test in which a broker met a bug; show a failed test's requests."""
    try:
        result = yield
    except BaseException:
        _report(item, "call")
        raise
    _fail_on(item.config.stash[_WATCH].new_bugs())
    return result


def _report(item: pytest.Item, when: str) -> None:
    watch = item.config.stash[_WATCH]
    requests = watch.requests_of(item)
    if requests:
        item.add_report_section(when, "last requests to odradek", requests)
    for bug in watch.new_bugs():
        item.add_report_section(when, "bug in odradek", str(bug))


def _fail_on(bugs: list[Bug]) -> None:
    if bugs:
        pytest.fail("\n\n".join(str(bug) for bug in bugs), pytrace=False)


def _factory(watch: _Watch, *, for_session: bool) -> Iterator[BrokerFactory]:
    from odradek.broker.facade.threaded import KafkaBroker

    started: list[_Watched] = []

    def start(*arguments: Any, **options: Any) -> KafkaBroker:
        broker = KafkaBroker(*arguments, **options).start()
        watched = _Watched(broker, for_session=for_session)
        started.append(watched)
        watch.brokers.append(watched)
        return broker

    yield start
    failures: list[Exception] = []
    for watched in reversed(started):
        try:
            watched.broker.close()
        except Exception as error:
            failures.append(error)
    bugs = watch.new_bugs()
    for watched in started:
        watch.brokers.remove(watched)
    if failures:
        raise failures[0] if len(failures) == 1 else ExceptionGroup("brokers ended with errors", failures)
    _fail_on(bugs)


@pytest.fixture
def kafka_broker_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of `odradek.KafkaBroker`; they end with the test."""
    yield from _factory(request.config.stash[_WATCH], for_session=False)


@pytest.fixture(scope="session")
def kafka_broker_session_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of `odradek.KafkaBroker`; they end with the session."""
    yield from _factory(request.config.stash[_WATCH], for_session=True)


@pytest.fixture
def kafka_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of `kafka_broker`: what the test's `kafka` markers say. Override it for more."""
    options: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("kafka"))):
        if marker.args:
            raise pytest.UsageError("@pytest.mark.kafka takes keyword arguments only")
        for name, value in marker.kwargs.items():
            merged = isinstance(value, dict) and isinstance(options.get(name), dict)
            options[name] = {**options[name], **value} if merged else value
    return options


@pytest.fixture
def kafka_broker(kafka_broker_factory: BrokerFactory, kafka_options: dict[str, Any]) -> KafkaBroker:
    """A broker of the test's own, started as its `kafka` marker says."""
    return kafka_broker_factory(**kafka_options)


@pytest.fixture(scope="session")
def kafka_session_options() -> dict[str, Any]:
    """The arguments of `kafka_broker_session`; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker_session(
    kafka_broker_session_factory: BrokerFactory, kafka_session_options: dict[str, Any]
) -> KafkaBroker:
    """One broker for the whole session (for each worker under pytest-xdist)."""
    return kafka_broker_session_factory(**kafka_session_options)


@pytest.fixture(scope="session")
def odradek_spark_config() -> dict[str, Any]:
    """Further Spark settings for the `odradek_spark` fixture; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def odradek_spark(odradek_spark_config: dict[str, Any]) -> Iterator[SparkSession]:
    """A local Spark session with the Kafka connector and the `odradek` data source, for the whole session.

    Skips, with what is missing, where pyspark or a JDK 17 is not installed.
    """
    from odradek.pipeline.connector import PipelineUnavailable
    from odradek.pipeline.session import build_session

    try:
        session = build_session("odradek tests", config=odradek_spark_config)
    except PipelineUnavailable as missing:
        pytest.skip(f"Spark {missing}")
    yield session
    session.stop()
