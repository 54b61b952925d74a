"""The file `quorum-state` in the folder of `__cluster_metadata-0`: a node's leader, epoch and vote.

The file is one line of JSON without an end of line. Version 0 goes with kraft.version 0 (static voters), version 1 with
kraft.version 1 (KIP-853). Observed in directories that Kafka 4.4.0 wrote.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odradek.protocol.message import ZERO_UUID
from odradek.protocol.uuids import uuid_from_text, uuid_to_text
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import CheckpointFormatError
from odradek.storage.file_system import FileSystem

QUORUM_STATE = "quorum-state"
NOBODY = -1


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The content of the file. -1 stands for no node."""

    leader_epoch: int
    leader_id: int = NOBODY
    voted_id: int = NOBODY
    voted_directory_id: bytes = ZERO_UUID
    """Version 1 only."""
    voters: tuple[int, ...] = ()
    """Node ids; version 0 only."""
    version: int = 0


def format_quorum_state(state: QuorumState) -> bytes:
    """The bytes of a quorum-state file in the version of `state`."""
    election = {"leaderId": state.leader_id, "leaderEpoch": state.leader_epoch, "votedId": state.voted_id}
    fields: dict[str, Any]
    if state.version == 0:
        voters = [{"voterId": voter} for voter in state.voters]
        fields = {"clusterId": "", **election, "appliedOffset": 0, "currentVoters": voters}
    else:
        fields = {**election, "votedDirectoryId": uuid_to_text(state.voted_directory_id)}
    return json.dumps({**fields, "data_version": state.version}, separators=(",", ":")).encode()


def parse_quorum_state(data: bytes) -> QuorumState:
    """The inverse of `format_quorum_state`. Raises CheckpointFormatError."""
    fields = _first_line(data)
    version = _integer(fields, "data_version")
    if version not in (0, 1):
        raise CheckpointFormatError(f"data_version {version} is neither 0 nor 1")
    epoch, leader, voted = (_integer(fields, name) for name in ("leaderEpoch", "leaderId", "votedId"))
    if version == 0:
        return QuorumState(epoch, leader, voted, voters=_voters(fields))
    try:
        directory_id = uuid_from_text(str(fields.get("votedDirectoryId")))
    except ValueError as error:
        raise CheckpointFormatError(f"votedDirectoryId: {error}") from None
    return QuorumState(epoch, leader, voted, directory_id, version=1)


def _first_line(data: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(data.decode().partition("\n")[0])
    except ValueError as error:
        raise CheckpointFormatError(f"no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise CheckpointFormatError("no JSON object")
    return fields


def _voters(fields: dict[str, Any]) -> tuple[int, ...]:
    voters = fields.get("currentVoters") or []
    if not isinstance(voters, list) or not all(isinstance(voter, dict) for voter in voters):
        raise CheckpointFormatError("currentVoters is not a list of voters")
    return tuple(_integer(voter, "voterId") for voter in voters)


def _integer(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    if type(value) is not int:
        raise CheckpointFormatError(f"{name} is not an integer: {value!r}")
    return value


def write_quorum_state(fs: FileSystem, folder: Path, state: QuorumState) -> None:
    """Replace the file in the folder of `__cluster_metadata-0`, durably: a vote must not be forgotten."""
    fs.write_atomically(folder / QUORUM_STATE, format_quorum_state(state))


def read_quorum_state(fs: FileSystem, folder: Path) -> QuorumState | None:
    """The state; None without a file. Raises StorageError with the path if the file is invalid."""
    path = folder / QUORUM_STATE
    data = fs.read_if_any(path)
    try:
        return None if data is None else parse_quorum_state(data)
    except CheckpointFormatError as error:
        raise StorageError(f"{path}: {error}", str(path)) from None
