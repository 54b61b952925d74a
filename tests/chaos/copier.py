"""A member that reads, writes what it read and commits how far it came, all in one transaction: exactly once."""

from __future__ import annotations

import trio

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.chaos.group import Member, fetch, offset_code
from tests.chaos.history import End, Place, Transaction
from tests.chaos.producer import FencedError, TransactionalId
from tests.chaos.wire import GROUP, LostError, WrongError

_ABORT = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_INSTANCE_ID)
_FENCED = (
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.TRANSACTION_ABORTABLE,
)


class Copier:
    """From the partitions of its group to `target`, one transaction for what one fetch brings."""

    def __init__(self, member: Member, identity: TransactionalId, target: Place) -> None:
        self.member = member
        self.identity = identity
        self._target = target

    async def run(self, stopping: trio.Event) -> None:
        member = self.member
        async with trio.open_nursery() as nursery:
            nursery.start_soon(member.heartbeat)
            await self.identity.begin_again()
            while not stopping.is_set():
                await member.stay()
                for place in list(member.positions):
                    await self._copy(place)
                await trio.sleep(member.wire.random.uniform(0, 0.5))
            nursery.cancel_scope.cancel()
        await member.wire.close()
        await self.identity.wire.close()

    async def _copy(self, place: Place) -> None:
        member = self.member
        offset = member.positions.get(place)
        if offset is None:
            return
        try:
            records, following = await fetch(member.wire, place, offset)
        except LostError:
            await member.wire.pause()
            return
        member.take(place, records)
        if not records:
            member.positions[place] = following
            return
        transaction = Transaction()
        member.history.transactions.append(transaction)
        values = [bytes(record.value or b"") for record in records]
        try:
            await self._transaction(transaction, place, values, following)
        except FencedError:
            self.identity.fenced(transaction)
            await self.identity.begin_again()
            member.left(ErrorCode.REBALANCE_IN_PROGRESS)

    async def _transaction(self, transaction: Transaction, place: Place, values: list[bytes], following: int) -> None:
        await self.identity.write(transaction, self._target, values)
        if await self._offsets(place, following):
            await self.identity.end(transaction, commit=True)
            self.member.committed(place, following)
            self.member.positions[place] = following
        else:
            await self.identity.end(transaction, commit=False)

    async def _offsets(self, place: Place, offset: int) -> bool:
        """Whether the group took the offset; if not the transaction has to be aborted."""
        member, identity = self.member, self.identity
        if not identity.second:
            await identity.ask(AddOffsetsToTxnRequest(identity.name, *identity.producer, member.group), 3)
        part = TxnOffsetCommitRequestPartition(place[1], offset)
        topics = [TxnOffsetCommitRequestTopic(place[0], partitions=[part])]
        request = TxnOffsetCommitRequest(
            identity.name, member.group, *identity.producer, member.generation, member.member_id, None, topics
        )
        version = 5 if identity.second else 4
        while True:
            code, _ = await member.wire.at_coordinator(GROUP, member.group, request, version, offset_code)
            if code is ErrorCode.NONE:
                return True
            if code in _FENCED:
                transaction_over = FencedError(code.name)
                raise transaction_over
            if code in _ABORT:
                member.left(code)
                return False
            if not code.retriable and code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                raise WrongError(f"{identity.name}: {code.name} for TxnOffsetCommit")
            await member.wire.pause()


def is_over(transaction: Transaction) -> bool:
    """Whether its client knows how it ended."""
    return transaction.end in (End.COMMITTED, End.ABORTED)
