"""A broker in another process, with the methods of `KafkaBroker`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.generated.blocking.coordinators import Group
from odradek.broker.facade.generated.blocking.topics import Topic
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import GroupInfo, check_places
from odradek.broker.facade.groups.view import Condition, condition_of, late
from odradek.broker.facade.records.record import (
    ProducerRecord,
    RecordMetadata,
    Serializer,
    TransactionEnd,
    Writing,
    header_pairs,
    serialized,
)
from odradek.broker.facade.remote.json_values import RemoteHandle, encoded
from odradek.broker.facade.remote.operations import ForkInfo, ForkOperations, operation_of, over_http
from odradek.broker.facade.remote.transport import Transport
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, now_s
from odradek.broker.faults.fault import Fault, check_waited, checked_faults
from odradek.broker.partitions.lookups import check_name
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.broker.transcript.request_list import Conditions, Requests, Selection, load_transcript

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.client_configs import Client
    from odradek.broker.facade.state.snapshot import Snapshot


@over_http(BrokerClock)
class RemoteClock(BrokerClock):
    """The clock of the other process, over HTTP. ``sleep`` works in that process alone."""

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


@over_http(Topic)
class RemoteTopic(Topic):
    """The same as `Topic`, over HTTP."""

    def __init__(self, remote: Transport, name: str) -> None:
        check_name("topic", name)
        self.name = self._identity = name
        self._remote = remote


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
        """See `Group.wait`. ``condition`` is checked by polling, so a short state can be missed."""
        if condition is None:
            given = {"members": members, "partitions": partitions, "timeout": timeout}
            found: GroupInfo = self._remote.operate(Group, "wait", self.group_id, given)
            return found
        reached = condition_of(condition, members, partitions)
        end_s = now_s() + timeout
        while not reached(info := self.info):
            if now_s() > end_s:
                raise late(info, timeout, reached)
            time.sleep(_LOOK_EVERY_S)
        return info


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
        """Write the records in one or several requests; return their positions."""
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
        """A record as JSON, with its serialized key and value."""
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
    """`Transcript` over HTTP: each look fetches the requests. `follow` raises RuntimeError."""

    def __init__(self, remote: Transport) -> None:
        self._remote = remote

    def all(self) -> Requests:
        """The requests so far, as a list that does not grow."""
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
        """Forget the requests so far."""
        self._remote.operate(Transcript, "clear", None, {})

    def _ask(self, member: str, **arguments: Any) -> Requests:
        found = self._remote.ask(operation_of(Transcript, member), None, arguments)
        return load_transcript(map(json.dumps, found))


@over_http(BlockingBroker, but=("produce", "produce_all"))
class RemoteBroker(BlockingBroker):
    """A broker whose control API is at a URL; `odradek.connect` makes one. It has the methods of `KafkaBroker`.

    Functions stay here: serializers are applied before records are sent, and a fault with ``when`` is refused.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._transport = Transport(url, token)
        self._faults: list[Fault] = []

    @property
    def _remote(self) -> Transport:
        return self._transport

    def __repr__(self) -> str:
        return f"<RemoteBroker at {self._remote.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Does nothing: no connection is kept open, and the broker goes on."""

    @property
    def cluster(self) -> Cluster:
        """RuntimeError: the cluster is in another process."""
        raise RuntimeError("the cluster is in another process: use the methods of the broker")

    @property
    def requests(self) -> Transcript:
        """The requests of clients with their answers; ``follow`` works only in the broker's own process."""
        return RemoteTranscript(self._remote)

    @property
    def clock(self) -> BrokerClock:
        """The broker's clock: ``advance(hours=1)``, ``freeze()``, ``resume()``."""
        return RemoteClock(self._remote)

    def client_config(
        self,
        user: str | None = None,
        client: Client = "confluent",
        *,
        mechanism: str | None = None,
        fast: bool = False,
    ) -> dict[str, Any]:
        config: dict[str, Any] = self._remote.call(
            "client_config", user=user, client=client, mechanism=mechanism, fast=fast
        )
        if "api_version" in config:  # a tuple in kafka-python's words, which JSON does not have
            config["api_version"] = tuple(config["api_version"])
        return config

    def topic(self, name: str) -> Topic:
        return RemoteTopic(self._remote, name)

    def group(self, group_id: str) -> Group:
        return RemoteGroup(group_id, self._remote)

    def fork(self, data_dir: str | Path | None = None) -> RemoteFork:
        """A second broker in the other process, which begins with the state of this one.

        ``with`` or ``close()`` ends it; the control API that made it does so too. ``data_dir``: keep its logs in this
        empty directory, where that process runs; it stays.
        """
        given = {} if data_dir is None else {"data_dir": str(Path(data_dir).absolute())}
        found: ForkInfo = self._remote.operate(ForkOperations, "fork", None, given)
        return self._fork_kind()(self._remote.beside(found.control), found.id, self._remote)

    def _fork_kind(self) -> type[RemoteFork]:
        return RemoteFork

    def _seeding(self, topic: str, key_serializer: Serializer | None, value_serializer: Serializer | None) -> Writing:
        return RemoteSeeding(self._remote, topic, key_serializer, value_serializer)

    def restore(self, snapshot: Snapshot) -> None:
        given: object = snapshot
        if not isinstance(given, RemoteHandle):
            raise TypeError(f"restore({snapshot!r}): expected what broker.snapshot() returned")
        self._remote.call("restore", snapshot=snapshot)

    # -- faults

    def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        chosen = checked_faults(faults, None)
        self._remote.call("set_faults", faults=[_said(fault) for fault in chosen])
        self._faults = chosen
        for number, fault in enumerate(chosen):
            fault.count_elsewhere(_Hits(self, number, fault))

    def add_fault(self, fault: Fault) -> None:
        checked_faults([fault], None)
        self._remote.call("add_fault", fault=_said(fault))
        others = self.faults[len(self._faults) : -1]  # of somebody else
        self._faults = [*self._faults, *others, fault]
        fault.count_elsewhere(_Hits(self, len(self._faults) - 1, fault))

    def wait(self, fault: Fault, count: int = 1, *, timeout: float = WAIT_TIMEOUT_S) -> None:
        check_waited(fault)
        number = next((number for number, each in enumerate(self._faults) if each is fault), None)
        if number is None:
            raise ValueError(f"{fault!r} is not in force: set_faults comes first")
        self._remote.call("wait", fault=number, count=count, timeout=timeout)


class RemoteFork(RemoteBroker):
    """A fork in another process; `RemoteBroker.fork` makes one, and ``with`` or ``close()`` ends it."""

    def __init__(self, transport: Transport, identity: str, maker: Transport) -> None:
        self._transport = transport
        self._faults = []
        self._identity: str | None = identity
        self._maker = maker

    def close(self) -> None:
        """End it. A second call does nothing."""
        identity, self._identity = self._identity, None
        if identity is not None:
            self._maker.operate(ForkOperations, "close_fork", None, {"fork": identity})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(url: str, token: str | None = None) -> RemoteBroker:
    """The broker whose control API is at ``http://HOST:PORT``, as ``odradek serve --control-port`` prints it.

    ValueError for another URL, BrokerClosedError if no broker answers there, PermissionError for a wrong token.
    """
    broker = RemoteBroker(url, token)
    _ = broker.bootstrap_servers
    return broker


class _Hits:
    """The hits of a fault in the other process. Once it was replaced, the last known number."""

    def __init__(self, broker: RemoteBroker, number: int, fault: Fault) -> None:
        self._broker = broker
        self._number = number
        self._fault = fault
        self._known = 0

    def __call__(self) -> int:
        mine = self._broker._faults
        if self._number < len(mine) and mine[self._number] is self._fault:
            self._known = self._broker.faults[self._number].hits
        return self._known


def _said(fault: Fault) -> dict[str, Any]:
    """The fault as JSON. Raises ValueError for one with ``when``."""
    if fault.when is not None:
        raise ValueError(f"{fault!r}: `when` is a function of this process; the broker is in another one")
    shown: dict[str, Any] = encoded(fault)
    return {name: each for name, each in shown.items() if name != "hits"}
