"""Verbs of records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.producer_record import Headers, ProducerRecord, RecordMetadata, Serializer, TransactionEnd
from odradek.broker.facade.stored_record import Isolation, StoredRecord


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
        from odradek.broker.facade.record_wait import RecordWait

        with RecordWait(self._look, self._cluster.topics, topic, count, partition, isolation, timeout) as waiting:
            return await waiting.trio_wait()
