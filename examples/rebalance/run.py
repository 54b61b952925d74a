"""Members join and leave a group under each assignor; what the broker saw of it becomes a picture.

python examples/rebalance/run.py [PICTURE.svg]
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from confluent_kafka import Consumer
from timeline import Generation, draw, history

import odradek

ASSIGNORS = ("range", "roundrobin", "cooperative-sticky")
TOPICS = {"t0": 3, "t1": 3}


class Member:
    """A consumer that polls in a thread of its own until it leaves. ``owned``: what it takes for its partitions."""

    noticed = threading.Condition()

    def __init__(self, bootstrap: str, group: str, name: str, assignor: str) -> None:
        self.owned: set[tuple[str, int]] = set()
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "client.id": name,
                "partition.assignment.strategy": assignor,
                "heartbeat.interval.ms": 100,
            }
        )
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._consumer.subscribe(list(TOPICS))
        self._thread.start()

    def _poll(self) -> None:
        while not self._leaving.is_set():
            self._consumer.poll(0.05)
            owned = {(partition.topic, partition.partition) for partition in self._consumer.assignment()}
            if owned != self.owned:
                with self.noticed:
                    self.owned = owned
                    self.noticed.notify_all()
        self._consumer.close()

    def leave(self) -> None:
        self._leaving.set()
        self._thread.join()


def rehearse(broker: odradek.KafkaBroker, assignor: str) -> list[Generation]:
    """C0, C1 and C2 come one after the other; C1 leaves, then C0, then C2. Nobody sleeps: the group is waited for."""
    group = broker.group(f"group-{assignor}")
    members: dict[str, Member] = {}
    for name in ("C0", "C1", "C2"):
        members[name] = Member(broker.bootstrap_servers, group.group_id, name, assignor)
        _settle(group, members)
    for name in ("C1", "C0", "C2"):
        members.pop(name).leave()
        _settle(group, members)
    return history(broker.records("__consumer_offsets"), group.group_id)


def _settle(group: odradek.Group, members: dict[str, Member]) -> None:
    """Until every partition has an owner who took it, or nobody is left; a cooperative assignor needs two rounds."""
    if not members:
        group.wait_sync(lambda info: info.state == "Empty")
        return
    group.wait_stable_sync(members=len(members))
    with Member.noticed:
        if not Member.noticed.wait_for(lambda: _all_taken(group, members), timeout=30):
            raise TimeoutError(f"{group.info()}: {[member.owned for member in members.values()]}")


def _all_taken(group: odradek.Group, members: dict[str, Member]) -> bool:
    """Whether all partitions are given to somebody, and each member takes for its own what it was given."""
    given = {
        each.client_id: {(topic, index) for topic, indexes in each.assignment.items() for index in indexes}
        for each in group.info().members
    }
    owned = {name: member.owned for name, member in members.items()}
    return owned == given and sum(map(len, given.values())) == sum(TOPICS.values())


def main() -> None:
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "rebalance.svg")
    histories: dict[str, list[Generation]] = {}
    with odradek.KafkaBroker(topics=TOPICS) as broker:
        for assignor in ASSIGNORS:
            histories[assignor] = rehearse(broker, assignor)
            print(assignor)
            for generation in histories[assignor]:
                owners: dict[str, list[str]] = {}
                for (topic, partition), client in sorted(generation.owners.items()):
                    owners.setdefault(client, []).append(f"{topic}p{partition}")
                told = "; ".join(f"{client}: {' '.join(owned)}" for client, owned in sorted(owners.items()))
                print(f"  generation {generation.number}: {told or 'nobody'}")
    picture.write_text(draw(histories), encoding="utf-8")
    print(f"drawn: {picture}")


if __name__ == "__main__":
    main()
