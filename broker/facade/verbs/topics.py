"""Verbs of topics: their records, and the schemas that records are shown by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.records.record import (
    Headers,
    Isolation,
    ProducerRecord,
    RecordMetadata,
    Serializer,
    StoredRecord,
    TransactionEnd,
)
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
from odradek.broker.facade.topics import (
    TopicInfo,
    TopicSpec,
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


class TopicVerbs(TrioVerbs):
    """Topics: created, deleted and emptied."""

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

    async def delete_topic(self, name: str) -> None:
        """Delete a topic with its records and committed offsets. Raises KafkaError if it does not exist."""
        await self._call(lambda: delete_topic(self._cluster, name))

    async def delete_records(self, topic: str, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        """Delete the records before an offset, in one partition or in all; -1 deletes all records.

        Returns the first offset that is left in each partition. Raises KafkaError if Kafka would refuse it.
        """
        return await self._call(lambda: delete_records(self._cluster, topic, partition, before))


class RecordVerbs(TrioVerbs):
    """Records: written, and waited for."""

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
        """Write a record to the leader, as a client with acks=1 would. Waiting consumers receive it.

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

    async def wait_records(
        self,
        topic: str,
        count: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> list[StoredRecord]:
        """Wait until the topic holds at least ``count`` records, and return them all, partition after partition.

        Raises TimeoutError, with the number of records in each partition, after ``timeout`` seconds.
        """
        from odradek.broker.facade.records.watching import RecordWait

        with RecordWait(self._look, self._cluster.topics, topic, count, partition, isolation, timeout) as waiting:
            return await waiting.trio_wait(apart=self._apart)


class SchemaVerbs(TrioVerbs):
    """Schemas for decoding records that a test or the page looks at."""

    def set_schema(
        self,
        topic: str,
        schema: str | bytes,
        *,
        part: Part = "value",
        kind: Kind | None = None,
        message: str | None = None,
        schema_id: int | None = None,
    ) -> Pending[TrioUndo]:
        """Set the schema of a topic's values or keys. `Records.decoded` and the page use it; clients do not see it.

        ``schema`` is Avro's JSON, the text of a .proto file (which protoc reads in a process of its own), or the bytes
        of a descriptor set. ``kind`` is ``avro`` or ``protobuf``, if the schema does not show it. ``message`` is the
        full name of the Protobuf message, by default the first one of the file. With ``schema_id`` the schema applies
        to data that start with this id (Confluent's wire format), without it to all other data. The topic need not
        exist. `reset` keeps schemas. Raises ValueError if the schema cannot be read, ImportError without the extra
        ``schemas``.
        """
        from odradek.broker.facade.records.decoded import SchemaChange

        change = SchemaChange(topic, part, schema_id, schema, kind, message)
        schemas = self._cluster.record_schemas
        return self._undone_by(lambda: change.make(schemas), lambda: change.undo(schemas))

    def stop_schema_registry(self) -> Pending[TrioUndo]:
        """Take the schema registry down: it refuses connections and keeps its schemas and its address.

        ``async with`` brings it back at the end. RuntimeError if there is no registry, or if it is down already.
        """
        registry = self._schema_registry
        return self._undone_by(registry.stop, registry.resume)

    async def start_schema_registry(self) -> None:
        """Bring the schema registry back; nothing happens if it is not down. OSError if its address is taken."""
        await self._call(self._schema_registry.resume)

    async def remove_schema(self, topic: str, *, part: Part = "value", schema_id: int | None = None) -> None:
        """Remove a schema that `set_schema` has set. Does nothing if there is none."""
        from odradek.broker.facade.records.decoded import SchemaChange

        change = SchemaChange(topic, part, schema_id, None)
        await self._call(lambda: change.make(self._cluster.record_schemas))
