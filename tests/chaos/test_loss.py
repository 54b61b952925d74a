"""What acks=1 and unclean elections lose is what the schedule says: the records that the elected replica had not got.

A model of three lists follows the schedule. It knows who leads from the broker, and works out for itself who has what.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import Chaos, ChaosFault, KafkaBroker, KafkaError
from odradek.broker.partitions.partition import Partition
from tests.chaos.replica_logs import values_on

NODES = (1, 2, 3)
KINDS = {
    "kill_node": 3,
    "stop_node": 1,
    "pause_replication": 3,
    "lag_replication": 2,
    "cut": 2,
    "move_leader": 2,
    "advance": 1,
}


class Model:
    """Three lists of values, and what keeps them from being the same."""

    def __init__(self) -> None:
        self.has: dict[int, list[bytes]] = {node: [] for node in NODES}
        self.down: set[int] = set()
        self.behind: dict[int, int | None] = {}
        self.cut: set[frozenset[int]] = set()
        self.leader = -1

    def begin(self, fault: ChaosFault, *, over: bool) -> None:
        """A fault begins, or is over."""
        if fault.verb in ("kill_node", "stop_node"):
            (self.down.discard if over else self.down.add)(fault.arguments[0])
        elif fault.verb == "cut":
            (self.cut.discard if over else self.cut.add)(frozenset(fault.arguments))
        elif fault.verb in ("pause_replication", "lag_replication"):
            if over:
                self.behind.pop(fault.arguments[2], None)
            else:
                self.behind[fault.arguments[2]] = dict(fault.options).get("records")

    def copy(self, leader: int) -> None:
        """Followers that may have something get it: what they have that the leader has not is gone first."""
        self.leader = leader
        if leader not in NODES:
            return
        truth = self.has[leader]
        for node in NODES:
            reached = node not in self.down and frozenset((node, leader)) not in self.cut
            if node == leader or not reached or (node in self.behind and self.behind[node] is None):
                continue
            same = 0
            while same < min(len(truth), len(self.has[node])) and truth[same] == self.has[node][same]:
                same += 1
            self.has[node] = truth[: max(same, len(truth) - (self.behind.get(node) or 0))]


def modelled(seed: int, broker: KafkaBroker) -> Chaos:
    """The schedule of a seed, without what the model does not know: replicas that lag by time."""
    options = {"kinds": KINDS, "seconds": 40.0, "faults": 25, "lasting": (1.0, 8.0), "min_up": 1, "jumps": (0.5, 40.0)}
    drawn = Chaos(seed, **options).plan(broker)  # type: ignore[arg-type]
    known = [fault.number for fault in drawn if "seconds" not in dict(fault.options)]
    return Chaos(seed, only=known, **options)  # type: ignore[arg-type]


def events(chaos: Chaos) -> Iterator[tuple[float, ChaosFault, bool]]:
    """When which fault begins or is over, in order."""
    times = [(fault.at, 1, fault, False) for fault in chaos.schedule]
    times += [(fault.ends, 0, fault, True) for fault in chaos.schedule if fault.lasts is not None]
    for at, _, fault, over in sorted(times):
        yield at, fault, over


@pytest.fixture(scope="module", params=[False, True], ids=["clean", "unclean"])
def unclean(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.long(*map(str, range(2, 12)))
@pytest.mark.parametrize("seed", range(12))
def test_each_replica_has_what_the_schedule_let_it_have(seed: int, unclean: bool) -> None:
    config = {"min.insync.replicas": 1, "unclean.leader.election.enable": unclean}
    topics = {"t": {"partitions": 1, "replication_factor": 3, "config": config}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": 5000}) as broker:
        broker.clock.freeze()
        partition = broker.cluster.topics.by_name("t").partitions[0]
        chaos = modelled(seed, broker)
        chaos.step(broker, 0)
        model, sent, now = Model(), 0, 0.0
        begun: set[ChaosFault] = set()
        for at, fault, over in list(events(chaos)):
            for _ in range(3):
                sent += _produce(broker, partition, model, b"%d" % sent)
            lines = chaos.step(broker, at - now)
            now = at
            done = any(line.split(" ", maxsplit=1)[-1].strip().endswith(fault.call) for line in lines)
            if not over and done:
                begun.add(fault)
                if fault.verb == "stop_node":  # follows the new leader for a moment, and then it goes
                    model.copy(broker._look(lambda: partition.leader_id))
                model.begin(fault, over=False)
            elif over and fault in begun:
                model.begin(fault, over=True)
            model.copy(broker._look(lambda: partition.leader_id))
            _compare(broker, partition, model, chaos)
        chaos.heal(broker)
        assert chaos.finished
        model.copy(broker._look(lambda: partition.leader_id))
        kept = model.has[model.leader]
        assert all(broker._look(lambda node=node: values_on(partition, node)) == kept for node in NODES)  # type: ignore[misc]
        assert [record.value for record in broker.records("t")] == kept


def _produce(broker: KafkaBroker, partition: Partition, model: Model, value: bytes) -> int:
    """With acks=1, where somebody leads: the leader has it, and who may have it from there."""
    leader = broker._look(lambda: partition.leader_id)
    try:
        broker.produce("t", value)
    except KafkaError:
        assert leader == -1
        return 0
    model.has[leader].append(value)
    model.copy(leader)
    return 1


def _compare(broker: KafkaBroker, partition: Partition, model: Model, chaos: Chaos) -> None:
    found = broker._look(lambda: {node: values_on(partition, node) for node in NODES})
    assert found == model.has, "\n".join([chaos.schedule_text, "", *chaos.log])
