"""The environment variables of Kafka's images."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from odradek.container.environment import (
    OTHERS,
    REFUSED,
    WITHOUT_EFFECT,
    EnvironmentRefused,
    config_name,
    markdown,
    read_environment,
)

PAGE = Path(__file__).parents[3] / "docs" / "containers.md"


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("KAFKA_LOG_RETENTION_MS", "log.retention.ms"),
        ("KAFKA_CFG_LOG_RETENTION_MS", "log.retention.ms"),
        ("KAFKA_A__B_C", "a_b.c"),
        ("KAFKA_LISTENER_NAME_A_SCRAM___SHA___256_SASL_JAAS_CONFIG", "listener.name.a.scram-sha-256.sasl.jaas.config"),
        ("KAFKA_LISTENER_NAME_A_SCRAM-SHA-256_SASL_JAAS_CONFIG", "listener.name.a.scram-sha-256.sasl.jaas.config"),
    ],
)
def test_a_variable_names_a_config(variable: str, name: str) -> None:
    assert config_name(variable) == name


def test_an_empty_environment_is_apaches_image() -> None:
    found = read_environment({"PATH": "/bin", "HOSTNAME": "c0ffee"})
    assert found.configs == {
        "listeners": "PLAINTEXT://:9092",
        "advertised.listeners": "PLAINTEXT://localhost:9092",
    }


def test_the_same_cluster_by_the_variables_of_each_image() -> None:
    wanted = {"listeners": "A://:1,C://:2", "node.id": "7", "process.roles": "broker,controller"}
    confluent = {f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in wanted.items()}
    bitnami = {f"KAFKA_CFG_{name.upper().replace('.', '_')}": value for name, value in wanted.items()}
    apache = read_environment({**confluent, "CLUSTER_ID": "id"})
    other = read_environment({**bitnami, "KAFKA_KRAFT_CLUSTER_ID": "id", "ALLOW_PLAINTEXT_LISTENER": "yes"})
    assert apache.configs == other.configs == wanted
    assert apache.cluster_id == other.cluster_id == "id"


def test_the_brokers_id_of_a_zookeeper_cluster_is_the_nodes_id() -> None:
    variables = {"KAFKA_BROKER_ID": "3", "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181"}
    found = read_environment(variables)
    assert found.configs["node.id"] == "3"
    assert found.notes == ["KAFKA_ZOOKEEPER_CONNECT has no effect: there is no ZooKeeper, and none is needed"]
    assert read_environment({**variables, "KAFKA_NODE_ID": "4"}).configs["node.id"] == "4"


def test_users_are_users_of_every_mechanism_on_every_sasl_listener() -> None:
    found = read_environment(
        {
            "KAFKA_CFG_LISTENERS": "IN://:9092,OUT://:9093",
            "KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP": "IN:PLAINTEXT,OUT:SASL_PLAINTEXT",
            "KAFKA_CFG_SASL_ENABLED_MECHANISMS": "PLAIN,SCRAM-SHA-256",
            "KAFKA_CLIENT_USERS": "alice;bob",
            "KAFKA_CLIENT_PASSWORDS": 'a"1,b2',
        }
    )
    assert found.configs["listener.name.out.plain.sasl.jaas.config"] == (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="a\\"1" user_bob="b2";'
    )
    assert "listener.name.in.plain.sasl.jaas.config" not in found.configs
    assert found.scram == ['SCRAM-SHA-256=[name=alice,password=a"1]', "SCRAM-SHA-256=[name=bob,password=b2]"]


def test_topics_at_the_start() -> None:
    found = read_environment({"KAFKA_CREATE_TOPICS": "orders:3:1, state:1:1:compact,one"})
    assert found.topics == ["orders:3", "state:1:cleanup.policy=compact", "one:1"]


def test_key_stores_by_their_file_names(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("secret\n")
    variables = {"KAFKA_SSL_KEYSTORE_FILENAME": "keys.jks", "KAFKA_SSL_KEYSTORE_CREDENTIALS": "credentials"}
    found = read_environment(variables, PurePosixPath(tmp_path))
    assert found.configs["ssl.keystore.location"] == f"{tmp_path}/keys.jks"
    assert found.configs["ssl.keystore.password"] == "secret"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"KAFKA_OPTS": "-Djava.security.auth.login.config=/x"}, "KAFKA_OPTS cannot be honoured"),
        ({"KAFKA_CREATE_TOPICS": "orders:x"}, "expected name:partitions:replicas"),
        ({"KAFKA_CREATE_TOPICS": "orders:1:3"}, "one container is one node"),
        ({"KAFKA_CLIENT_USERS": "a,b", "KAFKA_CLIENT_PASSWORDS": "c"}, "names 2 users, KAFKA_CLIENT_PASSWORDS has 1"),
        ({"KAFKA_LOG4J_ROOT_LOGLEVEL": "LOUD"}, "LOUD is not one of TRACE, DEBUG"),
        ({"KAFKA_SSL_KEY_CREDENTIALS": "none"}, "KAFKA_SSL_KEY_CREDENTIALS: .*none: No such file"),
    ],
)
def test_what_cannot_be_honoured_is_refused(variables: dict[str, str], said: str) -> None:
    with pytest.raises(EnvironmentRefused, match=said):
        read_environment(variables)


def test_unknown_configs_are_taken_out_and_named() -> None:
    found = read_environment({"KAFKA_CFG_NONE_SUCH": "1", "KAFKA_LOG_DIRS": "/x"})
    assert found.unknown(lambda name: name != "none.such") == [("KAFKA_CFG_NONE_SUCH", "none.such")]
    assert "none.such" not in found.configs
    assert found.configs["log.dirs"] == "/x"


def test_no_variable_stands_in_two_tables() -> None:
    assert len({*OTHERS, *WITHOUT_EFFECT, *REFUSED}) == len(OTHERS) + len(WITHOUT_EFFECT) + len(REFUSED)


def test_the_page_has_the_tables() -> None:
    assert markdown() in PAGE.read_text(), "run: make pages"
