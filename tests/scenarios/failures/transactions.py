"""Stories of transactions whose coordinator, partition or followers fail."""

from __future__ import annotations

from typing import Any

from odradek.broker.coordinator.service import partition_for
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from tests.scenarios.failures import groups
from tests.scenarios.failures.core import Pending, error
from tests.scenarios.failures.groups import coordinator
from tests.scenarios.failures.story import Story, story

AGAIN = (*groups.AGAIN, "CONCURRENT_TRANSACTIONS")
COMMITTED = {"isolation_level": 1}


class Transactional:
    """A producer of the transactional id "tx", as its coordinator knows it. Transactions of version 2 (KIP-890)."""

    def __init__(self, s: Story, node: int) -> None:
        self.s = s
        self.id, self.epoch = -1, -1
        self.init("first", node)

    def init(self, asked: str, node: int) -> None:
        """InitProducerId, repeated as a client does."""
        request = InitProducerIdRequest(self.s.real("tx"), 60_000)

        def found() -> Any:
            each = self.s.begin(node, request, 5).answer()
            return None if error(each.error_code) in AGAIN else each

        answer = self.s.until("a producer id", found)
        bumped = answer.producer_epoch - self.epoch
        same = "the same id" if answer.producer_id == self.id else "another id"
        self.id, self.epoch = answer.producer_id, answer.producer_epoch
        self.s.note(f"init: {asked}", [error(answer.error_code), same, bumped])

    def produce(self, asked: str, node: int, *values: str, sequence: int, epoch: int | None = None) -> None:
        """Records of the transaction; the partition joins it by itself."""
        batch = {"producer_id": self.id, "producer_epoch": self.epoch if epoch is None else epoch}

        def sent() -> Pending:
            return self.s.produce_begin(node, "t", *values, version=12, tx="tx", base_sequence=sequence, **batch)

        def found() -> Any:
            each = sent().answer().responses[0].partition_responses[0]
            return None if error(each.error_code) in AGAIN else each

        answer = self.s.until("an answer to a batch", found)
        self.s.note(f"produce: {asked}", {"error": error(answer.error_code), "offset": answer.base_offset})

    def add_begin(self, node: int) -> Pending:
        """AddPartitionsToTxn, as producers of version 1 send it."""
        topics = [AddPartitionsToTxnTopic(self.s.real("t"), [0])]
        return self.s.begin(node, AddPartitionsToTxnRequest([], self.s.real("tx"), self.id, self.epoch, topics), 3)

    def note_added(self, asked: str, pending: Pending) -> None:
        found = pending.answer().results_by_topic_v3_and_below[0].results_by_partition[0]
        self.s.note(f"add: {asked}", error(found.partition_error_code))

    def end_begin(self, node: int, *, commit: bool = True, epoch: int | None = None) -> Pending:
        request = EndTxnRequest(self.s.real("tx"), self.id, self.epoch if epoch is None else epoch, commit)
        return self.s.begin(node, request, 5)

    def end(self, asked: str, node: int, **how: Any) -> None:
        """EndTxn, repeated while the coordinator loads."""

        def found() -> Any:
            each = self.end_begin(node, **how).answer()
            return None if error(each.error_code) in AGAIN else each

        self.note_ended(asked, self.s.until("an end of the transaction", found))

    def note_ended(self, asked: str, answer: Any) -> None:
        bumped = answer.producer_epoch - self.epoch if answer.error_code == 0 else None
        if answer.error_code == 0:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
        self.s.note(f"end: {asked}", [error(answer.error_code), bumped])

    def state(self, node: int) -> str:
        """As DescribeTransactions has it; the error's name if there is one."""
        request = DescribeTransactionsRequest([self.s.real("tx")])
        each = self.s.begin(node, request, 0).answer().transaction_states[0]
        return str(each.transaction_state) if each.error_code == 0 else error(each.error_code)

    def show(self, asked: str, node: int) -> None:
        """Write down the state, once it is loaded."""
        self.s.note(f"state: {asked}", self.s.until("a state", lambda: (t := self.state(node)) not in AGAIN and t))

    def await_state(self, node: int, state: str) -> None:
        self.s.until(f"state {state}", lambda: self.state(node) == state)


def producers(s: Story, asked: str, node: int) -> None:
    """DescribeProducers: which of the partition's producers have an open transaction, from where on."""
    request = DescribeProducersRequest([TopicRequest(s.real("t"), [0])])
    found = s.begin(node, request, 0).answer().topics[0].partitions[0]
    open_from = [each.current_txn_start_offset for each in found.active_producers]
    s.note(f"producers: {asked}", [error(found.error_code), open_from])


@story
def a_transaction_outlives_its_coordinator(s: Story) -> None:
    """It is open at the new coordinator, and can be committed there."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    tx = Transactional(s, 1)
    tx.produce("in the transaction", 3, "a", "b", sequence=0)
    tx.show("at the coordinator", 1)
    s.kill(1)
    s.await_leader("__transaction_state", 2)
    coordinator(s, "tx", 1, 3)
    tx.show("at the new coordinator", 2)
    s.fetch("what is committed", 3, "t", 0, **COMMITTED)
    tx.end("at the new coordinator", 2)
    tx.await_state(2, "CompleteCommit")
    s.fetch("what is committed then", 3, "t", 0, **COMMITTED)
    tx.produce("in the next one", 3, "c", sequence=0)
    tx.end("the next one", 2, commit=False)
    tx.await_state(2, "CompleteAbort")
    s.fetch("in the end", 3, "t", 0)


@story
def a_zombie_is_fenced(s: Story) -> None:
    """A second instance takes over at the new coordinator; the first can neither write nor commit."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    tx = Transactional(s, 1)
    tx.produce("of the first instance", 3, "a", sequence=0)
    old = tx.epoch
    s.stop(1)
    s.await_leader("__transaction_state", 2)
    tx.init("second instance", 2)
    tx.show("its predecessor's transaction", 2)
    tx.produce("of the first instance, again", 3, "zombie", sequence=1, epoch=old)
    tx.end("of the first instance", 2, epoch=old)
    tx.produce("of the second instance", 3, "b", sequence=0)
    tx.end("of the second instance", 2)
    tx.await_state(2, "CompleteCommit")
    s.fetch("in the end", 3, "t", 0, **COMMITTED)


@story
def the_leader_dies_in_a_transaction(s: Story) -> None:
    """The new leader knows the open transaction, its sequence numbers and where it began."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    tx = Transactional(s, 1)
    tx.produce("to the leader", 3, "a", sequence=0)
    s.await_high_watermark(2, "t", 1)
    s.kill(3)
    s.await_leader("t", 2)
    s.await_high_watermark(2, "t", 1)
    producers(s, "at the new leader", 2)
    tx.produce("the same again", 2, "a", sequence=0)
    tx.produce("the next one", 2, "b", sequence=1)
    tx.produce("with a gap", 2, "d", sequence=5)
    s.fetch("what is committed", 2, "t", 0, **COMMITTED)
    tx.end("commit", 1)
    tx.await_state(1, "CompleteCommit")
    s.fetch("what is committed then", 2, "t", 0, **COMMITTED)
    producers(s, "at the new leader then", 2)


@story
def a_marker_waits_for_a_follower(s: Story) -> None:
    """The transaction stays in PrepareCommit until the replicas in sync have its marker."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    tx = Transactional(s, 1)
    tx.produce("in the transaction", 3, "a", sequence=0)
    s.await_high_watermark(2, "t", 1)
    s.isolate(3, 2)
    tx.end("is answered", 1)
    tx.show("the marker waits", 1)
    s.fetch("what is committed", 3, "t", 0, **COMMITTED)
    s.await_isr("t", [1, 3])
    tx.await_state(1, "CompleteCommit")
    s.fetch("without the follower", 3, "t", 0, **COMMITTED)


@story
def a_commit_meets_an_abort(s: Story) -> None:
    """The coordinator aborts for another instance: the first one is told to try again, and then that it is too late."""
    s.create_coordinators()
    s.create("t", [3, 2, 1])
    tx = Transactional(s, 1)
    tx.produce("of the first instance", 3, "a", sequence=0)
    s.await_high_watermark(2, "t", 1)
    s.isolate(3, 2)
    another = InitProducerIdRequest(s.real("tx"), 60_000)
    s.note("init: another instance", error(s.begin(1, another, 5).answer().error_code))
    tx.show("the marker waits", 1)
    for commit in (True, False):
        tx.note_ended(f"of the first instance, commit={commit}", tx.end_begin(1, commit=commit).answer())
    s.await_isr("t", [1, 3])
    tx.await_state(1, "CompleteAbort")
    tx.end("commit of the first instance, then", 1)
    s.fetch("what is committed", 3, "t", 0, **COMMITTED)


@story
def a_marker_without_a_leader(s: Story) -> None:
    """It is left out: the transaction completes, and hangs in its partition."""
    s.create_coordinators()
    s.create("t", [3])
    tx = Transactional(s, 1)
    tx.produce("in the transaction", 3, "a", sequence=0)
    s.kill(3)
    s.await_leader("t", -1)
    tx.end("without its partition's leader", 1)
    tx.await_state(1, "CompleteCommit")
    s.start(3)
    s.await_leader("t", 3)
    s.await_high_watermark(3, "t", 1)
    s.fetch("what is committed", 3, "t", 0, **COMMITTED)
    producers(s, "it hangs", 3)


@story
def an_end_waits_for_replicas(s: Story) -> None:
    """EndTxn is answered when the coordinator's replicas in sync have Prepare."""
    s.create_coordinators()
    s.create("t", [3])
    tx = Transactional(s, 1)
    tx.produce("in the transaction", 3, "a", sequence=0)
    s.isolate(1, 2)
    waiting = tx.end_begin(1)
    s.cluster.pass_time(0.5)
    s.note("answered at once", waiting.answered())
    s.await_isr("__transaction_state", [1, 3])
    tx.note_ended("without the follower", waiting.answer())
    tx.await_state(1, "CompleteCommit")
    s.fetch("what is committed", 3, "t", 0, **COMMITTED)


@story
def a_coordinator_is_alone(s: Story) -> None:
    """Below min.insync.replicas of its topic it takes nothing, so that nobody is told what dies with it."""
    s.create_coordinators()
    s.create("t", [3, 2])
    tx = Transactional(s, 1)
    s.isolate(1)
    waiting = tx.add_begin(1)
    s.until("ISR 1", lambda: (p := s.partition("__transaction_state")) and p.isr_nodes == [1])
    s.show("the coordinator is alone", "__transaction_state", node=1)
    s.note("answered", waiting.answered())
    tx.note_added("again", tx.add_begin(1))
    tx.show("at the coordinator", 1)
    another = InitProducerIdRequest(_neighbour(s), 60_000)
    s.note("init: another id", error(s.begin(1, another, 5).answer().error_code))
    s.kill(1)
    waiting.drop()
    s.await_leader("__transaction_state", 2)
    coordinator(s, "tx", 1, 3)
    tx.show("at the new coordinator", 2)
    tx.init("another instance", 2)
    tx.produce("of it", 3, "a", sequence=0)
    tx.end("of it", 2)
    tx.await_state(2, "CompleteCommit")
    s.fetch("in the end", 3, "t", 0, **COMMITTED)


def _neighbour(s: Story) -> str:
    """A transactional id of the same coordinator as "tx"."""
    names = (f"{s.real('tx')}-{number}" for number in range(100))
    return next(name for name in names if partition_for(name, 3) == 0)
