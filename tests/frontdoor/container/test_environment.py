"""The environment variables of Kafka's images."""

from __future__ import annotations

from pathlib import Path

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


def test_the_listeners_are_those_that_are_advertised_at_all_addresses() -> None:
    advertised = "PLAINTEXT://kafka:29092,PLAINTEXT_HOST://localhost:9092,"
    found = read_environment({"KAFKA_ADVERTISED_LISTENERS": advertised, "KAFKA_BROKER_ID": "-1"})
    assert found.configs == {
        "advertised.listeners": advertised.rstrip(","),
        "listeners": "PLAINTEXT://0.0.0.0:29092,PLAINTEXT_HOST://0.0.0.0:9092",
    }


@pytest.mark.parametrize(
    ("variables", "listeners", "advertised"),
    [
        ({"KAFKA_ADVERTISED_HOST_NAME": "kafka"}, "PLAINTEXT://:9092", "PLAINTEXT://kafka:9092"),
        (
            {"KAFKA_ADVERTISED_HOST_NAME": "kafka", "KAFKA_PORT": "7", "KAFKA_ADVERTISED_PORT": "8"},
            "PLAINTEXT://:7",
            "PLAINTEXT://kafka:8",
        ),
        ({"ADV_HOST": "127.0.0.1"}, "PLAINTEXT://:9092", "PLAINTEXT://127.0.0.1:9092"),
        ({"ZOOKEEPER_CONNECT": "zookeeper:2181"}, "PLAINTEXT://:9092", None),
        ({"ZOOKEEPER_CONNECT": "z", "HOST_NAME": "kafka", "PORT": "7"}, "PLAINTEXT://:7", "PLAINTEXT://kafka:7"),
        (
            {"CLUSTER_ID": "x", "NODE_ID": "1", "HOST_NAME": "here", "ADVERTISED_HOST_NAME": "kafka"},
            "PLAINTEXT://:9092",
            "PLAINTEXT://kafka:9092",
        ),
        ({"PORT": "7", "HOST_NAME": "h", "NODE_ID": "3"}, "PLAINTEXT://:9092", "PLAINTEXT://localhost:9092"),
        ({"KAFKA_LISTENERS": "A://:1", "KAFKA_ADVERTISED_HOST_NAME": "kafka"}, "A://:1", None),
    ],
)
def test_environment_names_the_host_to_advertise(
    variables: dict[str, str], listeners: str, advertised: str | None
) -> None:
    found = read_environment(variables).configs
    assert found["listeners"] == listeners
    assert found.get("advertised.listeners") == advertised


def test_debeziums_variables_are_those_of_the_other_images() -> None:
    variables = {"ZOOKEEPER_CONNECT": "z", "NODE_ID": "3", "CREATE_TOPICS": "orders:2", "LOG_LEVEL": "WARN"}
    found = read_environment(variables)
    assert (found.configs["node.id"], found.topics, found.log_level) == ("3", ["orders:2"], "warning")
    assert found.notes == ["ZOOKEEPER_CONNECT has no effect: there is no ZooKeeper, and none is needed"]


@pytest.mark.parametrize(("role", "kept"), [("combined", "broker,controller"), ("controller", "controller")])
def test_debeziums_role_is_a_config(role: str, kept: str) -> None:
    listeners = "PLAINTEXT://:9092,CONTROLLER://:9093"
    variables = {"CLUSTER_ID": "x", "NODE_ID": "3", "NODE_ROLE": role, "KAFKA_LISTENERS": listeners}
    configs = read_environment(variables).configs
    assert configs["process.roles"] == kept
    assert configs["controller.listener.names"] == "CONTROLLER"


def test_the_variables_override_a_mounted_file(tmp_path: Path) -> None:
    folder = tmp_path / "mnt/shared/config"
    folder.mkdir(parents=True)
    (folder / "server.properties").write_text("listeners=A://:1\nnode.id=4\n")
    assert read_environment({"KAFKA_NODE_ID": "5"}, tmp_path).configs == {"listeners": "A://:1", "node.id": "5"}
    (folder / "server.properties").write_text("\\u12")
    with pytest.raises(EnvironmentRefused, match=r"server\.properties: "):
        read_environment({}, tmp_path)


def test_the_authorizers_of_zookeeper_are_kafkas_authorizer() -> None:
    found = read_environment({"KAFKA_AUTHORIZER_CLASS_NAME": "kafka.security.authorizer.AclAuthorizer"}).configs
    assert found["authorizer.class.name"] == "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def test_a_broker_whose_controllers_are_elsewhere_is_told_to_be_alone() -> None:
    found = read_environment({"KAFKA_PROCESS_ROLES": "broker", "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@elsewhere:9093"})
    assert not {"process.roles", "controller.quorum.voters"} & (found.configs.keys() | found.variables.keys())
    [warning] = found.warnings
    assert warning == "process.roles=broker: the controllers run in this container, as a cluster of its own"


def test_log_ins_of_a_jaas_file(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "jaas.conf").write_text(
        """/* users */ KafkaServer {
            org.apache.kafka.common.security.plain.PlainLoginModule required
            username="admin" password="a//;}" // of the broker
            user_admin="a//;}";
            org.apache.kafka.common.security.scram.ScramLoginModule required;
        };
        other.KafkaServer { org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="b"; };
        KafkaClient { org.apache.kafka.common.security.plain.PlainLoginModule required username="x"; };"""
    )
    found = read_environment(
        {
            "KAFKA_OPTS": "-Xlog:gc -Djava.security.auth.login.config=/etc/jaas.conf",
            "KAFKA_LISTENERS": "SASL_PLAINTEXT://:1,OTHER://:2,PLAINTEXT://:3",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "OTHER:SASL_SSL",
            "KAFKA_SASL_ENABLED_MECHANISMS": "PLAIN,SCRAM-SHA-512",
            "KAFKA_LISTENER_NAME_OTHER_SASL_ENABLED_MECHANISMS": "PLAIN",
        },
        tmp_path,
    )
    texts = {name: " ".join(text.split()) for name, text in found.configs.items() if name.endswith("jaas.config")}
    security = "org.apache.kafka.common.security"
    assert texts == {
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{security}.plain.PlainLoginModule required "
        'username="admin" password="a//;}" user_admin="a//;}";',
        "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": f"{security}.scram.ScramLoginModule required;",
        "listener.name.other.plain.sasl.jaas.config": f'{security}.plain.PlainLoginModule required user_bob="b";',
    }
    assert found.notes == ["KAFKA_OPTS has options without effect: there is no JVM"]


def test_environment_of_bitnamis_image_names_its_stores(tmp_path: Path) -> None:
    mounted, usual = tmp_path / "bitnami/kafka/config/certs", tmp_path / "opt/bitnami/kafka/config/certs"
    mounted.mkdir(parents=True)
    (mounted / "kafka.keystore.jks").touch()
    found = read_environment({"KAFKA_TLS_TYPE": "JKS", "KAFKA_CERTIFICATE_PASSWORD": "secret"}, tmp_path).configs
    assert found["ssl.keystore.location"] == f"{mounted}/kafka.keystore.jks"
    assert found["ssl.truststore.location"] == f"{usual}/kafka.truststore.jks"
    assert found["ssl.key.password"] == found["ssl.keystore.password"] == "secret"
    assert found["ssl.client.auth"] == "required"
    for name in ("kafka.keystore.key", "kafka.keystore.pem", "kafka.truststore.pem"):
        (mounted / name).write_text(name)
    found = read_environment({"KAFKA_TLS_TYPE": "PEM", "KAFKA_TLS_CLIENT_AUTH": "none"}, tmp_path).configs
    assert found["ssl.keystore.certificate.chain"] == "kafka.keystore.pem"
    assert found["ssl.truststore.certificates"] == "kafka.truststore.pem"
    assert found["ssl.client.auth"] == "none"


def test_ports_of_the_registry_and_the_control_api() -> None:
    found = read_environment({"ODRADEK_REGISTRY_PORT": "8081", "ODRADEK_CONTROL_PORT": "9090"})
    assert (found.registry_port, found.control_port) == (8081, 9090)
    assert read_environment({}).registry_port is None


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


def test_environment_names_topics_to_create() -> None:
    found = read_environment({"KAFKA_CREATE_TOPICS": "orders:3:1, state:1:1:compact,one"})
    assert found.topics == ["orders:3", "state:1:cleanup.policy=compact", "one:1"]


def test_key_stores_by_their_file_names(tmp_path: Path) -> None:
    secrets = tmp_path / "etc/kafka/secrets"
    secrets.mkdir(parents=True)
    (secrets / "credentials").write_text("secret\n")
    variables = {"KAFKA_SSL_KEYSTORE_FILENAME": "keys.jks", "KAFKA_SSL_KEYSTORE_CREDENTIALS": "credentials"}
    found = read_environment(variables, tmp_path)
    assert found.configs["ssl.keystore.location"] == f"{secrets}/keys.jks"
    assert found.configs["ssl.keystore.password"] == "secret"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"KAFKA_OPTS": "-Djava.security.auth.login.config=/x"}, "KAFKA_OPTS: /x: No such file"),
        ({"KAFKA_TLS_TYPE": "P12"}, "P12 is neither JKS nor PEM"),
        ({"HOSTNAME_COMMAND": "hostname"}, "HOSTNAME_COMMAND cannot be honoured: no command is run"),
        ({"ODRADEK_REGISTRY_PORT": "x"}, "ODRADEK_REGISTRY_PORT: x is not a port"),
        # As Kubernetes sets it of a service named kafka.
        ({"KAFKA_PORT": "tcp://10.0.0.1:9092"}, "KAFKA_PORT: tcp://10.0.0.1:9092 is not a port"),
        ({"ADV_HOST": "a", "KAFKA_ADVERTISED_PORT": "x"}, "KAFKA_ADVERTISED_PORT: x is not a port"),
        (
            {"KAFKA_PROCESS_ROLES": "controller", "KAFKA_ADVERTISED_LISTENERS": "A://a:1"},
            "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller.",
        ),
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
