"""Which node is told as the controller."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from odradek.broker.api.active_controller import check_leads, told_controller
from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.nodes import set_node_up

SEPARATE = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0",
}


def asked(cluster: Cluster, node_id: int) -> RequestContext:
    context: Any = SimpleNamespace(services=cluster.services, node=cluster.members[node_id])
    return cast(RequestContext, context)


def test_a_controller_that_is_a_broker_is_told() -> None:
    cluster = Cluster(nodes=2)
    assert told_controller(asked(cluster, 2)) == 1
    set_node_up(cluster, 1, False)
    assert told_controller(asked(cluster, 2)) == 2


def test_of_separate_controllers_a_broker_that_is_up_is_told() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    assert told_controller(asked(cluster, 2)) == 1
    set_node_up(cluster, 1, False)
    assert told_controller(asked(cluster, 2)) == 2
    set_node_up(cluster, 2, False)
    assert told_controller(asked(cluster, 2)) == -1


def test_only_the_leader_leads() -> None:
    cluster = Cluster(nodes=2)
    check_leads(asked(cluster, 1))
    for why, told in ((None, None), ("not {}", "not 1")):
        with pytest.raises(KafkaError) as refused:
            check_leads(asked(cluster, 2), why)
        assert (refused.value.code, refused.value.message) == (ErrorCode.NOT_CONTROLLER, told)
