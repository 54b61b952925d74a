"""pytest plugin: a Kafka broker for each test, or one for the session.

Fixtures: ``kafka_broker`` (fresh for each test), ``kafka_broker_session``, ``kafka_broker_factory`` and
``kafka_broker_session_factory``; ``odradek_spark``: a local Spark session with the Kafka connector.
``@pytest.mark.kafka(nodes=3, topics={"orders": 6}, config={...})`` says how
``kafka_broker`` starts; its arguments are those of ``odradek.KafkaBroker``. The brokers run in threads of their own,
so sync, asyncio, anyio and trio tests use them alike.

A bug in the broker (an exception that a handler should not have raised) fails the test that met it.

Loading this plugin imports neither trio nor the broker; the fixtures do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.broker.facade.threaded import KafkaBroker
    from odradek.broker.requests.bugs import Bug

    BrokerFactory = Callable[..., KafkaBroker]

_SHOWN_REQUESTS = 30


class _Watch:
    """The brokers that are running, and how many of their bugs have been reported."""

    def __init__(self) -> None:
        self.brokers: dict[KafkaBroker, int] = {}

    def new_bugs(self) -> list[Bug]:
        """Bugs that nobody has been told of yet."""
        found: list[Bug] = []
        for broker, reported in list(self.brokers.items()):
            bugs = broker.bugs
            found += bugs[reported:]
            self.brokers[broker] = len(bugs)
        return found

    def last_requests(self) -> str:
        """What the running brokers were asked last, as lines."""
        blocks = [
            "\n".join([broker.bootstrap_servers, *broker.last_requests()[-_SHOWN_REQUESTS:]]) for broker in self.brokers
        ]
        return "\n".join(blocks)


_WATCH: pytest.StashKey[_Watch] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.stash[_WATCH] = _Watch()
    config.addinivalue_line(
        "markers",
        "kafka(nodes=1, topics={'orders': 6}, config={...}): how the kafka_broker fixture starts (odradek.KafkaBroker)",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test in which a broker met a bug; show a failed test's last requests."""
    watch = item.config.stash[_WATCH]
    try:
        result = yield
    except BaseException:
        if watch.brokers:
            item.add_report_section("call", "last requests to odradek", watch.last_requests())
            for bug in watch.new_bugs():
                item.add_report_section("call", "bug in odradek", str(bug))
        raise
    _fail_on(watch.new_bugs())
    return result


def _fail_on(bugs: list[Bug]) -> None:
    if bugs:
        pytest.fail("\n\n".join(str(bug) for bug in bugs), pytrace=False)


def _factory(watch: _Watch) -> Iterator[BrokerFactory]:
    from odradek.broker.facade.threaded import KafkaBroker

    started: list[KafkaBroker] = []

    def start(*arguments: Any, **options: Any) -> KafkaBroker:
        broker = KafkaBroker(*arguments, **options).start()
        started.append(broker)
        watch.brokers[broker] = 0
        return broker

    yield start
    failures: list[Exception] = []
    for broker in reversed(started):
        try:
            broker.close()
        except Exception as error:
            failures.append(error)
    bugs = watch.new_bugs()
    for broker in started:
        del watch.brokers[broker]
    if failures:
        raise failures[0] if len(failures) == 1 else ExceptionGroup("brokers ended with errors", failures)
    _fail_on(bugs)


@pytest.fixture
def kafka_broker_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of ``odradek.KafkaBroker``; they end with the test."""
    yield from _factory(request.config.stash[_WATCH])


@pytest.fixture(scope="session")
def kafka_broker_session_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of ``odradek.KafkaBroker``; they end with the session."""
    yield from _factory(request.config.stash[_WATCH])


@pytest.fixture
def kafka_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of ``kafka_broker``: what the test's ``kafka`` markers say. Override it for more."""
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
    """A broker of the test's own, started as its ``kafka`` marker says."""
    return kafka_broker_factory(**kafka_options)


@pytest.fixture(scope="session")
def kafka_session_options() -> dict[str, Any]:
    """The arguments of ``kafka_broker_session``; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker_session(
    kafka_broker_session_factory: BrokerFactory, kafka_session_options: dict[str, Any]
) -> KafkaBroker:
    """One broker for the whole session (for each worker under pytest-xdist)."""
    return kafka_broker_session_factory(**kafka_session_options)


@pytest.fixture(scope="session")
def odradek_spark_config() -> dict[str, Any]:
    """Further Spark settings for the ``odradek_spark`` fixture; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def odradek_spark(odradek_spark_config: dict[str, Any]) -> Iterator[SparkSession]:
    """A local Spark session with the Kafka connector and the ``odradek`` data source, for the whole session.

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
