"""Makes outcomes, one for every request."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, final

from odradek.broker.runtime.command import R

if TYPE_CHECKING:
    from odradek.broker.runtime.effects import Effect
    from odradek.broker.runtime.machine import Outcome, Producer


@final
class Decided:
    """An `Outcome` of any reply: no compiled class may be generic. `decided` knows the type."""

    __slots__ = ("atomic", "effects", "park", "producer", "records", "reply", "then", "waits")

    def __init__(
        self,
        records: Sequence[Any],
        reply: Any,
        park: Hashable | None,
        effects: Sequence[Effect],
        then: Callable[[], Sequence[Effect]] | None,
        producer: Producer | None,
        atomic: bool,
        waits: bool,
    ) -> None:
        self.records = records
        self.reply = reply
        self.park = park
        self.effects = effects
        self.then = then
        self.producer = producer
        self.atomic = atomic
        self.waits = waits


def decided(
    records: Sequence[Any] = (),
    *,
    reply: R | None = None,
    park: Hashable | None = None,
    effects: Sequence[Effect] = (),
    then: Callable[[], Sequence[Effect]] | None = None,
    producer: Producer | None = None,
    atomic: bool = True,
    waits: bool = True,
) -> Outcome[R]:
    """An outcome. `reply`: None where `R` is None, or the command is parked."""
    return Decided(records, reply, park, effects, then, producer, atomic, waits)
