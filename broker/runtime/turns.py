"""One command at a time: what a step causes waits until that step is done."""

from __future__ import annotations

import logging
from typing import Any

from odradek.broker.runtime.command import Command, R
from odradek.broker.runtime.inbox import Inbox, ReplySlot
from odradek.broker.runtime.steps import Life, Steps
from odradek.protocol.errors import KafkaError

_log = logging.getLogger("odradek.broker.runtime")


class Turns:
    """Gives commands to a shard's `Steps`, one after the other. Owner: the shard.

    `busy`: whether a command is being carried out now, so that another one has to wait in the inbox.
    """

    __slots__ = ("_inbox", "_life", "_steps", "busy")

    def __init__(self, life: Life, steps: Steps) -> None:
        self.busy = False
        self._life = life
        self._steps = steps
        self._inbox = Inbox()

    def carry_out(self, command: Command[R]) -> R | ReplySlot[R]:
        """One step, and then those that it caused. Only while nothing else is carried out.

        Returns the reply, or the `ReplySlot` of a parked command; raises what the asker shall see.
        """
        self.busy = True
        try:
            return self._steps.step(command)
        finally:
            self.busy = False
            if self._inbox.waiting:
                self._carry_out_inbox()

    def put(self, command: Command[R], slot: ReplySlot[R] | None) -> None:
        """Let a command wait for its turn."""
        self._inbox.put(command, slot)

    def carry_out_unasked(self, command: Command[Any]) -> None:
        """A command that nobody waits for."""
        try:
            self.carry_out(command)
        except Exception as error:
            self._deliver_error(command, None, error)

    def carry_out_of_commits(self, command: Command[Any]) -> None:
        """A command of `Commits.own`."""
        if self.busy:
            self._inbox.put(command, None)
            return
        self.busy = True
        try:
            self._steps.take_for_commits(command)
        finally:
            self.busy = False
            if self._inbox.waiting:
                self._carry_out_inbox()

    def abandon(self, error: KafkaError) -> None:
        """Nothing that waits will be carried out."""
        while self._inbox.waiting:
            _, slot = self._inbox.take()
            if slot is not None:
                slot.fail(error)

    def _carry_out_inbox(self) -> None:
        """The commands that the last step caused, and those that they cause."""
        while self._inbox.waiting:
            command, slot = self._inbox.take()
            self.busy = True
            try:
                self._carry_out_waiting(command, slot)
            except Exception as error:
                self._deliver_error(command, slot, error)
            finally:
                self.busy = False

    def _carry_out_waiting(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        """A command out of the inbox."""
        if self._steps.is_for_commits(command):
            self._steps.take_for_commits(command)
            return
        self._life.check_open()
        reply = self._steps.step(command, slot)
        if slot is not None and reply is not slot:
            slot.complete(reply)

    def _deliver_error(self, command: Command[Any], slot: ReplySlot[Any] | None, error: Exception) -> None:
        if slot is not None and not slot.done:
            slot.fail(error)
        elif isinstance(error, KafkaError):
            _log.warning("%s: %r: %s", self._life.name, command, error)
        else:
            self._life.report_bug(repr(command), error)
