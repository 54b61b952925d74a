"""The pytest plugin, by running pytest inside pytest."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.long

PRELUDE = """
import socket
import odradek
import pytest

def reach(broker):
    host, _, port = broker.bootstrap_servers.split(",")[0].partition(":")
    socket.create_connection((host, int(port)), timeout=30).close()

def break_it(broker):
    from odradek.broker.api.served import SERVED
    import struct
    from odradek.broker.requests.handlers import HANDLERS
    SERVED.find(18)
    handler = HANDLERS[18]
    kept = handler.function
    def broken(ctx, request):
        raise ZeroDivisionError("made to fail")
    handler.function = broken
    broker._call(broker.cluster.dispatcher._routes.clear)
    host, _, port = broker.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(struct.pack(">ihhih", 10, 18, 0, 1, -1))
        client.recv(100)
    handler.function = kept
    broker._call(broker.cluster.dispatcher._routes.clear)
"""


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(PRELUDE + source)
    return pytester.runpytest("-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def test_a_fresh_broker_for_each_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
seen = []

@pytest.mark.parametrize("number", range(3))
def test_fresh(kafka_broker, number):
    reach(kafka_broker)
    assert kafka_broker.topics == {}
    kafka_broker.create_topic("orders")
    seen.append(kafka_broker)

def test_they_are_closed():
    assert len(set(map(id, seen))) == 3
    for broker in seen:
        with pytest.raises(RuntimeError, match="is closed"):
            reach(broker)
""",
    )
    result.assert_outcomes(passed=4)


def test_the_marker_says_how_it_starts(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka(topics={"a": 1}, config={"num.partitions": 4})
class TestClass:
    @pytest.mark.kafka(nodes=3, topics={"orders": 6})
    def test_merged(self, kafka_broker):
        assert kafka_broker.bootstrap_servers.count(",") == 2
        assert {name: len(t.partitions) for name, t in kafka_broker.topics.items()} == {"a": 1, "orders": 6}

    def test_class_only(self, kafka_broker):
        assert set(kafka_broker.topics) == {"a"}
        assert kafka_broker.cluster.config.get("num.partitions") in (4, "4")
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=2)


def test_a_bad_marker_is_an_error_of_the_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka(config={"no.such.config": 1})
def test_bad(kafka_broker):
    pass
""",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no.such.config*"])


def test_pytest_plugin_has_a_session_broker_and_factories(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
import pytest

@pytest.fixture(scope="session")
def kafka_session_options():
    return {"topics": {"shared": 2}}
"""
    )
    result = run(
        pytester,
        """
seen = set()

@pytest.mark.parametrize("number", range(2))
def test_shared(kafka_broker_session, number):
    seen.add(kafka_broker_session.bootstrap_servers)
    assert set(kafka_broker_session.topics) == {"shared"}
    assert len(seen) == 1

def test_factory(kafka_broker_factory):
    one, two = kafka_broker_factory(), kafka_broker_factory(topics={"x": 1})
    reach(one)
    reach(two)
    assert one.bootstrap_servers != two.bootstrap_servers
""",
    )
    result.assert_outcomes(passed=3)


def test_the_sessions_broker_is_reset_between_tests(pytester: pytest.Pytester) -> None:
    body = """
def test_leaves_a_mess(kafka_broker_session):
    kafka_broker_session.produce("shared", "left")
    kafka_broker_session.clock.advance(hours=5)
    kafka_broker_session.clock.freeze()
    kafka_broker_session.set_faults(odradek.Fault("Metadata", delay_ms=1))

def test_finds_data(kafka_broker_session):
    assert len(list(kafka_broker_session.records("shared"))) == 1
    assert not kafka_broker_session.clock.frozen
    assert kafka_broker_session.cluster.dispatcher.faults is None

@pytest.mark.kafka(reset="data")
def test_finds_nothing(kafka_broker_session):
    assert not list(kafka_broker_session.records("shared"))
    kafka_broker_session.clock.freeze()

@pytest.mark.kafka(reset="no")
def test_goes_on(kafka_broker_session):
    assert kafka_broker_session.clock.frozen
"""
    pytester.makeconftest(
        """
import pytest

@pytest.fixture(scope="session")
def kafka_session_options():
    return {"topics": ["shared"]}
"""
    )
    result = run(pytester, body)
    result.assert_outcomes(passed=4)


MISTAKES = [
    "*test_it?1?: @pytest.mark.kafka has no 'topic' (did you mean 'topics'?)",
    "*test_reset: @pytest.mark.kafka(reset='all'): use one of data, faults, no",
    "*test_reset: @pytest.mark.kafka: strict='fail -auto-create': *did you mean '-auto-created'*",
    "*test_chaos: @pytest.mark.kafka_chaos takes keyword arguments only",
    "*test_chaos: @pytest.mark.kafka_chaos has no 'sed' (did you mean 'seed'?)",
]


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["one", "xdist"])
@pytest.mark.long("xdist")
def test_what_markers_get_wrong_is_said_once_before_any_test(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    result = run(
        pytester,
        """
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.kafka(topic={"orders": 1})
def test_it(kafka_broker, number): ...

@pytest.mark.kafka(reset="all", strict="fail -auto-create")
def test_reset(kafka_broker_session): ...

@pytest.mark.kafka_chaos(7, sed=7)
def test_chaos(kafka_chaos): ...

def test_right(kafka_broker): ...
""",
        *arguments,
    )
    if not arguments:
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(MISTAKES)
    else:
        result.assert_outcomes(errors=3)
        result.stdout.fnmatch_lines([line.partition(": ")[2] for line in MISTAKES])


def test_a_fixture_of_the_tests_own_takes_other_names(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture
def kafka_options(request):
    return {"topics": [request.node.get_closest_marker("kafka").kwargs["topic"]]}

@pytest.mark.kafka(topic="orders")
def test_it(kafka_broker):
    assert list(kafka_broker.topics) == ["orders"]
""",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--odradek-strict=fial", "ERROR: --odradek-strict: strict='fial': begin with 'fail' or 'warn'"),
        ("--kafka-version=3.5x", "ERROR: --kafka-version: odradek does not behave as Kafka '3.5x'; it knows 2.8, *"),
        ("--odradek-reset=all", "*argument --odradek-reset: invalid choice: 'all'*"),
    ],
)
def test_a_wrong_option_is_said_once(pytester: pytest.Pytester, option: str, says: str) -> None:
    result = run(pytester, "def test_it(kafka_broker): ...\n" * 3, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([says])
    assert len([line for line in result.stderr.lines if line.startswith("ERROR")]) <= 1


def test_asyncio_anyio_and_trio_tests(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import asyncio
import anyio
import trio

@pytest.mark.asyncio
async def test_asyncio(kafka_broker):
    host, _, port = kafka_broker.bootstrap_servers.partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.close()
    kafka_broker.create_topic("orders")
    assert set(kafka_broker.topics) == {"orders"}

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_anyio(kafka_broker, anyio_backend):
    host, _, port = kafka_broker.bootstrap_servers.partition(":")
    async with await anyio.connect_tcp(host, int(port)):
        assert kafka_broker.topics == {}

@pytest.mark.trio
async def test_trio(kafka_broker):
    host, _, port = kafka_broker.bootstrap_servers.partition(":")
    stream = await trio.open_tcp_stream(host, int(port))
    await stream.aclose()
    before = kafka_broker.clock.now_ms()
    kafka_broker.clock.advance(hours=1)
    assert kafka_broker.clock.now_ms() - before >= 3_600_000
    assert kafka_broker.topics == {}
""",
    )
    result.assert_outcomes(passed=4)


def test_under_xdist_each_worker_has_brokers_of_its_own(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.parametrize("number", range(6))
def test_both(kafka_broker, kafka_broker_session, number):
    reach(kafka_broker)
    reach(kafka_broker_session)
    kafka_broker.create_topic("orders")
""",
        "-n",
        "2",
    )
    result.assert_outcomes(passed=6)


def test_a_bug_fails_the_test_that_met_it_with_traceback_and_last_requests(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_before(kafka_broker_session):
    reach(kafka_broker_session)

def test_meets_it(kafka_broker_session):
    break_it(kafka_broker_session)

def test_after(kafka_broker_session):
    reach(kafka_broker_session)

def test_own(kafka_broker):
    break_it(kafka_broker)

@pytest.mark.trio
async def test_trio(kafka_broker):
    break_it(kafka_broker)
""",
    )
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*test_meets_it*",
            "*bug in the broker: ApiVersions v0*",
            "*ZeroDivisionError: made to fail*",
            "*last requests:*",
        ]
    )


def test_a_bug_while_the_broker_ends_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture
def late(kafka_broker):
    yield
    break_it(kafka_broker)

def test_late(late):
    pass
""",
    )
    result.assert_outcomes(passed=1, errors=1)


def test_a_failed_test_shows_what_the_broker_was_asked(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import struct

def test_fails(kafka_broker):
    host, _, port = kafka_broker.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(struct.pack(">ihhih3s", 13, 18, 0, 42, 3, b"app"))
        client.recv(100)
    assert False, "mine"
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*Captured odradek call*", "<KafkaBroker at *, clock *", "requests:", "*ApiVersions v0 app -> ok"]
    )


ASK = """
import struct

def ask(broker, name):
    host, _, port = broker.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(struct.pack(">ihhih2s", 12, 18, 0, 1, 2, str(name).encode()))
        client.recv(100)
"""


def test_a_failed_test_shows_its_own_requests_only(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        ASK
        + """
def test_one(kafka_broker_session):
    ask(kafka_broker_session, 41)

def test_two(kafka_broker_session):
    ask(kafka_broker_session, 42)
    assert False, "mine"

def test_three(kafka_broker):
    ask(kafka_broker, 43)
    assert False, "mine"
""",
        "-p",
        "no:randomly",
    )
    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    assert [number for number in (41, 42, 43) for _ in range(text.count(f"ApiVersions v0 {number} -> ok"))] == [42, 43]


def test_a_fixture_that_fails_shows_the_requests(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        ASK
        + """
@pytest.fixture
def seeded(kafka_broker):
    ask(kafka_broker, 42)
    raise ValueError("no seed")

def test_it(seeded):
    pass
""",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*Captured odradek setup*", "*ApiVersions v0 42 -> ok"])


def test_a_fixture_that_fails_at_its_end_shows_them_too(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        ASK
        + """
@pytest.fixture
def checked(kafka_broker):
    yield kafka_broker
    raise ValueError("not as it should be")

def test_it(checked):
    checked.create_topic("orders")
    ask(checked, 42)
""",
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*Captured odradek teardown*",
            "<KafkaBroker: the broker is closed>*",
            "  orders-0  0..0",
            "*ApiVersions v0 42 -> ok",
        ]
    )


def test_of_the_session_s_broker_only_what_the_test_asked_for(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import odradek

def test_one(kafka_broker_session):
    kafka_broker_session.create_topic("of-another-test")

def test_two(kafka_broker_session):
    assert False, "mine"
""",
    )
    result.assert_outcomes(passed=1, failed=1)
    assert "of-another-test" not in result.stdout.str().partition("test_two")[2].partition("assert False")[2]


def test_loading_the_plugin_costs_next_to_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pytest", "--version", "-p", "no:trio", "-p", "no:anyio"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    loaded = [line for line in done.stderr.splitlines() if "odradek." in line]
    assert [line.split("|")[-1].strip() for line in loaded] in (
        ["odradek._version", "odradek.pytest_plugin"],
        ["odradek.pytest_plugin"],
        [],
    )


def test_the_brokers_modules_are_imported_as_they_are(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_import(request, kafka_broker):
    import odradek.broker.cluster as module
    assert module.__loader__ is not request.config.pluginmanager.rewrite_hook
""",
    )
    result.assert_outcomes(passed=1)


def test_pytest_is_told_to_leave_the_package_alone() -> None:
    from odradek import pytest_plugin

    hook = SimpleNamespace(_must_rewrite={"odradek", "another"})
    parser = pytest.Parser(_ispytest=True)
    pytest_plugin.pytest_addoption(parser, cast("Any", SimpleNamespace(rewrite_hook=hook)))
    assert hook._must_rewrite == {"another"}
    pytest_plugin.pytest_addoption(pytest.Parser(_ispytest=True), cast("Any", object()))


def test_a_failed_test_shows_what_was_refused(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import struct
import odradek
import pytest

@pytest.mark.kafka(security=odradek.Security(authorizer=True))
def test_denied(kafka_broker):
    host, _, port = kafka_broker.bootstrap_servers.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(struct.pack(">ihhihh1s", 13, 10, 0, 42, -1, 1, b"g"))
        client.recv(100)
    assert False, "mine"
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["why (*", "*User:ANONYMOUS*was denied DESCRIBE on GROUP g*"])
