"""A consumer that polls on a thread of its own, notes what it is told, and may be busy with a record for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition
from timeline import Event, Place

import odradek

PATIENCE_S = 60.0


class Member:
    """One consumer. ``owned``: its partitions now; ``tell``: called with each event; ``handle``: with each record.

    ``now_s``: the clock that the events carry.
    """

    noticed = threading.Condition()
    """Notified whenever any member has more or fewer partitions, or stands still."""

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        settings: Mapping[str, Any],
        now_s: Callable[[], float],
        tell: Callable[[Event], None],
        handle: Callable[[Consumer, Message], None] = lambda _consumer, _message: None,
    ) -> None:
        self.name = name
        self.owned: set[Place] = set()
        self._now_s, self._tell, self._handle = now_s, tell, handle
        self._consumer = Consumer({"client.id": name, "log_level": 2, **settings})
        self._consumer.subscribe(list(topics), on_assign=self._given, on_revoke=self._taken, on_lost=self._taken)
        self._leaving = threading.Event()
        self._wanted_busy = self._is_busy = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def begin_record(self) -> None:
        """The member is in the middle of a record from now on: it does not poll, and so it hears of nothing."""
        with self.noticed:
            self._wanted_busy = True
        wait_until(lambda: self._is_busy, f"{self.name} is busy")

    def end_record(self) -> None:
        """The member is through with the record, and polls again."""
        with self.noticed:
            self._wanted_busy = False
            self.noticed.notify_all()

    def ask_to_leave(self) -> None:
        """Begin to leave the group; `leave` also waits for the end of it."""
        self._leaving.set()

    def leave(self) -> None:
        """Leave the group as a consumer does that is closed."""
        self.ask_to_leave()
        self._thread.join(PATIENCE_S)
        if self._thread.is_alive():
            raise TimeoutError(f"{self.name} does not end")

    # -- the member's thread

    def _run(self) -> None:
        while not self._leaving.is_set():
            self._work_on_a_record()
            message = self._consumer.poll(0.02)
            if message is not None and not message.error():
                self._handle(self._consumer, message)
        self._consumer.close()

    def _work_on_a_record(self) -> None:
        with self.noticed:
            while self._wanted_busy:
                self._is_busy = True
                self.noticed.notify_all()
                self.noticed.wait()
            self._is_busy = False

    def _given(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._note(True, partitions)

    def _taken(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._note(False, partitions)

    def _note(self, gained: bool, partitions: list[TopicPartition]) -> None:
        places = frozenset((each.topic, each.partition) for each in partitions)
        with self.noticed:
            self.owned = self.owned | places if gained else self.owned - places
            self._tell(Event(self._now_s(), self.name, gained, places))
            self.noticed.notify_all()


def all_taken(info: odradek.GroupInfo, members: Mapping[str, Member], partitions: int) -> bool:
    """Whether the coordinator gave all partitions away, and each member, by its name, has what it was given."""
    given = {
        each.client_id: {(topic, index) for topic, indexes in each.assignment.items() for index in indexes}
        for each in info.members
    }
    owned = {name: member.owned for name, member in members.items()}
    return info.state == "Stable" and owned == given and sum(map(len, owned.values())) == partitions


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition on the members and their group holds. TimeoutError after seconds.

    It is looked at whenever a member is told something, and now and then: the coordinator hears of it a bit later.
    """
    deadline = time.monotonic() + PATIENCE_S
    with Member.noticed:
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {PATIENCE_S:g} s, not so: {what}")
            Member.noticed.wait(0.02)
