"""Stories of leaders that die."""

from __future__ import annotations

from tests.scenarios.failures.story import Story, story


@story
def acks_1_loses(s: Story) -> None:
    """A record that only the leader had dies with it; the old leader is cut to the new one's history."""
    s.create("t")
    s.produce("all", 1, "t", "a")
    s.await_high_watermark(2, "t", 1)
    s.await_high_watermark(3, "t", 1)
    s.isolate(1)
    s.produce("acks 1", 1, "t", "lost", "lost too", acks=1)
    s.kill(1)
    s.rejoin(1)
    s.await_leader("t", 2)
    s.show("a new leader", "t")
    s.fetch("at the new leader", 2, "t", 0)
    s.fetch("beyond what it has", 2, "t", 2)
    s.epoch_end("of the first epoch", 2, "t", 0)
    s.fetch("from where the first epoch went on", 2, "t", 3, epoch=1, last_epoch=0)
    s.produce("to the new leader", 2, "t", "c")
    s.fetch("the same offset, another record", 2, "t", 1)
    s.start(1)
    s.await_isr("t", [1, 2, 3])
    s.await_high_watermark(1, "t", 2)
    s.fetch("at the old leader", 1, "t", 0)
    s.epoch_end("of the first epoch, now", 2, "t", 0)
    s.elect("the preferred one again", "t")
    s.await_leader("t", 1)
    s.fetch("at the old leader, which leads again", 1, "t", 0)
    s.produce("there", 1, "t", "d")
    s.show("in the end", "t")


@story
def acks_all_keeps(s: Story) -> None:
    """What was acknowledged with acks=all is there after a crash, at once."""
    s.create("t")
    s.produce("all", 1, "t", "a", "b")
    s.kill(1)
    s.await_leader("t", 2)
    s.await_high_watermark(2, "t", 2)
    s.fetch("at the new leader", 2, "t", 0)
    s.list_offset("latest", 2, "t")
    s.produce("to the new leader", 2, "t", "c")
    s.fetch("at the new leader, once more", 2, "t", 2)


@story
def the_last_in_sync_dies(s: Story) -> None:
    """Nobody leads what only the dead one has; an unclean election loses it, an unclean topic does so by itself."""
    s.create("safe")
    s.create("unclean", unclean_leader_election_enable="true")
    for topic in ("safe", "unclean"):
        s.produce(f"{topic}, all", 1, topic, "a")
        s.await_high_watermark(2, topic, 1)
        s.await_high_watermark(3, topic, 1)
    s.isolate(1)
    for topic in ("safe", "unclean"):
        s.produce(f"{topic}, acks 1", 1, topic, "b", acks=1)
    for topic in ("safe", "unclean"):
        s.await_isr(topic, [1])
        s.await_high_watermark(1, topic, 2)
        s.produce(f"{topic}, all of one", 1, topic, "c")
        s.show(f"{topic}, the leader alone", topic)
    s.kill(1)
    s.rejoin(1)
    s.await_leader("safe", -1)
    s.await_leader("unclean", 2)
    s.await_isr("unclean", [2, 3])
    s.show("nobody leads", "safe")
    s.show("an unclean leader", "unclean")
    s.produce("to nobody", 2, "safe", "x", version=9)
    s.fetch("from nobody", 2, "safe", 0)
    s.list_offset("of nobody", 2, "safe")
    s.fetch("unclean", 2, "unclean", 0)
    s.elect("preferred, of nobody", "safe")
    s.elect("unclean", "safe", unclean=True)
    s.await_leader("safe", 2)
    s.await_isr("safe", [2, 3])
    s.show("elected uncleanly", "safe")
    s.fetch("elected uncleanly", 2, "safe", 0)
    s.produce("elected uncleanly", 2, "safe", "d")
    s.elect("unclean, of what has a leader", "safe", unclean=True)
    s.start(1)
    for topic in ("safe", "unclean"):
        s.await_isr(topic, [1, 2, 3])
        s.fetch(f"{topic}, at the one that came back", 1, topic, 0)
        s.epoch_end(f"{topic}, of the first epoch", 2, topic, 0)


@story
def eligible_leaders(s: Story) -> None:
    """Replicas that left an ISR below min.insync.replicas may lead (KIP-966)."""
    s.create("t", min_insync_replicas=2)
    s.produce("all", 1, "t", "a")
    s.stop(2)
    s.await_isr("t", [1, 3])
    s.show("one stopped", "t")
    s.stop(3)
    s.await_isr("t", [1])
    s.show("two stopped", "t")
    s.produce("acks all", 1, "t", "b")
    s.produce("acks 1", 1, "t", "c", acks=1)
    s.fetch("with one in sync", 1, "t", 0)
    s.start(3)
    s.await_isr("t", [1, 3])
    s.await_high_watermark(3, "t", 2)
    s.show("one came back", "t")
    s.fetch("with two in sync", 1, "t", 0)


@story
def stopped_in_order(s: Story) -> None:
    """A stop hands leaders over first; who comes back follows until it is elected."""
    s.create("t", [1, 2, 3], [2, 3, 1])
    s.produce("all", 1, "t", "a")
    s.stop(1)
    s.await_leader("t", 2)
    s.show("the stopped one's partition", "t")
    s.show("another's partition", "t", 1)
    s.fetch("at the new leader", 2, "t", 0)
    s.elect("the preferred one, which is stopped", "t")
    s.start(1)
    s.await_isr("t", [1, 2, 3])
    s.show("it came back", "t")
    s.elect("the preferred one", "t")
    s.elect("what leads already", "t")
    s.elect("no such partition", "t", index=7)
    s.elect("no such topic", "u")
    s.await_leader("t", 1)
    s.show("in the end", "t")
