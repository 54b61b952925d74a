"""Links to clients, below the verbs: which ends there are, and nodes that refuse connections."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.client_links import Ends, between_nodes, ends_of


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(nodes=2) as running:
        yield running


def test_a_client_and_a_node_in_either_order(broker: KafkaBroker) -> None:
    cluster = broker.cluster
    assert ends_of(cluster, "app", 1, None) == ends_of(cluster, 1, "app", None) == Ends("app", 1, None)
    assert ends_of(cluster, "app", None, "PLAINTEXT") == Ends("app", None, "PLAINTEXT")
    assert between_nodes(1, 2) == (1, 2)
    assert between_nodes("1", 2) is None
    for a, b in ((1, None), ("a", "b")):
        with pytest.raises(ValueError, match="no link between"):
            ends_of(cluster, a, b, None)
    with pytest.raises(TypeError, match="True: an end of a link"):
        ends_of(cluster, "app", True, None)


def test_a_node_that_is_down_refuses_by_itself(broker: KafkaBroker) -> None:
    undo = broker.refuse_connections(2)
    broker.kill_node(2)
    undo.undo()
    with pytest.raises(ValueError, match="node 2 is down"):
        broker.refuse_connections(2)
    with pytest.raises(ValueError, match="no node 3: the cluster has 1, 2"):
        broker.accept_connections(3)
