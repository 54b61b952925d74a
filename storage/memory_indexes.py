"""The indexes of a segment in memory, in arrays that copies of the log share."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from odradek.storage.formats.segment_files import AbortedTxn, IndexEntry, TimeEntry


class _Columns:
    """Two arrays of the same length, which copies may share as prefixes.

    Only the owner appends to shared arrays, behind the part that the copies see (`count`), and nobody ever removes
    entries. A copy gets its own arrays with its first append; the owner gets new ones with a cut. So the cost of a copy
    does not depend on its size, and another thread may use it.
    """

    __slots__ = ("_owned", "count", "max_entries", "one", "two")

    def __init__(self, max_entries: int, prefix_of: _Columns | None = None, count: int = 0) -> None:
        self.one: array[int] = array("q") if prefix_of is None else prefix_of.one
        self.two: array[int] = array("q") if prefix_of is None else prefix_of.two
        self.count = count
        self.max_entries = max_entries
        self._owned = prefix_of is None

    def append(self, one: int, two: int) -> None:
        if not self._owned:
            self._own()
        self.one.append(one)
        self.two.append(two)
        self.count += 1

    def cut(self, count: int) -> None:
        """Keep only the first `count` entries."""
        if count < self.count:
            self.count = count
            self._own()

    def copied(self, count: int) -> _Columns:
        """An independent copy of the first `count` entries."""
        return _Columns(self.max_entries, self, count)

    def _own(self) -> None:
        self.one, self.two = self.one[: self.count], self.two[: self.count]
        self._owned = True

    def is_full(self) -> bool:
        return self.count >= self.max_entries

    def first_from(self, column: array[int], value: int) -> int:
        """The index of the first entry whose value in this column is not smaller."""
        return bisect_left(column, value, 0, self.count)

    def last_to(self, column: array[int], value: int) -> int:
        """The index of the last entry whose value in this column is not larger; -1 without one."""
        return bisect_right(column, value, 0, self.count) - 1

    def pairs(self) -> Iterable[tuple[int, int]]:
        return zip(self.one[: self.count], self.two[: self.count], strict=True)


class MemoryOffsetIndex:
    """The offset index in memory."""

    __slots__ = ("_columns",)

    def __init__(self, max_bytes: int) -> None:
        self._columns = _Columns(max(1, max_bytes // 8))

    def append(self, offset: int, position: int) -> None:
        self._columns.append(offset, position)

    def floor(self, offset: int) -> int:
        columns = self._columns
        i = columns.last_to(columns.one, offset)
        return columns.two[i] if i >= 0 else 0

    def floor_position(self, position: int) -> int:
        columns = self._columns
        i = columns.last_to(columns.two, position)
        return columns.two[i] if i >= 0 else 0

    def offset_at_or_after(self, position: int) -> int | None:
        columns = self._columns
        i = columns.first_from(columns.two, position)
        return columns.one[i] if i < columns.count else None

    def is_full(self) -> bool:
        return self._columns.is_full()

    def entries(self) -> Sequence[IndexEntry]:
        return [IndexEntry(*pair) for pair in self._columns.pairs()]

    def truncate(self, offset: int) -> None:
        columns = self._columns
        columns.cut(columns.first_from(columns.one, offset))

    def copy_below(self, offset: int) -> MemoryOffsetIndex:
        """An index of its own with the entries below `offset`."""
        other = MemoryOffsetIndex(0)
        columns = self._columns
        other._columns = columns.copied(columns.first_from(columns.one, offset))
        return other

    def flush(self) -> None: ...
    def close(self) -> None: ...


class MemoryTimeIndex:
    """The time index in memory."""

    __slots__ = ("_columns",)

    def __init__(self, max_bytes: int) -> None:
        self._columns = _Columns(max(1, max_bytes // 12))

    def append(self, timestamp: int, offset: int) -> None:
        columns = self._columns
        if columns.count and timestamp <= columns.one[columns.count - 1]:
            return
        columns.append(timestamp, offset)

    def floor(self, timestamp: int) -> int:
        columns = self._columns
        i = columns.last_to(columns.one, timestamp)
        return columns.two[i] if i >= 0 else -1

    def last(self) -> TimeEntry:
        columns = self._columns
        end = columns.count - 1
        return TimeEntry(columns.one[end], columns.two[end]) if end >= 0 else TimeEntry(-1, -1)

    def is_full(self) -> bool:
        return self._columns.is_full()

    def entries(self) -> Sequence[TimeEntry]:
        return [TimeEntry(*pair) for pair in self._columns.pairs()]

    def truncate(self, offset: int) -> None:
        columns = self._columns
        columns.cut(columns.first_from(columns.two, offset))

    def copy_below(self, offset: int) -> MemoryTimeIndex:
        """An index of its own with the entries below `offset`."""
        other = MemoryTimeIndex(0)
        columns = self._columns
        other._columns = columns.copied(columns.first_from(columns.two, offset))
        return other

    def flush(self) -> None: ...
    def close(self) -> None: ...


class MemoryTxnIndex:
    """The aborted transactions of a segment in a list."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[AbortedTxn] = []

    def append(self, entry: AbortedTxn) -> None:
        self._entries.append(entry)

    def entries(self) -> Sequence[AbortedTxn]:
        return self._entries

    def truncate(self, offset: int) -> None:
        self._entries = [e for e in self._entries if e.last_offset < offset]

    def copy_below(self, offset: int) -> MemoryTxnIndex:
        """An index of its own with the transactions whose markers are below `offset`."""
        other = MemoryTxnIndex()
        other._entries = [e for e in self._entries if e.last_offset < offset]
        return other

    def flush(self) -> None: ...
    def close(self) -> None: ...
