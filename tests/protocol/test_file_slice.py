"""Slices of files among the parts of an answer."""

from __future__ import annotations

from odradek.protocol.file_slice import FileSlice, in_memory, joined


class Source:
    """A file that counts how often its bytes are looked at."""

    descriptor = 3

    def __init__(self) -> None:
        self.looks = 0

    def view(self, offset: int, length: int) -> memoryview:
        self.looks += 1
        return memoryview(bytes(range(100)))[offset : offset + length]

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self.view(offset, length))


def test_a_slice_is_bytes_of_its_file() -> None:
    part = FileSlice(Source(), 10, 5)
    assert len(part) == 5
    assert bytes(part.view()) == bytes(range(10, 15))
    assert part.head(2) == bytes([10, 11])
    assert part.head(60) == bytes(part.view())
    assert bytes(part.after(3).view()) == bytes([13, 14])
    assert len(part.after(5)) == 0


def test_nothing_is_read_before_somebody_looks() -> None:
    source = Source()
    part = FileSlice(source, 0, 9).after(1)
    assert "8 bytes from 1 of file 3" in repr(part)
    assert source.looks == 0


def test_parts_as_buffers() -> None:
    part = FileSlice(Source(), 97, 3)
    view = memoryview(b"mid")
    assert in_memory([b"head", part, view]) == [b"head", bytes([97, 98, 99]), view]
    assert joined([b"head", part, view]) == b"head" + bytes([97, 98, 99]) + b"mid"
