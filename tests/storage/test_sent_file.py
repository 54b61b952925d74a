"""A segment's file while answers take bytes from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from odradek.protocol.file_slice import FileSlice
from odradek.storage.sent_file import SentFile
from tests.fakes.file_system import FaultyFileSystem


def test_it_is_open_as_long_as_a_slice_of_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789" * 10)
    fs = FaultyFileSystem()
    descriptor = fs.open_read(path)
    part = FileSlice(SentFile(fs, descriptor, memoryview(path.read_bytes())), 10, 50)
    path.unlink()
    rest = part.after(45)
    del part
    assert os.pread(rest.source.descriptor, rest.length, rest.offset) == bytes(rest.view()) == rest.head(9) == b"56789"
    del rest
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
