"""Who may do what: Kafka's rules, and the same rules written down once more without any index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.controller.acl_control import NETWORKS_FROM, create_acls
from odradek.broker.controller.machine import MetadataState
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.metadata.image import MetadataDelta
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security import authorizer as decisions
from odradek.broker.security.acl import SUPPORTED, Acl, Operation, Pattern, Permission, Resource
from odradek.broker.security.authorizer import (
    Authorizer,
    authorizer_of,
    contains,
    is_network,
    parse_network,
    super_user_texts,
)
from odradek.broker.security.principal import ANONYMOUS, Principal
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from tests.fakes.examples import examples
from tests.scenarios.acl_decisions import USERS, Case, recorded
from tests.scenarios.acl_hosts import ADDRESSES, CONFIG, HOSTS, allowed, ask

# -- Hosts of access control entries: what a real Kafka 4.4.0 took, and which entries let a client of 127.0.0.1 write.

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "acl_hosts.json").read_text(encoding="utf-8")
)


def entry(host: str) -> Acl:
    return Acl(Resource.TOPIC, "t", Pattern.LITERAL, "User:a", host, Operation.WRITE, Permission.ALLOW)


def told(error: KafkaError | None) -> list[Any]:
    return [0, ""] if error is None else [error.code, error.message]


def test_acls_are_decided_as_recorded() -> None:
    with KafkaBroker(kafka_version="4.4", config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.split(":")
        assert ask(host, int(port)) == RECORDED["4.4-IV2"]
        assert broker.bugs == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_client_of_either_family_has_its_own_address_on_one_listener(address: str) -> None:
    with KafkaBroker(kafka_version="4.4", config={**CONFIG, "listeners": "PLAINTEXT://[::]:0"}) as broker:
        assert allowed(address, broker.cluster.nodes[1].port) == ADDRESSES[address]
        assert broker.bugs == []


def test_below_the_level_no_network_is_taken() -> None:
    writer = ImageWriter()
    writer.replay(FeatureLevelRecord("metadata.version", NETWORKS_FROM - 1), 0, 1)
    _, results = create_acls(MetadataState(writer.image, BrokerConfig({}), 1), [entry(host) for host in HOSTS])
    recorded = RECORDED["4.4-IV0"]["hosts"]
    assert [told(result) for result in results] == [recorded[host][:2] for host in HOSTS]


def test_before_4_4_a_network_is_any_text() -> None:
    with KafkaBroker(kafka_version="4.3", config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.split(":")
        answers = ask(host, int(port))["hosts"]
        assert {text: answer for text, answer in answers.items() if answer[0]} == {}
        assert [text for text, answer in answers.items() if answer[2]] == ["*", "127.0.0.1"]


@pytest.mark.parametrize(
    ("network", "inside", "outside"),
    [
        ("10.1.2.3/8", "10.255.0.1", "11.0.0.0"),
        ("0.0.0.0/0", "255.255.255.255", "::1"),
        ("fe80::/10", "febf::1", "fec0::"),
        ("::/0", "2001:db8::1", "127.0.0.1"),
        ("[2001:DB8::1]/127", "2001:db8::", "2001:db8::2"),
    ],
)
def test_acl_host_network_contains_its_addresses(network: str, inside: str, outside: str) -> None:
    assert is_network(network)
    assert contains(network, inside)
    assert not contains(network, outside)
    assert not contains(network, "nobody")


def test_a_text_that_is_no_network_contains_nothing() -> None:
    assert not contains("10.0.0.0/33", "10.0.0.1")
    with pytest.raises(ValueError, match="not in range"):
        parse_network("10.0.0.0/33")


VECTORS = Path(__file__).parents[2] / "vectors" / "acl_decisions.json.gz"
ALICE, BOB = Principal("User", "alice"), Principal("User", "bob")
HERE, THERE = "127.0.0.1", "10.0.0.7"


def entry_of_authorizer(
    operation: Operation = Operation.READ,
    permission: Permission = Permission.ALLOW,
    *,
    name: str = "orders",
    pattern: Pattern = Pattern.LITERAL,
    principal: str = "User:alice",
    host: str = "*",
    resource: Resource = Resource.TOPIC,
) -> Acl:
    return Acl(resource, name, pattern, principal, host, operation, permission)


def authorizer(*acls: Acl, allow_if_no_acl: bool = False) -> Authorizer:
    made = Authorizer([Principal("User", "root")], allow_if_no_acl=allow_if_no_acl)
    for acl in acls:
        made.add(acl)
    return made


def may(made: Authorizer, operation: Operation, name: str = "orders", who: Principal = ALICE, host: str = HERE) -> bool:
    return made.allows(who, host, operation, Resource.TOPIC, name)


def test_without_entries_only_super_users_may() -> None:
    made = authorizer()
    assert not may(made, Operation.READ)
    assert may(made, Operation.READ, who=Principal("User", "root"))


def test_acl_deny_goes_before_allow() -> None:
    made = authorizer(
        entry_of_authorizer(), entry_of_authorizer(permission=Permission.DENY, name="ord", pattern=Pattern.PREFIXED)
    )
    assert not may(made, Operation.READ)
    assert may(
        authorizer(entry_of_authorizer(), entry_of_authorizer(permission=Permission.DENY, principal="User:bob")),
        Operation.READ,
    )


def test_no_deny_stops_a_super_user() -> None:
    made = authorizer(entry_of_authorizer(Operation.ALL, Permission.DENY, name="*", principal="User:*"))
    assert may(made, Operation.READ, who=Principal("User", "root"))


def test_a_deny_of_everybody_stops_whom_an_entry_of_his_own_allows() -> None:
    assert not may(
        authorizer(entry_of_authorizer(), entry_of_authorizer(permission=Permission.DENY, principal="User:*")),
        Operation.READ,
    )


@pytest.mark.parametrize("held", [Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER])
def test_these_imply_describe_and_to_deny_them_does_not_deny_it(held: Operation) -> None:
    assert may(authorizer(entry_of_authorizer(held)), Operation.DESCRIBE)
    denied = authorizer(entry_of_authorizer(Operation.DESCRIBE), entry_of_authorizer(held, Permission.DENY))
    assert may(denied, Operation.DESCRIBE)
    assert not may(denied, held)


def test_alter_configs_implies_describe_configs_and_nothing_else() -> None:
    made = authorizer(entry_of_authorizer(Operation.ALTER_CONFIGS))
    assert may(made, Operation.DESCRIBE_CONFIGS)
    assert not may(made, Operation.DESCRIBE)
    assert not may(made, Operation.ALTER)
    assert not may(authorizer(entry_of_authorizer(Operation.CREATE)), Operation.DESCRIBE)
    assert not may(authorizer(entry_of_authorizer(Operation.DESCRIBE)), Operation.READ)


def test_acl_deny_of_describe_leaves_read() -> None:
    made = authorizer(entry_of_authorizer(), entry_of_authorizer(Operation.DESCRIBE, Permission.DENY))
    assert may(made, Operation.READ)
    assert not may(made, Operation.DESCRIBE)


def test_an_acl_of_a_host_counts_for_that_host_alone() -> None:
    made = authorizer(entry_of_authorizer(host=HERE))
    assert may(made, Operation.READ)
    assert not may(made, Operation.READ, host=THERE)


def test_allow_everyone_counts_only_where_no_entry_concerns_the_resource() -> None:
    made = authorizer(entry_of_authorizer(principal="User:bob"), allow_if_no_acl=True)
    assert may(made, Operation.READ, "others")
    assert not may(made, Operation.READ, "orders")
    made.add(entry_of_authorizer(principal="User:bob", name="*"))
    assert not may(made, Operation.READ, "others")


def test_user_star_stands_for_every_kind_of_principal() -> None:
    made = authorizer(entry_of_authorizer(principal="User:*"))
    assert may(made, Operation.READ, who=ANONYMOUS)
    assert may(made, Operation.READ, who=Principal("Team", "x"))


def test_how_somebody_logged_in_does_not_matter() -> None:
    assert may(
        authorizer(entry_of_authorizer()), Operation.READ, who=Principal("User", "alice", token_authenticated=True)
    )


def test_a_user_called_star_is_more_than_kafka_can_take() -> None:
    with pytest.raises(KafkaError) as caught:
        may(authorizer(), Operation.READ, who=Principal("User", "*"))
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_decision_is_not_kept_longer_than_the_entries() -> None:
    made = authorizer()
    assert not may(made, Operation.READ)
    made.add(entry_of_authorizer())
    assert may(made, Operation.READ)
    made.remove(entry_of_authorizer())
    assert not may(made, Operation.READ)


def test_authorized_operations_are_told_as_bits() -> None:
    made = authorizer(entry_of_authorizer(Operation.WRITE), entry_of_authorizer(Operation.ALTER_CONFIGS))
    bits = made.operations(ALICE, HERE, Resource.TOPIC, "orders")
    assert bits == 1 << 4 | 1 << 8 | 1 << 10 | 1 << 11
    assert authorizer().operations(ALICE, HERE, Resource.TOPIC, "orders") == 0


def test_authorizer_finds_a_right_on_any_topic() -> None:
    def any_write(*acls: Acl) -> bool:
        return authorizer(*acls).allows_by_type(ALICE, HERE, Operation.WRITE, Resource.TOPIC)

    write = entry_of_authorizer(Operation.WRITE)
    assert not any_write()
    assert not any_write(
        entry_of_authorizer(Operation.READ), entry_of_authorizer(Operation.WRITE, resource=Resource.GROUP)
    )
    assert any_write(write)
    assert any_write(entry_of_authorizer(Operation.ALL, name="x", pattern=Pattern.PREFIXED))
    assert not any_write(entry_of_authorizer(Operation.WRITE, host=THERE))
    assert not any_write(write, entry_of_authorizer(Operation.WRITE, Permission.DENY))
    assert not any_write(
        write, entry_of_authorizer(Operation.WRITE, Permission.DENY, name="ord", pattern=Pattern.PREFIXED)
    )
    assert any_write(
        write, entry_of_authorizer(Operation.WRITE, Permission.DENY, name="orders.", pattern=Pattern.PREFIXED)
    )
    assert not any_write(write, entry_of_authorizer(Operation.ALL, Permission.DENY, name="*", principal="User:*"))
    assert any_write(
        entry_of_authorizer(Operation.WRITE, name="*"), entry_of_authorizer(Operation.WRITE, Permission.DENY)
    )
    prefix = entry_of_authorizer(Operation.WRITE, name="orders", pattern=Pattern.PREFIXED)
    assert any_write(prefix, entry_of_authorizer(Operation.WRITE, Permission.DENY))


def test_networks_count_from_when_they_are_known() -> None:
    made = Authorizer()
    made.add(entry("10.0.0.0/8"))
    who = Principal("User", "a")
    for known, may in ((False, False), (True, True), (True, True), (False, False)):
        made.know_networks(known)
        assert made.allows(who, "10.1.2.3", Operation.WRITE, Resource.TOPIC, "t") is may
        assert not made.allows(who, "11.1.2.3", Operation.WRITE, Resource.TOPIC, "t")


@pytest.mark.parametrize(
    ("denied", "may"),
    [
        ((), True),
        (((Pattern.LITERAL, "*"),), False),
        (((Pattern.LITERAL, "orders"),), False),
        (((Pattern.PREFIXED, "orders"),), False),
        (((Pattern.PREFIXED, "o"),), False),
        (((Pattern.PREFIXED, "orders-"),), True),
        (((Pattern.LITERAL, "order"),), True),
        (((Pattern.PREFIXED, "rders"),), True),
    ],
)
def test_a_right_on_some_topic_is_one_that_no_entry_takes_away(
    denied: Sequence[tuple[Pattern, str]], may: bool
) -> None:
    made = Authorizer()
    made.add(entry("*")._replace(name="orders"))
    for pattern, name in denied:
        made.add(entry("*")._replace(name=name, pattern=pattern, permission=Permission.DENY))
    who = Principal("User", "a")
    assert made.allows_by_type(who, "h", Operation.WRITE, Resource.TOPIC) is may
    assert not made.allows_by_type(who, "h", Operation.READ, Resource.TOPIC)
    made.add(entry("*")._replace(name="*"))
    everything_is_denied = (Pattern.LITERAL, "*") in denied
    assert made.allows_by_type(who, "h", Operation.WRITE, Resource.TOPIC) is not everything_is_denied


def test_decisions_about_long_names_and_beyond_100_000_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decisions._MAX_KNOWN == 100_000
    monkeypatch.setattr(decisions, "_MAX_KNOWN", 3)
    made = Authorizer()
    made.add(entry("*")._replace(name="*"))
    for name in ("a", "b", "c", "d", "x" * 100_000):
        assert made.allows(Principal("User", "a"), "h", Operation.WRITE, Resource.TOPIC, name)
        assert len(made._known) <= 3
    assert all(len(key[4] or "") < 100_000 for key in made._known)


def test_the_authorizer_follows_the_image() -> None:
    writer, made = ImageWriter(), authorizer()
    record = AccessControlEntryRecord(b"1" * 16, 2, "orders", 3, "User:alice", "*", 3, 3)
    writer.replay(record, 0, 1)
    made.publish(writer.take_delta(), writer.image)
    assert may(made, Operation.READ)
    afresh = authorizer()
    afresh.publish(MetadataDelta.of_everything(writer.image), writer.image)
    assert may(afresh, Operation.READ)
    writer.replay(RemoveAccessControlEntryRecord(b"1" * 16), 1, 1)
    made.publish(writer.take_delta(), writer.image)
    assert not may(made, Operation.READ)


def test_authorizer_is_made_as_configured() -> None:
    made = authorizer_of(BrokerConfig({"super.users": "User:a; User:b:c;"}))
    assert may(made, Operation.READ, who=Principal("User", "b:c"))
    assert not may(made, Operation.READ)
    open_to_all = authorizer_of(BrokerConfig({"allow.everyone.if.no.acl.found": "true"}))
    assert may(open_to_all, Operation.READ)
    assert super_user_texts(" ; ") == []
    with pytest.raises(ConfigError, match=r"super\.users: expected a string in format principalType:principalName"):
        authorizer_of(BrokerConfig({"super.users": "alice"}))


# -- the same rules, naively


def naive(acls: Sequence[Acl], allow_if_no_acl: bool, who: str, host: str, operation: int, name: str) -> bool:
    """As the documentation of Kafka tells it: look at every entry_of_authorizer."""
    concerning = [
        acl
        for acl in acls
        if (acl.pattern == Pattern.LITERAL and acl.name in (name, "*"))
        or (acl.pattern == Pattern.PREFIXED and name.startswith(acl.name))
    ]
    if not concerning:
        return allow_if_no_acl
    his = [acl for acl in concerning if acl.principal in (who, "User:*") and acl.host in (host, "*")]
    if any(acl.permission == Permission.DENY and acl.operation in (operation, Operation.ALL) for acl in his):
        return False
    implying = {
        Operation.DESCRIBE: [Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER],
        Operation.DESCRIBE_CONFIGS: [Operation.ALTER_CONFIGS],
    }
    enough = [operation, Operation.ALL, *implying.get(Operation(operation), [])]
    return any(acl.permission == Permission.ALLOW and acl.operation in enough for acl in his)


NAMES = st.sampled_from(["*", "a", "ab", "abc", "abd", "b", "ba", "c"])
ENTRIES = st.builds(
    Acl,
    st.just(int(Resource.TOPIC)),
    NAMES,
    st.sampled_from([int(Pattern.LITERAL), int(Pattern.PREFIXED)]),
    st.sampled_from(["User:*", "User:alice", "User:bob"]),
    st.sampled_from(["*", HERE, THERE]),
    st.sampled_from([int(Operation.ALL), *map(int, SUPPORTED[Resource.TOPIC])]),
    st.sampled_from([int(Permission.DENY), int(Permission.ALLOW), int(Permission.ALLOW)]),
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(ENTRIES, max_size=12, unique=True), st.data())
def test_the_rules_are_those_of_the_naive_formulation(acls: list[Acl], data: st.DataObject) -> None:
    allow_if_no_acl = data.draw(st.booleans())
    made = authorizer(*acls, allow_if_no_acl=allow_if_no_acl)
    for _ in range(2):
        for name in ("*", "a", "ab", "abcd", "b", "x"):
            for operation in SUPPORTED[Resource.TOPIC]:
                for who in (ALICE, BOB):
                    expected = naive(acls, allow_if_no_acl, str(who), THERE, operation, name)
                    assert may(made, operation, name, who, THERE) is expected, (name, operation, who)
        if not acls:
            break
        gone = data.draw(st.sampled_from(acls))
        acls = [acl for acl in acls if acl != gone]
        made.remove(gone)


# -- against decisions of a real Kafka


@pytest.mark.parametrize("case", recorded(VECTORS))
def test_authorizer_decides_as_kafka_did(case: Case) -> None:
    made = authorizer(
        *(Acl(*entry_of_authorizer) for entry_of_authorizer in case["entries"]), allow_if_no_acl=case["allow_if_no_acl"]
    )
    for user in USERS:
        who = Principal("User", user)
        for name, expected in case["operations"][user].items():
            known = may(made, Operation.DESCRIBE, name, who, HERE)
            bits = made.operations(who, HERE, Resource.TOPIC, name) if known else None
            assert bits == expected, (user, name)
        idempotent = made.allows(who, HERE, Operation.IDEMPOTENT_WRITE, Resource.CLUSTER, "kafka-cluster")
        any_topic = made.allows_by_type(who, HERE, Operation.WRITE, Resource.TOPIC)
        assert (idempotent or any_topic) is case["idempotent"][user], user
