"""What a decision causes outside of its machine."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, final

from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.runtime.command import Command


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Effect:
    """Something that a decision causes outside of the machine's own state, done after the records are replayed."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Schedule(Effect):
    """Run `command` in `after_ms` milliseconds; replaces the timer of the same `key`."""

    __slots__ = ("after_ms", "command", "key")

    def __init__(self, key: Hashable, after_ms: int, command: Command[Any]) -> None:
        self.key = key
        self.after_ms = after_ms
        self.command = command


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Pause(Schedule):
    """A `Schedule` that gives others time to catch up. It fires at once while the broker's clock is frozen."""

    __slots__ = ()


@final
@mypyc_attr(acyclic=True)
class Cancel(Effect):
    """Forget the timer of that `key`, if there is one."""

    __slots__ = ("key",)

    def __init__(self, key: Hashable) -> None:
        self.key = key


@final
@mypyc_attr(acyclic=True)
class Answer(Effect):
    """Give a parked command its reply (or, with a `KafkaError`, its error). Each ticket is answered exactly once."""

    __slots__ = ("reply", "ticket")

    def __init__(self, ticket: Hashable, reply: Any) -> None:
        self.ticket = ticket
        self.reply = reply
