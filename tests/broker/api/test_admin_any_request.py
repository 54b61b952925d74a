"""Whatever a client asks of the administration APIs, the answer can be sent in that version, and nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs
from tests.fakes.examples import examples
from tests.fakes.nodes import set_node_up
from tests.protocol.message_strategies import instances
from tests.scenarios.admin_corpus import APIS

# Words that mean something to some handler, so that not everything ends at the first unknown name.
WORDS = [
    *("", "a", "b", "a.b", "a_b", "x y", "__consumer_offsets", "__cluster_metadata", "1", "2", "-1", "g", "root"),
    *("retention.ms", "cleanup.policy", "compact", "delete", "min.insync.replicas", "log.retention.ms", "node.id"),
    *("consumer.session.timeout.ms", "50000", "interval.ms", "match", "client_id=x", "INFO", "transaction.version"),
]
NUMBERS = st.integers(-2, 4) | st.sampled_from([8, 16, 32, 1 << 15, -(1 << 15)])


def meaningful(draw: Any, value: Any, body: Any) -> Any:
    """``value`` of the construct ``body`` with its texts and numbers replaced by meaningful ones of the same type."""
    if isinstance(value, Message):
        struct = getattr(body, "struct", body)
        for member in struct.members:
            if member.body is not None:
                setattr(value, member.name, meaningful(draw, getattr(value, member.name), member.body))
        return value
    if isinstance(value, list):
        return [meaningful(draw, item, body.element) for item in value]
    if isinstance(value, str):
        return draw(st.sampled_from(WORDS))
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-128, min(127, draw(NUMBERS)))
    return value


def busy_cluster() -> Cluster:
    cluster = Cluster(nodes=2)
    topic = cluster.create_topic("a", partitions=2, replication_factor=2)
    cluster.create_topic("b", configs={"retention.ms": "5", "cleanup.policy": "compact"})
    set_configs(cluster, ResourceType.GROUP, "g", {"consumer.session.timeout.ms": "50000"})
    set_node_up(cluster, 2, False)
    assert topic.partitions
    return cluster


@pytest.mark.parametrize("api", sorted(APIS))
@given(data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_every_request_gets_an_answer(api: str, data: st.DataObject) -> None:
    spec = API_BY_NAME[api]
    version = data.draw(st.integers(spec.min_version, spec.max_version))
    drawn = data.draw(instances(spec.request, version))
    request = meaningful(data.draw, drawn, codec(spec.request, version).construct)
    cluster = busy_cluster()
    answer = ask(cluster, request, version)
    cluster.forget_log_levels(cluster.members)  # Python's loggers are the whole process's
    assert isinstance(answer, spec.response)
