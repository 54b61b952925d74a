"""DescribeClientQuotas (key 48) and AlterClientQuotas (key 49), KIP-546.

Versions 0 and 1; v1 is flexible. Quotas are for users, client ids, pairs of them, or addresses (KIP-612); a null name
is the default of its type.
"""

from __future__ import annotations

import socket
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

import trio

from odradek.broker.controller import quota_control
from odradek.broker.controller.quota_control import CLIENT_ID, IP, USER, QuotaChange, hash_of_entity
from odradek.broker.metadata.image import QuotaEntity
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import CLUSTER_REFUSED, Whole, handles
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError, code_and_text
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ResponseEntityData,
    ResponseEntryData,
)
from odradek.protocol.generated.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from odradek.protocol.java_maps import hash_of_text, java_order, slots_of_map, slots_to_hold

_EXACT, _DEFAULT, _SPECIFIED = 0, 1, 2
_FEWEST_SLOTS = 2  # of a hash map that began with none


@handles(DescribeClientQuotasRequest, access=Whole(Operation.DESCRIBE_CONFIGS, message=None))
def describe_client_quotas(ctx: RequestContext, request: DescribeClientQuotasRequest) -> DescribeClientQuotasResponse:
    """The entities that match all components, with their quotas; `strict` leaves out those with further types."""
    exact, specified = _filter_of(request)
    quotas = ctx.services.image.quotas
    found = [entity for entity in quotas if _matches(dict(entity), exact, specified, strict=request.strict)]
    found = java_order(found, hash_of_entity, slots_of_map(len(quotas), _FEWEST_SLOTS))
    if ctx.release.indexes_quotas and (exact or specified):
        matches = _first_matches(quotas, exact, specified)
        found = java_order(java_order(found, hash_of_entity), hash_of_entity, slots_to_hold(matches))
    return DescribeClientQuotasResponse(entries=[_described(entity, quotas[entity]) for entity in found])


def _first_matches(quotas: Iterable[QuotaEntity], exact: Mapping[str, str | None], specified: Iterable[str]) -> int:
    """How many entities match the component that Kafka looks up first: one with a name, if there is any."""
    if exact:
        kind = java_order(exact, hash_of_text)[0]
        return sum(dict(entity).get(kind, "") == exact[kind] for entity in quotas)
    kind = java_order(specified, hash_of_text)[0]
    return sum(any(kind == each for each, _ in entity) for entity in quotas)


def _filter_of(request: DescribeClientQuotasRequest) -> tuple[dict[str, str | None], set[str]]:
    """Type -> name of those that are asked for by name (None: the default), and the types that may have any name."""
    exact: dict[str, str | None] = {}
    specified: set[str] = set()
    for component in request.components:
        kind = component.entity_type
        if kind == "":
            raise _invalid("Invalid empty entity type.")
        if kind in exact or kind in specified:
            raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in (USER, CLIENT_ID, IP):
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        if component.match_type == _EXACT:
            if component.match is None:
                raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
            exact[kind] = component.match
            continue
        if component.match_type not in (_DEFAULT, _SPECIFIED):
            raise _invalid(f"Unknown match type {component.match_type}")
        if component.match is not None:
            name = "MATCH_TYPE_DEFAULT" if component.match_type == _DEFAULT else "MATCH_TYPE_SPECIFIED"
            raise _invalid(f"Request specified {name}, but also specified a match string.")
        if component.match_type == _DEFAULT:
            exact[kind] = None
        else:
            specified.add(kind)
    kinds = exact.keys() | specified
    if IP in kinds and len(kinds) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId "
            "filter component."
        )
    return exact, specified


def _matches(
    entity: Mapping[str, str | None], exact: Mapping[str, str | None], specified: set[str], *, strict: bool
) -> bool:
    if strict and len(entity) != len(exact) + len(specified):
        return False
    return all(kind in entity and entity[kind] == name for kind, name in exact.items()) and specified <= entity.keys()


def _described(entity: QuotaEntity, quotas: Mapping[str, float]) -> EntryData:
    named = dict(entity)
    return EntryData(
        [
            EntityData(kind, named[kind])
            for kind in java_order(named, hash_of_text, slots_of_map(len(named), _FEWEST_SLOTS))
        ],
        [
            ValueData(key, quotas[key])
            for key in java_order(quotas, hash_of_text, slots_of_map(len(quotas), _FEWEST_SLOTS))
        ],
    )


@handles(AlterClientQuotasRequest, access=Whole(Operation.ALTER_CONFIGS, message=CLUSTER_REFUSED))
def alter_client_quotas(
    ctx: RequestContext, request: AlterClientQuotasRequest
) -> AlterClientQuotasResponse | Coroutine[Any, Any, AlterClientQuotasResponse]:
    """Set and remove quotas, entity by entity. Names of hosts are looked up first, which may take a while."""
    changes = [
        QuotaChange(
            [(part.entity_type, part.entity_name) for part in entry.entity],
            [(op.key, None if op.remove else op.value) for op in entry.ops],
        )
        for entry in request.entries
    ]
    hosts = {name for change in changes for kind, name in change.entity if kind == IP and name}
    # Addresses are as the system reads them, IPv4 or IPv6, short forms (10.1.2) included.
    names = {host for host in hosts if not _resolves(host, socket.AI_NUMERICHOST)}
    if names:
        return _alter_later(ctx, changes, names, validate_only=request.validate_only)
    return _altered(ctx, changes, frozenset(), validate_only=request.validate_only)


async def _alter_later(
    ctx: RequestContext, changes: list[QuotaChange], names: set[str], *, validate_only: bool
) -> AlterClientQuotasResponse:
    unknown = frozenset([name for name in sorted(names) if not await trio.to_thread.run_sync(_resolves, name)])
    return _altered(ctx, changes, unknown, validate_only=validate_only)


def _altered(
    ctx: RequestContext, changes: list[QuotaChange], unknown: frozenset[str], *, validate_only: bool
) -> AlterClientQuotasResponse:
    altered = ctx.services.controller.ask(
        quota_control.alter_quotas, changes, unknown_hosts=unknown, validate_only=validate_only
    )
    return AlterClientQuotasResponse(
        entries=[
            ResponseEntryData(*code_and_text(error), [ResponseEntityData(*part) for part in entity])
            for entity, error in altered
        ]
    )


def _resolves(host: str, flags: int = 0) -> bool:
    try:
        return bool(socket.getaddrinfo(host, None, flags=flags))
    except (OSError, UnicodeError, ValueError):
        return False


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, text)
