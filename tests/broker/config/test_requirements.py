"""What a broker's configs have to fulfil together, in the words of a real Kafka 4.3.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.config.requirements import (
    FORGETS,
    FORGETS_METADATA,
    STORAGES,
    check_broker,
    check_cordoned,
    check_cordons_of_metadata,
    check_requirements,
    check_topic,
    cordoned,
    takes_replicas,
)
from odradek.broker.controller.config_control import alter_configs
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from odradek.storage.partition_log import Tier
from tests.fakes.ask import ask
from tests.fakes.durable import opened
from tests.fakes.wire_client import WireClient
from tests.scenarios.tiered_storage import BROKER, CASES, VECTORS, transcribe

PER_THREAD = "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
BUFFER = {"log.cleaner.dedupe.buffer.size": "2097152"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"log.cleaner.dedupe.buffer.size": "1048576"}, PER_THREAD),
        ({**BUFFER, "log.cleaner.threads": "2"}, PER_THREAD),
        ({"log.cleaner.threads": "0"}, "/ by zero"),
        ({"log.roll.ms": "0"}, "requirement failed: log.roll.ms must be greater than or equal to 1"),
        ({"log.roll.jitter.ms": "-1"}, "requirement failed: log.roll.jitter.ms must be greater than or equal to 0"),
        (
            {"log.retention.ms": "0"},
            "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
    ],
)
def test_configs_that_do_not_fit_each_other_are_refused(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == said
    with pytest.raises(ConfigError) as refused:
        check_requirements(BrokerConfig(), values)
    assert str(refused.value) == said


def text_of(one: str, order: str, other: str) -> str:
    return f"{one} must be {order} {other}"


AT_LEAST, AT_MOST = "greater than or equal to", "less than or equal to"


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"heartbeat.interval.ms": "4999"}, ("heartbeat.interval.ms", AT_LEAST, "min.heartbeat.interval.ms")),
        ({"heartbeat.interval.ms": "15001"}, ("heartbeat.interval.ms", AT_MOST, "max.heartbeat.interval.ms")),
        (
            {"min.heartbeat.interval.ms": "15001", "heartbeat.interval.ms": "15001"},
            ("max.heartbeat.interval.ms", AT_LEAST, "min.heartbeat.interval.ms"),
        ),
        ({"session.timeout.ms": "1000"}, ("session.timeout.ms", AT_LEAST, "min.session.timeout.ms")),
        ({"session.timeout.ms": "60001"}, ("session.timeout.ms", AT_MOST, "max.session.timeout.ms")),
        (
            {"session.timeout.ms": "5000", "min.session.timeout.ms": "5000"},
            ("heartbeat.interval.ms", "less than", "session.timeout.ms"),
        ),
        ({"assignment.interval.ms": "15001"}, ("assignment.interval.ms", AT_MOST, "max.assignment.interval.ms")),
    ],
)
def test_intervals_of_groups_stay_in_their_bounds(kind: str, wrong: dict[str, str], said: tuple[str, str, str]) -> None:
    values = {f"group.{kind}.{name}": value for name, value in wrong.items()}
    one, order, other = said
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == text_of(f"group.{kind}.{one}", order, f"group.{kind}.{other}")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"group.streams.num.standby.replicas": "3"},
            text_of("group.streams.num.standby.replicas", AT_MOST, "group.streams.max.standby.replicas"),
        ),
        (
            {"group.share.record.lock.duration.ms": "60001"},
            text_of("group.share.max.record.lock.duration.ms", AT_LEAST, "group.share.record.lock.duration.ms"),
        ),
        (
            {"group.share.max.share.sessions": "199"},
            text_of("group.share.max.share.sessions", AT_LEAST, "group.share.max.size"),
        ),
        (
            {"connections.max.idle.ms": "100"},
            "requirement failed: connection.failed.authentication.delay.ms=100 should always be less than "
            "connections.max.idle.ms=100 to prevent failed authentication responses from timing out",
        ),
        (
            {"queued.max.request.bytes": "1000"},
            "requirement failed: queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
        ),
        (
            {"replica.lag.time.max.ms": "499"},
            "requirement failed: replica.fetch.wait.max.ms should always be less than or equal to "
            "replica.lag.time.max.ms to prevent frequent changes in ISR",
        ),
        (
            {"replica.socket.timeout.ms": "499"},
            "requirement failed: replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to "
            "prevent unnecessary socket timeouts",
        ),
        *(
            (
                {f"log.retention.{unit}": "0"},
                "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
            )
            for unit in ("hours", "minutes")
        ),
    ],
)
def test_a_broker_with_configs_that_contradict_each_other_does_not_start(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Cluster(config=values)
    assert str(refused.value) == said


def test_bounds_that_kafka_does_not_compare() -> None:
    Cluster(config={"group.min.session.timeout.ms": "10", "group.max.session.timeout.ms": "5"})
    Cluster(config={"connections.max.idle.ms": "-1", "queued.max.request.bytes": "0"})


def test_configs_that_fit_each_other_are_accepted() -> None:
    check_requirements(BrokerConfig(), {})
    check_requirements(BrokerConfig(), {"log.cleaner.dedupe.buffer.size": "1048577"})
    check_requirements(BrokerConfig({"log.retention.ms": "-1", "log.roll.ms": "1"}), {"log.roll.jitter.ms": "0"})


def test_a_change_is_seen_beside_what_is_in_force() -> None:
    config = BrokerConfig(BUFFER)
    with pytest.raises(ConfigError, match="at least 1MB"):
        check_requirements(config, {"log.cleaner.threads": "2"}, 1)
    check_requirements(config, {"log.cleaner.threads": "2", "log.cleaner.dedupe.buffer.size": "3000000"}, 1)
    config.set_dynamic(None, {"log.cleaner.dedupe.buffer.size": "3000000"})
    check_requirements(config, {"log.cleaner.threads": "2"}, 1)


# -- Cordoned log directories (KIP-1066), in the words of a real Kafka 4.3.1 that was asked the same.

CORDONED = "cordoned.log.dirs"
SET, DELETE = 0, 1
ALL_CORDONED = "All brokers are currently fenced, or have all their log directories cordoned."
BEFORE_4_3_IV0 = 29


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """One node with the log directories `a` and `b`."""
    return opened([tmp_path / "a", tmp_path / "b"])


def alter(cluster: Cluster, value: str | None, *, by_broker: bool = True) -> KafkaError | None:
    """Cordon these directories on node 1; None: take the config away."""
    assignment = Assignment(CORDONED, value, DELETE if value is None else SET)
    change = Change(ResourceType.BROKER, "1", [assignment])
    (result,) = cluster.controller.ask(alter_configs, [change], node_id=1 if by_broker else None)
    return result


def told(error: KafkaError | None) -> tuple[ErrorCode, str | None]:
    assert error is not None
    return error.code, error.message


def described(cluster: Cluster, version: int = 5) -> dict[str, tuple[bool, int]]:
    """Name of each directory -> whether it is cordoned, and its number of partitions."""
    results = ask(cluster, DescribeLogDirsRequest(None), version).results
    return {
        Path(row.log_dir).name: (row.is_cordoned, sum(len(topic.partitions) for topic in row.topics)) for row in results
    }


def create(cluster: Cluster, name: str, partitions: int = 1, replicas: int = 1) -> tuple[int, str | None]:
    topic = CreatableTopic(name, partitions, replicas)
    answer = ask(cluster, CreateTopicsRequest([topic], 1000), 7).topics[0]
    return answer.error_code, answer.error_message


def grow(cluster: Cluster, name: str, count: int) -> tuple[int, str | None]:
    topic = CreatePartitionsTopic(name, count, None)
    answer = ask(cluster, CreatePartitionsRequest([topic], 1000), 3).results[0]
    return answer.error_code, answer.error_message


def test_cordoned_log_directory_gets_no_new_replicas(cluster: Cluster, tmp_path: Path) -> None:
    assert create(cluster, "t", 4) == (0, None)
    assert described(cluster) == {"a": (False, 2), "b": (False, 2)}
    assert alter(cluster, str(tmp_path / "a")) is None
    assert create(cluster, "u", 4) == (0, None)
    assert described(cluster) == {"a": (True, 2), "b": (False, 6)}
    assert described(cluster, 4) == {"a": (False, 2), "b": (False, 6)}, "older versions do not tell"


def test_no_replica_moves_to_a_cordoned_directory(cluster: Cluster, tmp_path: Path) -> None:
    def move(directory: str) -> int:
        wanted = AlterReplicaLogDir(str(tmp_path / directory), [AlterReplicaLogDirTopic("t", [0])])
        code: int = ask(cluster, AlterReplicaLogDirsRequest([wanted])).results[0].partitions[0].error_code
        return code

    create(cluster, "t", 1)
    alter(cluster, str(tmp_path / "b"))
    assert move("b") == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    alter(cluster, "")
    assert move("b") == ErrorCode.NONE


def test_a_node_whose_directories_are_all_cordoned_gets_no_replicas(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster, "t", 1)
    for value in ("*", f"{tmp_path / 'a'},{tmp_path / 'b'}"):
        assert alter(cluster, value) is None
        assert described(cluster) == {"a": (True, 1), "b": (True, 0)}
        for replicas in (1, 3):
            text = f"Unable to replicate the partition {replicas} time(s): {ALL_CORDONED}"
            assert create(cluster, "u", 1, replicas) == (ErrorCode.INVALID_REPLICATION_FACTOR, text)
        assert grow(cluster, "t", 2) == (ErrorCode.INVALID_REPLICATION_FACTOR, ALL_CORDONED)
    assert alter(cluster, None) is None
    assert create(cluster, "u") == grow(cluster, "t", 2) == (0, None)


def test_a_partition_that_is_placed_by_hand_gets_a_directory_all_the_same(cluster: Cluster) -> None:
    alter(cluster, "*")
    cluster.create_topic("t", assignments={0: [1]})
    assert sorted(described(cluster).values()) == [(True, 0), (True, 1)]


def test_new_replicas_go_to_nodes_without_cordoned_directories() -> None:
    cluster = Cluster(nodes=2)
    alter(cluster, "*")
    create(cluster, "t", 4)
    assert {p.leader_id for p in cluster.topics.by_name("t").partitions} == {2}
    assert create(cluster, "u", 1, 2) == (
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because "
        "only 1 broker(s) are registered or some brokers have all their log directories cordoned.",
    )


def test_directories_that_are_not_there_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    text = (
        "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
        "Missing entries : /unknown"
    )
    for value in ("/unknown", f"{tmp_path / 'a'},/unknown"):
        assert told(alter(cluster, value)) == (ErrorCode.INVALID_REQUEST, text)
    text = "requirement failed: When cordoned.log.dirs is set to *, it must not contain other values"
    assert told(alter(cluster, "*,/unknown")) == (ErrorCode.INVALID_REQUEST, text)
    assert told(alter(cluster, ",")) == (
        ErrorCode.INVALID_REQUEST,
        f"Configuration '{CORDONED}' values must not be empty.",
    )


def test_a_controller_only_takes_directories_back(cluster: Cluster, tmp_path: Path) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    subset = (
        "When updating cordoned.log.dirs via controllers,  the new value must be a subset of the current "
        "configuration value."
    )
    assert told(alter(cluster, a, by_broker=False)) == (ErrorCode.INVALID_CONFIG, subset)
    assert alter(cluster, f"{a},{b}") is None
    assert alter(cluster, b, by_broker=False) is None
    assert told(alter(cluster, a, by_broker=False)) == (ErrorCode.INVALID_CONFIG, subset)
    assert alter(cluster, "", by_broker=False) is None


def test_cordoned_directories_are_checked_by_the_controller() -> None:
    check_cordons_of_metadata("/a, /b", "/b", 30, by_broker=False)
    check_cordons_of_metadata(None, None, 30, by_broker=False)
    check_cordons_of_metadata(None, "/a", 30, by_broker=True)
    with pytest.raises(KafkaError, match=r"requires metadata\.version >= 4\.3-IV0"):
        check_cordons_of_metadata("/a", None, BEFORE_4_3_IV0, by_broker=True)


def config_of(*directories: str, **values: Any) -> BrokerConfig:
    config = BrokerConfig({key.replace("_", "."): value for key, value in values.items()})
    config.directories_of = lambda node_id: directories
    return config


def test_cordoned_directories_are_checked_at_the_start() -> None:
    config = config_of("/a", "/b", cordoned_log_dirs="*")
    check_cordoned(config, 1, ["*"])
    assert set(cordoned(config, 1)) == {"/a", "/b"}
    assert not takes_replicas(config, 1, 30)
    assert takes_replicas(config, 1, BEFORE_4_3_IV0)
    assert takes_replicas(config_of("/a", "/b", cordoned_log_dirs="/b"), 1, 30)
    assert takes_replicas(config_of("/a", "/b"), 1, 30)
    with pytest.raises(ConfigError, match="Missing entries : /c, /d"):
        check_cordoned(config, 1, ["/c", "/a", "/d"])


def test_a_cluster_does_not_start_with_directories_that_it_does_not_have() -> None:
    with pytest.raises(ConfigError, match="Missing entries : /nowhere"):
        Cluster(config={CORDONED: "/nowhere"})
    cluster = Cluster(config={CORDONED: "*"})
    assert described(cluster) == {"memory": (True, 0)}


# -- tiered storage (KIP-405, KIP-950): configs of the broker and of topics


ON = {"remote.log.storage.system.enable": "true", "remote.log.storage.manager.class.name": STORAGES[0]}
RECORDED = json.loads(VECTORS.read_text())


def port_of(broker: KafkaBroker) -> int:
    return int(broker.bootstrap_servers.rpartition(":")[2])


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_a_broker_tells_what_kafka_tells(case: str) -> None:
    own, stories = CASES[case]
    with KafkaBroker(config={**BROKER, **own}) as broker, WireClient(port=port_of(broker)) as client:
        assert transcribe(client, stories) == RECORDED[case]


def checked(values: Mapping[str, str]) -> None:
    check_broker(BrokerConfig(values), ["PLAINTEXT", "INTERNAL"])


def test_the_managers_of_kafkas_own_tests_are_known() -> None:
    checked({})
    for storage in STORAGES:
        checked({**ON, "remote.log.storage.manager.class.name": storage})
    checked({**ON, "remote.log.metadata.manager.class.name": FORGETS_METADATA})
    checked({"remote.log.storage.manager.class.name": "com.example.Mine"})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"remote.log.storage.system.enable": "true"}, r"remote\.log\.storage\.manager\.class\.name= is not supported"),
        ({**ON, "remote.log.storage.manager.class.name": "com.example.Mine"}, r"com\.example\.Mine is not supported"),
        ({**ON, "remote.log.metadata.manager.class.name": "com.example.Mine"}, r"com\.example\.Mine is not supported"),
        (
            {**ON, "remote.log.metadata.manager.listener.name": "OTHER"},
            "Should be set as a listener name within valid broker listener name list: PLAINTEXT, INTERNAL",
        ),
        (
            {**ON, "log.retention.ms": "100", "log.local.retention.ms": "200"},
            r"Invalid value 200 for configuration local\.retention\.ms: Value must not be more than retention\.ms",
        ),
    ],
)
def test_configs_that_kafka_does_not_start_with_are_refused(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        checked(values)


def test_a_listener_is_found_in_any_case() -> None:
    checked({**ON, "remote.log.metadata.manager.listener.name": "internal"})


def test_the_brokers_limits_count_for_topics_that_have_none() -> None:
    broker = BrokerConfig({**ON, "log.retention.ms": "2000", "log.local.retention.ms": "1000"})
    check_topic(broker, {}, {"remote.storage.enable": "true", "retention.ms": "1001"})
    with pytest.raises(ConfigError, match=r"Value must not be more than retention\.ms property value: 999"):
        check_topic(broker, {}, {"remote.storage.enable": "true", "retention.ms": "999"})
    check_topic(broker, {}, {"retention.ms": "999"})


def test_a_topic_is_not_tiered_where_the_broker_is_not() -> None:
    with pytest.raises(ConfigError) as refused:
        check_topic(BrokerConfig({}), {}, {"remote.storage.enable": "true"})
    assert str(refused.value) == (
        "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
    )


def test_a_directory_with_a_tiered_topic_needs_the_tier(tmp_path: Path) -> None:
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.create_topic("t", config={"remote.storage.enable": "true"})
        broker.create_topic("u", config={"remote.storage.enable": "false"})
    with pytest.raises(ConfigError, match="You have to delete all topics with the property"):
        KafkaBroker(data_dir=tmp_path).start()
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.topic("t").delete()
    with KafkaBroker(data_dir=tmp_path) as broker:
        assert "u" in broker.topics


def test_a_log_is_tiered_where_broker_and_topic_say_so() -> None:
    tiered = {"remote.storage.enable": "true"}
    log = BrokerConfig({**ON, "log.local.retention.ms": "1000"}).log_config(tiered)
    assert (log.remote_storage_enable, log.remote_storage_keeps) == (True, True)
    assert (log.local_retention_ms, log.local_retention_bytes) == (1000, -1)
    assert not BrokerConfig(ON).log_config({}).remote_storage_enable
    assert not BrokerConfig({}).log_config(tiered).remote_storage_enable
    assert BrokerConfig(ON).log_config({"retention.ms": "5", "retention.bytes": "6"}).local_retention_bytes == 6
    assert BrokerConfig(ON).log_config({"remote.log.copy.disable": "true", **tiered}).remote_log_copy_disable
    forgets = {**ON, "remote.log.storage.manager.class.name": FORGETS}
    assert not BrokerConfig(forgets).log_config(tiered).remote_storage_keeps
    forgets = {**ON, "remote.log.metadata.manager.class.name": FORGETS_METADATA}
    assert not BrokerConfig(forgets).log_config(tiered).remote_storage_keeps


def test_a_restart_keeps_what_is_tiered(tmp_path: Path) -> None:
    topic = {"remote.storage.enable": "true", "internal.segment.bytes": "100", "local.retention.bytes": "1"}
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.clock.freeze()
        broker.create_topic("t", config=topic)
        broker.produce_all("t", [b"v" * 30])
        broker.produce_all("t", [b"v" * 30])
        broker.clock.advance(minutes=6)
        log = broker.cluster.topics.by_name("t").partitions[0].log
        assert log.tier == (1, 0)
        assert list(broker.topics) == ["t"], "no topic keeps what is known of the tier"
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        assert len(list(broker.records("t"))) == 2
        log = broker.cluster.topics.by_name("t").partitions[0].log
        assert (log.log_start_offset, log.tier) == (0, (0, -1)), "everything is local until the next rounds"


def test_snapshots_and_forks_know_what_is_tiered() -> None:
    topic = {"remote.storage.enable": "true", "internal.segment.bytes": "100", "local.retention.bytes": "1"}

    def fill(broker: KafkaBroker) -> None:
        for _ in range(3):
            broker.produce_all("t", [b"v" * 30])
        broker.clock.advance(minutes=6)

    def tier(broker: KafkaBroker) -> Tier | None:
        return broker.cluster.topics.by_name("t").partitions[0].log.tier

    with KafkaBroker(config=ON) as broker:
        broker.clock.freeze()
        broker.create_topic("t", config=topic)
        fill(broker)
        snapshot = broker.snapshot()
        fill(broker)
        assert tier(broker) == (5, 4)
        with broker.fork() as fork:
            assert tier(fork) == (5, 4)
        broker.restore(snapshot)
        assert tier(broker) == (2, 1)
