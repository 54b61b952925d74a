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
