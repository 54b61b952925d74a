"""Replay: what each record makes of the image, and what the delta tells of it."""

from __future__ import annotations

import pytest

from odradek.broker.metadata.image import ResourceType
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.generated.metadata_records.abort_transaction_record import AbortTransactionRecord
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
from odradek.protocol.generated.metadata_records.broker_registration_change_record import BrokerRegistrationChangeRecord
from odradek.protocol.generated.metadata_records.clear_elr_record import ClearElrRecord
from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.end_transaction_record import EndTransactionRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.fence_broker_record import FenceBrokerRecord
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.generated.metadata_records.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from odradek.protocol.generated.metadata_records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from odradek.protocol.generated.metadata_records.remove_delegation_token_record import RemoveDelegationTokenRecord
from odradek.protocol.generated.metadata_records.remove_topic_record import RemoveTopicRecord
from odradek.protocol.generated.metadata_records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.metadata_records.unfence_broker_record import UnfenceBrokerRecord
from odradek.protocol.generated.metadata_records.unregister_broker_record import UnregisterBrokerRecord
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from odradek.protocol.message import MetadataRecord
from tests.fakes.images import picture

A, B = b"a" * 16, b"b" * 16
DIRECTORY = b"d" * 16


@pytest.fixture
def writer() -> ImageWriter:
    return ImageWriter()


def replay(writer: ImageWriter, *records: MetadataRecord) -> None:
    for record in records:
        writer.replay(record, writer.image.offset + 1, 1)


def partition(topic: bytes, index: int, replicas: list[int]) -> PartitionRecord:
    return PartitionRecord(
        index,
        topic,
        replicas,
        replicas[:],
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=[DIRECTORY] * len(replicas),
    )


def with_topic(writer: ImageWriter) -> None:
    replay(writer, TopicRecord("a", A), partition(A, 0, [1, 2]), partition(A, 1, [2, 1]))
    writer.take_delta()


def test_a_topic_is_there_under_name_and_id(writer: ImageWriter) -> None:
    replay(writer, TopicRecord("a.b", A), partition(A, 0, [1, 2]), partition(A, 1, [2, 1]))
    image = writer.image
    topic = image.topics["a.b"]
    assert image.topics_by_id[A] is topic
    assert [each.replicas for each in topic.partitions] == [(1, 2), (2, 1)]
    assert image.colliding_names == {"a_b": {"a.b"}}
    assert (image.offset, image.epoch, image.topics_version, topic.version) == (2, 1, 2, 2)
    delta = writer.take_delta()
    assert (list(delta.created.values()), delta.grown, delta.moved) == ([topic], {}, {})
    assert writer.take_delta().is_empty


def test_equal_replicas_are_one_value(writer: ImageWriter) -> None:
    replay(writer, TopicRecord("a", A), *(partition(A, index, [1, 2]) for index in range(3)))
    assert len({id(each.replicas) for each in writer.image.topics["a"].partitions}) == 1


def test_partitions_may_come_in_any_order(writer: ImageWriter) -> None:
    replay(writer, TopicRecord("a", A), partition(A, 1, [2]), partition(A, 0, [1]))
    assert [each.replicas for each in writer.image.topics["a"].partitions] == [(1,), (2,)]


def test_growth_tells_the_first_new_partition(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, partition(A, 2, [1]), partition(A, 3, [1]))
    delta = writer.take_delta()
    assert (delta.created, delta.grown) == ({}, {A: 2})


def test_a_change_keeps_what_it_does_not_name(writer: ImageWriter) -> None:
    with_topic(writer)
    before = writer.image.topics["a"].partitions[0]
    replay(writer, PartitionChangeRecord(0, A, [2]))
    after = writer.image.topics["a"].partitions[0]
    assert after == before._replace(isr=(2,), partition_epoch=1)
    assert writer.take_delta().moved == {(A, 0): before}


def test_a_leader_is_a_new_epoch_even_if_it_is_the_old_one(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, PartitionChangeRecord(0, A, leader=1))
    after = writer.image.topics["a"].partitions[0]
    assert (after.leader, after.leader_epoch, after.partition_epoch) == (1, 1, 1)
    replay(writer, PartitionChangeRecord(0, A, [], -1, eligible_leader_replicas=[1], last_known_elr=[1]))
    after = writer.image.topics["a"].partitions[0]
    assert (after.leader, after.leader_epoch, after.isr, after.elr, after.last_known_elr) == (-1, 2, (), (1,), (1,))
    replay(writer, PartitionChangeRecord(0, A, leader_recovery_state=1))
    assert writer.image.topics["a"].partitions[0].recovering


def test_other_replicas_without_directories_are_unassigned(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, PartitionChangeRecord(0, A, replicas=[1, 2, 3]))
    assert writer.image.topics["a"].partitions[0].directories == (bytes(16),) * 3


def test_the_eligible_leader_replicas_are_cleared(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, PartitionChangeRecord(0, A, eligible_leader_replicas=[1]))
    replay(writer, ClearElrRecord("a"))
    assert writer.image.topics["a"].partitions[0].elr == ()
    replay(writer, PartitionChangeRecord(1, A, last_known_elr=[1]), ClearElrRecord(""))
    assert writer.image.topics["a"].partitions[1].last_known_elr == ()


def test_a_removed_topic_takes_its_configs_along(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, ConfigRecord(ResourceType.TOPIC, "a", "retention.ms", "5"))
    topic = writer.image.topics["a"]
    writer.take_delta()
    replay(writer, RemoveTopicRecord(A))
    assert (writer.image.topics, writer.image.topics_by_id, writer.image.configs) == ({}, {}, {})
    assert writer.take_delta().deleted == {A: topic}


def test_a_topic_that_came_and_went_is_no_news(writer: ImageWriter) -> None:
    replay(writer, TopicRecord("a_b", A), partition(A, 0, [1]), RemoveTopicRecord(A))
    assert writer.take_delta().is_empty
    assert writer.image.colliding_names == {}


def test_a_topic_made_anew_under_its_name(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, RemoveTopicRecord(A), TopicRecord("a", B), partition(B, 0, [1]))
    delta = writer.take_delta()
    assert (set(delta.deleted), set(delta.created)) == ({A}, {B})
    assert writer.image.topics["a"].topic_id == B


def test_configs_are_set_and_deleted(writer: ImageWriter) -> None:
    replay(writer, ConfigRecord(4, "", "x", "1"), ConfigRecord(4, "", "y", "2"))
    before = writer.image.configs_of(4, "")
    assert before == {"x": "1", "y": "2"}
    writer.take_delta()
    replay(writer, ConfigRecord(4, "", "x", None), ConfigRecord(4, "", "z", None))
    assert writer.image.configs_of(4, "") == {"y": "2"}
    assert before == {"x": "1", "y": "2"}
    assert writer.take_delta().configs == {(4, ""): before}
    replay(writer, ConfigRecord(4, "", "y", None))
    assert writer.image.configs == {}


def test_metadata_writer_replays_features_and_producer_ids(writer: ImageWriter) -> None:
    replay(writer, FeatureLevelRecord("group.version", 1), ProducerIdsRecord(1, 2, 3000))
    assert (writer.image.feature("group.version"), writer.image.next_producer_id) == (1, 3000)
    assert writer.take_delta().features
    replay(writer, FeatureLevelRecord("group.version", 0))
    assert writer.image.features == {}


def registered(fenced: bool = True) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        7, incarnation_id=B, broker_epoch=5, end_points=[BrokerEndpoint("P", "h", 9)], rack="r", fenced=fenced
    )


def test_metadata_writer_replays_brokers_that_come_and_go(writer: ImageWriter) -> None:
    replay(writer, registered())
    broker = writer.image.brokers[7]
    assert (broker.epoch, broker.rack, broker.fenced, broker.endpoints[0].port) == (5, "r", True, 9)
    assert writer.take_delta().brokers == {7: None}
    replay(writer, BrokerRegistrationChangeRecord(7, 5, fenced=-1))
    assert writer.image.brokers[7].is_active
    assert writer.take_delta().brokers == {7: broker}
    replay(writer, BrokerRegistrationChangeRecord(7, 5, in_controlled_shutdown=1))
    assert not writer.image.brokers[7].is_active
    replay(writer, BrokerRegistrationChangeRecord(7, 5, log_dirs=[A], cordoned_log_dirs=[A]))
    assert (writer.image.brokers[7].directories, writer.image.brokers[7].cordoned) == ((A,), (A,))
    replay(writer, UnregisterBrokerRecord(7, 5))
    assert writer.image.brokers == {}


def test_older_records_of_fencing_are_replayed(writer: ImageWriter) -> None:
    replay(writer, registered(), UnfenceBrokerRecord(7, 5))
    assert not writer.image.brokers[7].fenced
    replay(writer, FenceBrokerRecord(7, 5))
    assert writer.image.brokers[7].fenced


def test_a_transaction_counts_when_it_ends(writer: ImageWriter) -> None:
    replay(writer, BeginTransactionRecord("t"), TopicRecord("a", A), partition(A, 0, [1]))
    assert writer.in_transaction
    assert writer.image.topics == {}
    replay(writer, EndTransactionRecord())
    assert not writer.in_transaction
    assert len(writer.image.topics["a"].partitions) == 1


def test_an_aborted_transaction_never_was(writer: ImageWriter) -> None:
    replay(writer, BeginTransactionRecord("t"), TopicRecord("a", A), AbortTransactionRecord("why"), NoOpRecord())
    assert writer.image.topics == {}
    assert not writer.in_transaction


def test_a_fork_goes_its_own_way(writer: ImageWriter) -> None:
    with_topic(writer)
    replay(writer, ConfigRecord(4, "", "x", "1"))
    other = writer.fork()
    assert picture(other.image) == picture(writer.image)
    before = picture(writer.image)
    replay(other, PartitionChangeRecord(0, A, [2]), TopicRecord("b_c", B), ConfigRecord(4, "", "x", "2"))
    assert picture(writer.image) == before
    assert other.image.offset == writer.image.offset + 3


def test_an_emptied_writer_keeps_its_image(writer: ImageWriter) -> None:
    image = writer.image
    with_topic(writer)
    writer.clear()
    assert writer.image is image
    assert picture(image) == picture(ImageWriter().image)
    assert image.offset == -1


# -- ACLs, SCRAM credentials, delegation tokens and quotas.


ID = b"i" * 16


def test_each_kind_comes_and_goes() -> None:
    writer = ImageWriter()
    acl = AccessControlEntryRecord(id=ID, resource_name="t", principal="User:a")
    scram = UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096)
    token = DelegationTokenRecord("User:a", token_id="t1")
    replay(writer, acl, scram, token)
    image = writer.image
    assert (image.acls, image.scram, image.delegation_tokens) == ({ID: acl}, {("alice", 1): scram}, {"t1": token})
    assert writer.take_delta().security
    replay(writer, RemoveAccessControlEntryRecord(ID), RemoveUserScramCredentialRecord("alice", 1))
    replay(writer, RemoveDelegationTokenRecord("t1"))
    assert (image.acls, image.scram, image.delegation_tokens) == ({}, {}, {})


def test_quotas_belong_to_an_entity_in_any_order_of_its_parts() -> None:
    writer = ImageWriter()
    user, client = EntityData("user", "alice"), EntityData("client-id", None)
    replay(writer, ClientQuotaRecord([user, client], "producer_byte_rate", 5.0, False))
    replay(writer, ClientQuotaRecord([client, user], "consumer_byte_rate", 6.0, False))
    entity = (("client-id", None), ("user", "alice"))
    assert writer.image.quotas == {entity: {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}}
    replay(writer, ClientQuotaRecord([user, client], "producer_byte_rate", 0.0, True))
    assert writer.image.quotas == {entity: {"consumer_byte_rate": 6.0}}
    replay(writer, ClientQuotaRecord([user, client], "consumer_byte_rate", 0.0, True))
    assert writer.image.quotas == {}
