"""Replay of what concerns users: ACLs, SCRAM credentials, delegation tokens, client quotas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.metadata.image import AclContent, QuotaEntity

if TYPE_CHECKING:
    from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord


_Table = dict[Any, Any]
RECORD_TYPES = (10, 11, 14, 18, 19, 22, 26)
"""The record types of KIP-631 that `replay` takes."""
ACL_RECORD_TYPES = (18, 19)


def replay(record: Any, acls: _Table, scram: _Table, tokens: _Table, quotas: _Table) -> None:
    """Apply a record to its table. The tables contain the records as they are, the table of quotas their values."""
    _TABLES[record.RECORD_TYPE](record, acls, scram, tokens, quotas)


def quota_entity(record: Any) -> QuotaEntity:
    """The entity of a ClientQuotaRecord."""
    return tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))


def acl_content(record: AccessControlEntryRecord) -> AclContent:
    """The content of an entry without its id."""
    return (
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


def _quota(record: Any, *tables: _Table) -> None:
    quotas = tables[3]
    entity = quota_entity(record)
    after = dict(quotas.get(entity, {}))
    if record.remove:
        after.pop(record.key, None)
    else:
        after[record.key] = record.value
    if after:
        quotas[entity] = after
    else:
        quotas.pop(entity, None)


def _add_acl(record: Any, *tables: _Table) -> None:
    tables[0][record.id] = record


def _remove_acl(record: Any, *tables: _Table) -> None:
    tables[0].pop(record.id, None)


def _add_scram(record: Any, *tables: _Table) -> None:
    tables[1][record.name, record.mechanism] = record


def _remove_scram(record: Any, *tables: _Table) -> None:
    tables[1].pop((record.name, record.mechanism), None)


def _add_token(record: Any, *tables: _Table) -> None:
    tables[2][record.token_id] = record


def _remove_token(record: Any, *tables: _Table) -> None:
    tables[2].pop(record.token_id, None)


_TABLES: Mapping[int, Callable[..., None]] = {
    10: _add_token,
    11: _add_scram,
    14: _quota,
    18: _add_acl,
    19: _remove_acl,
    22: _remove_scram,
    26: _remove_token,
}
