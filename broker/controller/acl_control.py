"""Access control entries: which may be made, and which a filter means.

Codes and texts are those that Kafka 4.4.0 answers. An entry that is there already, or twice in a request, is no error
and writes no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.security.acl import CLUSTER_NAME, Acl, AclFilter, Operation, Pattern, Permission, Resource
from odradek.broker.security.authorizer import is_network, parse_network
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from odradek.protocol.uuids import new_uuid

MAX_RECORDS = 10_000
"""Records that one request may cause at most."""
MOST_LOOKS = 500_000
"""Entries that the filters of one request are compared with, which takes a third of a second."""
NETWORKS_FROM = 32
"""The level of metadata.version from which on hosts may be networks: 4.4-IV1."""


def create_acls(state: MetadataState, acls: Sequence[Acl]) -> Decision[list[KafkaError | None]]:
    """Make access control entries; replies for each. POLICY_VIOLATION for more than 10,000 new ones."""
    new: dict[Acl, None] = {}
    results: list[KafkaError | None] = []
    for acl in acls:
        try:
            check(acl)
            if state.config.release.knows_networks:
                _check_host(state, acl.host)
        except KafkaError as error:
            results.append(as_value(error))
            continue
        if acl not in state.image.acl_ids:
            new[acl] = None
        results.append(None)
    if len(new) > MAX_RECORDS:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
    return [AccessControlEntryRecord(new_uuid(), *acl) for acl in new], results


def _check_host(state: MetadataState, host: str) -> None:
    if not host:
        raise _invalid("Host pattern cannot be null or empty")
    if not is_network(host):
        return
    if state.image.feature(METADATA_VERSION) < NETWORKS_FROM:
        text = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
    try:
        parse_network(host)
    except ValueError as error:
        raise _invalid(f"Invalid CIDR notation '{host}': {error}") from None


def delete_acls(state: MetadataState, filters: Sequence[AclFilter]) -> Decision[list[list[Acl] | KafkaError]]:
    """Delete the entries that filters mean; replies for each filter with them. INVALID_REQUEST for more than 10,000."""
    deleted: dict[bytes, None] = {}
    results: list[list[Acl] | KafkaError] = []
    entries = [(acl_id, Acl.of_record(record)) for acl_id, record in state.image.acls.items()]
    by_name: dict[str, list[tuple[bytes, Acl]]] = {}
    for entry in entries:
        by_name.setdefault(entry[1].name, []).append(entry)
    looks = 0
    for wanted in filters:
        try:
            _check_filter(wanted)
        except KafkaError as error:
            results.append(as_value(error))
            continue
        by_scan = wanted.name is None or wanted.pattern == Pattern.MATCH
        among = entries if by_scan else by_name.get(wanted.name or "", [])
        looks += len(among)
        if looks > MOST_LOOKS:
            text = f"{len(filters)} filters for {len(entries)} acls take too long: delete them in several requests."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        found = {acl_id: acl for acl_id, acl in among if wanted.matches(acl)}
        deleted.update(dict.fromkeys(found))
        if len(deleted) > MAX_RECORDS:
            text = f"Cannot remove more than {MAX_RECORDS} acls in a single delete operation."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        results.append(list(found.values()))
    return [RemoveAccessControlEntryRecord(acl_id) for acl_id in deleted], results


def check(acl: Acl) -> None:
    """INVALID_REQUEST with Kafka's text for an entry that cannot be made."""
    if acl.resource == Resource.CLUSTER and acl.name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if acl.name == "":
        raise _invalid("Invalid empty resource name")
    if not _is_concrete(Resource, acl.resource):
        raise _invalid(f"Invalid resourceType {_name(Resource, acl.resource)}")
    if acl.pattern not in (Pattern.LITERAL, Pattern.PREFIXED):
        raise _invalid(f"Invalid patternType {_name(Pattern, acl.pattern)}")
    if not _is_concrete(Operation, acl.operation):
        raise _invalid(f"Invalid operation {_name(Operation, acl.operation)}")
    if acl.permission not in (Permission.DENY, Permission.ALLOW):
        raise _invalid(f"Invalid permissionType {_name(Permission, acl.permission)}")
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal type "
            "from the principal name)"
        )


def _check_filter(wanted: AclFilter) -> None:
    if "UNKNOWN" in (_name(Resource, wanted.resource), _name(Pattern, wanted.pattern)):
        raise _invalid("Unknown patternFilter.")
    if "UNKNOWN" in (_name(Operation, wanted.operation), _name(Permission, wanted.permission)):
        raise _invalid("Unknown entryFilter.")


def _is_concrete(kind: type[IntEnum], number: int) -> bool:
    return _name(kind, number) not in ("UNKNOWN", "ANY")


def _name(kind: type[IntEnum], number: int) -> str:
    """Kafka's name of a number: UNKNOWN for one that it does not know."""
    try:
        return kind(number).name
    except ValueError:
        return "UNKNOWN"


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
