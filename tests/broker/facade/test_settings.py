"""What a broker is started with."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.settings import Settings


def test_listeners_and_an_address_exclude_each_other() -> None:
    config = {"listeners": "PLAINTEXT://127.0.0.1:0"}
    given = Settings(config=config)
    assert given.address == (None, 0)
    assert Settings(port=9092).address == ("127.0.0.1", 9092)
    with pytest.raises(ValueError, match="listeners sets the address"):
        Settings(config=config, port=9092)


def test_security_is_an_object() -> None:
    security: Any = True
    with pytest.raises(TypeError, match="security=True: expected"):
        Settings(security=security)


def test_a_node_has_configs_of_its_own() -> None:
    own = {2: {"auto.create.topics.enable": False}}
    config = Settings(2, node_config=own).cluster.config
    assert [config.get_bool("auto.create.topics.enable", node_id) for node_id in (1, 2)] == [True, False]


def test_an_unknown_argument_of_a_broker_is_told_with_its_name() -> None:
    arguments: dict[str, Any] = {"topcs": ["t"]}
    with pytest.raises(TypeError, match=r"^KafkaBroker\.__init__\(\) got an unexpected keyword argument 'topcs'"):
        KafkaBroker(**arguments)
    with pytest.raises(ValueError, match="only KafkaBroker starts a process"):
        Settings(process=True)
