"""Stories of leaders that move while clients wait, and of producers that follow them."""

from __future__ import annotations

from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from tests.scenarios.failures.story import LONG_MS, Story, story


@story
def a_leader_moves_under_requests(s: Story) -> None:
    """Epochs of before and to come; a long poll and an acks=all that wait when the leader goes."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.stop(1)
    s.await_leader("t", 2)
    s.start(1)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(2, "t", 1)
    s.fetch("with the epoch", 2, "t", 0, epoch=1)
    s.fetch("with the epoch before", 2, "t", 0, epoch=0)
    s.fetch("with an epoch to come", 2, "t", 0, epoch=2)
    s.list_offset("with the epoch before", 2, "t", epoch=0)
    s.list_offset("with an epoch to come", 2, "t", epoch=2)
    s.epoch_end("with the epoch before", 2, "t", 0, current=0)
    s.epoch_end("with an epoch to come", 2, "t", 0, current=2)
    s.epoch_end("of an epoch to come", 2, "t", 5, current=1)
    poll = s.fetch_begin(2, "t", 1, epoch=1, wait_ms=LONG_MS)
    blind = s.fetch_begin(2, "t", 1, wait_ms=LONG_MS)
    s.elect("the preferred one", "t")
    s.await_leader("t", 1)
    s.note_fetched("that waited with its epoch", poll)
    s.produce("to the new leader", 1, "t", "b")
    s.await_high_watermark(2, "t", 2)
    s.note_fetched("that waited without an epoch", blind)


@story
def a_leader_moves_under_acks_all(s: Story) -> None:
    """The answer is NOT_LEADER_OR_FOLLOWER, and the record lives on."""
    s.create("t")
    s.stop(1)
    s.await_leader("t", 2)
    s.start(1)
    s.await_isr("t", [1, 2, 3])
    s.produce("all", 2, "t", "a")
    s.isolate(2, 3)
    waiting = s.produce_begin(2, "t", "b", version=9)
    s.until("b at node 1", lambda: s.has(1, "t", 2))
    s.elect("the preferred one", "t")
    s.await_leader("t", 1)
    s.note_produced("that waited", waiting)
    s.await_high_watermark(1, "t", 2)
    s.fetch("at the new leader", 1, "t", 0)


@story
def an_idempotent_producer_follows(s: Story) -> None:
    """The new leader knows its sequence numbers: duplicates, gaps, and what was lost sent again."""
    s.create("t")
    answer = s.until("a producer id", lambda: _producer_id(s))

    def batch(sequence: int) -> dict[str, int]:
        return {"producer_id": answer, "producer_epoch": 0, "base_sequence": sequence}

    s.produce("first", 1, "t", "a", "b", **batch(0))
    s.await_high_watermark(2, "t", 2)
    s.isolate(1)
    s.produce("lost", 1, "t", "c", acks=1, **batch(2))
    s.kill(1)
    s.rejoin(1)
    s.await_leader("t", 2)
    s.await_high_watermark(2, "t", 2)
    s.produce("a duplicate of the first", 2, "t", "a", "b", **batch(0))
    s.produce("behind what was lost", 2, "t", "d", **batch(3))
    s.produce("what was lost", 2, "t", "c", **batch(2))
    s.produce("behind it", 2, "t", "d", **batch(3))
    s.fetch("in the end", 2, "t", 0)


def _producer_id(s: Story) -> int:
    """A producer id; the first of a broker may have to wait for its block of ids."""
    answer = s.begin(1, InitProducerIdRequest(None, 60_000), 4).answer()
    return int(answer.producer_id) if answer.error_code == 0 else 0
