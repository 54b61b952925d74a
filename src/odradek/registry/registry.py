"""The registry itself: a state that follows the log, changes appended to it, and records decoded by its schemas."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from odradek.broker.facade.records.state_log import StateLog
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.schemas.framing import JsonText
from odradek.broker.schemas.record_schemas import Part, Schema
from odradek.protocol.errors import KafkaError
from odradek.registry.decisions import Decision
from odradek.registry.entries import Content
from odradek.registry.errors import RegistryError, store_failed
from odradek.registry.parsing import Kept, Key, Parser, key_of, needed_by, size_of
from odradek.registry.records import TOPIC, parsed
from odradek.registry.state import RegistryState

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.broker import BlockingBroker
    from odradek.broker.faults.fault import Fault
    from odradek.broker.schemas.framing import Framed

T = TypeVar("T")

_log = logging.getLogger("odradek.registry")


class Registry:
    """The registry. Any thread but the broker's may call it. Only reading and writing the log is done by one at a time;
    each call decides on a state that nobody changes."""

    def __init__(self, broker: BlockingBroker) -> None:
        self._kept = StateLog(broker.cluster, broker._look, TOPIC)
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
        return self._cluster.faults

    def look(self, function: Callable[[RegistryState], T]) -> T:
        """Read the newest state. RegistryError (50001) if the log cannot be read."""
        return function(self._newest())

    def change(self, decide: Callable[[RegistryState], Decision]) -> Any:
        """Decide, append the records, and return the answer. If the log has changed meanwhile, decide again."""
        while True:
            state = self._newest()
            decision = decide(state)
            rows = [(each.key_bytes, each.value_bytes) for each in decision.records]
            if not rows or self._append(rows, state):
                return decision.answer

    def _append(self, rows: list[tuple[bytes, bytes | None]], state: RegistryState) -> bool:
        """Append the records, unless the log has changed since the state. Returns whether they were appended."""
        with self._lock:
            if self._state is not state:
                return False
            try:
                return self._kept.append(rows)
            except KafkaError as error:
                raise store_failed(f"{error.code.name}: {error.message}") from None

    def _newest(self) -> RegistryState:
        """The state of the log now. It does not change any more."""
        with self._lock:
            try:
                news = self._kept.news()
            except KafkaError as error:
                raise store_failed(f"{error.code.name}: {error.message}") from None
            if news is not None:
                state = RegistryState() if news.replaced else self._state.copied()
                for each in news.records:
                    try:
                        state.replay(parsed(each.key, each.value))
                    except ValueError as error:
                        _log.warning("%s at offset %d is left out: %s", TOPIC, each.offset, error)
                self._state = state
            return self._state


_KEPT_CHARACTERS = 2 * 1024 * 1024
"""Of the texts of schemas that are kept to decode with."""


class RecordDecoding:
    """Finds schemas for records, in any thread.

    The broker's own thread has a registry of its own. With a shared one it could wait for a lock whose holder waits
    for the broker.
    """

    def __init__(self, registry: Registry, broker: BlockingBroker) -> None:
        self._registry = registry
        self._own = Registry(broker)
        self._brokers_thread = broker._look(threading.get_ident)
        self._made: Kept[Key, Schema] = Kept(_KEPT_CHARACTERS)

    def __repr__(self) -> str:
        return f"<RecordDecoding by {self._registry}>"

    def schema(self, topic: str, part: Part, number: int) -> Schema | None:
        """The schema with an id; the one of the subject ``topic-part`` if several contexts have the id. None if it is
        unknown."""
        return self._look(lambda state: self._found(state, f"{topic}-{part}", number))

    def expects(self, topic: str, part: Part) -> bool:
        """Whether there is a subject ``topic-part`` with versions that are not deleted."""
        return bool(self._look(lambda state: state.has(f"{topic}-{part}")))

    def _look(self, function: Callable[[RegistryState], T]) -> T | None:
        registry = self._own if threading.get_ident() == self._brokers_thread else self._registry
        try:
            return registry.look(function)
        except (RegistryError, BrokerClosedError):
            return None

    def _found(self, state: RegistryState, subject: str, number: int) -> Schema | None:
        found = state.with_id(number, subject)
        if found is None:
            return None
        needed = needed_by(state, found.subject, found.content)
        key = key_of(found.content, needed)
        schema = self._made.get(key)
        if schema is None:
            schema = _schema(found.content, needed)
            self._made.put(key, schema, size_of(key))
        return schema


class _Unreadable:
    """A schema that cannot be decoded with here."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind = self.name = kind
        self._why = why

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """ValueError: why not."""
        raise ValueError(self._why)

    def encode(self, data: Any) -> bytes:
        """ValueError: why not."""
        raise ValueError(self._why)


def _schema(content: Content, needed: dict[str, str]) -> Schema:
    try:
        if content.kind == "AVRO":
            from odradek.broker.schemas.avro import AvroSchema

            return AvroSchema(content.schema, needed.values())
        if content.kind == "PROTOBUF":
            from odradek.broker.schemas.protobuf import ProtobufSchema

            return ProtobufSchema(content.schema, imported=needed)
        if content.kind == "JSON":
            declared = json.loads(content.schema)
            return JsonText(str(declared.get("title", "JSON")) if isinstance(declared, dict) else "JSON")
    except (ValueError, ImportError) as error:
        return _Unreadable(content.kind.lower(), str(error))
    return _Unreadable(content.kind.lower(), f"unknown schema type {content.kind!r}")
