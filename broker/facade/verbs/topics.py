"""Verbs of topics: their records, and the schemas that records are shown by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending
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
from odradek.broker.facade.verbs.undo import TrioUndo

if TYPE_CHECKING:
    from odradek.broker.schemas.record_schemas import Kind, Part


class TopicVerbs(TrioFlavour):
    """Topics that come, go and are emptied."""

    async def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        config: Mapping[str, Any] | None = None,
    ) -> TopicInfo:
        """Create a topic, ready when the call returns; KafkaError if Kafka would refuse it."""
        spec = TopicSpec(partitions, replication_factor, config_texts(config or {}))
        return await self._call(lambda: topic_info(create_topic(self._cluster, name, spec), self._cluster.image))

    async def delete_topic(self, name: str) -> None:
        """Delete a topic with its records and what groups have committed in it; KafkaError if there is none."""
        await self._call(lambda: delete_topic(self._cluster, name))

    async def delete_records(self, topic: str, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        """Delete what lies before an offset, of one partition or of each; -1 is all that there is.

        Returns the first offset that is left, by partition. KafkaError as Kafka refuses it.
        """
        return await self._call(lambda: delete_records(self._cluster, topic, partition, before))


class RecordVerbs(TrioFlavour):
    """Records that are written, and waited for."""

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
        """Write a record to the leader, as a client with acks=1 would; consumers that wait for it get it.

        Keys and values are bytes, text (UTF-8), None, or what the serializer takes; ``timestamp`` is in milliseconds
        since 1970, by default the broker's time. Without ``partition`` the key decides as in the Java client (murmur2);
        records without a key go to the partitions in turn. ``transactional_id``: in a transaction of its own, which is
        committed, aborted or left ``"open"``; what the id had left open is aborted first. KafkaError as Kafka refuses
        it; a topic that does not exist is not created. The call does not wait for ``odradek.flush``.
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

        Returns where each lies, in order. What was written before an error stays, unless it is in a transaction: that
        is aborted.
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
        """Wait until the topic holds ``count`` records or more, and return them, partition after partition.

        TimeoutError, with the numbers that there are, after seconds.
        """
        from odradek.broker.facade.records.watching import RecordWait

        with RecordWait(self._look, self._cluster.topics, topic, count, partition, isolation, timeout) as waiting:
            return await waiting.trio_wait()


class SchemaVerbs(TrioFlavour):
    """Which schemas the records of topics have, for whoever looks at them."""

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
        """Say which schema the values (or keys) of a topic have: `decoded_records` and the page show them by it.

        ``schema``: Avro's JSON, the text of a .proto file (which protoc reads in a process of its own), or the bytes
        of a descriptor set. ``kind``: ``avro`` or ``protobuf``, if that is not clear. ``message``: the full name of
        the Protobuf message, by default the first of the file. ``schema_id``: only for data that begin with this id
        (Confluent's wire format); without it, for all others. The topic need not exist; clients see nothing of it. A
        reset leaves schemas alone. ValueError for what is no schema; ImportError without the extra ``schemas``.
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
        """Forget a schema that `set_schema` has set; nothing happens if there is none."""
        from odradek.broker.facade.records.decoded import SchemaChange

        change = SchemaChange(topic, part, schema_id, None)
        await self._call(lambda: change.make(self._cluster.record_schemas))
