"""Strictness in the pytest plugin, by running pytest inside pytest."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.long

PRELUDE = """
import odradek
import pytest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.wire_client import WireConnection
from tests.broker.facade.report.test_hints import connected, join, of_group
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest

def create(broker, topic="order"):
    with connected(broker) as client:
        client.request(MetadataRequest([MetadataRequestTopic(name=topic)], True), 12)
"""
AUTOMATIC = "*topic 'order' was created automatically*[[]auto-created[]]*"


def run(pytester: pytest.Pytester, source: str, *arguments: str, ini: str = "") -> pytest.RunResult:
    pytester.makeini(f"[pytest]\nasyncio_default_fixture_loop_scope = function\n{ini}\n")
    pytester.makepyfile(PRELUDE + source)
    return pytester.runpytest("-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


RELIES = """
def test_relies(kafka_broker):
    create(kafka_broker)
"""


def test_pytest_without_strict_says_nothing(pytester: pytest.Pytester) -> None:
    run(pytester, RELIES).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "ini"),
    [(("--odradek-strict=fail",), ""), (("--odradek-strict", "fail"), ""), ((), "odradek_strict = fail")],
)
def test_the_option_and_the_ini_file(pytester: pytest.Pytester, arguments: tuple[str, ...], ini: str) -> None:
    result = run(pytester, RELIES, *arguments, ini=ini)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the test relies on what a real cluster does not promise:*", AUTOMATIC])


def test_pytest_strict_warns_of_a_finding(pytester: pytest.Pytester) -> None:
    result = run(pytester, RELIES, "--odradek-strict=warn", "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*StrictnessWarning: topic 'order' was created automatically*"])


def test_the_marker_goes_before_the_option(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.mark.kafka(strict=True)
def test_fails(kafka_broker):
    create(kafka_broker)

@pytest.mark.kafka(strict=False)
def test_off(kafka_broker):
    create(kafka_broker)

@pytest.mark.kafka(strict="fail -auto-created")
def test_rule_off(kafka_broker):
    create(kafka_broker)
""",
        "--odradek-strict=fail",
    )
    result.assert_outcomes(failed=1, passed=2)


def test_clients_have_time_until_their_fixture_ends(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
pytestmark = pytest.mark.kafka(topics=["orders"], strict=True)

@pytest.fixture
def member(kafka_broker):
    with connected(kafka_broker) as client:
        yield join(client, "g")

@pytest.fixture
def tidy(kafka_broker):
    with connected(kafka_broker) as client:
        joined = join(client, "g")
        yield joined
        of_group(client, LeaveGroupRequest("g", joined.member_id), 2)

def test_left_open(member):
    pass

def test_closed(tidy):
    pass
""",
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_left_open*", "*still a member of group 'g'*[[]not-closed[]]*"]
    )


def test_a_test_that_failed_is_not_judged(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
def test_fails(kafka_broker):
    create(kafka_broker)
    assert False
""",
        "--odradek-strict=fail",
    )
    result.assert_outcomes(failed=1)
    assert "does not promise" not in result.stdout.str()


def test_the_broker_of_the_session_tells_of_this_test_alone(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
clients = []

@pytest.fixture(scope="session", autouse=True)
def closes_what_stayed_open():
    yield
    for client in clients:
        client.close()

def test_first(kafka_broker_session):
    create(kafka_broker_session)

def test_uses_what_is_there(kafka_broker_session):
    create(kafka_broker_session)

def test_leaves_a_member(kafka_broker_session):
    clients.append(connected(kafka_broker_session))
    join(clients[0], "g")

def test_has_nothing_to_do_with_it(kafka_broker_session):
    pass

@pytest.mark.kafka(strict=False)
def test_is_not_judged(kafka_broker_session):
    create(kafka_broker_session, "other")

def test_is_the_last(kafka_broker_session):
    clients.append(connected(kafka_broker_session))
    join(clients[1], "h")
""",
        "--odradek-strict=fail",
    )
    result.assert_outcomes(failed=1, passed=5, errors=2)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_leaves_a_member*", "*ERROR at teardown of test_is_the_last*"]
    )


SPREADS = """
from tests.broker.facade.report.test_strictness import read, write

def spread(broker):
    with connected(broker) as client:
        write(client, 0)
        write(client, 1)
        read(client, 0, 1)
"""
NO_ORDER = "*app wrote records without keys to several partitions of 'orders'*[[]partitioner-order[]]*"


@pytest.mark.parametrize(
    ("arguments", "ini"),
    [(("--odradek-strict=fail +partitioner-order",), ""), ((), "odradek_strict = fail +partitioner-order")],
)
def test_a_rule_that_is_asked_for(pytester: pytest.Pytester, arguments: tuple[str, ...], ini: str) -> None:
    result = run(
        pytester,
        SPREADS
        + """
pytestmark = pytest.mark.kafka(topics={"orders": 2})

def test_relies(kafka_broker):
    spread(kafka_broker)

@pytest.mark.kafka(strict=True)
def test_not_asked(kafka_broker):
    spread(kafka_broker)
""",
        *arguments,
        ini=ini,
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines([NO_ORDER])


def test_the_marker_asks_for_a_rule(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        SPREADS
        + """
@pytest.mark.kafka(topics={"orders": 2}, strict="fail +partitioner-order")
def test_relies(kafka_broker):
    spread(kafka_broker)

@pytest.mark.kafka(topics={"orders": 2}, strict="fail +partitioner-order", process=True)
def test_in_a_process(kafka_broker):
    spread(kafka_broker)

@pytest.mark.kafka(strict="fail +partitioner-order")
def test_of_the_session(kafka_broker_session):
    if "orders" not in kafka_broker_session.topics:
        kafka_broker_session.create_topic("orders", 2)
    spread(kafka_broker_session)

@pytest.mark.kafka(strict="fail +partitioner-order")
def test_after_it(kafka_broker_session):
    pass
""",
    )
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines([NO_ORDER] * 3)
