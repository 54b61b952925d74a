"""A client's batch that was looked at before it is appended."""

from __future__ import annotations

from odradek.protocol.errors import CorruptDataError, KafkaError
from odradek.protocol.records import Buffer


class CheckedRecords(bytes):
    """What the client sent. `stored`: the batch as the log stores it; `error`: why it is refused, or None.

    The checks of sequence and transaction are made when it is appended, as for every batch.
    """

    stored: Buffer
    error: KafkaError | CorruptDataError | None

    def __new__(
        cls, records: Buffer, stored: Buffer, error: KafkaError | CorruptDataError | None = None
    ) -> CheckedRecords:
        made = super().__new__(cls, records)
        made.stored = stored
        made.error = error
        return made
