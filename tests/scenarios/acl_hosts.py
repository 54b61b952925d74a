"""Hosts in access control entries, with networks as KIP-1276 has them (Kafka 4.4): what is taken, and what matches.

`ask` makes an entry for each host, each about a topic of its own, and finds out which of them let a client of 127.0.0.1
write. The answers of a real Kafka 4.4.0 lie in ``tests/vectors/acl_hosts.json``, by the level of `metadata.version`;
this writes one level, from a broker with the configs of `CONFIG`:

    python -m tests.scenarios.acl_hosts HOST:PORT LEVEL tests/vectors/acl_hosts.json
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from odradek.protocol.generated.messages.describe_acls import DescribeAclsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

CONFIG: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
"""What a broker is configured with: whoever has no entry may do everything, the administrator too."""

HOSTS = (
    *("*", "127.0.0.1", "hello", "", "127.0.0.0/8", "127.0.0.1/32", "127.0.0.1/31", "0.0.0.0/0", "10.0.0.0/8"),
    *("127.0.0.2/32", "127.9.9.9/8", "128.0.0.0/1", "127.0.0.1/0", "127.0.0.1/1", "10.0.0.0/33", "10.0.0.0/-1"),
    *("10.0.0.0/", "/8", "/", "10.0.0.0/8/8", "10.0.0/8", "10.0.0.256/8", "10.0.0.0/a", "10.0.0.0/08"),
    *(" 10.0.0.0/8", "127.0.0.0/8 ", "localhost/8", "*/8", "127.0.0.0/255.0.0.0", "127.0.0.0/+8"),
    *("010.0.0.0/8", "127.0.0.0/008", "::/0", "::1/128", "::ffff:127.0.0.1/128", "::ffff:127.0.0.0/104"),
    *("::ffff:0:0/96", "fe80::/10", "fe80::/129", "FE80::/10", "fe80::%1/64", "[::1]/128"),
    *("1:2:3:4:5:6:7:8/128", "1:2:3:4:5:6:7/64", "::g/8", "::1::/8", "2001:db8::/-1", "2001:db8::/"),
    *("::127.0.0.1/128", "0:0:0:0:0:ffff:7f00:1/128", "1.2.3.4.5/8", "::ffff:1.2.3.256/128", "::1/8/8"),
    *("::g/x", "::g/129", "::/+8", "::/008", "::/ 8", "[::1/64", "::1]/64", "::1 /64", "::00001/64"),
    *("::fffff/8", "1.2.3.300/40", "1:2:3:4:5:6:7::/64", ":1/64", "1::/64", "::1.2.3/64", "::/", "::%/64"),
)
ADDRESSES = {
    "127.0.0.1": ("*", "127.0.0.1", "127.0.0.0/8", "0.0.0.0/0"),
    "::1": ("*", "0:0:0:0:0:0:0:1", "::1/128", "::/0"),
}
"""The address that a client of a listener on `[::]` comes from -> which of `ADDRESS_HOSTS` let it write."""
ADDRESS_HOSTS = (
    *("*", "127.0.0.1", "127.0.0.0/8", "::1", "0:0:0:0:0:0:0:1", "::1/128", "::/0", "0.0.0.0/0", "::ffff:127.0.0.1"),
    *("0:0:0:0:0:ffff:7f00:1", "127.1", "localhost", "10.0.0.0/8"),
)
_TOPIC, _LITERAL, _ALLOW, _WRITE = 2, 3, 3, 4
_PRINCIPAL = "User:ANONYMOUS"


def ask(host: str, port: int) -> dict[str, Any]:
    """Host -> [error of CreateAcls, its text, operations that are allowed]; with what DescribeAcls says to filters."""
    with WireClient(host, port, timeout_s=30) as client:
        answers = _answers(client, HOSTS)
        filters = {
            text: _described(client, DescribeAclsRequest(1, None, 1, None, text, 1, 1))
            for text in ("127.0.0.1", "127.0.0.0/8", "127.0.0.0/9", "*", "10.0.0.0/33", "127.0.0.0/")
        }
        doomed = [DeleteAclsFilter(1, None, 1, None, text, 1, 1) for text in ("127.0.0.0/8", "1/99")]
        deleted = [
            [answer.error_code, answer.error_message, sorted(acl.host for acl in answer.matching_acls)]
            for answer in client.request(DeleteAclsRequest(doomed), 3).filter_results
        ]
    return {"hosts": answers, "described": filters, "deleted": deleted}


def allowed(host: str, port: int) -> tuple[str, ...]:
    """Which of `ADDRESS_HOSTS` let a client write that dials this address of a listener on `[::]`."""
    with WireClient(host, port, timeout_s=30) as client:
        return tuple(text for text, answer in _answers(client, ADDRESS_HOSTS).items() if answer[2])


def _answers(client: WireClient, hosts: Sequence[str]) -> dict[str, list[Any]]:
    """Host -> [error of CreateAcls, its text, whether it lets the client write]."""
    tag = secrets.token_hex(4)
    names = {f"t{number}-{tag}": text for number, text in enumerate(hosts)}
    made = client.request(CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names], timeout_ms=30_000), 7)
    assert all(topic.error_code == 0 for topic in made.topics), made
    creations = [AclCreation(_TOPIC, name, _LITERAL, _PRINCIPAL, text, _WRITE, _ALLOW) for name, text in names.items()]
    everything = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
    before = len(_described(client, everything))
    results = client.request(CreateAclsRequest(creations), 3).results
    stored = before + sum(result.error_code == 0 for result in results)
    wait_until("the entries", lambda: len(_described(client, everything)) == stored)
    wanted = MetadataRequest(
        [MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    topics = {topic.name: topic for topic in client.request(wanted, 12).topics}
    return {
        text: [result.error_code, result.error_message, _may_write(topics[name])]
        for (name, text), result in zip(names.items(), results, strict=True)
    }


def _may_write(topic: Any) -> bool:
    return bool(topic.error_code == 0 and topic.topic_authorized_operations & 1 << _WRITE)


def _described(client: WireClient, request: DescribeAclsRequest) -> list[str]:
    answer = client.request(request, 3)
    assert answer.error_code == 0, answer
    return sorted(acl.host for resource in answer.resources for acl in resource.acls)


def main() -> None:
    host, port = sys.argv[1].rsplit(":", 1)
    path = Path(sys.argv[3])
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[sys.argv[2]] = ask(host, int(port))
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
