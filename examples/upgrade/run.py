"""A group goes from the classic protocol to the consumer protocol and back, member by member, while records flow.

python examples/upgrade/run.py [PICTURE.svg]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Consumer, Message, Producer, TopicPartition

sys.path.insert(0, str(Path(__file__).parents[1] / "rebalance"))  # its members and its picture

from groups import BROKER
from members import Member, all_taken, wait_until
from timeline import Event, Story, draw

import odradek

TOPIC, PARTITIONS, GROUP = "orders", 6, "billing"
MEMBERS = ("C0", "C1", "C2")
PROTOCOLS: Mapping[str, Mapping[str, str | int]] = {
    "classic": {
        "partition.assignment.strategy": "range",  # not librdkafka's cooperative-sticky: see the README
        "session.timeout.ms": 120_000,
        "heartbeat.interval.ms": 100,
    },
    "consumer": {"group.protocol": "consumer"},
}
COLOURS = {
    "C0 classic": "#a6c8e4",
    "C1 classic": "#f6b3bb",
    "C2 classic": "#a5d6ab",
    "C0 consumer": "#2f5f8f",
    "C1 consumer": "#c8334a",
    "C2 consumer": "#1b6e2a",
}
AWAY_S, SETTLED_S = 3.0, 5.0
"""How long a member is away while it is upgraded; how long the group is left alone then."""
BATCH = 30


class Migration:
    """The group, its members, and each record that was written and read."""

    def __init__(self, broker: odradek.KafkaBroker) -> None:
        self.story = Story("billing, from classic to consumer and back", [(TOPIC, n) for n in range(PARTITIONS)])
        self.read: Counter[int] = Counter()
        self.written = 0
        self.lag = -1
        self._broker = broker
        self._group = broker.group(GROUP)
        self._producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 2})
        self._began_ms = broker.clock.now_ms()
        self._members: dict[str, Member] = {}

    def run(self) -> None:
        self._begin_at_zero()
        for name in MEMBERS:
            self._join(f"{name} classic")
        self._settle(SETTLED_S)
        self._tell("all are classic")
        for old, new, what in (("classic", "consumer", "up"), ("consumer", "classic", "down")):
            for name in MEMBERS:
                self.story.marks.append((self._now_s(), f"{name} {what}"))
                self._replace(f"{name} {old}", f"{name} {new}")
                self._tell(f"{name} is {what}graded")
        for name in list(self._members):
            self._members.pop(name).leave()
        self.story.end_s = self._now_s()
        self.lag = self._group.lag

    def _begin_at_zero(self) -> None:
        """The group has an offset in each partition before its first member joins.

        Without one a member asks where the partition begins. librdkafka 2.16 takes that answer even if the partition
        was taken away meanwhile: it fetches what it does not own, and may deliver a record of it much later.
        """
        consumer = Consumer({"bootstrap.servers": self._broker.bootstrap_servers, "group.id": GROUP})
        offsets = [TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)]
        consumer.commit(offsets=offsets, asynchronous=False)
        consumer.close()

    def _replace(self, old: str, new: str) -> None:
        """A member stops; the others go on with its partitions; it comes back with the other protocol."""
        self._write()
        self._members.pop(old).leave()
        self._settle(AWAY_S)
        self._write()
        self._join(new)
        self._settle(SETTLED_S)

    def _join(self, name: str) -> None:
        settings = {
            "bootstrap.servers": self._broker.bootstrap_servers,
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 0,  # a fetch that waits for records would never end while the clock stands still
            **PROTOCOLS[name.split()[1]],
        }
        self._members[name] = Member(name, [TOPIC], settings, self._now_s, self._hear, self._handle)

    def _write(self) -> None:
        """Some records to each partition: they are on their way while the group changes."""
        for number in range(self.written, self.written + BATCH):
            self._producer.produce(TOPIC, str(number), partition=number % PARTITIONS)
        self._producer.flush()
        self.written += BATCH

    def _settle(self, seconds: float) -> None:
        """Until each partition has an owner who took it, and every record is read; then time passes."""
        wait_until(lambda: all_taken(self._group.info, self._members, PARTITIONS), "all partitions are taken")
        wait_until(lambda: len(self.read) == self.written, "all records are read")
        self._broker.clock.advance(seconds)

    def _handle(self, consumer: Consumer, message: Message) -> None:
        """Each record is committed before the next is read."""
        self.read[int(message.value() or b"-1")] += 1
        consumer.commit(message=message, asynchronous=False)

    def _hear(self, event: Event) -> None:
        if event.places:
            self.story.events.append(event)

    def _tell(self, what: str) -> None:
        info = self._group.info
        protocols = Counter(member.protocol for member in info.members)
        members = f"{protocols['classic']} classic and {protocols['consumer']} consumer members"
        print(f"{what:17} a {info.type} group of {members}; {self.written} records written, {len(self.read)} read")

    def _now_s(self) -> float:
        return (self._broker.clock.now_ms() - self._began_ms) / 1000


def main() -> bool:
    """Whether each record was read and committed."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "upgrade.svg")
    with odradek.KafkaBroker(topics={TOPIC: PARTITIONS}, config=BROKER) as broker, broker.clock.stopped():
        migration = Migration(broker)
        migration.run()
    story = migration.story
    again = migration.read.total() - len(migration.read)
    print(f"lost: {migration.written - len(migration.read)}; not committed: {migration.lag}")
    print(f"read again: {again} (Kafka promises at least once)")
    print(f"partitions stood still for {sum(story.stood_still_s().values()):g} s")
    picture.write_text(draw([story], colours=COLOURS), encoding="utf-8")
    print(f"drawn: {picture}")
    return len(migration.read) == migration.written and migration.lag == 0


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
