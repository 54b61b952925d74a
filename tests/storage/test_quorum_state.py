"""quorum-state: Kafka's read and rewritten to the byte, ours whole after a crash at every call."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import CheckpointFormatError
from odradek.storage.file_system import FileSystem
from odradek.storage.quorum_state import (
    QUORUM_STATE,
    QuorumState,
    format_quorum_state,
    parse_quorum_state,
    read_quorum_state,
    write_quorum_state,
)
from tests.fakes.file_system import Crash, FaultyFileSystem
from tests.protocol.metadata_logs import metadata_file

RECORDED = {
    "static": QuorumState(5, 0, voters=(0,)),
    "dynamic": QuorumState(2, 0, version=1),
    "nodes": QuorumState(1, 1, 1, voters=(1, 2, 3)),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_quorum_state_file_of_kafka_is_read(name: str) -> None:
    data = metadata_file(f"{name}/{QUORUM_STATE}")
    assert parse_quorum_state(data) == RECORDED[name]
    assert format_quorum_state(RECORDED[name]) == data


def test_a_vote_with_its_directory_comes_back() -> None:
    state = QuorumState(7, voted_id=2, voted_directory_id=bytes(range(16)), version=1)
    assert parse_quorum_state(format_quorum_state(state)) == state


def test_no_voters_are_null_or_absent() -> None:
    text = '{"leaderId":0,"leaderEpoch":1,"votedId":-1,%s"data_version":0}'
    for voters in ("", '"currentVoters":null,', '"currentVoters":[],'):
        assert parse_quorum_state((text % voters).encode()).voters == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "data_version is not an integer"),
        (b'{"data_version":2}', "data_version 2 is neither 0 nor 1"),
        (b'{"data_version":1}', "leaderEpoch is not an integer"),
        (b'{"data_version":0,"leaderEpoch":true,"leaderId":0,"votedId":0}', "leaderEpoch is not an integer: True"),
        (b'{"data_version":0,"leaderEpoch":1,"leaderId":0,"votedId":-1,"currentVoters":[1]}', "not a list of voters"),
        (
            b'{"data_version":0,"leaderEpoch":1,"leaderId":0,"votedId":-1,"currentVoters":[{}]}',
            "voterId is not an integer",
        ),
        (b'{"data_version":1,"leaderEpoch":1,"leaderId":0,"votedId":-1,"votedDirectoryId":"x"}', "not a UUID"),
    ],
)
def test_quorum_state_file_that_is_damaged_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(CheckpointFormatError, match=message):
        parse_quorum_state(data)
    (tmp_path / QUORUM_STATE).write_bytes(data)
    with pytest.raises(StorageError, match=f"quorum-state: .*{message}"):
        read_quorum_state(FileSystem(), tmp_path)


def test_no_file_is_no_state(tmp_path: Path) -> None:
    assert read_quorum_state(FileSystem(), tmp_path) is None


def test_a_crash_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    old, new = QuorumState(1, 0, voters=(0,)), QuorumState(2, 0, version=1)
    stop = 0
    while True:
        write_quorum_state(FileSystem(), tmp_path, old)
        fs = FaultyFileSystem(stop_at=stop)
        try:
            write_quorum_state(fs, tmp_path, new)
        except Crash:
            assert read_quorum_state(FileSystem(), tmp_path) in (old, new)
            stop += 1
            continue
        assert read_quorum_state(fs, tmp_path) == new
        break
    assert stop == fs.calls >= 4
