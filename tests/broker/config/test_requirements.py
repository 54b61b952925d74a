"""What a broker's configs have to fulfil together, in the words of a real Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.config.requirements import check_requirements

PER_THREAD = "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
BUFFER = {"log.cleaner.dedupe.buffer.size": "2097152"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"log.cleaner.dedupe.buffer.size": "1048576"}, PER_THREAD),
        ({**BUFFER, "log.cleaner.threads": "2"}, PER_THREAD),
        ({"log.cleaner.threads": "0"}, "/ by zero"),
        ({"log.roll.ms": "0"}, "requirement failed: log.roll.ms must be greater than or equal to 1"),
        ({"log.roll.jitter.ms": "-1"}, "requirement failed: log.roll.jitter.ms must be greater than or equal to 0"),
        (
            {"log.retention.ms": "0"},
            "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
    ],
)
def test_what_does_not_fit(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == said
    with pytest.raises(ConfigError) as refused:
        check_requirements(BrokerConfig(), values)
    assert str(refused.value) == said


def text_of(one: str, order: str, other: str) -> str:
    return f"{one} must be {order} {other}"


AT_LEAST, AT_MOST = "greater than or equal to", "less than or equal to"


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"heartbeat.interval.ms": "4999"}, ("heartbeat.interval.ms", AT_LEAST, "min.heartbeat.interval.ms")),
        ({"heartbeat.interval.ms": "15001"}, ("heartbeat.interval.ms", AT_MOST, "max.heartbeat.interval.ms")),
        (
            {"min.heartbeat.interval.ms": "15001", "heartbeat.interval.ms": "15001"},
            ("max.heartbeat.interval.ms", AT_LEAST, "min.heartbeat.interval.ms"),
        ),
        ({"session.timeout.ms": "1000"}, ("session.timeout.ms", AT_LEAST, "min.session.timeout.ms")),
        ({"session.timeout.ms": "60001"}, ("session.timeout.ms", AT_MOST, "max.session.timeout.ms")),
        (
            {"session.timeout.ms": "5000", "min.session.timeout.ms": "5000"},
            ("heartbeat.interval.ms", "less than", "session.timeout.ms"),
        ),
        ({"assignment.interval.ms": "15001"}, ("assignment.interval.ms", AT_MOST, "max.assignment.interval.ms")),
    ],
)
def test_intervals_of_groups_stay_in_their_bounds(kind: str, wrong: dict[str, str], said: tuple[str, str, str]) -> None:
    values = {f"group.{kind}.{name}": value for name, value in wrong.items()}
    one, order, other = said
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == text_of(f"group.{kind}.{one}", order, f"group.{kind}.{other}")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"group.streams.num.standby.replicas": "3"},
            text_of("group.streams.num.standby.replicas", AT_MOST, "group.streams.max.standby.replicas"),
        ),
        (
            {"group.share.record.lock.duration.ms": "60001"},
            text_of("group.share.max.record.lock.duration.ms", AT_LEAST, "group.share.record.lock.duration.ms"),
        ),
        (
            {"group.share.max.share.sessions": "199"},
            text_of("group.share.max.share.sessions", AT_LEAST, "group.share.max.size"),
        ),
        (
            {"connections.max.idle.ms": "100"},
            "requirement failed: connection.failed.authentication.delay.ms=100 should always be less than "
            "connections.max.idle.ms=100 to prevent failed authentication responses from timing out",
        ),
        (
            {"queued.max.request.bytes": "1000"},
            "requirement failed: queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
        ),
        (
            {"replica.lag.time.max.ms": "499"},
            "requirement failed: replica.fetch.wait.max.ms should always be less than or equal to "
            "replica.lag.time.max.ms to prevent frequent changes in ISR",
        ),
        (
            {"replica.socket.timeout.ms": "499"},
            "requirement failed: replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to "
            "prevent unnecessary socket timeouts",
        ),
        *(
            (
                {f"log.retention.{unit}": "0"},
                "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
            )
            for unit in ("hours", "minutes")
        ),
    ],
)
def test_what_does_not_start(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == said


def test_bounds_that_kafka_does_not_compare() -> None:
    Cluster(config={"group.min.session.timeout.ms": "10", "group.max.session.timeout.ms": "5"})
    Cluster(config={"connections.max.idle.ms": "-1", "queued.max.request.bytes": "0"})


def test_what_fits() -> None:
    check_requirements(BrokerConfig(), {})
    check_requirements(BrokerConfig(), {"log.cleaner.dedupe.buffer.size": "1048577"})
    check_requirements(BrokerConfig({"log.retention.ms": "-1", "log.roll.ms": "1"}), {"log.roll.jitter.ms": "0"})


def test_a_change_is_seen_beside_what_is_in_force() -> None:
    config = BrokerConfig(BUFFER)
    with pytest.raises(ConfigError, match="at least 1MB"):
        check_requirements(config, {"log.cleaner.threads": "2"}, 1)
    check_requirements(config, {"log.cleaner.threads": "2", "log.cleaner.dedupe.buffer.size": "3000000"}, 1)
    config.set_dynamic(None, {"log.cleaner.dedupe.buffer.size": "3000000"})
    check_requirements(config, {"log.cleaner.threads": "2"}, 1)
