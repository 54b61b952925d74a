"""Records that are written to a broker in another process."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.producer_record import (
    ProducerRecord,
    RecordMetadata,
    Serializer,
    TransactionEnd,
    header_pairs,
    serialized,
)

if TYPE_CHECKING:
    from odradek.broker.facade.remote.transport import Transport

_AT_ONCE = 5000
"""How many records one request holds."""


class RemoteSeeding:
    """Writes records to one topic over HTTP; see `facade.seeding.Seeding`. Serializers run here.

    A transaction is one request, and holds 64 MB at most.
    """

    def __init__(
        self, remote: Transport, topic: str, key_serializer: Serializer | None, value_serializer: Serializer | None
    ) -> None:
        self._remote = remote
        self._topic = topic
        self._serializers = key_serializer, value_serializer

    def write(
        self, records: Iterable[Any], transactional_id: str | None, transaction: TransactionEnd
    ) -> Generator[None, None, list[RecordMetadata]]:
        """Write every record, request after request; gives where each lies."""
        rows = [self._row(each) for each in records]
        size = max(1, len(rows)) if transactional_id is not None else _AT_ONCE
        written: list[RecordMetadata] = []
        for start in range(0, max(1, len(rows)), size):
            written += self._remote.call(
                "produce_all",
                topic=self._topic,
                records=rows[start : start + size],
                transactional_id=transactional_id,
                transaction=transaction,
            )
            yield
        return written

    def _row(self, given: Any) -> dict[str, Any]:
        """A record as JSON, with what the serializers make of it."""
        key_serializer, value_serializer = self._serializers
        record = given if isinstance(given, ProducerRecord) else ProducerRecord(given)
        row = {
            "value": serialized(record.value, value_serializer, "value"),
            "key": serialized(record.key, key_serializer, "key"),
            "headers": [list(pair) for pair in header_pairs(record.headers)],
            "partition": record.partition,
            "timestamp": record.timestamp,
        }
        return {name: each for name, each in row.items() if each is not None or name == "value"}
