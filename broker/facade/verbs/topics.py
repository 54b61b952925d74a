"""The handle of a topic, and the verbs of records and of the schema registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.records.record import (
    Headers,
    Isolation,
    ProducerRecord,
    RecordMetadata,
    Records,
    Serializer,
    TransactionEnd,
)
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
from odradek.broker.facade.topics import (
    TopicInfo,
    TopicSpec,
    TopicView,
    config_texts,
    create_topic,
    delete_records,
    delete_topic,
    topic_info,
)
from odradek.broker.facade.verb_base import Pending, TrioVerbs
from odradek.broker.facade.verbs.undo import TrioUndo

if TYPE_CHECKING:
    from odradek.broker.schemas.record_schemas import Kind, Part


class TrioTopic(TopicView):
    """The handle of a topic, which need not exist yet. Every property takes a new snapshot."""

    def __init__(self, broker: TrioVerbs, name: str) -> None:
        super().__init__(name, broker.cluster, broker._look)
        self._broker = broker

    async def delete(self) -> None:
        """Delete the topic with its records and committed offsets. Raises KafkaError if it does not exist."""
        await self._broker._call(lambda: delete_topic(self._cluster, self.name))

    async def delete_records(self, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        """Delete the records before an offset, in one partition or in all; -1 deletes all records.

        Returns the first offset that is left in each partition. Raises KafkaError if Kafka would refuse it.
        """
        return await self._broker._call(lambda: delete_records(self._cluster, self.name, partition, before))

    async def wait(
        self,
        records: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> Records:
        """Wait until the topic, or the partition, holds at least so many records, and return them all.

        Raises TimeoutError, with the number of records in each partition, after ``timeout`` seconds.
        """
        from odradek.broker.facade.records.watching import RecordWait

        topics = self._cluster.topics
        with RecordWait(self._look, topics, self.name, records, partition, isolation, timeout) as waiting:
            await waiting.trio_wait(offload=self._broker._offload)
        return self._broker.records(self.name, partition, isolation=isolation)

    def move_leader(self, partition: int, node_id: int) -> Pending[TrioUndo]:
        """Make another in-sync replica the leader of a partition.

        ``async with`` moves the leadership back at the end of the block, if that is still possible.
        """
        from odradek.broker.nodes.node_life import move_leader

        return self._broker._undoable(lambda: move_leader(self._cluster, self.name, partition, node_id))

    async def elect(self, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False) -> None:
        """Elect the leader of one partition, or of all: the preferred replica, or the in-sync replica on ``node_id``.

        With ``unclean``, a partition without a leader gets a live replica as its leader even if records are lost: the
        first live one, or the one on ``node_id``.
        """
        from odradek.broker.nodes.node_life import elect

        await self._broker._call(lambda: elect(self._cluster, self.name, partition, node_id=node_id, unclean=unclean))

    def reassign(self, partition: int, replicas: Sequence[int]) -> Pending[TrioUndo]:
        """Move a partition to other replicas, the preferred leader first.

        The reassignment completes when the new replicas are in sync: at once, unless a test keeps records from them.
        ``async with`` cancels it at the end of the block if it has not completed.
        """
        from odradek.broker.nodes.links import reassign

        return self._broker._undoable(lambda: reassign(self._cluster, self.name, partition, replicas))

    def pause_replication(self, partition: int | None, node_id: int) -> Pending[TrioUndo]:
        """Stop a follower from replicating one partition, or all if None. The node keeps serving clients.

        The follower leaves the ISR after ``replica.lag.time.max.ms`` on the broker's clock.
        """
        from odradek.broker.nodes.links import pause_replication

        return self._broker._undoable(lambda: pause_replication(self._cluster, self.name, partition, node_id))

    def lag_replication(
        self,
        partition: int | None,
        node_id: int,
        *,
        records: int | None = None,
        size_bytes: int | None = None,
        seconds: float | None = None,
    ) -> Pending[TrioUndo]:
        """Keep a follower this many records, bytes or seconds behind its leader. Give exactly one of the three."""
        from odradek.broker.nodes.links import lag_replication

        measure: dict[str, Any] = {"records": records, "size_bytes": size_bytes, "seconds": seconds}
        return self._broker._undoable(lambda: lag_replication(self._cluster, self.name, partition, node_id, **measure))

    def set_schema(
        self,
        schema: str | bytes,
        *,
        part: Part = "value",
        kind: Kind | None = None,
        message: str | None = None,
        schema_id: int | None = None,
    ) -> Pending[TrioUndo]:
        """Set the schema of the topic's values or keys. `Records.decoded` and the page use it; clients do not see it.

        ``schema`` is Avro's JSON, the text of a .proto file (which protoc reads in a process of its own), or the bytes
        of a descriptor set. ``kind`` is ``avro`` or ``protobuf``, if the schema does not show it. ``message`` is the
        full name of the Protobuf message, by default the first one of the file. With ``schema_id`` the schema applies
        to data that start with this id (Confluent's wire format), without it to all other data. The topic need not
        exist. `reset` keeps schemas. Raises ValueError if the schema cannot be read, ImportError without the extra
        ``schemas``.
        """
        from odradek.broker.facade.records.reading import schema_change

        change = schema_change(self._cluster.record_schemas, self.name, part, schema_id, schema, kind, message)
        return self._broker._undoable(lambda: change())

    async def remove_schema(self, *, part: Part = "value", schema_id: int | None = None) -> None:
        """Remove a schema that `set_schema` has set. Does nothing if there is none."""
        from odradek.broker.facade.records.reading import schema_change

        await self._broker._call(schema_change(self._cluster.record_schemas, self.name, part, schema_id, None))


class TopicVerbs(TrioVerbs):
    """Topics, their records, and the registry of their schemas."""

    def topic(self, name: str) -> TrioTopic:
        """The handle of a topic: ``broker.topic("orders").partitions``."""
        return TrioTopic(self, name)

    async def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        config: Mapping[str, Any] | None = None,
    ) -> TopicInfo:
        """Create a topic. It is ready when the call returns. Raises KafkaError if Kafka would refuse it."""
        spec = TopicSpec(partitions, replication_factor, config_texts(config or {}))
        return await self._call(lambda: topic_info(create_topic(self._cluster, name, spec), self._cluster.image))

    async def produce(
        self,
        topic: str,
        value: Any = None,
        *,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
        transactional_id: str | None = None,
        transaction: TransactionEnd = "commit",
    ) -> RecordMetadata:
        """Write a record to the leader. Waiting consumers receive it.

        It does not wait for followers. A partition with fewer in-sync replicas than ``min.insync.replicas`` refuses it.

        Keys and values are bytes, text (encoded as UTF-8), None, or whatever the serializer takes. ``timestamp`` is in
        milliseconds since 1970 and defaults to the broker's time. Without ``partition`` the key decides, as in the Java
        client (murmur2); records without a key go to the partitions in turn. With ``transactional_id`` the record is
        written in a transaction of its own, which is committed, aborted or left ``"open"``; a transaction that the id
        left open before is aborted first. The call does not wait for ``odradek.flush``, and does not create the topic.
        Raises KafkaError if Kafka would refuse the record.
        """
        record = ProducerRecord(value, key, headers, partition, timestamp)
        written = await self.produce_all(
            topic,
            [record],
            key_serializer=key_serializer,
            value_serializer=value_serializer,
            transactional_id=transactional_id,
            transaction=transaction,
        )
        return written[0]

    async def produce_all(
        self,
        topic: str,
        records: Iterable[Any],
        *,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
        transactional_id: str | None = None,
        transaction: TransactionEnd = "commit",
    ) -> list[RecordMetadata]:
        """Write records, each a `ProducerRecord` or just a value; see `produce`. One transaction holds them all.

        Returns the position of each record, in order. Records written before an error stay, unless they are in a
        transaction, which is aborted.
        """
        seeding = self._seeding(topic, key_serializer, value_serializer)
        return await self._steps(seeding.write(records, transactional_id, transaction))

    def stop_schema_registry(self) -> Pending[TrioUndo]:
        """Take the schema registry down: it refuses connections and keeps its schemas and its address.

        ``async with`` brings it back at the end of the block, as `reset` does. RuntimeError if there is no registry, or
        if it is down already.
        """
        registry = self._schema_registry
        return self._undoable(lambda: registry.stop())
