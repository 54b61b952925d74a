"""The registry itself: a state that follows the log, and changes that are appended to it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from odradek.broker.facade.records.state_log import KeptLog
from odradek.protocol.errors import KafkaError
from odradek.registry.decisions import Decision
from odradek.registry.errors import store_failed
from odradek.registry.parsing import Parser
from odradek.registry.records import TOPIC, parsed
from odradek.registry.state import RegistryState

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.broker import BlockingBroker
    from odradek.broker.faults.fault import Fault

T = TypeVar("T")

_log = logging.getLogger("odradek.registry")


class Registry:
    """The registry. Any thread but the broker's may call it. Only reading and writing the log is done by one at a time;
    each call decides on a state that nobody changes."""

    def __init__(self, broker: BlockingBroker) -> None:
        self._kept = KeptLog(broker.cluster, broker._look, TOPIC)
        self._cluster = broker.cluster
        self._state = RegistryState()
        self._lock = threading.Lock()
        self.parser = Parser()

    def __repr__(self) -> str:
        return f"<Registry: {self._state}>"

    @property
    def cluster_id(self) -> str:
        """The id of the Kafka cluster."""
        return self._cluster.services.cluster_id

    @property
    def faults(self) -> Sequence[Fault]:
        """The faults that a test has set."""
        known = self._cluster.dispatcher.faults
        return () if known is None else known.faults

    def look(self, function: Callable[[RegistryState], T]) -> T:
        """Ask the state, as it is now. RegistryError (50001) if the log cannot be read."""
        return function(self._newest())

    def change(self, decide: Callable[[RegistryState], Decision]) -> Any:
        """Decide, append the records, and answer. If somebody else has appended meanwhile, decide again."""
        while True:
            state = self._newest()
            decision = decide(state)
            rows = [(each.key_bytes, each.value_bytes) for each in decision.records]
            if not rows or self._append(rows, state):
                return decision.answer

    def _append(self, rows: list[tuple[bytes, bytes | None]], state: RegistryState) -> bool:
        """Whether the log still said what the state has, so that the records are in it now."""
        with self._lock:
            if self._state is not state:
                return False
            try:
                return self._kept.append(rows)
            except KafkaError as error:
                raise store_failed(f"{error.code.name}: {error.message}") from None

    def _newest(self) -> RegistryState:
        """The state that the log describes now. Nobody changes it any more."""
        with self._lock:
            try:
                news = self._kept.news()
            except KafkaError as error:
                raise store_failed(f"{error.code.name}: {error.message}") from None
            if news is not None:
                state = RegistryState() if news.anew else self._state.copied()
                for each in news.records:
                    try:
                        state.replay(parsed(each.key, each.value))
                    except ValueError as error:
                        _log.warning("%s at offset %d is left out: %s", TOPIC, each.offset, error)
                self._state = state
            return self._state
