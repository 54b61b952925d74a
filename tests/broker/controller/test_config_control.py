"""Changes of configuration: what each resource takes, and the codes and texts that Kafka 4.3.1 answered to the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig, ConfigError, broker_keys
from odradek.broker.config.changes import Assignment, Change, Operation
from odradek.broker.controller.config_control import (
    alter_configs,
    check_cluster_wide,
    check_dynamic,
    check_group_configs,
    check_reconfigurables,
    check_threads,
)
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord

TOPIC, BROKER, LOGGER = ResourceType.TOPIC, ResourceType.BROKER, ResourceType.BROKER_LOGGER
METRICS, GROUP = ResourceType.CLIENT_METRICS, ResourceType.GROUP
SET, DELETE, APPEND, SUBTRACT = Operation
INVALID_CONFIG, INVALID_REQUEST = ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    one = Cluster()
    one.create_topic("a")
    yield one
    one.forget_log_levels([1])


def change(
    cluster: Cluster,
    kind: int,
    name: str,
    *assignments: tuple[str, int, str | None],
    replaces: bool = False,
    validate_only: bool = False,
) -> tuple[ErrorCode, str | None] | None:
    """None if the change was taken, else code and message."""
    asked = [Assignment(key, value, operation) for key, operation, value in assignments]
    made = Change(kind, name, asked, replaces)
    if kind == LOGGER and not replaces:
        try:
            cluster.services.log_levels().apply(made, 1, validate_only=validate_only)
        except KafkaError as error:
            return error.code, error.message
        return None
    (refused,) = cluster.controller.ask(alter_configs, [made], 1, validate_only=validate_only)
    return None if refused is None else (refused.code, refused.message)


def kept(cluster: Cluster, kind: int) -> dict[str, dict[str, str]]:
    """What the resources of a kind set."""
    image = cluster.image
    return {name: dict(image.configs_of(kind, name)) for name in image.names_with_configs(kind)}


def overrides(cluster: Cluster) -> dict[str, str]:
    topic = cluster.topics.get("a")
    assert topic is not None
    return dict(topic.config.overrides)


# -- topics


def test_config_changes_set_and_delete_values(cluster: Cluster) -> None:
    assert change(cluster, TOPIC, "a", ("retention.ms", SET, " 5 "), ("segment.bytes", SET, "2000000")) is None
    assert overrides(cluster) == {"retention.ms": "5", "segment.bytes": "2000000"}
    assert change(cluster, TOPIC, "a", ("retention.ms", DELETE, None), ("no.such", DELETE, None)) is None
    assert overrides(cluster) == {"segment.bytes": "2000000"}


def test_lists_begin_with_kafkas_default_whatever_the_broker_has() -> None:
    """Asked of a Kafka with log.cleanup.policy=compact in its file."""
    cluster = Cluster(config={"log.cleanup.policy": "compact", "listeners": "PLAINTEXT://127.0.0.1:19092"})
    cluster.create_topic("a")
    for kind, name, key in ((TOPIC, "a", "cleanup.policy"), (BROKER, "1", "log.cleanup.policy")):
        assert change(cluster, kind, name, (key, APPEND, "delete")) is None
        assert kept(cluster, kind)[name] == {key: "delete"}
        assert change(cluster, kind, name, (key, DELETE, None)) is None
        assert change(cluster, kind, name, (key, SUBTRACT, "compact")) is None
        assert kept(cluster, kind)[name] == {key: "delete"}
    shown = "[PLAINTEXT://:9092, PLAINTEXT://127.0.0.1:19777]"
    assert change(cluster, BROKER, "1", ("listeners", APPEND, "PLAINTEXT://127.0.0.1:19777")) == (
        ErrorCode.INVALID_REQUEST,
        f"Error creating broker listeners from '{shown}': Each listener must have a different name, listeners: {shown}",
    )
    assert change(cluster, BROKER, "1", ("listeners", APPEND, "EXTRA://127.0.0.1:19555")) == (
        ErrorCode.INVALID_REQUEST,
        "Error creating broker listeners from '[PLAINTEXT://:9092, EXTRA://127.0.0.1:19555]': "
        "No security protocol defined for listener EXTRA",
    )


def test_lists_grow_and_shrink_from_their_default(cluster: Cluster) -> None:
    assert change(cluster, TOPIC, "a", ("cleanup.policy", APPEND, "compact")) is None
    assert overrides(cluster) == {"cleanup.policy": "delete,compact"}
    assert change(cluster, TOPIC, "a", ("cleanup.policy", APPEND, "compact,delete")) is None
    assert change(cluster, TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete")) is None
    assert overrides(cluster) == {"cleanup.policy": "compact"}
    assert change(cluster, TOPIC, "a", ("cleanup.policy", SUBTRACT, "compact")) is None
    assert overrides(cluster) == {"cleanup.policy": ""}


@pytest.mark.parametrize(("length", "taken"), [(32_767, True), (32_768, False)])
def test_a_value_has_32767_characters_at_most(cluster: Cluster, length: int, taken: bool) -> None:
    text = "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."
    refused = change(cluster, BROKER, "1", ("no.such", SET, "x" * length))
    assert refused == (None if taken else (INVALID_CONFIG, text))


def test_a_controller_changes_every_node(cluster: Cluster) -> None:
    def asked(name: str, *assignments: tuple[str, int, str | None]) -> tuple[ErrorCode, str | None] | None:
        made = Change(BROKER, name, [Assignment(key, value, operation) for key, operation, value in assignments], False)
        (refused,) = cluster.controller.ask(alter_configs, [made], None)
        return None if refused is None else (refused.code, refused.message)

    assert asked("1", ("log.retention.ms", SET, "5")) is None
    assert asked("", ("log.retention.ms", SET, "6"), ("min.insync.replicas", SET, "1")) is None
    assert kept(cluster, BROKER)["1"] == {"log.retention.ms": "5"}
    assert kept(cluster, BROKER)[""]["log.retention.ms"] == "6"
    assert asked("9", ("log.retention.ms", SET, "5")) == (
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        "No node with id 9 found.",
    )
    assert asked("x", ("log.retention.ms", SET, "5")) == (
        INVALID_REQUEST,
        "Unable to parse broker name as a base 10 number.",
    )


def test_replacing_forgets_what_is_not_named(cluster: Cluster) -> None:
    change(cluster, TOPIC, "a", ("retention.ms", SET, "5"))
    assert change(cluster, TOPIC, "a", ("segment.bytes", SET, "2000000"), replaces=True) is None
    assert overrides(cluster) == {"segment.bytes": "2000000"}


def test_validation_changes_nothing(cluster: Cluster) -> None:
    assert change(cluster, TOPIC, "a", ("retention.ms", SET, "5"), validate_only=True) is None
    assert overrides(cluster) == {}


_NOT_0 = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Invalid {} 0 for configuration Invalid dynamic "
    "configuration"
)
_NOT_ADVERTISED = (
    "requirement failed: inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid "
    "options based on currently configured listeners are SSL"
)
_STAYS = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Security protocol cannot be updated for existing "
    "listener ListenerName(PLAINTEXT) for configuration Invalid dynamic configuration"
)


@pytest.mark.parametrize(
    ("name", "assignments", "code", "why"),
    [
        ("b", [("retention.ms", SET, "1")], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'b' does not exist."),
        ("", [("retention.ms", SET, "1")], INVALID_REQUEST, "Default topic resources are not allowed."),
        (
            "a b",
            [("retention.ms", SET, "1")],
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' "
            "and '-'",
        ),
        ("a", [("retention.ms", 9, "1")], ErrorCode.UNKNOWN_SERVER_ERROR, None),
        (
            "a",
            [("retention.ms", SET, None), ("segment.bytes", APPEND, None)],
            INVALID_REQUEST,
            "Null value not supported for : retention.ms, segment.bytes",
        ),
        (
            "a",
            [("no.such", APPEND, "x")],
            INVALID_CONFIG,
            "Can't APPEND to key no.such because its type is not LIST.",
        ),
        (
            "a",
            [("retention.ms", SUBTRACT, "5")],
            INVALID_CONFIG,
            "Can't SUBTRACT to key retention.ms because its type is not LIST.",
        ),
        (  # the first in the order of a Java hash map
            "a",
            [(key, APPEND, "1") for key in ("segment.bytes", "flush.ms", "retention.ms", "", "zz")],
            INVALID_CONFIG,
            "Can't APPEND to key  because its type is not LIST.",
        ),
        (
            "a",
            [("segment.bytes", APPEND, "1"), ("retention.ms", SUBTRACT, "1"), ("zz", APPEND, "1")],
            INVALID_CONFIG,
            "Can't APPEND to key zz because its type is not LIST.",
        ),
        (
            "a",
            [("cleanup.policy", APPEND, "x")],
            INVALID_CONFIG,
            "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        (
            "a",
            [("retention.ms", SET, "1"), ("retention.ms", SET, "2")],
            INVALID_REQUEST,
            "Error due to duplicate config keys",
        ),
    ],
)
def test_topic_changes_that_are_refused(
    cluster: Cluster, name: str, assignments: list[tuple[str, int, str | None]], code: ErrorCode, why: str | None
) -> None:
    assert change(cluster, TOPIC, name, *assignments) == (code, why)
    assert overrides(cluster) == {}


def test_configs_are_recorded_in_the_order_of_kafkas_hash_map(cluster: Cluster) -> None:
    asked = {
        "segment.ms": "9000",
        "min.insync.replicas": "1",
        "flush.ms": "77",
        "cleanup.policy": "compact",
        "max.message.bytes": "5000",
        "segment.bytes": "1048576",
        "retention.ms": "1000",
    }
    in_order = ["cleanup.policy", "flush.ms", "max.message.bytes", "min.insync.replicas"]
    in_order += ["segment.ms", "segment.bytes", "retention.ms"]  # of one slot, in the order of the request
    state = cluster.controller.state

    def recorded(*assignments: Assignment, kind: int = TOPIC, name: str = "a") -> list[object]:
        records, _ = alter_configs(state, [Change(kind, name, assignments)], 1)
        return [(record.name, record.value) for record in records if isinstance(record, ConfigRecord)]

    assert recorded(*(Assignment(*each) for each in asked.items())) == [(key, asked[key]) for key in in_order]
    assert recorded(Assignment("flush.ms", "78"), Assignment("cleanup.policy", "compact")) == [
        ("cleanup.policy", "compact"),
        ("flush.ms", "78"),
    ]
    assert recorded(Assignment("flush.ms", None, DELETE)) == []
    unset = Assignment("log.segment.bytes", None, DELETE)
    assert recorded(unset, kind=BROKER, name="") == [("log.segment.bytes", None)]


# -- brokers


def test_a_broker_and_the_cluster_wide_default(cluster: Cluster) -> None:
    assert change(cluster, BROKER, "1", ("log.cleaner.threads", SET, "2")) is None
    assert change(cluster, BROKER, "", ("log.retention.ms", SET, "5")) is None
    assert cluster.config.dynamic_nodes[1] == {"log.cleaner.threads": "2"}
    assert cluster.config.dynamic_default == {"min.insync.replicas": "1", "log.retention.ms": "5"}
    assert cluster.config.get_int("log.retention.ms") == 5


@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("key", ["sasl.kerberos.min.time.before.relogin", "sasl.login.refresh.buffer.seconds"])
def test_a_broker_takes_settings_of_logins_that_it_does_not_have(cluster: Cluster, key: str, replaces: bool) -> None:
    assert change(cluster, BROKER, "1", (key, SET, "58"), replaces=replaces) is None


@pytest.mark.parametrize(
    ("name", "key", "operation", "value", "code", "why"),
    [
        ("1", "node.id", SET, "4", INVALID_REQUEST, "Cannot update these configs dynamically: [node.id]"),
        ("", "node.id", SET, "4", INVALID_REQUEST, "Cannot update these configs dynamically: [node.id]"),
        ("abc", "log.cleaner.threads", SET, "1", INVALID_REQUEST, "Node id must be an integer, but it is: abc"),
        (
            "99",
            "log.cleaner.threads",
            SET,
            "1",
            INVALID_REQUEST,
            "Unexpected broker id, expected 1, but received 99",
        ),
        (
            "1",
            "log.cleaner.threads",
            SET,
            "x",
            INVALID_REQUEST,
            "Invalid value x for configuration log.cleaner.threads: Not a number of type INT",
        ),
        (
            "",
            "listeners",
            SET,
            "x",
            INVALID_REQUEST,
            "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
        ),
        (
            "1",
            "ssl.keystore.location",
            SET,
            "x",
            INVALID_REQUEST,
            "These security configs can be dynamically updated only per-listener using the listener prefix: "
            "[ssl.keystore.location]",
        ),
        (
            "1",
            "min.insync.replicas",
            SET,
            "1",
            INVALID_CONFIG,
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        ),
        (
            "",
            "min.insync.replicas",
            DELETE,
            None,
            INVALID_CONFIG,
            "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
        ),
        (
            "1",
            "log.retention.ms",
            SET,
            "0",
            INVALID_REQUEST,
            "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
        (
            "",
            "listener.name.inside.unknown.thing",
            SET,
            "5",
            INVALID_REQUEST,
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listener.name.inside.unknown.thing]",
        ),
        ("1", "listeners", SET, "SSL://:1", INVALID_REQUEST, _NOT_ADVERTISED),
        (
            "1",
            "listener.security.protocol.map",
            SET,
            "PLAINTEXT:SSL",
            INVALID_REQUEST,
            _STAYS,
        ),
        ("1", "max.connections", SET, "0", INVALID_REQUEST, _NOT_0.format("max.connections")),
        ("", "max.connection.creation.rate", SET, "0", INVALID_REQUEST, _NOT_0.format("max.connection.creation.rate")),
        ("", "listener.name.plaintext.max.connections", SET, "0", INVALID_REQUEST, _NOT_0.format("max.connections")),
        (
            "",
            "max.connections",
            SET,
            "-1",
            INVALID_REQUEST,
            "Invalid value -1 for configuration max.connections: Value must be at least 0",
        ),
        (
            "1",
            "max.connections.per.ip",
            SET,
            "0",
            INVALID_REQUEST,
            "requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
            "property is set.",
        ),
        (
            "",
            "max.connections.per.ip.overrides",
            SET,
            "a@b:3",
            INVALID_REQUEST,
            "max.connections.per.ip.overrides contains invalid addresses : a@b",
        ),
    ],
)
def test_broker_changes_that_are_refused(
    cluster: Cluster, name: str, key: str, operation: int, value: str | None, code: ErrorCode, why: str
) -> None:
    assert change(cluster, BROKER, name, (key, operation, value)) == (code, why)
    assert cluster.config.dynamic_nodes.get(1, {}) == {}
    assert cluster.config.dynamic_default == {"min.insync.replicas": "1"}


# -- loggers


def test_levels_of_loggers_are_changed(cluster: Cluster) -> None:
    assert change(cluster, LOGGER, "1", ("root", SET, "ERROR")) is None
    assert cluster.services.log_levels().levels(1)["root"] == "ERROR"
    assert change(cluster, LOGGER, "1", ("kafka.server.KafkaApis", DELETE, None)) is None


@pytest.mark.parametrize(
    ("name", "assignment", "code", "why"),
    [
        ("1", ("root", DELETE, None), INVALID_REQUEST, "Removing the log level of the root logger is not allowed"),
        (
            "1",
            ("root", APPEND, "INFO"),
            INVALID_REQUEST,
            "APPEND operation is not allowed for the BROKER_LOGGER resource",
        ),
        ("99", ("root", SET, "INFO"), INVALID_REQUEST, "Unexpected node id. Expected 1, but received 99"),
        ("", ("root", SET, "INFO"), INVALID_REQUEST, "Node id must be an integer, but it is: "),
        ("1", ("no.such", DELETE, None), INVALID_CONFIG, "Logger no.such does not exist!"),
    ],
)
def test_logger_changes_that_are_refused(
    cluster: Cluster, name: str, assignment: tuple[str, int, str | None], code: ErrorCode, why: str
) -> None:
    assert change(cluster, LOGGER, name, assignment) == (code, why)


# -- groups and client metrics


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("no.such", "x", "Unknown group config name: no.such"),
        (
            "consumer.session.timeout.ms",
            "x",
            "Invalid value x for configuration consumer.session.timeout.ms: Not a number of type INT",
        ),
        (
            "streams.rack.aware.assignment.tags",
            "zone , zone",
            "streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
        ),
        (
            "errors.deadletterqueue.topic.name",
            "__dead",
            "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'",
        ),
        (
            "streams.assignor.name",
            "other",
            "streams.assignor.name 'other' is not a registered task assignor. Registered assignors are: [sticky].",
        ),
    ],
)
def test_group_changes_that_are_refused(cluster: Cluster, key: str, value: str, why: str) -> None:
    assert change(cluster, GROUP, "g", (key, SET, value)) == (INVALID_CONFIG, why)
    assert kept(cluster, GROUP) == {}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (
            "consumer.session.timeout.ms",
            "99999999",
            "consumer.session.timeout.ms must be less than or equal to group.consumer.max.session.timeout.ms",
        ),
        (
            "share.record.lock.duration.ms",
            "1000",
            "share.record.lock.duration.ms must be greater than or equal to group.share.min.record.lock.duration.ms",
        ),
        (
            "streams.num.standby.replicas",
            "5",
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
        (
            "consumer.assignment.interval.ms",
            "99999",
            "consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms",
        ),
    ],
)
def test_group_changes_that_4_3_refuses(key: str, value: str, why: str) -> None:
    cluster = Cluster(config={"odradek.kafka.version": "4.3"})
    assert change(cluster, GROUP, "g", (key, SET, value)) == (INVALID_CONFIG, why)
    assert kept(cluster, GROUP) == {}


def test_a_group_that_sets_nothing_is_not_kept(cluster: Cluster) -> None:
    assert change(cluster, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")) is None
    assert kept(cluster, GROUP) == {"g": {"consumer.session.timeout.ms": "50000"}}
    assert change(cluster, GROUP, "g", ("consumer.session.timeout.ms", DELETE, None)) is None
    assert kept(cluster, GROUP) == {}
    refused = change(cluster, GROUP, "", ("consumer.session.timeout.ms", SET, "50000"))
    assert refused == (INVALID_REQUEST, "Default group resources are not allowed.")


@pytest.mark.parametrize(
    ("key", "operation", "value", "code", "why"),
    [
        (
            "interval.ms",
            SET,
            "x",
            INVALID_CONFIG,
            "Invalid value x for configuration interval.ms: Not a number of type INT",
        ),
        (
            "interval.ms",
            SET,
            "1",
            INVALID_REQUEST,
            "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        ("no.such", SET, "x", INVALID_REQUEST, "Unknown client metrics configuration: no.such"),
        ("match", SET, "foo=bar", INVALID_CONFIG, "Illegal client matching pattern: foo=bar"),
        ("match", SET, "foo", INVALID_CONFIG, "Illegal client matching pattern: foo"),
        ("match", SET, "client_id=[", INVALID_CONFIG, "Illegal client matching pattern: client_id=["),
        (
            "metrics",
            APPEND,
            "a",
            INVALID_CONFIG,
            "Can't APPEND to key metrics because its type is not LIST.",
        ),
    ],
)
def test_client_metrics_changes_that_are_refused(
    cluster: Cluster, key: str, operation: int, value: str, code: ErrorCode, why: str
) -> None:
    assert change(cluster, METRICS, "m", (key, operation, value)) == (code, why)


@pytest.mark.parametrize(("interval", "taken"), [(99, False), (100, True), (3_600_000, True), (3_600_001, False)])
def test_an_interval_of_client_metrics_is_100_ms_to_an_hour(cluster: Cluster, interval: int, taken: bool) -> None:
    assert (change(cluster, METRICS, "m", ("interval.ms", SET, str(interval))) is None) is taken


def test_configs_of_client_metrics_are_checked(cluster: Cluster) -> None:
    pattern = "client_id=abc,client_software_name=x.*"
    assert change(cluster, METRICS, "m", ("match", SET, pattern), ("interval.ms", SET, "5000")) is None
    assert kept(cluster, METRICS) == {"m": {"match": pattern, "interval.ms": "5000"}}
    assert change(cluster, METRICS, "", ("interval.ms", SET, "5000")) == (
        INVALID_REQUEST,
        "Subscription name can't be empty",
    )


@pytest.mark.parametrize(("kind", "replaces"), [(0, False), (77, True), (LOGGER, True)])
def test_unknown_kinds_of_resources(cluster: Cluster, kind: int, replaces: bool) -> None:
    refused = change(cluster, kind, "1", ("root", SET, "INFO"), replaces=replaces)
    assert refused == (INVALID_REQUEST, f"Unknown resource type {int(kind)}")


def test_keys_are_looked_at_before_the_kind_of_the_resource(cluster: Cluster) -> None:
    twice = change(cluster, 77, "1", ("a", SET, "1"), ("a", SET, "2"))
    assert twice == (INVALID_REQUEST, "Error due to duplicate config keys")
    assert change(cluster, 77, "1", ("a", SET, None)) == (INVALID_REQUEST, "Null value not supported for : a")


def test_settings_of_groups_and_metrics_outlive_the_process(tmp_path: Path) -> None:
    first = Cluster(data_dir=tmp_path)
    first.open_directory()
    change(first, GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    change(first, METRICS, "m", ("interval.ms", SET, "5000"))
    change(first, BROKER, "1", ("log.cleaner.threads", SET, "2"))
    first.close_logs()
    second = Cluster(data_dir=tmp_path)
    second.open_directory()
    assert kept(second, GROUP) == {"g": {"consumer.session.timeout.ms": "50000"}}
    assert kept(second, METRICS) == {"m": {"interval.ms": "5000"}}
    assert second.config.get_int("log.cleaner.threads") == 2
    second.close_logs()


_THREADS = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for "
    "background.threads={}, value should {} the current value 10 for configuration Invalid dynamic configuration"
)


@pytest.mark.parametrize(
    ("key", "operation", "value", "answer"),
    [
        ("node.id", DELETE, None, None),
        ("no.such", DELETE, None, None),
        ("node.id", APPEND, "1", (INVALID_CONFIG, "Config value append is not allowed for config key: node.id")),
        ("node.id", SUBTRACT, "1", (INVALID_CONFIG, "Config value subtract is not allowed for config key: node.id")),
        ("no.such", APPEND, "1", (INVALID_CONFIG, "Unknown config name: no.such")),
        ("retention.ms", APPEND, "1", (INVALID_CONFIG, "Unknown config name: retention.ms")),
        ("node.id", 7, "1", (INVALID_REQUEST, "Unknown operations type 7")),
        ("log.dirs", APPEND, "1", (INVALID_REQUEST, "Cannot update these configs dynamically: [log.dirs]")),
        (
            "process.roles",
            APPEND,
            "broker",
            (INVALID_REQUEST, "Cannot update these configs dynamically: [process.roles]"),
        ),
        ("log.retention.ms", SET, "-5", None),
        ("log.cleanup.policy", SET, "delete,delete", None),
        ("background.threads", SET, "5", None),
        ("background.threads", SET, "20", None),
        ("background.threads", SET, "4", (INVALID_REQUEST, _THREADS.format(4, "be at least half"))),
        ("background.threads", SET, "21", (INVALID_REQUEST, _THREADS.format(21, "not be greater than double"))),
        ("num.network.threads", SET, "1", None),
        (
            "min.insync.replicas",
            SET,
            "abc",
            (INVALID_REQUEST, "Invalid value abc for configuration min.insync.replicas: Not a number of type INT"),
        ),
    ],
)
def test_broker_config_changes_are_answered_as_recorded(
    cluster: Cluster, key: str, operation: int, value: str | None, answer: tuple[ErrorCode, str] | None
) -> None:
    assert change(cluster, BROKER, "1", (key, operation, value), validate_only=True) == answer


@pytest.mark.parametrize(
    ("topic", "key", "operation", "value", "answer"),
    [
        ("nope", "no.such", SET, "1", (INVALID_CONFIG, "Unknown topic config name: no.such")),
        ("nope", "no.such", DELETE, None, (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'nope' does not exist.")),
        ("a", "cleanup.policy", SET, "compact, compact,delete", None),
        (
            "a b",
            "retention.ms",
            APPEND,
            "1",
            (INVALID_CONFIG, "Can't APPEND to key retention.ms because its type is not LIST."),
        ),
        (
            "a",
            "preallocate",
            SET,
            " delete ",
            (
                INVALID_CONFIG,
                "Invalid value  delete  for configuration preallocate: Expected value to be either true or false",
            ),
        ),
    ],
)
def test_topic_config_changes_are_answered_as_recorded(
    cluster: Cluster, topic: str, key: str, operation: int, value: str | None, answer: tuple[ErrorCode, str] | None
) -> None:
    assert change(cluster, TOPIC, topic, (key, operation, value)) == answer
    assert overrides(cluster) in ({}, {"cleanup.policy": "compact,delete"})


def test_a_logger_must_exist_before_its_level_counts(cluster: Cluster) -> None:
    answer = change(cluster, LOGGER, "1", ("no.such", SET, "x"))
    assert answer == (INVALID_CONFIG, "Logger no.such does not exist!")


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (
            {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "1"},
            "consumer.heartbeat.interval.ms must be greater than or equal to group.consumer.min.heartbeat.interval.ms",
        ),
        (
            {"share.delivery.count.limit": "11", "share.partition.max.record.locks": "1"},
            "share.delivery.count.limit must be less than or equal to group.share.max.delivery.count.limit",
        ),
        (
            {"streams.num.standby.replicas": "3"},
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
    ],
)
def test_numbers_lie_within_the_brokers_bounds(own: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_group_configs(own, BrokerConfig({"odradek.kafka.version": "4.3"}))
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("streams.session.timeout.ms", "599", "must be in the range 600 to 60000 inclusive."),
        ("streams.heartbeat.interval.ms", "15001", "must be in the range 5000 to 15000 inclusive."),
        ("streams.num.standby.replicas", "3", "must be less than or equal to 2"),
        ("share.delivery.count.limit", "11", "must be in the range 2 to 10 inclusive."),
    ],
)
def test_4_4_tells_the_bounds(name: str, value: str, why: str) -> None:
    broker = BrokerConfig({"group.streams.min.session.timeout.ms": "600"})
    with pytest.raises(ConfigError) as refused:
        check_group_configs({name: value}, broker)
    assert str(refused.value) == f"{name} {why}"


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_a_session_is_longer_than_the_time_between_two_heartbeats(kind: str) -> None:
    session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    broker = BrokerConfig(
        {f"group.{kind}.min.session.timeout.ms": "600", f"group.{kind}.heartbeat.interval.ms": "5000"}
    )
    for own in ({session: "600"}, {session: "5000"}, {session: "6000", heartbeat: "6000"}):
        with pytest.raises(ConfigError) as refused:
            check_group_configs(own, broker)
        assert str(refused.value) == f"{session} must be greater than {heartbeat}"
    check_group_configs({session: "5001"}, broker)
    check_group_configs({session: "6001", heartbeat: "6000"}, broker)
    check_group_configs({heartbeat: "6000"}, broker)


def test_group_config_that_is_not_set_is_held_within_the_bounds() -> None:
    check_group_configs({}, BrokerConfig({}))
    check_group_configs({"share.auto.offset.reset": "earliest"}, BrokerConfig({}))


# -- Dynamic configs of brokers: which may be set, at which level, and in which steps.


def test_read_only_configs_are_refused() -> None:
    check_dynamic(["log.retention.ms", "nobody.knows.it"], broker_keys())
    with pytest.raises(KafkaError, match=r"Cannot update these configs dynamically: \[node.id\]") as refused:
        check_dynamic(["log.retention.ms", "node.id"], broker_keys())
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(KafkaError, match="only per-listener using the listener prefix"):
        check_dynamic(["ssl.keystore.location"], broker_keys())
    check_dynamic(["listener.name.external.ssl.keystore.location"], broker_keys())


def test_per_broker_configs_are_refused_for_the_cluster() -> None:
    check_cluster_wide(["log.retention.ms", "listener.name.external.max.connections"], broker_keys())
    for name in ("listeners", "listener.name.external.ssl.keystore.location"):
        with pytest.raises(KafkaError, match="at default cluster level, broker id must be specified"):
            check_cluster_wide([name], broker_keys())


@pytest.mark.parametrize("wanted", [4, 8, 16])
def test_a_pool_of_threads_doubles_or_halves(wanted: int) -> None:
    check_threads("num.io.threads", wanted, 8)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [(3, "at least half the current value 8"), (17, "not be greater than double the current value 8")],
)
def test_a_change_of_threads_beyond_twice_or_half_is_refused(wanted: int, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        check_threads("num.io.threads", wanted, 8)


class Refusing:
    """Refuses everything."""

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        raise ConfigError(f"node {node_id} will not")

    def apply(self, node_id: int) -> None:
        raise AssertionError


def test_config_change_may_be_refused_by_what_acts_on_it() -> None:
    config = BrokerConfig({})
    config.reconfigurables.append(Refusing())
    check_reconfigurables(config, None, {})
    with pytest.raises(ConfigError, match=r"Invalid value .*: node 1 will not for configuration Invalid dynamic"):
        check_reconfigurables(config, 1, {})
