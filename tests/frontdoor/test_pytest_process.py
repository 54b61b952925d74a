"""The pytest plugin where `process=True` puts the broker into a process of its own."""

from __future__ import annotations

import pytest

from tests.frontdoor.test_pytest_plugin import run

pytest_plugins = ["pytester"]


@pytest.mark.long
def test_whatever_fails_shows_how_the_broker_stood(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
pytestmark = pytest.mark.kafka(process=True, topics=["orders"])

@pytest.fixture
def seeded(kafka_broker):
    kafka_broker.produce("orders", "one")
    raise LookupError("in setup")

@pytest.fixture
def checked(kafka_broker):
    kafka_broker.produce_all("orders", ["one", "two"])
    yield
    raise LookupError("in teardown")

def test_call(kafka_broker):
    kafka_broker.produce_all("orders", ["one", "two", "three"])
    raise LookupError("in call")

def test_setup(seeded): ...

def test_teardown(checked): ...

def test_closed(kafka_broker, request):
    kafka_broker.close()
    assert 0

def test_died(kafka_broker):
    kafka_broker._child.kill()
    kafka_broker._child.wait()
    assert 0
""",
    )
    result.assert_outcomes(passed=1, failed=3, errors=3)
    text = result.stdout.str() + "\n"
    for when, end in (("setup", 1), ("teardown", 2), ("call", 3)):
        assert f"\n  orders-0  0..{end}\n" in text, when
    assert "the broker is closed: its process has ended with status 0: there is no report of it" in text
    assert "the broker is closed: its process has ended with status -9: there is no report of it" in text
    assert "the broker's process ended by itself, with status -9" in text
    assert "INTERNALERROR" not in text
    assert "another exception occurred" not in text


@pytest.mark.long
def test_the_sessions_broker_is_reset_and_tells_of_one_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture(scope="session")
def kafka_session_options():
    return {"process": True, "topics": ["orders"]}

def test_leaves_a_mess(kafka_broker_session):
    kafka_broker_session.set_faults(odradek.Fault("Metadata", answer=odradek.ErrorCode.UNKNOWN_SERVER_ERROR))
    kafka_broker_session.clock.freeze()
    kafka_broker_session.produce("orders", "one")

def test_finds_data(kafka_broker_session):
    assert kafka_broker_session.faults == []
    assert not kafka_broker_session.clock.frozen
    assert len(list(kafka_broker_session.records("orders"))) == 1

@pytest.mark.kafka(reset="data")
def test_finds_nothing(kafka_broker_session):
    assert list(kafka_broker_session.records("orders")) == []

def test_asked_nothing_and_fails(kafka_broker_session):
    assert 0

def test_after_its_end(kafka_broker_session):
    kafka_broker_session.close()

def test_without_it(kafka_broker_session): ...
""",
    )
    result.assert_outcomes(passed=5, failed=1)
    assert " odradek call " not in result.stdout.str()


@pytest.mark.long
def test_strictness_tells_of_one_test(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
import struct
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import WireClient

@pytest.fixture(scope="session")
def kafka_session_options():
    return {"process": True}

def ask(broker, topic):
    host, _, port = broker.bootstrap_servers.partition(":")
    with WireClient(host, int(port), client_id="app") as client:
        for _ in range(2):
            client.request(MetadataRequest([MetadataRequestTopic(name=topic)]), 12)

@pytest.mark.kafka(process=True, strict=True)
def test_fails(kafka_broker):
    ask(kafka_broker, "orders")

@pytest.mark.kafka(process=True, strict="warn")
def test_warns(kafka_broker):
    ask(kafka_broker, "orders")

def test_relies(kafka_broker_session):
    ask(kafka_broker_session, "clicks")

@pytest.mark.kafka(strict=True)
def test_uses_what_is_there(kafka_broker_session):
    ask(kafka_broker_session, "clicks")
""",
        "-W",
        "default",
    )
    result.assert_outcomes(passed=3, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["*StrictnessWarning: topic 'orders' was created automatically*"])


@pytest.mark.long
def test_chaos_is_refused_in_one_line(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka(process=True)
def test_chaos(kafka_broker, kafka_chaos):
    with kafka_chaos.run(kafka_broker): ...
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E  *ValueError: odradek.Chaos works inside the broker's process, and this*"])
    assert "another exception occurred" not in result.stdout.str()
