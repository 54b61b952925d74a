"""The handles of a broker over HTTP: its clock, topics, groups and transcript, and writing records."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.generated.blocking.coordinators import Group
from odradek.broker.facade.generated.blocking.topics import Topic
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import GroupInfo, check_places
from odradek.broker.facade.groups.view import Condition, condition_of, late
from odradek.broker.facade.records.record import (
    DecodedRecord,
    Isolation,
    ProducerRecord,
    RecordMetadata,
    Records,
    Serializer,
    StoredRecord,
    TransactionEnd,
    header_pairs,
    holder_of,
    serialized,
)
from odradek.broker.facade.remote.json_values import decoded
from odradek.broker.facade.remote.operations import operation_of, over_http
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
from odradek.broker.partitions.lookups import check_name
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_list import Conditions, Requests, Selection, load_transcript

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.broker import BlockingBroker
    from odradek.broker.facade.remote.transport import Transport


@over_http(BrokerClock)
class RemoteClock(BrokerClock):
    """Moves and reads that clock over HTTP. Nobody can wait by it here: its ``sleep`` is for its own process."""

    def __init__(self, remote: Transport) -> None:
        super().__init__()
        self._remote = remote

    def _called(self) -> str:
        return BrokerClock.__name__

    def attach(self) -> None:
        """RuntimeError: trio runs of this process have clocks of their own."""
        raise RuntimeError("this clock runs in another process")

    def current_time(self) -> float:
        """Seconds since 1970 on that clock."""
        return self.now_ms() / 1000


_LOOK_EVERY_S = 0.02


def records_of(found: list[Any], decode: Callable[[], Iterator[DecodedRecord]], holder: str) -> Records:
    """The records that an answer lists; ``holder`` holds them."""
    records = [decoded(StoredRecord, each, "records", strict=False) for each in found]
    return Records(lambda: iter(records), decode, holder)


@over_http(Topic)
class RemoteTopic(Topic):
    """The same as `Topic`, over HTTP."""

    def __init__(self, broker: BlockingBroker, remote: Transport, name: str) -> None:
        check_name("topic", name)
        self.name = self._identity = name
        self._broker = broker
        self._remote = remote

    def wait(
        self,
        records: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> Records:
        given = {"records": records, "partition": partition, "isolation": isolation, "timeout": timeout}
        found = self._remote.ask(operation_of(Topic, "wait"), self.name, given)
        again = self._broker.records
        place = holder_of(self.name, partition, isolation)
        return records_of(found, lambda: iter(again(self.name, partition, isolation=isolation).decoded()), place)


@over_http(Group)
class RemoteGroup(Group):
    """The same as `Group`, over HTTP."""

    def __init__(self, group_id: str, remote: Transport) -> None:
        check_name("group", group_id)
        self.group_id = self._identity = group_id
        self._remote = remote

    def set_offsets(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets; see `Group.set_offsets`."""
        check_places(offsets)
        self._remote.operate(Group, "set_offsets", self.group_id, {"offsets": offsets})

    def wait(
        self,
        condition: Condition | None = None,
        *,
        members: int | None = None,
        partitions: int | None = None,
        timeout: float = WAIT_TIMEOUT_S,
    ) -> GroupInfo:
        """See `Group.wait`. A condition is here and the group is there: a state between two looks is missed."""
        if condition is None:
            given = {"members": members, "partitions": partitions, "timeout": timeout}
            found: GroupInfo = self._remote.operate(Group, "wait", self.group_id, given)
            return found
        reached = condition_of(condition, members, partitions)
        end_s = _now_s() + timeout
        while not reached(info := self.info):
            if _now_s() > end_s:
                raise late(info, timeout, reached)
            time.sleep(_LOOK_EVERY_S)
        return info


def _now_s() -> float:
    return time.monotonic()  # noqa: TID251  a user's thread waits in real time


_AT_ONCE = 5000
"""How many records one request holds."""


class RemoteSeeding:
    """Writes records to one topic over HTTP; see `facade.records.writing.Seeding`. Serializers run here.

    A transaction is one request, and holds 64 MB at most.
    """

    def __init__(
        self, remote: Transport, topic: str, key_serializer: Serializer | None, value_serializer: Serializer | None
    ) -> None:
        self._remote = remote
        self._topic = topic
        self._serializers = key_serializer, value_serializer

    def write(
        self, records: Iterable[Any], transactional_id: str | None, transaction: TransactionEnd
    ) -> Generator[None, None, list[RecordMetadata]]:
        """Write every record, request after request; gives where each lies."""
        rows = [self._row(each) for each in records]
        size = max(1, len(rows)) if transactional_id is not None else _AT_ONCE
        written: list[RecordMetadata] = []
        for start in range(0, max(1, len(rows)), size):
            written += self._remote.call(
                "produce_all",
                topic=self._topic,
                records=rows[start : start + size],
                transactional_id=transactional_id,
                transaction=transaction,
            )
            yield
        return written

    def _row(self, given: Any) -> dict[str, Any]:
        """A record as JSON, with what the serializers make of it."""
        key_serializer, value_serializer = self._serializers
        record = given if isinstance(given, ProducerRecord) else ProducerRecord(given)
        row = {
            "value": serialized(record.value, value_serializer, "value"),
            "key": serialized(record.key, key_serializer, "key"),
            "headers": [list(pair) for pair in header_pairs(record.headers)],
            "partition": record.partition,
            "timestamp": record.timestamp,
        }
        return {name: each for name, each in row.items() if each is not None or name == "value"}


class RemoteTranscript(Transcript):
    """The same as `Transcript`, over HTTP: each look fetches the requests. `follow` is not to be had."""

    def __init__(self, remote: Transport) -> None:
        self._remote = remote

    def all(self) -> Requests:
        """The requests as they are now; later ones do not come in."""
        return self._ask("filter")

    def __len__(self) -> int:
        return len(self.all())

    def wait(
        self,
        api: str | None = None,
        count: int = 1,
        *,
        timeout: float = WAIT_TIMEOUT_S,
        **conditions: Unpack[Conditions],
    ) -> Requests:
        """Wait until so many requests have been served; see `Transcript.wait`. ValueError for ``when``."""
        Selection(api, **conditions)
        if "when" in conditions:
            raise ValueError("`when` is a function of this process; the broker is in another one")
        return self._ask("wait", api=api, count=count, timeout=timeout, **conditions)

    def follow(self, told: Callable[[RecordedRequest], None]) -> Undo:
        """RuntimeError: the function would be called in the broker's process. GET /v1/requests/stream has the same."""
        raise RuntimeError("a function cannot follow a broker in another process: read /v1/requests/stream")

    def clear(self) -> None:
        """Forget what was asked until now."""
        self._remote.operate(Transcript, "clear", None, {})

    def _ask(self, member: str, **arguments: Any) -> Requests:
        found = self._remote.ask(operation_of(Transcript, member), None, arguments)
        return load_transcript(map(json.dumps, found))
