"""How many records there are in what was sent, by the headers of the batches."""

from __future__ import annotations

from odradek.protocol.file_slice import joined
from odradek.protocol.message import Records
from odradek.protocol.record_batch import CONTROL_FLAG, HEADER, HEADER_SIZE, LOG_OVERHEAD


def count_records(records: Records | None) -> int | None:
    """The records of some batches, without transaction markers; None if not all headers were kept.

    The last batch may be cut short by the size that its reader asked for: it does not count.
    """
    if records is None:
        return 0
    data = memoryview(records if isinstance(records, bytes | bytearray | memoryview) else joined(records))
    count = position = 0
    while position + HEADER_SIZE <= len(data):
        fields = HEADER.unpack_from(data, position)
        length, magic, attributes, number = fields[1], fields[3], fields[5], fields[12]
        if length <= 0 or magic != 2:
            return None
        position += LOG_OVERHEAD + length
        if position <= len(data) and not attributes & CONTROL_FLAG:
            count += number
    return count
