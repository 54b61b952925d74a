"""Leaders that die: what acks=1 loses and acks=all does not, an unclean election, a zombie that is fenced.

python examples/failover/run.py [PICTURE.svg]
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Message, Producer

sys.path.insert(0, str(Path(__file__).parents[1] / "rebalance"))  # its picture

from timeline import Event, Place, Story, draw

import odradek

TOPIC = "orders"
QUIET = logging.getLogger("quiet")
QUIET.disabled = True  # librdkafka cries out when it is fenced
CONFIG = {"replica.lag.time.max.ms": 5000, "broker.session.timeout.ms": 2000}

STEP_S = 0.5
COLOURS = {
    "leads": "#2f5f8f",
    "in sync": "#a6c8e4",
    "behind": "#f6b3bb",
    "works": "#228833",
    "hangs": "#ccbb44",
}


class Watch:
    """A partition of a cluster whose clock stands still but for `wait`, and the story of its three replicas."""

    def __init__(self, broker: odradek.KafkaBroker, topic: str, title: str) -> None:
        self.broker, self.topic = broker, topic
        self.story = Story(title, [("node", node) for node in (1, 2, 3)])
        self._began_ms = broker.clock.now_ms()
        self._roles: dict[Place, str] = {}
        self._down: set[int] = set()
        self._held: dict[int, odradek.Undo] = {}
        self._look()

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / STEP_S)):
            self.broker.clock.advance(STEP_S)
            self._look()
        self.story.end_s = self._now_s()

    def mark(self, what: str) -> None:
        """Name what happens now."""
        self._look()
        self.story.marks.append((self._now_s(), what))

    def kill(self, node: int) -> None:
        """A crash of a node."""
        self.mark(f"kill {node}")
        self.broker.kill_node(node)
        self._down.add(node)
        self._look()

    def start(self, node: int) -> None:
        """The node comes back."""
        self.mark(f"start {node}")
        self.broker.start_node(node)
        self._down.discard(node)
        self._look()

    def hold(self, *nodes: int) -> None:
        """Followers get nothing from their leader."""
        self.mark(f"hold {' and '.join(map(str, nodes))}")
        for node in nodes:
            self._held[node] = self.broker.topic(self.topic).pause_replication(0, node)

    def release(self, *nodes: int) -> None:
        """They get everything again."""
        for node in nodes:
            self._held.pop(node).undo()
        self._look()

    def play(self, line: Place, role: str | None) -> None:
        """From now on a line of the picture has this colour; None is grey."""
        before = self._roles.pop(line, None)
        if before is not None:
            self.story.events.append(Event(self._now_s(), before, False, frozenset([line])))
        if role is not None:
            self._roles[line] = role
            self.story.events.append(Event(self._now_s(), role, True, frozenset([line])))

    def _look(self) -> None:
        seen = self.broker.topics[self.topic].partitions[0]
        for node in (1, 2, 3):
            role = "leads" if node == seen.leader else "in sync" if node in seen.isr else "behind"
            now = None if node in self._down else role
            if self._roles.get(("node", node)) != now:
                self.play(("node", node), now)

    def _now_s(self) -> float:
        return (self.broker.clock.now_ms() - self._began_ms) / 1000


class Client:
    """A producer, and what the cluster acknowledged to it."""

    def __init__(self, broker: odradek.KafkaBroker, **config: Any) -> None:
        names = {name.replace("_", "."): value for name, value in config.items()}
        self.acknowledged: list[str] = []
        self._producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0, **names})

    def send(self, *values: str) -> None:
        """Hand records over; they are acknowledged when `flush` says so."""
        for value in values:
            self._producer.produce(TOPIC, value, on_delivery=self._delivered)

    def flush(self) -> None:
        """Wait until all is acknowledged."""
        assert self._producer.flush(120) == 0

    def _delivered(self, error: object, message: Message) -> None:
        if error is None:
            self.acknowledged.append((message.value() or b"").decode())


@contextmanager
def cluster(title: str, **config: Any) -> Iterator[Watch]:
    """Three nodes, a topic of one partition that node 1 leads, and a clock that stands still."""
    spec = {"partitions": 1, "replication_factor": 3, "config": config}
    with odradek.KafkaBroker(nodes=3, topics={TOPIC: spec}, config=CONFIG) as broker, broker.clock.stopped():
        if broker.topics[TOPIC].partitions[0].leader != 1:
            broker.topic(TOPIC).move_leader(0, 1)
        yield Watch(broker, TOPIC, title)


def kept(watch: Watch) -> list[str]:
    """The records that a consumer would get now."""
    return [(record.value or b"").decode() for record in watch.broker.records(TOPIC)]


def tell(watch: Watch, client: Client) -> None:
    """What was promised, and what is there."""
    there = kept(watch)
    lost = [value for value in client.acknowledged if value not in there]
    print(f"{watch.story.title}:")
    print(f"  acknowledged {' '.join(client.acknowledged)}; lost {' '.join(lost) or 'nothing'}")


def acks_1() -> Story:
    """The leader promises alone."""
    with cluster("acks=1") as watch:
        client = Client(watch.broker, acks=1)
        client.send("a", "b")
        client.flush()
        watch.wait(1)
        watch.hold(2, 3)
        watch.wait(2)
        client.send("c", "d")
        client.flush()
        watch.mark("c, d acknowledged")
        watch.wait(3)
        watch.kill(1)
        watch.release(2, 3)
        watch.wait(4)
        watch.start(1)
        watch.wait(3)
        tell(watch, client)
    return watch.story


def acks_all() -> Story:
    """The leader promises when the others have it: nothing is acknowledged before, so nothing is lost."""
    with cluster("acks=all", **{"min.insync.replicas": 2}) as watch:
        client = Client(watch.broker, acks="all", enable_idempotence=True)
        client.send("a", "b")
        client.flush()
        watch.wait(1)
        watch.hold(2, 3)
        watch.wait(2)
        client.send("c", "d")
        watch.mark("c, d sent, no answer")
        watch.wait(3)
        watch.kill(1)
        watch.release(2, 3)
        watch.wait(1)
        client.flush()
        watch.mark("c, d acknowledged by 2")
        watch.wait(4)
        watch.start(1)
        watch.wait(3)
        tell(watch, client)
    return watch.story


def unclean() -> Story:
    """Who was not in sync leads: exactly what it did not have is lost."""
    with cluster("unclean election") as watch:
        client = Client(watch.broker, acks="all")
        client.send("a", "b")
        client.flush()
        watch.wait(1)
        watch.hold(2, 3)
        client.send("c", "d")
        watch.wait(8)
        client.flush()
        watch.mark("acknowledged by 1 alone")
        watch.wait(5)
        watch.kill(1)
        watch.wait(4)
        watch.mark("unclean election")
        watch.broker.topic(TOPIC).elect(0, unclean=True)
        watch.release(3)
        watch.wait(4)
        watch.start(1)
        watch.wait(3)
        tell(watch, client)
    return watch.story


def zombie() -> Story:
    """An instance that hung comes back, and may not write any more."""
    with cluster("zombie") as watch:
        watch.story.places = [*watch.story.places, ("app", 1), ("app", 2)]
        servers = {"bootstrap.servers": watch.broker.bootstrap_servers, "log_level": 0}
        first, second = (Producer({**servers, "transactional.id": "billing"}, logger=QUIET) for _ in range(2))
        first.init_transactions(120)
        first.begin_transaction()
        first.produce(TOPIC, "first")
        first.flush(120)
        watch.play(("app", 1), "works")
        watch.wait(2)
        watch.mark("1 hangs")
        watch.play(("app", 1), "hangs")
        watch.wait(2)
        watch.kill(1)
        watch.wait(1)
        second.init_transactions(120)
        watch.play(("app", 2), "works")
        watch.mark("2 takes over")
        second.begin_transaction()
        second.produce(TOPIC, "second")
        second.commit_transaction(120)
        watch.wait(3)
        print("zombie:")
        try:
            first.commit_transaction(120)
        except KafkaException as error:
            print(f"  the first instance is refused: {error.args[0].name()}")
        watch.mark("1 wakes up: fenced")
        watch.play(("app", 1), None)
        watch.wait(3)
        committed = watch.broker.records(TOPIC, isolation="read_committed")
        print(f"  committed: {' '.join((record.value or b'').decode() for record in committed)}")
    return watch.story


STORIES: tuple[Callable[[], Story], ...] = (acks_1, acks_all, unclean, zombie)


def main() -> None:
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "failover.svg")
    told = [tell_it() for tell_it in STORIES]
    picture.write_text(draw(told, colours=COLOURS, nobody="down, or fenced"), encoding="utf-8")
    print(f"drawn: {picture}")


if __name__ == "__main__":
    main()
