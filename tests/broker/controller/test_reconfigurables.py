"""Who acts on configs may refuse them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.controller.reconfigurables import check_reconfigurables


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
