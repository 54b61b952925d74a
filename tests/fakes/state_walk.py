"""Everything that clients can do to a broker's state in small steps, and everything that they can see of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from odradek import KafkaBroker, KafkaError, PartitionInfo, StoredRecord
from odradek.protocol.generated.messages import (
    alter_client_quotas,
    alter_user_scram_credentials,
    create_acls,
    create_partitions,
    incremental_alter_configs,
    join_group,
    share_fetch,
)
from odradek.protocol.generated.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from odradek.protocol.generated.messages.describe_client_quotas import DescribeClientQuotasRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.share_fetch import ShareFetchRequest
from odradek.protocol.generated.messages.share_group_describe import ShareGroupDescribeRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.protocol.message import Message
from odradek.protocol.record_batch import Record, build_batch
from odradek.protocol.uuids import uuid_from_text
from odradek.wire_client import WireClient

CONFIG = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "share.coordinator.state.topic.num.partitions": "2",
    "group.initial.rebalance.delay.ms": "3000",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
_UNSEEN = frozenset(
    {"leader_epoch", "coordinator_epoch", "current_leader", "throttle_time_ms", "unknown_tagged_fields"}
)
"""What may differ after a broker has gone back: see docs/state.md."""
_SHARE, _CLASSIC, _CONSUMER = "shared", "classic", "modern"


def plain(value: Any) -> Any:
    """A message, or a partition, as dictionaries and lists; these in one order, as Kafka promises none."""
    if isinstance(value, list | tuple):
        return sorted((plain(each) for each in value), key=repr)
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, Message):
        names = value.field_names()
    elif isinstance(value, PartitionInfo):
        names = tuple(field.name for field in fields(value))
    else:
        return value
    return {name: plain(getattr(value, name)) for name in names if name not in _UNSEEN}


def _records(records: Iterable[StoredRecord]) -> list[StoredRecord]:
    """Without leader epochs, which markers have in their values."""
    return [replace(record, leader_epoch=-1, value=None if record.control else record.value) for record in records]


class StateWalk:
    """Steps through the state of a broker that was started with `CONFIG`, on one connection."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.steps: list[Callable[[int], None]] = [
            self.produce,
            self.produce,
            self.create_topic,
            self.delete_topic,
            self.grow_topic,
            self.configure,
            self.commit,
            self.join_consumer_group,
            self.leave_consumer_group,
            self.join_classic_group,
            self.leave_classic_group,
            self.join_share_group,
            self.acquire,
            self.open_transaction,
            self.end_transaction,
            self.hold_transaction,
            self.produce_with_sequence,
            self.delete_records,
            self.delete_group,
            self.allow,
            self.limit,
            self.add_user,
            self.pass_time,
        ]
        self._client: WireClient | None = None
        self._parked: list[WireClient] = []
        self._sequences = 0

    def walk(self, steps: list[tuple[int, int]]) -> None:
        """Take steps: each a number of one and what it is to vary by."""
        for step, choice in steps:
            with suppress(KafkaError, KeyError):
                self.steps[step % len(self.steps)](choice)
        self.broker.clock.advance(0)  # what is due at once has been done

    def reconnect(self) -> None:
        """The broker has cut the connections."""
        for client in (self._client, *self._parked):
            if client is not None:
                client.close()
        self._client = None
        self._parked.clear()

    def connect(self) -> WireClient:
        host, port = self.broker.bootstrap_servers.split(":")
        return WireClient(host, int(port))

    def ask(self, request: Any) -> Any:
        if self._client is None:
            self._client = self.connect()
        return self._client.request(request)

    def coordinator(self, kind: int, key: str = "k") -> None:
        """Have the internal topic made."""
        self.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]))

    # -- looking

    def look(self) -> dict[str, Any]:
        """Everything that clients can find out, but for leader epochs."""
        broker, ask = self.broker, self.ask
        topics = broker.all_topics
        groups = sorted(broker.groups)
        transactional_ids = sorted(broker.transactions)
        places = [TopicRequest(name, [p.index for p in topic.partitions]) for name, topic in topics.items()]
        return {
            "time": broker.clock.now_ms(),
            "topics": {name: (topic.topic_id, topic.config, plain(topic.partitions)) for name, topic in topics.items()},
            "records": {name: _records(broker.records(name, control=True)) for name in topics},
            "committed": {name: _records(broker.records(name, isolation="read_committed")) for name in topics},
            "groups": {name: repr(group) for name, group in broker.groups.items()},
            "in flight": {name: repr(broker.group(name).share_partitions) for name in groups},
            "transactions": repr(broker.transactions),
            "listed": plain([ask(ListGroupsRequest()), ask(ListTransactionsRequest())]),
            "classic": plain(ask(DescribeGroupsRequest(groups))),
            "consumer": plain(ask(ConsumerGroupDescribeRequest(groups))),
            "share": plain(ask(ShareGroupDescribeRequest(groups))),
            "share offsets": plain(
                ask(
                    DescribeShareGroupOffsetsRequest(
                        [DescribeShareGroupOffsetsRequestGroup(name, None) for name in groups]
                    )
                )
            ),
            "ids": plain(ask(DescribeTransactionsRequest(transactional_ids))),
            "producers": plain(ask(DescribeProducersRequest(places))),
            "metadata": plain(ask(MetadataRequest(topics=None))),
            "cluster": plain(ask(DescribeClusterRequest())),
            "acls": plain(ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1))),
            "quotas": plain(ask(DescribeClientQuotasRequest([], False))),
            "users": plain(ask(DescribeUserScramCredentialsRequest(None))),
        }

    # -- steps

    def topic(self, choice: int) -> str:
        """One of those that are there."""
        names = sorted(self.broker.topics)
        return names[choice % len(names)] if names else "none"

    def produce(self, choice: int) -> None:
        self.broker.produce(self.topic(choice), f"v{choice}", key=f"k{choice}")

    def create_topic(self, choice: int) -> None:
        self.broker.create_topic(f"made-{choice % 4}", 1 + choice % 3)

    def delete_topic(self, choice: int) -> None:
        self.broker.topic(self.topic(choice)).delete()

    def grow_topic(self, choice: int) -> None:
        name = self.topic(choice)
        count = len(self.broker.topics[name].partitions) + 1
        self.ask(
            create_partitions.CreatePartitionsRequest(
                [create_partitions.CreatePartitionsTopic(name, count, None)], timeout_ms=1000
            )
        )

    def configure(self, choice: int) -> None:
        value = ["1000", "2000000000", None][choice % 3]
        changed = incremental_alter_configs.AlterableConfig("retention.ms", 1 if value is None else 0, value)
        kind, name = [(2, self.topic(choice)), (32, _CONSUMER)][choice % 2]
        if kind == 32:
            changed.name = "consumer.session.timeout.ms"
            changed.value = "50000"
        resource = incremental_alter_configs.AlterConfigsResource(kind, name, [changed])
        self.ask(incremental_alter_configs.IncrementalAlterConfigsRequest([resource]))

    def commit(self, choice: int) -> None:
        self.broker.group(f"g{choice % 3}").set_offsets({(self.topic(choice), 0): choice % 5})

    def join_consumer_group(self, choice: int) -> None:
        self.coordinator(0)
        self.ask(
            ConsumerGroupHeartbeatRequest(
                _CONSUMER,
                f"member-{choice % 3}",
                0,
                None,
                None,
                30_000,
                [self.topic(choice)],
                server_assignor="uniform",
                topic_partitions=[],
            )
        )

    def leave_consumer_group(self, choice: int) -> None:
        self.ask(ConsumerGroupHeartbeatRequest(_CONSUMER, f"member-{choice % 3}", -1))

    def join_classic_group(self, choice: int) -> None:
        """Its JoinGroup waits: time stands still."""
        self.coordinator(0)
        client = self.connect()
        protocols = [join_group.JoinGroupRequestProtocol("range", b"\0\1\0\0\0\0\0\0\0\0")]
        client.send(JoinGroupRequest(_CLASSIC, 30_000, 60_000, "", None, "consumer", protocols), 3)
        self._parked.append(client)
        self.ask(ListGroupsRequest())

    def leave_classic_group(self, choice: int) -> None:
        members = self.broker.groups[_CLASSIC].members
        if members:
            left = members[choice % len(members)].member_id
            self.ask(LeaveGroupRequest(_CLASSIC, members=[MemberIdentity(left, None)]))

    def join_share_group(self, choice: int) -> None:
        self.coordinator(0)
        resource = incremental_alter_configs.AlterConfigsResource(
            32, _SHARE, [incremental_alter_configs.AlterableConfig("share.auto.offset.reset", 0, "earliest")]
        )
        self.ask(incremental_alter_configs.IncrementalAlterConfigsRequest([resource]))
        self.ask(ShareGroupHeartbeatRequest(_SHARE, f"sharer-{choice % 2}", 0, None, [self.topic(choice)]))

    def acquire(self, choice: int) -> None:
        topic = self.broker.topics[self.topic(choice)]
        wanted = share_fetch.FetchTopic(
            uuid_from_text(topic.topic_id), [share_fetch.FetchPartition(0, acknowledgement_batches=[])]
        )
        self.ask(
            ShareFetchRequest(
                _SHARE, f"sharer-{choice % 2}", 0, 0, 0, 1 << 20, max_records=2, batch_size=1, topics=[wanted]
            )
        )

    def open_transaction(self, choice: int) -> None:
        name = self.topic(choice)
        self.broker.produce(name, f"open{choice}", transactional_id=f"tx-{choice % 3}", transaction="open")

    def end_transaction(self, choice: int) -> None:
        name = f"tx-{choice % 3}"
        open_one = self.broker.transactions[name]
        self.ask(EndTxnRequest(name, open_one.producer_id, open_one.producer_epoch, bool(choice % 2)))

    def hold_transaction(self, choice: int) -> None:
        self.broker.hold(f"tx-{choice % 3}", "PrepareCommit")
        self.end_transaction(choice % 3 + 3 * (1 - choice % 2))

    def produce_with_sequence(self, choice: int) -> None:
        """A producer of its own with two batches, the second of which is due next."""
        identity = self.ask(InitProducerIdRequest(None, 1000))
        topic = self.broker.topics[self.topic(choice)]
        for sequence in (0, 1):
            batch = build_batch(
                [Record(0, self.broker.clock.now_ms(), None, b"idempotent", ())],
                producer_id=identity.producer_id,
                producer_epoch=identity.producer_epoch,
                base_sequence=sequence,
            )
            data = TopicProduceData(topic.name, uuid_from_text(topic.topic_id), [PartitionProduceData(0, batch)])
            self.ask(ProduceRequest(None, -1, 1000, [data]))

    def delete_records(self, choice: int) -> None:
        self.broker.topic(self.topic(choice)).delete_records()

    def delete_group(self, choice: int) -> None:
        self.ask(DeleteGroupsRequest([[f"g{choice % 3}", _CONSUMER, _CLASSIC][choice % 3]]))

    def allow(self, choice: int) -> None:
        creation = create_acls.AclCreation(2, f"rights-{choice % 3}", 3, f"User:u{choice % 2}", "*", 3, 3)
        self.ask(create_acls.CreateAclsRequest([creation]))

    def limit(self, choice: int) -> None:
        entity = [alter_client_quotas.EntityData("user", f"u{choice % 2}")]
        operation = alter_client_quotas.OpData("producer_byte_rate", 1e9 + choice, choice % 4 == 3)
        self.ask(alter_client_quotas.AlterClientQuotasRequest([alter_client_quotas.EntryData(entity, [operation])]))

    def add_user(self, choice: int) -> None:
        name = f"u{choice % 3}"
        deletion = alter_user_scram_credentials.ScramCredentialDeletion(name, 1)
        addition = alter_user_scram_credentials.ScramCredentialUpsertion(name, 1, 4096 + choice, b"salt", bytes(32))
        request = AlterUserScramCredentialsRequest([deletion], [])
        self.ask(request if choice % 3 == 2 else AlterUserScramCredentialsRequest([], [addition]))

    def pass_time(self, choice: int) -> None:
        self.broker.clock.advance([1, 5, 50, 4000][choice % 4])
        self.reconnect()  # idle for too long, maybe
