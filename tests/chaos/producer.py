"""An idempotent producer and a transactional one, with the retries of Kafka's Java client."""

from __future__ import annotations

from typing import Any

import trio

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.chaos.history import End, History, Place, Transaction
from tests.chaos.wire import TRANSACTION, LostError, Wire, WrongError

PRODUCE_TIMEOUT_MS = 3000
_FENCED = (
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.TRANSACTION_ABORTABLE,
)


class FencedError(Exception):
    """The transaction is over, and not by its own client: the producer begins again with InitProducerId."""


def batch(values: list[bytes], producer: tuple[int, int], sequence: int, *, transactional: bool) -> bytes:
    records = [Record(0, 0, None, value) for value in values]
    return build_batch(
        records,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=sequence,
        transactional=transactional,
    )


def produce_request(
    place: Place, records: bytes, acks: int = -1, transactional_id: str | None = None
) -> ProduceRequest:
    data = [TopicProduceData(place[0], partition_data=[PartitionProduceData(place[1], records)])]
    return ProduceRequest(transactional_id, acks, PRODUCE_TIMEOUT_MS, data)


async def produce(
    wire: Wire, place: Place, records: bytes, version: int, transactional_id: str | None, give_up_after: float
) -> ErrorCode | None:
    """Send until there is an answer that counts; None if the time is over before."""
    request = produce_request(place, records, -1, transactional_id)
    give_up = trio.current_time() + give_up_after
    while trio.current_time() < give_up:
        try:
            response = await wire.at_leader(*place, lambda epoch: request, version)
        except LostError:
            await wire.pause()
            continue
        code = ErrorCode(response.responses[0].partition_responses[0].error_code)
        if not code.retriable:
            return code
        wire.forget_leader(*place)
        await wire.pause()
    return None


class IdempotentProducer:
    """Writes numbers to one partition. Now and then it has little patience: then it begins again in a new epoch."""

    def __init__(self, wire: Wire, place: Place, history: History) -> None:
        self.wire = wire
        self.place = place
        self.sent = history.sent.setdefault((wire.name, place), [])
        self._acked = history.acked.setdefault(place, [])
        self._history = history
        self._producer = (-1, -1)
        self._sequence = 0

    async def run(self, stopping: trio.Event) -> None:
        random = self.wire.random
        self._producer = await self._init()
        while not stopping.is_set():
            values = [b"%s %d" % (self.wire.name.encode(), len(self.sent) + i) for i in range(random.randint(1, 3))]
            self.sent += values
            await self._write(values, patience=random.choice((3.0, 12.0, 1e9)))
            await trio.sleep(random.uniform(0, 0.6))
        await self.wire.close()

    async def _write(self, values: list[bytes], patience: float) -> None:
        records = batch(values, self._producer, self._sequence, transactional=False)
        code = await produce(self.wire, self.place, records, 11, None, patience)
        if code is None:
            self._history.count("given up")
            self._producer, self._sequence = (self._producer[0], self._producer[1] + 1), 0
        elif code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._history.count("acknowledged")
            self._acked += values
            self._sequence += len(values)
        else:
            raise WrongError(f"{self.wire.name}: {code.name} for sequence {self._sequence} of {self._producer}")

    async def _init(self) -> tuple[int, int]:
        while True:
            try:
                node = self.wire.random.choice(sorted(self.wire._ports))
                answer = await self.wire.ask(node, InitProducerIdRequest(None, 60_000), 4)
            except LostError:
                await self.wire.pause()
                continue
            if not answer.error_code:
                return (answer.producer_id, answer.producer_epoch)
            await self.wire.pause()


class TransactionalId:
    """The protocol of one transactional id: of the first version (AddPartitionsToTxn), or of the second (KIP-890)."""

    def __init__(self, wire: Wire, history: History, *, second: bool, timeout_ms: int) -> None:
        self.wire = wire
        self.name = wire.name
        self.second = second
        self.history = history
        self._timeout_ms = timeout_ms
        self.producer = (-1, -1)
        self._sequences: dict[Place, int] = {}
        self._added: set[Place] = set()

    async def ask(self, request: Any, version: int) -> Any:
        """The coordinator's answer; FencedError if the producer has to begin again."""
        while True:
            code, response = await self.wire.at_coordinator(TRANSACTION, self.name, request, version, _first_code)
            if code is ErrorCode.NONE:
                return response
            if code in _FENCED:
                raise FencedError(code.name)
            if not code.retriable and code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                raise WrongError(f"{self.name}: {code.name} for {type(request).__name__}")
            await self.wire.pause()

    async def init(self) -> None:
        """A new epoch; what was open is aborted."""
        answer = await self.ask(InitProducerIdRequest(self.name, self._timeout_ms), 5 if self.second else 4)
        self._take(answer.producer_id, answer.producer_epoch)

    async def begin_again(self) -> None:
        """Take the id back from whoever has fenced this one."""
        while True:
            try:
                return await self.init()
            except FencedError:
                await self.wire.pause()

    def _take(self, producer_id: int, epoch: int) -> None:
        if self.producer != (producer_id, epoch):
            self.producer = (producer_id, epoch)
            self._sequences.clear()
        self._added.clear()

    async def write(self, transaction: Transaction, place: Place, values: list[bytes]) -> None:
        """Write within the transaction; FencedError if it is over."""
        if not self.second and place not in self._added:
            topics = [AddPartitionsToTxnTopic(place[0], [place[1]])]
            await self.ask(
                AddPartitionsToTxnRequest(
                    v3_and_below_transactional_id=self.name,
                    v3_and_below_producer_id=self.producer[0],
                    v3_and_below_producer_epoch=self.producer[1],
                    v3_and_below_topics=topics,
                ),
                3,
            )
            self._added.add(place)
        transaction.values.setdefault(place, []).extend(values)
        sequence = self._sequences.get(place, 0)
        records = batch(values, self.producer, sequence, transactional=True)
        code = await produce(self.wire, place, records, 12 if self.second else 11, self.name, 1e9)
        if code in _FENCED:
            raise FencedError(code.name)
        if code not in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            raise WrongError(f"{self.name}: {code} for sequence {sequence} of {self.producer} in {place}")
        self._sequences[place] = sequence + len(values)

    async def end(self, transaction: Transaction, *, commit: bool) -> None:
        """Commit or abort; FencedError if it is over already."""
        transaction.end = End.UNKNOWN if commit else End.ABORTED
        answer = await self.ask(EndTxnRequest(self.name, *self.producer, commit), 5 if self.second else 3)
        if commit:
            transaction.end = End.COMMITTED
        self.history.count(f"transactions {transaction.end.value}")
        if self.second:
            self._take(answer.producer_id, answer.producer_epoch)
        self._added.clear()

    def fenced(self, transaction: Transaction) -> None:
        """The transaction was ended by somebody else; what had been asked for before may have been done."""
        if transaction.end is End.OPEN:
            transaction.end = End.ABORTED
        self.history.count("transactions fenced")


class TransactionalProducer:
    """Writes transactions over several partitions; aborts some, and is restarted within some."""

    def __init__(self, identity: TransactionalId, places: list[Place]) -> None:
        self.identity = identity
        self._places = places

    async def run(self, stopping: trio.Event) -> None:
        random = self.identity.wire.random
        await self.identity.init()
        while not stopping.is_set():
            transaction = Transaction()
            self.identity.history.transactions.append(transaction)
            try:
                await self._one(transaction)
            except FencedError:
                self.identity.fenced(transaction)
                await self.identity.begin_again()
            await trio.sleep(random.uniform(0, 0.8))
        await self.identity.wire.close()

    async def _one(self, transaction: Transaction) -> None:
        random = self.identity.wire.random
        number = len(self.identity.history.transactions)
        for place in random.sample(self._places, random.randint(1, len(self._places))):
            for part in range(random.randint(1, 2)):
                value = b"%s %d %d" % (self.identity.name.encode(), number, part)
                await self.identity.write(transaction, place, [value])
        if random.random() < 0.1:
            transaction.end = End.ABORTED
            await self.identity.init()
        else:
            await self.identity.end(transaction, commit=random.random() < 0.75)


def _first_code(response: Any) -> int:
    """The error of an answer for the whole request, or of its first partition."""
    for topic in getattr(response, "results_by_topic_v3_and_below", ()):
        for partition in topic.results_by_partition:
            if partition.partition_error_code not in (0, ErrorCode.OPERATION_NOT_ATTEMPTED):
                return int(partition.partition_error_code)
    return int(getattr(response, "error_code", 0))
