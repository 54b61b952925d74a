"""Which configs of a running broker may change. What a change as a whole comes to is in test_config_control."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, broker_keys
from odradek.broker.controller.dynamic_configs import (
    check_cluster_wide,
    check_dynamic,
    check_reconfigurables,
    check_threads,
)
from odradek.protocol.errors import ErrorCode, KafkaError


def test_what_is_read_at_the_start_alone_does_not_change() -> None:
    check_dynamic(["log.retention.ms", "nobody.knows.it"], broker_keys())
    with pytest.raises(KafkaError, match=r"Cannot update these configs dynamically: \[node.id\]") as refused:
        check_dynamic(["log.retention.ms", "node.id"], broker_keys())
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(KafkaError, match="only per-listener using the listener prefix"):
        check_dynamic(["ssl.keystore.location"], broker_keys())
    check_dynamic(["listener.name.external.ssl.keystore.location"], broker_keys())


def test_some_configs_are_of_single_brokers() -> None:
    check_cluster_wide(["log.retention.ms", "listener.name.external.max.connections"], broker_keys())
    for name in ("listeners", "listener.name.external.ssl.keystore.location"):
        with pytest.raises(KafkaError, match="at default cluster level, broker id must be specified"):
            check_cluster_wide([name], broker_keys())


@pytest.mark.parametrize("wanted", [4, 8, 16])
def test_a_pool_of_threads_doubles_or_halves(wanted: int) -> None:
    check_threads("num.io.threads", wanted, 8)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [(3, "at least half the current value 8"), (17, "not be greater than double the current value 8")],
)
def test_and_no_more(wanted: int, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        check_threads("num.io.threads", wanted, 8)


class Refusing:
    """Refuses everything."""

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        raise ConfigError(f"node {node_id} will not")

    def apply(self, node_id: int) -> None:
        raise AssertionError


def test_whoever_has_to_act_on_it_may_refuse() -> None:
    config = BrokerConfig({})
    config.reconfigurables.append(Refusing())
    check_reconfigurables(config, None, {})
    with pytest.raises(ConfigError, match=r"Invalid value .*: node 1 will not for configuration Invalid dynamic"):
        check_reconfigurables(config, 1, {})
