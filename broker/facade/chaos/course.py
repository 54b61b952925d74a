"""Takes a schedule through one cluster: the verbs that it is made of, what has begun, what is to be undone."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import trio

from odradek.broker.faults.fault import Fault, FaultSet
from odradek.broker.faults.wire_fault import WireFault
from odradek.broker.mistakes import did_you_mean
from odradek.broker.nodes import coordinators, disks, links
from odradek.broker.nodes import node_life as nodes
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.chaos.schedule import ChaosFault


Undoing = Callable[[], None]


def kill_node(cluster: Cluster, node_id: int) -> Undoing:
    """Crash a node; it starts again at the end."""
    nodes.kill_node(cluster, node_id)
    return lambda: _bring_back(cluster, node_id)


def stop_node(cluster: Cluster, node_id: int) -> Undoing:
    """Shut a node down in order; it starts again at the end."""
    nodes.stop_node(cluster, node_id)
    return lambda: _bring_back(cluster, node_id)


def _bring_back(cluster: Cluster, node_id: int) -> None:
    if not cluster.nodes[node_id].up:
        nodes.start_node(cluster, node_id)


def freeze_node(cluster: Cluster, node_id: int) -> Undoing:
    """Freeze a node with its sockets open; it thaws at the end."""
    nodes.freeze_node(cluster, node_id)
    return lambda: nodes.thaw_if_frozen(cluster, node_id)


def pause_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> Undoing:
    """Stop copying from the leader to a follower."""
    links.pause_replication(cluster, topic, partition, node_id)
    return lambda: _resume(cluster, topic, partition, node_id)


def lag_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int, **measure: float) -> Undoing:
    """Keep a follower behind its leader."""
    links.lag_replication(cluster, topic, partition, node_id, **measure)  # type: ignore[arg-type]
    return lambda: _resume(cluster, topic, partition, node_id)


def _resume(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> None:
    if cluster.topics.get(topic) is not None:
        links.resume_replication(cluster, topic, partition, node_id)


def cut(cluster: Cluster, a: int, b: int) -> Undoing:
    """Stop copying between two nodes."""
    links.cut_nodes(cluster, a, b)
    return lambda: links.join_nodes(cluster, a, b)


def slow(cluster: Cluster, a: int, b: int, *, ms: float) -> Undoing:
    """Delay copying between two nodes."""
    links.slow(cluster, a, b, ms=ms)
    return lambda: links.hasten(cluster, a, b)


def move_leader(cluster: Cluster, topic: str, partition: int, node_id: int) -> None:
    """Move the leadership to another replica in sync."""
    nodes.move_leader(cluster, topic, partition, node_id)


def elect(cluster: Cluster, topic: str, partition: int, *, unclean: bool = False) -> None:
    """Elect the preferred replica; or, unclean, a live one for a partition without a leader, which may lose records."""
    nodes.elect(cluster, topic, partition, unclean=unclean)


def reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int]) -> Undoing:
    """Give a partition other replicas; the end cancels the reassignment if it is still under way."""
    links.reassign(cluster, topic, partition, replicas)
    return lambda: links.cancel_reassignment(cluster, topic, partition)


def advance(cluster: Cluster, seconds: float) -> None:
    """Advance the broker's clock; the schedule's time stays."""
    cluster.clock.advance(seconds)


def cut_clients(cluster: Cluster, client: str, node_id: int, *, how: links.How = "silent") -> Undoing:
    """Cut clients off from a node."""
    links.cut_clients(cluster, links.ends_of(cluster, client, node_id, None), how)
    return _mending(cluster)


def slow_clients(cluster: Cluster, client: str, node_id: int, *, ms: float, jitter: float = 0) -> Undoing:
    """Delay a node's answers to clients."""
    links.slow(cluster, client, node_id, ms=ms, jitter=jitter)
    return _mending(cluster)


def _mending(cluster: Cluster) -> Undoing:
    """Undoes only the latest bad link."""
    made = cluster.server.links.client_links[-1]
    return lambda: cluster.server.links.remove(lambda link: link is made)


def fail_disk(cluster: Cluster, node_id: int, how: disks.DiskHow = "full") -> Undoing:
    """Let a node's disk fail: the node halts with its next record. At the end it starts again with a new disk."""
    if not cluster.nodes[node_id].up:
        raise ValueError(f"node {node_id} is down")
    disks.fail_disk(cluster, node_id, how)
    failing = disks.disks_of(cluster)
    fault = failing.faults[-1]

    def mend() -> None:
        failing.remove(lambda each: each is fault)
        if fault.hits and node_id not in cluster.frozen:
            _bring_back(cluster, node_id)

    return mend


def slow_disk(cluster: Cluster, node_id: int, *, ms: float) -> Undoing:
    """Slow down each sync of a node's disk."""
    disks.slow_disk(cluster, node_id, ms)
    return lambda: _sync_at_once(cluster, node_id)


def _sync_at_once(cluster: Cluster, node_id: int) -> None:
    if cluster.durability is not None:
        cluster.durability.late_ms.pop(node_id, None)


def hold_load(cluster: Cluster, topic: str, partition: int, *, now: bool = False) -> Undoing:
    """Keep a coordinator that takes over from loading; with `now` it also forgets what it has loaded."""
    coordinators.hold_load(cluster, topic, partition, now=now)
    return lambda: coordinators.release_load(cluster, topic, partition)


def _misbehave(cluster: Cluster, fault: Fault) -> Undoing:
    """Add a fault to those that the user has set; the end removes only this one."""
    cluster.set_faults([*_faults(cluster), fault])
    return lambda: cluster.set_faults([each for each in _faults(cluster) if each is not fault])


def _faults(cluster: Cluster) -> list[Fault]:
    known = cluster.dispatcher.faults
    return known.faults if isinstance(known, FaultSet) else []


VERBS: dict[str, Callable[..., Undoing | None]] = {
    verb.__name__: verb
    for verb in (
        kill_node,
        stop_node,
        freeze_node,
        pause_replication,
        lag_replication,
        cut,
        slow,
        move_leader,
        elect,
        reassign,
        advance,
        cut_clients,
        slow_clients,
        fail_disk,
        slow_disk,
        hold_load,
    )
}
VERBS |= {
    "answer": lambda cluster, api, error, **which: _misbehave(cluster, Fault(api, answer=error, **which)),
    "drop": lambda cluster, api, **which: _misbehave(cluster, Fault(api, drop=True, **which)),
    "lose": lambda cluster, api, **which: _misbehave(cluster, Fault(api, lose=True, **which)),
    "disconnect": lambda cluster, api, **which: _misbehave(cluster, Fault(api, cut=True, **which)),
    "delay": lambda cluster, api, ms, **which: _misbehave(cluster, Fault(api, delay_ms=ms, **which)),
    "break_answer": lambda cluster, api, **which: _misbehave(cluster, WireFault(api, **which)),
}
"""Every verb by its name."""


def verb_named(name: str) -> Callable[..., Undoing | None]:
    """A verb; ValueError, with the nearest name, if there is none."""
    verb = VERBS.get(name)
    if verb is None:
        raise ValueError(f"no fault is called {name!r}{did_you_mean(name, VERBS)}; there are {', '.join(VERBS)}")
    return verb


_REFUSALS = (ValueError, KeyError, KafkaError)


class Course:
    """Owner: a `Chaos`. Everything here runs in the broker's thread.

    `log`: a line for each fault that was applied, with its time. `failure`: an error that no verb should have raised.
    """

    def __init__(self, cluster: Cluster, faults: Iterable[ChaosFault]) -> None:
        self._cluster = weakref.ref(cluster)
        self.log: list[str] = []
        self.failure: Exception | None = None
        self.now = 0.0
        self._ahead = sorted(faults, key=lambda fault: fault.at)
        self._lasting: list[tuple[ChaosFault, Undoing]] = []
        self._scope = trio.CancelScope()
        self._jumped_ms = 0

    @property
    def cluster(self) -> Cluster:
        """The cluster. A schedule that is kept does not keep it alive."""
        cluster = self._cluster()
        if cluster is None:
            raise RuntimeError("the cluster of this schedule is gone")
        return cluster

    def is_for(self, cluster: Cluster) -> bool:
        """Whether it runs in that cluster."""
        return self._cluster() is cluster

    @property
    def finished(self) -> bool:
        """Whether no fault is left to begin or to end."""
        return not self._ahead and not self._lasting

    def reach(self, seconds: float) -> None:
        """Begin and end faults that are due until then, in order. At the same time, ends come before beginnings."""
        while (due := self._next()) is not None and due <= seconds:
            self.now = due
            ended = min(self._lasting, key=lambda each: each[0].ends, default=None)
            if ended is not None and ended[0].ends <= due:
                self._lasting.remove(ended)
                self._undo(*ended)
            else:
                self._do(self._ahead.pop(0))
        self.now = max(self.now, seconds)

    def heal(self) -> None:
        """Undo faults that last, the latest first, and begin no more."""
        self._scope.cancel()
        self._ahead.clear()
        while self._lasting:
            self._undo(*self._lasting.pop())

    def stop(self) -> None:
        """Begin no more faults, and leave those that last."""
        self._scope.cancel()
        self._ahead.clear()

    def start(self) -> None:
        """Follow the broker's clock. A jump by the schedule itself does not count as time that passes."""
        self.cluster.start(self._follow_clock, self.cluster.clock.now_ms())

    async def _follow_clock(self, begin_ms: int) -> None:
        clock = self.cluster.clock
        with self._scope:
            while (due := self._next()) is not None:
                await clock.sleep_until_ms(begin_ms + self._jumped_ms + round(due * 1000))
                self.reach(due)

    def _next(self) -> float | None:
        """The time of the next beginning or end."""
        times = [fault.ends for fault, _ in self._lasting]
        if self._ahead:
            times.append(self._ahead[0].at)
        return min(times, default=None)

    def _do(self, fault: ChaosFault) -> None:
        before_ms = self.cluster.clock.now_ms()
        try:
            undoing = verb_named(fault.verb)(self.cluster, *fault.arguments, **dict(fault.options))
        except _REFUSALS as refusal:
            self._note(f"{fault.call} left out: {_sentence(refusal)}")
            return
        except Exception as error:
            self._fail(fault.call, error)
            return
        self._note(fault.call)
        if fault.verb == "advance":
            self._jumped_ms += self.cluster.clock.now_ms() - before_ms
        if undoing is not None and fault.lasts is not None:
            self._lasting.append((fault, undoing))

    def _undo(self, fault: ChaosFault, undoing: Undoing) -> None:
        try:
            undoing()
        except _REFUSALS as refusal:
            self._note(f"{fault.call} not undone: {_sentence(refusal)}")
        except Exception as error:
            self._fail(f"the end of {fault.call}", error)
        else:
            self._note(f"{fault.call} is over")

    def _fail(self, what: str, error: Exception) -> None:
        self._note(f"{what} failed: {error!r}")
        if self.failure is None:
            self.failure = error

    def _note(self, text: str) -> None:
        self.log.append(f"{self.now:8.3f} {text}")


def _sentence(refusal: Exception) -> str:
    return str(refusal.args[0]) if isinstance(refusal, KeyError) and refusal.args else str(refusal)
