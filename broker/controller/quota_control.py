"""Changes of client quotas (KIP-546): who they are for, which keys there are, and which values.

Codes and texts are those that Kafka 4.4.0 answers. A key that an entity has already with this value writes no record.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import QuotaEntity
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData
from odradek.protocol.java_maps import hash_of_text, java_order, slots_for
from odradek.protocol.message import MetadataRecord

USER, CLIENT_ID, IP = "user", "client-id", "ip"
_MAX_LONG, _MAX_INT = 2.0**63, 2.0**31 - 1
_INTEGRAL = 1e-6
_bits = struct.Struct(">d").pack
"""Numbers are compared by their bits: NaN is NaN."""
_OF_CLIENTS: Mapping[str, tuple[str, float] | None] = {
    "producer_byte_rate": ("LONG", _MAX_LONG),
    "consumer_byte_rate": ("LONG", _MAX_LONG),
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_OF_ADDRESSES: Mapping[str, tuple[str, float] | None] = {"connection_creation_rate": ("INT", _MAX_INT)}
"""Quota key -> type and largest value of a whole number; None for any positive number."""


class QuotaChange(NamedTuple):
    """New values of an entity's quotas; None removes one.

    `entity`: (type, name or None for the default) as the request has them, `ops`: (key, value). Both may repeat.
    """

    entity: Sequence[tuple[str, str | None]]
    ops: Sequence[tuple[str, float | None]]


def alter_quotas(
    state: MetadataState,
    changes: Sequence[QuotaChange],
    *,
    unknown_hosts: frozenset[str] = frozenset(),
    validate_only: bool = False,
) -> Decision[list[tuple[QuotaEntity, KafkaError | None]]]:
    """Change client quotas; replies for each entity, in Kafka's order.

    `unknown_hosts`: names of ip entities that no address was found for (a decision looks nothing up).
    The first entry of an entity in a request counts. If it names the entity again, the entity's result is an error,
    though its quotas have changed.
    """
    records: list[MetadataRecord] = []
    results: dict[QuotaEntity, KafkaError | None] = {}
    for change in changes:
        entity = _entity_of(change)
        keys = [key for key, _ in change.ops]
        if entity in results or len(set(keys)) < len(keys):
            results[entity] = _invalid(f"Ignoring duplicate entity {_shown(entity)}")
            continue
        try:
            _check_entity(entity, unknown_hosts)
            records += _records_of(state, entity, change.ops)
        except KafkaError as error:
            results[entity] = as_value(error)
        else:
            results[entity] = None
    told = [(entity, results[entity]) for entity in java_order(results, hash_of_entity)]
    return [] if validate_only else records, told


def _records_of(
    state: MetadataState, entity: QuotaEntity, changes: Sequence[tuple[str, float | None]]
) -> list[MetadataRecord]:
    current = state.image.quotas.get(tuple(sorted(entity)), {})
    keys = _OF_ADDRESSES if any(kind == IP for kind, _ in entity) else _OF_CLIENTS
    records: list[MetadataRecord] = []
    ops = dict(changes)
    for key in java_order(ops, hash_of_text, slots_for(len(changes))):
        checked = ops[key]
        if checked is not None:
            _check_value(keys, key, checked, finite=state.config.release.refuses_endless_quotas)
    for key in java_order(ops, hash_of_text):  # as brokers take them in, which decides how they tell them
        value = ops[key]
        if value is None:
            if key in current:
                records.append(ClientQuotaRecord(_named(entity), key, 0.0, True))
        elif key not in current or _bits(current[key]) != _bits(value):
            records.append(ClientQuotaRecord(_named(entity), key, value, False))
    return records


def hash_of_entity(entity: QuotaEntity) -> int:
    """Kafka's hash of an entity, as an unsigned number of 32 bits."""
    parts = (hash_of_text(kind) ^ (0 if name is None else hash_of_text(name)) for kind, name in entity)
    return (31 + sum(parts)) & 0xFFFFFFFF


def _entity_of(change: QuotaChange) -> QuotaEntity:
    """The parts in Kafka's order; the last one of a type counts."""
    named = dict(change.entity)
    return tuple((kind, named[kind]) for kind in java_order(named, hash_of_text, slots_for(len(change.entity))))


def _check_entity(entity: QuotaEntity, unknown_hosts: frozenset[str]) -> None:
    if not entity:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in entity:
        if kind not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    named = dict(entity)
    if IP in named:
        if len(named) > 1:
            raise _invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
        if named[IP] in unknown_hosts:
            raise _invalid(f"{named[IP]} is not a valid IP or resolvable host.")


def _check_value(keys: Mapping[str, tuple[str, float] | None], key: str, value: float, *, finite: bool) -> None:
    if key not in keys:
        raise _invalid(f"Invalid configuration key {key}")
    if finite and not math.isfinite(value):
        raise _invalid(f"Quota {key} must be a finite number")
    if value <= 0:
        raise _invalid(f"Quota {key} must be greater than 0")
    whole = keys[key]
    if whole is None:
        return
    kind, highest = whole
    if value > highest:
        raise _invalid(f"Proposed value for {key} is too large for a{'n' * (kind == 'INT')} {kind}.")
    if value % 1 > _INTEGRAL:
        raise _invalid(f"{key} cannot be a fractional value.")


def _named(entity: QuotaEntity) -> list[EntityData]:
    return [EntityData(kind, name) for kind, name in entity]


def _shown(entity: QuotaEntity) -> str:
    parts = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
    return f"ClientQuotaEntity(entries={{{parts}}})"


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, text)
