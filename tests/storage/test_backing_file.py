"""Extents of files without a name."""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.protocol.file_slice import WORTH_SENDING
from odradek.storage.backing_file import BackingFile, temporary_file
from odradek.storage.chunks import ChunkPool
from tests.fakes.held_file import settle
from tests.storage.chunk_stores import filled, whole


def blocks(file: BackingFile) -> int:
    """Bytes that the file takes."""
    return os.fstat(file.descriptor).st_blocks * 512


def test_extents_keep_what_is_written() -> None:
    file = temporary_file()
    one, two = file.extent(10_000), file.extent(5)
    one.write(b"a" * 6000 + b"b" * 4000)
    two.write(b"\0\0\0xy")
    assert bytes(one.view(one.offset + 5998, 4)) == b"aabb"
    assert bytes(two.view(two.offset, 5)) == b"\0\0\0xy"
    assert one.size >= 10_000
    assert two.offset >= one.offset + one.size


def test_views_are_read_only_and_outlive_their_extent() -> None:
    file = temporary_file()
    extent = file.extent(300_000)
    extent.write(b"z" * 300_000)
    view = extent.view(extent.offset + 100_000, 100_000)
    assert view.readonly
    del extent, file
    gc.collect()
    assert bytes(view) == b"z" * 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="holes are made on Linux")
def test_room_is_given_back_when_nobody_looks_any_more() -> None:
    file = temporary_file()
    extents = [file.extent(1 << 20) for _ in range(4)]
    for extent in extents:
        extent.write(b"q" * (1 << 20))
    view = extents[2].view(extents[2].offset, 10)
    full = blocks(file)
    assert full >= 4 << 20
    del extent, extents
    assert blocks(file) <= full - (3 << 20)
    assert blocks(file) >= 1 << 20
    assert bytes(view) == b"q" * 10
    del view
    assert blocks(file) < 1 << 20
    assert file.extent(1 << 20).offset >= 8 << 20, "what may be in a socket is not written over"


@pytest.mark.skipif(sys.platform != "linux", reason="files are sent by descriptor on Linux")
def test_a_hole_takes_nothing_of_what_a_socket_has() -> None:
    file = temporary_file()
    sizes = (300_000, 1_000_000, 64 * 1024, 5000, 3_000_000)
    extents = [file.extent(size) for size in sizes]
    large = [extent for extent, size in zip(extents, sizes, strict=True) if size >= WORTH_SENDING]
    assert all(extent.offset % (2 << 20) == 0 for extent in large), "no page of the system holds parts of two of them"
    assert sorted(extents, key=lambda extent: extent.offset) == extents
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    with client, server:
        for extent in extents:
            extent.write(b"q" * extent.size)
        sent = os.sendfile(server.fileno(), file.descriptor, extents[0].offset, 300_000)
        full = blocks(file)
        del extent, extents, large
        assert blocks(file) <= full - sum(sizes), "all of the room is back"
        assert client.recv(sent, socket.MSG_WAITALL) == b"q" * sent


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_file_closes_with_its_last_extent_and_has_no_name() -> None:
    file = temporary_file()
    extent = file.extent(10)
    link = Path(f"/proc/self/fd/{file.descriptor}")
    assert "(deleted)" in str(link.readlink())
    descriptor = file.descriptor
    del file
    os.fstat(descriptor)
    del extent
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_without_holes_the_room_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.storage.backing_file._PUNCHES", False)
    file = temporary_file()
    first = file.extent(70_000)
    offset = first.offset
    del first
    assert file.extent(200_000).offset != offset
    assert file.extent(70_000).offset == offset


def test_a_folder_for_temporary_files_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert os.fstat(temporary_file().descriptor).st_dev == tmp_path.stat().st_dev


@pytest.mark.skipif(sys.platform != "linux", reason="holes are made on Linux")
def test_room_may_be_given_back_later() -> None:
    file = temporary_file()
    jobs: list[Callable[[], None]] = []
    file.later = jobs.append
    extent = file.extent(1 << 20)
    extent.write(b"q" * (1 << 20))
    full = blocks(file)
    del extent
    assert blocks(file) == full
    (job,) = jobs
    job()
    assert blocks(file) < full


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_backing_file_continues_short_writes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    file = temporary_file()
    write_some = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: write_some(fd, data[:most], at))
    file.write(b"abcdefgh", 2)
    assert os.pread(file.descriptor, 20, 0) == b"\0\0abcdefgh"


@pytest.fixture
def without_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: reading and writing move the position of the file."""
    for name in ("pread", "preadv", "pwrite", "pwritev", "sendfile"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr("odradek.storage.backing_file._PUNCHES", False)


@pytest.mark.usefixtures("without_positions")
def test_where_positions_cannot_be_written_to() -> None:
    file = temporary_file()
    file.write(b"abcde", 2)
    file.write(b"x", 0)
    assert file.read(0, 20) == b"x\0abcde"


@pytest.mark.usefixtures("without_positions")
def test_a_reader_does_not_move_what_is_being_written() -> None:
    file = temporary_file()
    extents = [file.extent(1 << 20) for _ in range(8)]
    over = threading.Event()
    wrong: list[bytes] = []

    def look() -> None:
        while not over.is_set():
            for extent in extents[:2]:
                seen = extent.read(extent.offset + 5000, 10), bytes(extent.view(extent.offset + 5000, 10))
                wrong.extend(each for each in seen if each not in (bytes(10), b"w" * 10))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for extent in extents:
            extent.write(b"w" * (1 << 20))
    finally:
        over.set()
        reader.join()
    assert not wrong
    assert all(extent.read(extent.offset, 1 << 20) == b"w" * (1 << 20) for extent in extents)


@pytest.mark.usefixtures("without_positions")
def test_chunk_pool_works_in_a_backing_file() -> None:
    pool = ChunkPool(2 << 20)
    stores = [filled(pool, [size] * (4_000_000 // size)) for size in (300, 200_000)]
    settle(pool)
    assert pool.held <= 3 << 20
    assert all(whole(store) == model for store, model in stores)
