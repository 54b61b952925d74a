"""pytest plugin: a Kafka broker for each test, or one for the session.

Fixtures: `kafka_broker` (fresh for each test), `kafka_broker_session`, `kafka_broker_factory` and
`kafka_broker_session_factory`; `odradek_spark`: a local Spark session with the Kafka connector.
`@pytest.mark.kafka(nodes=3, topics={"orders": 6}, config={...}, security=...)` says how
`kafka_broker` starts; its arguments are those of `odradek.KafkaBroker`. The brokers run in threads of their own,
so sync, asyncio, anyio and trio tests use them alike.

`@pytest.mark.kafka_versions("3.6", "4.4")` runs a test once with each Kafka release; `--kafka-version 3.6` names one
for all tests that do not say it.

`kafka_chaos`: faults drawn by a seed, see `odradek.pytest_chaos`. Strictness: see `odradek.pytest_strict`.

A bug in the broker (an exception that a handler should not have raised) fails the test that met it.

A call of odradek that fails shows the test's line: the frames of odradek, and of what it calls, are dropped before
pytest renders the failure. `--full-trace` shows them.

Loading this plugin imports neither trio nor the broker; the fixtures do.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import pytest

from odradek import pytest_chaos, pytest_strict
from odradek.protocol.shown import printable
from odradek.pytest_strict import Judged, closed, uses_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.broker.facade.threaded import BrokerFactory, KafkaBroker
    from odradek.broker.requests.bugs import Bug

Reset = Literal["data", "faults", "no"]
_RESETS: tuple[Reset, ...] = ("data", "faults", "no")


class _Watched(Judged):
    """A broker of the tests, and the number of its bugs that are `reported`."""

    def __init__(self, broker: KafkaBroker, *, for_session: bool) -> None:
        super().__init__(broker, for_session=for_session)
        self.reported = 0
        self._last_report: str | None = None
        self._last_bugs: list[Bug] = []

    def ends(self) -> None:
        """The broker is about to be closed: one in another process takes all that it knows with it."""
        if _is_elsewhere(self.broker):
            with suppress(closed()):
                self._last_report, self._last_bugs = self.report(), self.broker.bugs

    def new_bugs(self) -> list[str]:
        """Bugs that nobody has been told of yet."""
        try:
            bugs = self.broker.bugs
        except closed():
            bugs = self._last_bugs
        fresh = bugs[self.reported :]
        self.reported = max(self.reported, len(bugs))
        return list(map(str, fresh))

    def report(self) -> str:
        """The state of the broker, and its requests in this test."""
        try:
            return self.broker.report(since=self.began, asked_only=self.for_session)
        except closed() as error:
            return f"{error}: there is no report of it" if self._last_report is None else self._last_report


def _is_elsewhere(broker: KafkaBroker) -> bool:
    """Whether it runs in a process of its own. The name is asked, as to import the class would cost."""
    return type(broker).__name__ == "ProcessBroker"


class _Watch:
    """The brokers that are running, and those that ended with the present test."""

    def __init__(self) -> None:
        self.brokers: list[_Watched] = []
        self.ended: list[_Watched] = []

    def begin_test(self) -> None:
        self.ended.clear()
        for watched in self.brokers:
            watched.begin_test()

    def reset_for(self, item: pytest.Item, how: Reset) -> None:
        """Bring the session's brokers back to where tests expect them, if the test uses them."""
        if how == "no" or not uses_session(item):
            return
        for watched in self.brokers:
            if watched.for_session:
                with suppress(closed()):
                    watched.broker.reset(data=how == "data")

    def new_bugs(self) -> list[str]:
        """Bugs that nobody has been told of yet."""
        return [bug for watched in self.brokers for bug in watched.new_bugs()]

    def report_of(self, item: pytest.Item) -> str:
        """How the test's own brokers stand, and those of the session as far as it uses them."""
        mine = [each for each in (*self.brokers, *self.ended) if uses_session(item) or not each.for_session]
        return "\n".join(filter(None, (watched.report() for watched in mine)))


def _resets(item: pytest.Item) -> Reset:
    """The settings of the session's brokers, by the test's nearest marker or else the option."""
    for marker in item.iter_markers("kafka"):
        if "reset" in marker.kwargs:
            how: Reset = marker.kwargs["reset"]
            return how
    option: Reset = item.config.getoption("odradek_reset")
    return option


def _mistakes(item: pytest.Item) -> Iterator[str]:
    """What is wrong with the markers of a test, as far as their arguments say so by themselves."""
    from odradek.broker.mistakes import did_you_mean

    for marker in [*item.iter_markers("kafka"), *item.iter_markers("kafka_chaos")]:
        written = f"@pytest.mark.{marker.name}"
        if marker.args:
            yield f"{written} takes keyword arguments only"
        if "reset" in marker.kwargs and marker.kwargs["reset"] not in _RESETS:
            yield f"{written}(reset={marker.kwargs['reset']!r}): use one of {', '.join(_RESETS)}"
        known = _known(item, marker.name)
        for name in marker.kwargs:
            if known and name not in known:
                yield f"{written} has no {name!r}{did_you_mean(name, known)}"
    yield from pytest_strict.mistakes(item)


def _known(item: pytest.Item, marker: str) -> Collection[str]:
    """The names that a marker takes; none if the test's own fixture reads it."""
    if marker == "kafka_chaos":
        from odradek.broker.facade.chaos.chaos import Chaos

        return {*inspect.signature(Chaos).parameters, "seeds"}
    fixtures = getattr(item, "_fixtureinfo", None)
    options = fixtures.name2fixturedefs.get("kafka_options", ()) if fixtures else ()
    if not options or options[-1].func.__module__ != __name__:
        return ()
    from odradek import KafkaBroker

    return {*inspect.signature(KafkaBroker).parameters, "reset"}


_WATCH: pytest.StashKey[_Watch] = pytest.StashKey()
_MISTAKES: pytest.StashKey[str] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, and keep pytest from rewriting the asserts of the broker's modules.

    pytest does so for every module of a plugin's distribution. It parses each one when it is first imported, which
    happens in the broker's threads. The first start would be slow, and Python 3.11 cannot parse in two threads at once.
    """
    pytest_chaos.add_options(parser)
    pytest_strict.add_options(parser)
    parser.getgroup("odradek").addoption(
        "--odradek-reset",
        dest="odradek_reset",
        choices=_RESETS,
        default="faults",
        help="before each test that uses kafka_broker_session: end faults, stopped clocks and nodes of earlier tests "
        "(faults, the default), also delete topics and groups (data), or nothing (no)",
    )
    parser.getgroup("odradek").addoption(
        "--kafka-version",
        dest="odradek_kafka_version",
        metavar="VERSION",
        help="the Kafka release that brokers behave as, such as 3.6, where a test does not say it (docs/versions.md)",
    )
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("odradek")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the parts that know chaos and strictness. UsageError for a version that is not known."""
    if version := config.getoption("odradek_kafka_version"):
        from odradek.broker.releases.release import ReleaseError, release_of

        try:
            release_of(version)
        except ReleaseError as error:
            raise pytest.UsageError(f"--kafka-version: {error}") from None
    watch = config.stash[_WATCH] = _Watch()
    pytest_strict.configure(config, watch.brokers)
    config.pluginmanager.register(pytest_chaos, "odradek-chaos")
    config.pluginmanager.register(pytest_strict, "odradek-strict")
    config.addinivalue_line(
        "markers",
        "kafka(nodes=1, topics={'orders': 6}, config={...}): how the kafka_broker fixture starts (odradek.KafkaBroker)"
        "; reset='data'|'faults'|'no': what becomes of the session's brokers before the test",
    )
    config.addinivalue_line(
        "markers",
        "kafka_versions('2.8', '3.6', '4.4'): run the test once with each of these Kafka releases as kafka_broker",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse markers that nobody can follow: each mistake once, with the first test that makes it.

    A worker of pytest-xdist cannot refuse to run. There those first tests are all that is left, and fail.
    """
    first: dict[str, pytest.Item] = {}
    for item in items:
        is_marked = any(marker.name in ("kafka", "kafka_chaos") for marker in item.iter_markers())
        for said in _mistakes(item) if is_marked else ():
            first.setdefault(said, item)
    if not first:
        return
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError("\n".join(f"{item.nodeid}: {said}" for said, item in first.items()))
    items[:] = dict.fromkeys(first.values())
    for item in items:
        item.stash[_MISTAKES] = "\n".join(said for said, made in first.items() if made is item)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each version that a `kafka_versions` marker names."""
    marker = metafunc.definition.get_closest_marker("kafka_versions")
    if marker is None:
        return
    if not marker.args or marker.kwargs or not all(isinstance(each, str) for each in marker.args):
        wrong = 'takes versions as texts: kafka_versions("3.6", "4.4")'
    elif "kafka_broker" not in metafunc.fixturenames and "kafka_version" not in metafunc.fixturenames:
        wrong = "needs the kafka_broker fixture"
    elif any("kafka_version" in each.kwargs for each in metafunc.definition.iter_markers("kafka")):
        wrong = "and @pytest.mark.kafka(kafka_version=...) name different versions: use one of them"
    else:
        metafunc.parametrize("kafka_version", marker.args, indirect=True)
        return
    raise pytest.UsageError(f"{metafunc.definition.nodeid}: @pytest.mark.kafka_versions {wrong}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Show how the brokers stand when a fixture fails."""
    if _MISTAKES in item.stash:
        pytest.fail(item.stash[_MISTAKES], pytrace=False)
    watch = item.config.stash[_WATCH]
    watch.reset_for(item, _resets(item))
    watch.begin_test()
    try:
        return (yield)
    except BaseException as error:
        _report(item, "setup", error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test in which a broker met a bug; show how its brokers stand when it fails."""
    try:
        result = yield
    except BaseException as error:
        _report(item, "call", error)
        raise
    _fail_on(item.config.stash[_WATCH].new_bugs())
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Show how the brokers stand when the end of a fixture fails; they may be closed by now."""
    try:
        return (yield)
    except BaseException as error:
        _report(item, "teardown", error)
        raise


def _report(item: pytest.Item, when: str, error: BaseException) -> None:
    if not item.config.getoption("fulltrace"):
        shorten(error)
    watch = item.config.stash[_WATCH]
    told = watch.report_of(item)
    if told:
        item.add_report_section(when, "odradek", told)
    for bug in watch.new_bugs():
        item.add_report_section(when, "bug in odradek", printable(bug))


def _fail_on(reasons: list[str]) -> None:
    if reasons:
        pytest.fail(printable("\n\n".join(reasons)), pytrace=False)


def _factory(config: pytest.Config, *, for_session: bool) -> Iterator[BrokerFactory]:
    from odradek import KafkaBroker

    watch, judge = config.stash[_WATCH], config.stash[pytest_strict.JUDGE]
    started: list[_Watched] = []

    def start(*arguments: Any, **options: Any) -> KafkaBroker:
        broker = KafkaBroker(*arguments, **options).start()
        watched = _Watched(broker, for_session=for_session)
        started.append(watched)
        watch.brokers.append(watched)
        return broker

    yield start
    failures: list[Exception] = []
    relied: list[str] = []
    for watched in reversed(started):
        watched.ends()
        try:
            try:
                relied += judge.judged([watched], at_end=True)
            finally:
                watched.broker.close()
        except Exception as error:
            failures.append(error)
    bugs = watch.new_bugs()
    for watched in started:
        watch.brokers.remove(watched)
        watch.ended.append(watched)
    if failures:
        raise failures[0] if len(failures) == 1 else ExceptionGroup("brokers ended with errors", failures)
    _fail_on(bugs + relied)


@contextmanager
def _as_the_users(what: str) -> Iterator[None]:
    """A refusal as the message alone: no line of a test made the call."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BUGS):
            raise
        pytest.fail(printable(f"{what}: {error}"), pytrace=False)


@pytest.fixture
def kafka_broker_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of `odradek.KafkaBroker`; they end with the test."""
    yield from _factory(request.config, for_session=False)


@pytest.fixture(scope="session")
def kafka_broker_session_factory(request: pytest.FixtureRequest) -> Iterator[BrokerFactory]:
    """Start brokers with the arguments of `odradek.KafkaBroker`; they end with the session."""
    yield from _factory(request.config, for_session=True)


@pytest.fixture
def kafka_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of `kafka_broker`: what the test's `kafka` markers say. Override it for more."""
    options: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("kafka"))):
        for name, value in marker.kwargs.items():
            if name == "reset":
                continue
            merged = isinstance(value, dict) and isinstance(options.get(name), dict)
            options[name] = {**options[name], **value} if merged else value
    return options


@pytest.fixture
def kafka_version(request: pytest.FixtureRequest) -> str | None:
    """The Kafka release that `kafka_broker` behaves as: the marker's, else the option's; None for the newest."""
    asked: str | None = getattr(request, "param", None)
    return asked or request.config.getoption("odradek_kafka_version")


@pytest.fixture
def kafka_broker(
    kafka_broker_factory: BrokerFactory, kafka_options: dict[str, Any], kafka_version: str | None
) -> KafkaBroker:
    """A broker of the test's own, started as its `kafka` marker says."""
    with _as_the_users("the broker of @pytest.mark.kafka does not start"):
        return kafka_broker_factory(**{"kafka_version": kafka_version, **kafka_options})


@pytest.fixture(scope="session")
def kafka_session_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of `kafka_broker_session`; override it in a conftest."""
    version = request.config.getoption("odradek_kafka_version")
    return {} if version is None else {"kafka_version": version}


@pytest.fixture(scope="session")
def kafka_broker_session(
    kafka_broker_session_factory: BrokerFactory, kafka_session_options: dict[str, Any]
) -> KafkaBroker:
    """One broker for the whole session (for each worker under pytest-xdist)."""
    with _as_the_users("the broker of kafka_session_options does not start"):
        return kafka_broker_session_factory(**kafka_session_options)


@pytest.fixture(scope="session")
def odradek_spark_config() -> dict[str, Any]:
    """Further Spark settings for the `odradek_spark` fixture; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def odradek_spark(odradek_spark_config: dict[str, Any]) -> Iterator[SparkSession]:
    """A local Spark session with the Kafka connector and the `odradek` data source, for the whole session.

    Skips, with what is missing, where pyspark or a JDK cannot be had. Warns where no connector of this Spark is served:
    the session then has no format `kafka`.
    """
    from odradek.pipeline.connector import ConnectorNotServed
    from odradek.pipeline.installed_spark import PipelineUnavailable
    from odradek.pipeline.session import build_session

    name = "odradek tests"
    try:
        try:
            session = build_session(name, config=odradek_spark_config)
        except ConnectorNotServed as missing:
            warnings.warn(f"odradek_spark is without the format kafka: Spark {missing}", stacklevel=1)
            session = build_session(name, config=odradek_spark_config, kafka=False)
    except PipelineUnavailable as missing:
        pytest.skip(f"Spark {missing}")
    yield session
    session.stop()


_OWN = "odradek"
_OF_MISSPELT_NAMES = "odradek.broker.mistakes"
"""It raises AttributeError for a name that a user has misspelt."""
_BELOW = frozenset({"concurrent", "contextlib", "functools", "http", "outcome", "socket", "ssl", "threading", "trio"})
"""Packages whose frames say nothing to a user if odradek called them."""
BUGS = (AttributeError, NameError, RecursionError)
"""Errors that no call of odradek raises on purpose."""


def shorten(error: BaseException) -> None:
    """Drop odradek's frames from the tracebacks of an error and of those behind it.

    An error that odradek caught itself is dropped whole. An error that looks like a bug in odradek keeps its frames.
    """
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            shorten(each)
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if behind is not None and behind is not error:
        frames = _frames(behind.__traceback__)
        if frames and all(_is_inside(package) for package, _ in frames):
            error.__cause__ = None  # this suppresses the context, too
        else:
            shorten(behind)
    frames = _frames(error.__traceback__)
    if not isinstance(error, BUGS) or (frames and not _is_own_bug(*frames[-1])):
        error.__traceback__ = _without_own(error.__traceback__)


def _is_own_bug(package: str, raised: TracebackType) -> bool:
    return _is_inside(package) and raised.tb_frame.f_globals["__name__"] != _OF_MISSPELT_NAMES


def _is_inside(package: str) -> bool:
    return package == _OWN or package in _BELOW


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback with the frames of others alone; as it is if there are none."""
    kept: list[TracebackType] = []
    is_below = False
    for package, each in _frames(traceback):
        is_below = package == _OWN or (is_below and _is_inside(package))
        if not is_below:
            kept.append(each)
    following = None
    for each in reversed(kept):
        following = TracebackType(following, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return following or traceback


def _frames(traceback: TracebackType | None) -> list[tuple[str, TracebackType]]:
    """The entries of a traceback with their top-level packages, the oldest call first."""
    found = []
    while traceback is not None:
        found.append((str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0], traceback))
        traceback = traceback.tb_next
    return found
