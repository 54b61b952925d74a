"""Random walks of members of a streams group: conversations that nobody has thought of."""

from __future__ import annotations

import random
from typing import Any

from odradek.protocol.generated.messages.streams_group_heartbeat import Endpoint
from tests.scenarios.streams_conversation import StreamsConversation


class Walk:
    """A random walk of four members that know what they were told, and mostly tell the truth of it."""

    def __init__(self, c: StreamsConversation, seed: int) -> None:
        self.c = c
        self.chance = random.Random(seed)
        self.told: dict[str, tuple[int, list[int], list[int]]] = {}  # epoch, active and standby tasks
        self.topology = c.plain()

    def go(self) -> None:
        c, chance = self.c, self.chance
        standbys = chance.choice((0, 1, 2))
        if standbys:
            c.configure(streams_num_standby_replicas=str(standbys))
        if chance.random() < 0.6:
            self.topology = c.counting()
            c.make_named(c.name("counts-changelog"), 4)
        for _ in range(chance.randint(15, 40)):
            member = chance.choice(("m-a", "m-b", "m-c", "m-d"))
            if member not in self.told or chance.random() < 0.08:
                self.join(member)
            else:
                self.step(member, chance.random())
        c.show_group()
        c.log()

    def join(self, member: str) -> None:
        chance = self.chance
        options: dict[str, Any] = {"process": chance.choice(("p1", "p2", "p3")), "shutdown": chance.random() < 0.1}
        if chance.random() < 0.3:
            options["endpoint"] = Endpoint("h", chance.randint(1, 3))
        if chance.random() < 0.2:
            options["tags"] = [("zone", chance.choice("ab"))]
        self.hear(member, self.c.start(member, self.topology, **options))

    def step(self, member: str, roll: float) -> None:
        c, chance = self.c, self.chance
        epoch = self.told[member][0]
        if roll < 0.1:
            c.stop(member)
            del self.told[member]
        elif roll < 0.16:
            c.beat_as(member, max(1, epoch + chance.choice((-2, -1, 1))), active=chance.choice(((), None)))
        elif roll < 0.22:
            c.commit_as(member, epoch + chance.choice((-2, -1, 0, 0, 1)), chance.sample(range(4), 2))
        elif roll < 0.25:
            c.show_group()
        else:
            self.hear(member, c.beat_as(member, epoch, **self.tells(member)))

    def tells(self, member: str) -> dict[str, Any]:
        """The truth, nothing, less than the truth, or a little more about itself."""
        _, active, standby = self.told[member]
        roll, options = self.chance.random(), dict[str, Any]()
        if roll < 0.55:
            options = {"active": active, "standby": standby}
        elif roll < 0.65:
            options = {"active": ()}
        elif roll < 0.75:
            options = {"active": active[:1]}
        elif roll < 0.8:
            options = {"process": self.chance.choice(("p1", "p2", "p3"))}
        if self.chance.random() < 0.2:
            options["endpoint_epoch"] = self.chance.randint(0, 5)
        return options

    def hear(self, member: str, reply: Any) -> None:
        if reply.error_code:
            self.told.pop(member, None)
            return
        _, active, standby = self.told.get(member, (0, [], []))
        if reply.active_tasks is not None:
            active = [partition for row in reply.active_tasks for partition in row.partitions]
            standby = [partition for row in reply.standby_tasks for partition in row.partitions]
        self.told[member] = (reply.member_epoch, active, standby)
