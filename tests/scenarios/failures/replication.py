"""Stories of followers that get nothing."""

from __future__ import annotations

from tests.scenarios.failures.story import Story, story


@story
def a_follower_lags(s: Story) -> None:
    """It holds the high watermark back, leaves the ISR, and returns."""
    s.create("t")
    s.produce("while all are there", 1, "t", "a")
    s.await_high_watermark(2, "t", 1)
    s.isolate(2)
    s.produce("acks 1, with a follower cut off", 1, "t", "b", acks=1)
    s.fetch("at the leader", 1, "t", 0)
    s.fetch("between high watermark and log end", 1, "t", 1)
    s.fetch("at the log end", 1, "t", 2)
    s.fetch("beyond the log end", 1, "t", 3)
    s.list_offset("latest at the leader", 1, "t")
    s.show("still in the ISR", "t")
    s.await_isr("t", [1, 3])
    s.await_high_watermark(1, "t", 2)
    s.await_high_watermark(3, "t", 2)
    s.show("out of the ISR", "t")
    s.fetch("at the leader, without the follower", 1, "t", 0)
    s.fetch("at the follower that is in sync", 3, "t", 0)
    s.fetch("at the follower that was cut off", 2, "t", 0)
    s.fetch("there, at its log end", 2, "t", 1)
    s.fetch("there, beyond its log end", 2, "t", 2)
    s.rejoin(2)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(2, "t", 2)
    s.fetch("at the follower that came back", 2, "t", 0)
    s.show("whole again", "t")


@story
def acks_wait(s: Story) -> None:
    """acks=0 and 1 do not wait for a follower, acks=all does until it has left, or its time is over."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.isolate(2)
    s.produce("acks 1", 1, "t", "b", acks=1)
    s.produce("acks all, for 300 ms", 1, "t", "c", timeout_ms=300)
    waiting = s.produce_begin(1, "t", "d")
    s.fetch("while it waits", 1, "t", 0)
    s.note_produced("acks all, until the follower left", waiting)
    s.await_isr("t", [1, 3])
    s.fetch("afterwards", 1, "t", 0)


@story
def too_few_in_sync(s: Story) -> None:
    """Below min.insync.replicas: acks=all is refused, acks=1 taken and not visible."""
    s.create("t", min_insync_replicas=2)
    s.produce("all", 1, "t", "a")
    s.isolate(1)
    s.produce("acks 1", 1, "t", "b", acks=1)
    waiting = s.produce_begin(1, "t", "c", timeout_ms=5000)
    s.await_isr("t", [1])
    s.show("the leader alone", "t")
    s.produce("acks all", 1, "t", "d")
    s.produce("acks 1, below", 1, "t", "e", acks=1)
    s.fetch("at the leader", 1, "t", 0)
    s.list_offset("latest", 1, "t")
    s.note_produced("acks all from before, its time over", waiting)
    s.rejoin(1)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(2, "t", 4)
    s.fetch("whole again", 2, "t", 0)
    s.show("whole again", "t")


@story
def followers_serve(s: Story) -> None:
    """What a follower answers, in all versions that differ."""
    s.create("t")
    s.produce("all", 1, "t", "a", "b")
    s.await_high_watermark(2, "t", 2)
    for version in (10, 11, 12, 15, 16, 17):
        s.fetch(f"at a follower, v{version}", 2, "t", 0, version=version)
    s.fetch("with the epoch", 2, "t", 0, epoch=0)
    s.fetch("with a later epoch", 2, "t", 0, epoch=1)
    s.fetch("beyond the end", 2, "t", 3)
    for version in (9, 10, 13):
        s.produce(f"at a follower, v{version}", 2, "t", "c", version=version)
    s.list_offset("at a follower", 2, "t")
    s.epoch_end("at a follower", 2, "t", 0)


@story
def nothing_new(s: Story) -> None:
    """A follower that has everything stays in the ISR, and leads when the leader goes."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.await_high_watermark(2, "t", 1)
    s.isolate(2)
    s.cluster.pass_time(5)
    s.show("after more than replica.lag.time.max.ms", "t")
    s.stop(1)
    s.await_leader("t", 2)
    s.show("led by the one that was cut off", "t")
    s.fetch("at the new leader", 2, "t", 0)


@story
def high_watermark_behind_its_epoch(s: Story) -> None:
    """A new leader that does not know yet what is committed: OFFSET_NOT_AVAILABLE."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.await_high_watermark(2, "t", 1)
    s.isolate(3)
    s.produce("acks 1, not at the third", 1, "t", "b", acks=1)
    s.until("b at node 2", lambda: s.has(2, "t", 2))
    s.stop(1)
    s.await_leader("t", 2)
    s.list_offset("latest, at once", 2, "t", version=5)
    s.list_offset("latest, an older version", 2, "t", version=4)
    s.list_offset("earliest", 2, "t", -2)
    s.fetch("at once", 2, "t", 0)
    s.await_isr("t", [2])
    s.await_high_watermark(2, "t", 2)
    s.list_offset("latest, without the third", 2, "t")
    s.fetch("without the third", 2, "t", 0)
