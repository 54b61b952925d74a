"""Takes a schedule through one cluster: the verbs that it is made of, what has begun, what is to be undone."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import trio

from odradek.broker.faults.fault import Fault
from odradek.broker.faults.wire_fault import WireFault
from odradek.broker.mistakes import did_you_mean
from odradek.broker.nodes import coordinators, disks, links
from odradek.broker.nodes import node_life as nodes
from odradek.broker.nodes.node_life import Undoing
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.chaos.schedule import ChaosFault


def advance(cluster: Cluster, seconds: float) -> None:
    """Advance the broker's clock; the schedule's time stays."""
    cluster.clock.advance(seconds)


def fail_disk(cluster: Cluster, node_id: int, how: disks.DiskHow = "full") -> Undoing:
    """Let a node's disk fail: the node halts with its next record. At the end it starts again with a new disk."""
    if not cluster.nodes[node_id].up:
        raise ValueError(f"node {node_id} is down")
    return disks.fail_disk(cluster, node_id, how)


def _misbehave(cluster: Cluster, fault: Fault) -> Undoing:
    """Add a fault to those that the user has set; the undo removes only this one."""
    cluster.set_faults([*cluster.faults, fault])
    return lambda: cluster.set_faults(each for each in cluster.faults if each is not fault)


VERBS: dict[str, Callable[..., Undoing | None]] = {
    verb.__name__: verb
    for verb in (
        nodes.kill_node,
        nodes.stop_node,
        nodes.freeze_node,
        links.pause_replication,
        links.lag_replication,
        links.cut,
        links.slow,
        nodes.move_leader,
        nodes.elect,
        links.reassign,
        advance,
        fail_disk,
        disks.slow_disk,
        coordinators.hold_load,
    )
}
VERBS |= {"cut_clients": links.cut, "slow_clients": links.slow}
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
