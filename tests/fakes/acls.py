"""Clusters with an authorizer, and entries for them."""

from __future__ import annotations

import uuid

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.broker.security.acl import Operation, Pattern, Permission, Resource
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord

SECURED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def allow(
    cluster: Cluster,
    principal: str,
    operation: Operation,
    resource: Resource,
    name: str,
    *,
    pattern: Pattern = Pattern.LITERAL,
    permission: Permission = Permission.ALLOW,
    host: str = "*",
) -> None:
    """Put an entry into the cluster's metadata."""
    acl_id = uuid.uuid4().bytes
    record = AccessControlEntryRecord(acl_id, resource, name, pattern, principal, host, operation, permission)
    cluster.controller.ask(adopt, [record])
