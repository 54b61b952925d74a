"""What Kafka's StandardAuthorizer decides on random sets of entries: recorded once, held against ours.

A case is a set of entries, and for each of two users what they may do with each topic (the authorized-operations field
of Metadata; null where they may not even describe it) and whether they get an idempotent producer's id. This writes
`tests/vectors/acl_decisions.json.gz`:

    python -m tests.scenarios.acl_decisions tests/vectors/acl_decisions.json.gz
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import WireClient
from tests.scenarios.authorization import ADMIN, broker_with_users, log_in
from tests.scenarios.target import wait_until

CASES = 60
USERS = ("az0", "az1")
NAMES = ("a", "ab", "abc", "abd", "b", "x")
HERE = "127.0.0.1"
_MARK = "decided"
_TOPIC, _CLUSTER = 2, 4
_LITERAL, _PREFIXED = 3, 4
_DENY, _ALLOW = 2, 3
_ALL, _WRITE, _DESCRIBE, _IDEMPOTENT_WRITE = 2, 4, 8, 12
_OPERATIONS = (_ALL, 3, _WRITE, 5, 6, 7, _DESCRIBE, 10, 11)

Entry = list[Any]
"""Resource type, name, pattern, principal, host, operation, permission."""
Case = dict[str, Any]


def random_entries(generator: random.Random) -> list[Entry]:
    """A few entries about topics; now and then one about idempotent writes."""
    principals = ["User:*", *(f"User:{user}" for user in USERS)]
    found: list[Entry] = []
    for _ in range(generator.randint(1, 9)):
        pattern = generator.choice((_LITERAL, _LITERAL, _PREFIXED))
        name = generator.choice(("*", *NAMES[:-1]))
        permission = generator.choice((_DENY, _ALLOW, _ALLOW))
        host = generator.choice(("*", "*", HERE, "10.0.0.7"))
        operation = generator.choice(_OPERATIONS)
        entry = [_TOPIC, name, pattern, generator.choice(principals), host, operation, permission]
        if entry not in found:
            found.append(entry)
    if generator.random() < 0.2:
        entry = [_CLUSTER, "kafka-cluster", _LITERAL, generator.choice(principals), "*", _IDEMPOTENT_WRITE, _ALLOW]
        found.append(entry)
    return found


def decisions(clients: dict[str, WireClient]) -> Case:
    """What each user may do."""
    asked = [MetadataRequestTopic(name=name) for name in NAMES]
    wanted = MetadataRequest(asked, allow_auto_topic_creation=False, include_topic_authorized_operations=True)
    told: Case = {"operations": {}, "idempotent": {}}
    for user, client in clients.items():
        topics = client.request(wanted, 12).topics
        bits = {
            topic.name: None
            if topic.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            else topic.topic_authorized_operations
            for topic in topics
        }
        told["operations"][user] = {name: bits[name] for name in NAMES}
        answer = client.request(InitProducerIdRequest(None, 1000, -1, -1), 4)
        # The first id of a broker may have to wait (COORDINATOR_LOAD_IN_PROGRESS), which is no refusal.
        told["idempotent"][user] = answer.error_code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return told


def _put(admin: WireClient, entries: Sequence[Entry]) -> None:
    """Replace all entries; a broker follows its controller a little later, in order."""
    admin.request(DeleteAclsRequest(filters=[DeleteAclsFilter(1, None, 1, None, None, 1, 1)]), 3)
    marked = [*entries, [3, _MARK, _LITERAL, "User:nobody", "*", 3, _ALLOW]]
    made = admin.request(CreateAclsRequest(creations=[AclCreation(*entry) for entry in marked]), 3)
    assert not any(result.error_code for result in made.results), made

    def follows() -> bool:
        shown = admin.request(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3).resources
        return sum(len(resource.acls) for resource in shown) == len(marked)

    wait_until("the entries", follows)


def record(allow_if_no_acl: bool) -> list[Case]:
    """The decisions of a real Kafka."""
    generator = random.Random(f"decisions {allow_if_no_acl}")
    config = {"allow.everyone.if.no.acl.found": str(allow_if_no_acl).lower()}
    cases: list[Case] = []
    with broker_with_users("kafka", config) as port, log_in(port, ADMIN) as admin:
        clients = {user: log_in(port, user) for user in USERS}
        for _ in range(CASES):
            entries = random_entries(generator)
            _put(admin, entries)
            cases.append({"allow_if_no_acl": allow_if_no_acl, "entries": entries, **decisions(clients)})
        for client in clients.values():
            client.close()
    return cases


def recorded(path: Path) -> list[Case]:
    cases: list[Case] = json.loads(gzip.decompress(path.read_bytes()))
    return cases


def main(arguments: Sequence[str]) -> None:
    cases = record(False) + record(True)
    Path(arguments[0]).write_bytes(gzip.compress(json.dumps(cases).encode(), mtime=0))
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main(sys.argv[1:])
