from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from odradek.protocol.generated.messages.fetch import FetchResponse, PartitionData
from odradek.protocol.generated.messages.heartbeat import HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest
from odradek.protocol.generated.messages.sync_group import SyncGroupResponse


def test_message_defaults_share_no_list() -> None:
    first, second = FetchResponse(), FetchResponse()
    first.responses.append(None)  # type: ignore[arg-type]
    assert second.responses == []
    assert FetchResponse().responses == []


def test_message_defaults_share_no_struct() -> None:
    first, second = PartitionData(), PartitionData()
    first.current_leader.leader_id = 5
    assert second.current_leader.leader_id == -1


def test_message_field_null_differs_from_empty() -> None:
    assert MetadataRequest().topics == []
    assert MetadataRequest(topics=None).topics is None
    assert MetadataRequest(topics=None) != MetadataRequest()


def test_message_has_equality_and_a_short_repr() -> None:
    topic = MetadataRequestTopic(name="t")
    assert topic == MetadataRequestTopic(name="t")
    assert topic != MetadataRequestTopic(name="u")
    assert MetadataRequest() != OffsetFetchRequest()
    assert repr(topic) == f"MetadataRequestTopic(topic_id={bytes(16)!r}, name='t')"
    with pytest.raises(TypeError):
        hash(topic)


def test_a_message_is_copied_with_other_fields() -> None:
    request = MetadataRequest(topics=None)
    changed = request.replace(include_topic_authorized_operations=True)
    assert (changed.topics, changed.include_topic_authorized_operations) == (None, True)
    assert not request.include_topic_authorized_operations


def test_unknown_attributes_are_refused() -> None:
    with pytest.raises(AttributeError):
        MetadataRequest().topic = []  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        MetadataRequest(topic=[])  # type: ignore[call-arg]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda message: pickle.loads(pickle.dumps(message))])
def test_a_copy_has_all_fields(copied: Callable[[Any], Any]) -> None:
    """Of compiled messages, and of those that only inherit from a compiled one."""
    for message in (HeartbeatResponse(7, 3, ((1, b"x"),)), SyncGroupResponse(7, 3, "consumer", "range", b"all")):
        other = copied(message)
        assert other == message
        assert other is not message
