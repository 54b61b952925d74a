"""How long a Fetch waits for data.

It waits for `min_bytes`, at most `max_wait_ms`, and is woken by what changes its partitions; it never polls. As in
Kafka it does not read again before its end: it compares where it reads with where the log ends. The wait is over

- where its offset is in an older segment than the end: the read would end with the segment, whatever comes;
- where its offset is behind the end: beyond the last stable offset, or of a log that was cut off;
- when a partition is deleted, has another leader or leader epoch, or diverges from the epoch that the client knows;
- when the partitions together have `min_bytes`, of each at most its `partition_max_bytes`.

What DeleteRecords or retention removes ends no wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.api.fetch_sources import diverging
from odradek.broker.requests.parked_request import ParkedInPartitions
from odradek.protocol.errors import CorruptDataError, KafkaError

if TYPE_CHECKING:
    from odradek.broker.api.fetch_reader import FetchReader
    from odradek.broker.partitions.fetch_sessions import FetchItem
    from odradek.broker.partitions.partition import Partition
    from odradek.protocol.generated.messages.fetch import FetchResponse


class ParkedFetch(ParkedInPartitions):
    """A fetch that waits for more data in any of its partitions: from `is_over` on, unless that was so at once."""

    __slots__ = ("_awaited", "_items", "_partitions", "_plain", "_reader")

    def __init__(self, reader: FetchReader) -> None:
        super().__init__(reader.ctx.services.clock, reader.request.max_wait_ms)
        reader.waited = True
        self._reader = reader
        self._items = [item for item in reader.items if item.partition is not None]
        self._partitions: list[Partition] = [item.partition for item in self._items]  # type: ignore[misc]
        # The usual fetch takes any byte behind the ends of its partitions: it reads, and compares only what is odd.
        self._plain = reader.min_bytes <= 1 and reader.at_ends
        self._awaited: list[_Awaited] | None = None

    def look(self, due: bool) -> FetchResponse | None:
        reader = self._reader
        if self._plain and not due:
            reader.read()
            if reader.size:
                return reader.answer()
        if due or self.is_over():
            reader.read()
            return reader.answer()
        return None

    def is_over(self) -> bool:
        """Whether there is an answer before the time is over. If not, this waits for what is missing."""
        reader = self._reader
        missing_bytes = reader.min_bytes
        if not (self._plain and reader.at_ends):
            try:
                if self._awaited is None:
                    self._awaited = list(map(_Awaited, self._items, self._partitions))
                for awaited in self._awaited:
                    size = awaited.available(reader)
                    if size < 0:
                        return True
                    missing_bytes -= size
            except (KafkaError, CorruptDataError):
                return True
            if missing_bytes <= 0:
                return True
        follows = reader.follower_id >= 0
        sets = [partition.waiters for partition in self._partitions]
        self.wait_in(sets, missing_bytes, committed=reader.committed, uncommitted=follows)
        return False


class _Awaited:
    """One partition of a fetch: where it reads, as it was when the wait began.

    It may be made later where the wait began at the end of what can be read, which may not be there any more.
    """

    __slots__ = ("item", "offset", "partition", "position", "segment")

    def __init__(self, item: FetchItem, partition: Partition) -> None:
        self.item = item
        self.partition = partition
        log = partition.log
        self.offset, self.segment, self.position = log.place_of(item.fetch_offset)
        if item.fetch_offset >= log.log_end_offset:
            self.offset = item.fetch_offset

    def available(self, reader: FetchReader) -> int:
        """The bytes that can be read now; -1 if the wait is over. Raises if reading would fail."""
        item, partition = self.item, self.partition
        if partition.deleted:
            return -1
        log, end, high_watermark, stable = reader.ends(item, partition)
        up_to = end if reader.follower_id >= 0 else stable if reader.committed else high_watermark
        size = 0
        if self.offset != up_to:
            if self.offset > up_to:
                return -1
            _, segment, position = log.place_of(up_to)
            if self.segment < segment:
                return -1
            if self.segment == segment:
                size = min(position - self.position, item.max_bytes)
        if item.last_fetched_epoch >= 0 and diverging(log, end, item) is not None:
            return -1
        return size
