"""Members of a group by the classic protocol, that read what is committed and commit how far they came."""

from __future__ import annotations

import json
from typing import Any

import trio

from odradek.protocol.control import committed_batches
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.records import Record
from tests.chaos.history import History, Place
from tests.chaos.wire import GROUP, LostError, Wire, WrongError

SESSION_TIMEOUT_MS = 6000
REBALANCE_TIMEOUT_MS = 8000
_TYPE = "chaos"


class RejoinError(Exception):
    """The group goes on without this member, or in a new generation."""


async def fetch(wire: Wire, place: Place, offset: int, *, max_wait_ms: int = 100) -> tuple[list[Record], int]:
    """What is committed from an offset on, and where to go on. LostError to be tried again."""

    def request(epoch: int) -> FetchRequest:
        part = FetchPartition(place[1], epoch, offset, partition_max_bytes=1 << 20)
        return FetchRequest(
            max_wait_ms=max_wait_ms, min_bytes=1, isolation_level=1, topics=[FetchTopic(place[0], partitions=[part])]
        )

    response = await wire.at_leader(*place, request, 12)
    if response.error_code:
        raise LostError(ErrorCode(response.error_code).name)
    data = response.responses[0].partitions[0]
    code = ErrorCode(data.error_code)
    if code is ErrorCode.OFFSET_OUT_OF_RANGE:
        raise WrongError(f"{wire.name}: nothing at {offset} of {place}, which was committed before")
    if code is not ErrorCode.NONE:
        wire.forget_leader(*place)
        raise LostError(code.name)
    aborted = [(each.producer_id, each.first_offset) for each in data.aborted_transactions or ()]
    batches = list(iter_batches(data.records)) if data.records else []
    shown = [record for each in committed_batches(batches, aborted) if not each.is_control for record in each.records()]
    following = batches[-1].next_offset if batches else offset
    return [record for record in shown if record.offset >= offset], max(offset, following)


class Member:
    """One member: joins, heartbeats, knows what it is assigned and how far the group has come there."""

    def __init__(self, wire: Wire, heartbeats: Wire, group: str, places: list[Place], history: History) -> None:
        self.wire = wire
        self.group = group
        self.history = history
        self.positions: dict[Place, int] = {}
        self.generation = -1
        self.member_id = ""
        self._heartbeats = heartbeats
        self._places = places
        self._rejoin = True

    async def stay(self) -> None:
        """Be in the group: nothing to do, or join it and look up where it has come to."""
        while self._rejoin:
            try:
                await self._join()
                self._rejoin = False
                await self._look_up()
            except RejoinError:
                self._rejoin = True
                await self.wire.pause()

    async def heartbeat(self) -> None:
        """A task of its own, beside `stay`."""
        while True:
            await trio.sleep(1.0)
            if self._rejoin:
                continue
            generation = self.generation
            request = HeartbeatRequest(self.group, generation, self.member_id)
            code, _ = await self._heartbeats.at_coordinator(GROUP, self.group, request, 4, _code)
            if code is not ErrorCode.NONE and generation == self.generation:
                self.left(code)

    def left(self, code: ErrorCode) -> None:
        """The group says so; raises WrongError for an error that has nothing to do with the group's changes."""
        self._rejoin = True
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member_id = ""
        elif code not in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION) and not code.retriable:
            raise WrongError(f"{self.wire.name}: {code.name}")

    async def _join(self) -> None:
        self.positions = {}
        while True:
            protocols = [JoinGroupRequestProtocol("only", self.wire.name.encode())]
            request = JoinGroupRequest(
                self.group, SESSION_TIMEOUT_MS, REBALANCE_TIMEOUT_MS, self.member_id, None, _TYPE, protocols
            )
            wait = REBALANCE_TIMEOUT_MS / 1000 + 5
            code, joined = await self.wire.at_coordinator(GROUP, self.group, request, 9, _code, wait)
            if code is ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = joined.member_id
                continue
            if code is ErrorCode.NONE:
                break
            self.left(code)
            await self.wire.pause()
        self.member_id, self.generation = joined.member_id, joined.generation_id
        assignments = self._assign(joined.members) if joined.leader == self.member_id else []
        sync = SyncGroupRequest(self.group, self.generation, self.member_id, None, _TYPE, "only", assignments)
        code, synced = await self.wire.at_coordinator(GROUP, self.group, sync, 5, _code, 15)
        if code is not ErrorCode.NONE:
            self.left(code)
            raise RejoinError(code.name)
        self.positions = dict.fromkeys(map(tuple, json.loads(synced.assignment)), -1)
        self.history.count("joined")

    def _assign(self, members: list[Any]) -> list[SyncGroupRequestAssignment]:
        ordered = sorted(members, key=lambda member: bytes(member.metadata))
        return [
            SyncGroupRequestAssignment(member.member_id, json.dumps(self._places[turn :: len(ordered)]).encode())
            for turn, member in enumerate(ordered)
        ]

    async def _look_up(self) -> None:
        for place in self.positions:
            self.positions[place] = await committed(self.wire, self.group, place, self.history)

    async def commit(self, place: Place, offset: int) -> None:
        """Tell the group; RejoinError if it is another one now."""
        part = OffsetCommitRequestPartition(place[1], offset)
        topics = [OffsetCommitRequestTopic(place[0], partitions=[part])]
        request = OffsetCommitRequest(self.group, self.generation, self.member_id, topics=topics)
        while True:
            code, _ = await self.wire.at_coordinator(GROUP, self.group, request, 8, offset_code)
            if code is ErrorCode.NONE:
                self.committed(place, offset)
                return
            if not code.retriable or code is ErrorCode.REBALANCE_IN_PROGRESS:
                self.left(code)
                raise RejoinError(code.name)
            await self.wire.pause()

    def committed(self, place: Place, offset: int) -> None:
        """The group was told that it has come so far."""
        key = (self.group, place)
        self.history.count("commits")
        self.history.commits[key] = max(offset, self.history.commits.get(key, 0))

    def take(self, place: Place, records: list[Record]) -> None:
        """Note what was read: at one offset there is one value, for ever."""
        seen = self.history.seen.setdefault(place, {})
        for record in records:
            value = bytes(record.value or b"")
            if seen.setdefault(record.offset, value) != value:
                raise WrongError(
                    f"{self.wire.name}: {value!r} at {record.offset} of {place}, {seen[record.offset]!r} before"
                )


class Reader:
    """A member that reads and commits, and does nothing else."""

    def __init__(self, member: Member) -> None:
        self.member = member

    async def run(self, stopping: trio.Event) -> None:
        member = self.member
        async with trio.open_nursery() as nursery:
            nursery.start_soon(member.heartbeat)
            while not stopping.is_set():
                await member.stay()
                await self._round()
                await trio.sleep(member.wire.random.uniform(0, 0.5))
            nursery.cancel_scope.cancel()
        await member.wire.close()

    async def _round(self) -> None:
        member = self.member
        for place, offset in list(member.positions.items()):
            try:
                records, following = await fetch(member.wire, place, offset)
                member.take(place, records)
                if following > offset:
                    await member.commit(place, following)
                    member.positions[place] = following
            except LostError:
                await member.wire.pause()
            except RejoinError:
                return


async def committed(wire: Wire, group: str, place: Place, history: History) -> int:
    """Where the group has come to; WrongError if it is less than somebody was told before."""
    told = history.commits.get((group, place), 0)
    request = OffsetFetchRequest(group, [OffsetFetchRequestTopic(place[0], [place[1]])], require_stable=True)
    while True:
        code, answer = await wire.at_coordinator(GROUP, group, request, 7, _code)
        if code is ErrorCode.NONE:
            part = answer.topics[0].partitions[0]
            code = ErrorCode(part.error_code)
            if code is ErrorCode.NONE:
                offset = max(0, int(part.committed_offset))
                if offset < told:
                    raise WrongError(f"{group} is at {offset} of {place}, and was told {told} before")
                return offset
        if not code.retriable:
            raise WrongError(f"{wire.name}: {code.name} for OffsetFetch")
        await wire.pause()


def offset_code(response: Any) -> int:
    """The error of the one partition of a commit."""
    return int(response.topics[0].partitions[0].error_code)


def _code(response: Any) -> int:
    return int(response.error_code)
