"""Stories of reassignments that replace others while these are under way."""

from __future__ import annotations

from collections.abc import Iterable

from tests.scenarios.failures.administration import reassign, reassignments
from tests.scenarios.failures.story import Story, story


def _replaced(s: Story, asked: str, replicas: Iterable[int] | None) -> None:
    """Reassign, and write down what is under way then."""
    reassign(s, asked, replicas)
    reassignments(s, asked)
    s.show(asked, "t", node=1)


@story
def a_reassignment_replaces_another(s: Story) -> None:
    """The replica that was added stays one that is added; what was to go may stay, and the other way round."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    _replaced(s, "2 by 3", [1, 3])
    _replaced(s, "1 by 3 instead", [2, 3])
    _replaced(s, "3 as a third", [3, 1, 2])
    _replaced(s, "both by 3", [3])
    s.rejoin(3)
    s.until("the end", lambda: (p := s.partition("t")) and p.replica_nodes == [3])
    s.await_leader("t", 3)
    reassignments(s, "done")
    s.show("done", "t", node=1)


@story
def a_reassignment_back_never_ends(s: Story) -> None:
    """To what it was before: the new replica is added and removed, until the reassignment is cancelled."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    _replaced(s, "2 by 3", [1, 3])
    _replaced(s, "back", [1, 2])
    s.rejoin(3)
    s.await_isr("t", [1, 2, 3])
    reassignments(s, "all in sync")
    s.show("all in sync", "t", node=1)
    _replaced(s, "back again", [1, 2])
    _replaced(s, "in another order", [2, 1])
    _replaced(s, "cancelled", None)


@story
def a_reassignment_back_and_on(s: Story) -> None:
    """What is added and removed at once ends with the next reassignment that wants it."""
    s.create("t", [1, 2])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    _replaced(s, "3 as a third", [1, 2, 3])
    _replaced(s, "back", [1, 2])
    _replaced(s, "1 by 3", [2, 3])
    s.rejoin(3)
    s.until("the end", lambda: (p := s.partition("t")) and p.replica_nodes == [2, 3])
    s.await_isr("t", [2, 3])
    reassignments(s, "done")
    s.show("done", "t", node=1)


@story
def a_reassignment_replaced_in_sync(s: Story) -> None:
    """The replica that is added is in sync, but another one is not: cancelling takes it out of the ISR."""
    s.create("t", [1])
    s.produce("all", 1, "t", "a")
    s.isolate(3)
    s.isolate(2)
    _replaced(s, "1 by 2 and 3", [2, 3])
    s.rejoin(2, 1)
    s.await_isr("t", [1, 2])
    s.show("2 is in sync", "t", node=1)
    _replaced(s, "by 2 and 1", [2, 1])
    s.produce("meanwhile", 1, "t", "b")
    _replaced(s, "by 2 alone", [2])
    _replaced(s, "cancelled", None)
    s.fetch("at the leader", 1, "t", 0)


@story
def a_reassignment_is_cancelled_without_anybody_in_sync(s: Story) -> None:
    """With unclean elections the first of the replicas before it is the ISR, dead or not."""
    s.create("t", [2, 3], unclean_leader_election_enable="true")
    s.produce("all", 2, "t", "a")
    s.kill(3)
    s.await_isr("t", [2])
    s.kill(2)
    s.await_leader("t", -1)
    s.show("nobody", "t", node=1)
    _replaced(s, "3 alone", [3])
    _replaced(s, "cancelled", None)
    s.start(3)
    s.await_leader("t", 3)
    s.show("3 is back", "t", node=1)
    s.start(2)
    s.await_isr("t", [2, 3])
    s.show("in the end", "t", node=1)


@story
def a_reassignment_to_the_dead_is_cancelled(s: Story) -> None:
    """Without unclean elections it is refused while nobody is in sync."""
    s.create("t", [2, 3])
    s.produce("all", 2, "t", "a")
    s.kill(3)
    s.await_isr("t", [2])
    s.kill(2)
    s.await_leader("t", -1)
    _replaced(s, "3 alone", [3])
    _replaced(s, "cancelled", None)
    _replaced(s, "to 1 alone", [1])
    _replaced(s, "2 and 1", [2, 1])
    s.start(2)
    s.await_isr("t", [1, 2])
    reassignments(s, "2 is back")
    s.show("2 is back", "t", node=1)
    s.start(3)
