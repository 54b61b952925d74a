"""`odradek serve --from-env`: the environment variables of Kafka's images as configs, users and topics.

`apache/kafka`, `apache/kafka-native` and `confluentinc/cp-kafka` name a config `KAFKA_` and the config's name in
capitals, `bitnami/kafka` names it `KAFKA_CFG_` and so on. One underscore stands for a dot, two for an underscore, three
for a hyphen. The other variables of each image stand in the tables below, which docs/containers.md shows. Those of
`debezium/kafka` have no prefix: they count beside one that only that image has.

What the start scripts of those images derive is derived here, too: the listeners from the advertised ones, stores and
passwords from files, log-ins from a JAAS file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odradek.broker.facade.client_configs import quoted
from odradek.client_security.options import LOGIN_MODULES
from odradek.storage.java_properties import parse_properties

SECRETS = "etc/kafka/secrets"
"""The folder in which the images look for key stores that are given by file name."""
MOUNTED = "mnt/shared/config/server.properties"
"""Where `apache/kafka` looks for a file of configs, which the variables override."""
CERTIFICATES = ("opt/bitnami/kafka/config/certs", "bitnami/kafka/config/certs")
BITNAMI_SASL = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"

OTHERS: Mapping[str, str] = {
    "CLUSTER_ID": "The cluster's id.",
    "KAFKA_KRAFT_CLUSTER_ID": "The cluster's id (bitnami).",
    "KAFKA_LOG4J_ROOT_LOGLEVEL": "What `odradek serve --log-level` says: DEBUG, INFO, WARN, ERROR or FATAL.",
    "KAFKA_CREATE_TOPICS": "Topics at the start: `orders:3:1,state:1:1:compact` (partitions, replicas, policy).",
    "KAFKA_SSL_KEYSTORE_FILENAME": f"`ssl.keystore.location`, a file in /{SECRETS}.",
    "KAFKA_SSL_KEYSTORE_CREDENTIALS": f"`ssl.keystore.password`, the content of a file in /{SECRETS}.",
    "KAFKA_SSL_KEY_CREDENTIALS": f"`ssl.key.password`, the content of a file in /{SECRETS}.",
    "KAFKA_SSL_TRUSTSTORE_FILENAME": f"`ssl.truststore.location`, a file in /{SECRETS}.",
    "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": f"`ssl.truststore.password`, the content of a file in /{SECRETS}.",
    "KAFKA_CLIENT_USERS": "Users of the SASL listeners, with a comma or semicolon between them (bitnami).",
    "KAFKA_CLIENT_PASSWORDS": "Their passwords, in the same order (bitnami).",
    "KAFKA_INTER_BROKER_USER": "One more user (bitnami).",
    "KAFKA_INTER_BROKER_PASSWORD": "Its password (bitnami).",
    "KAFKA_TLS_TYPE": "`JKS` or `PEM`: the key store and the trust store are files of the usual names in "
    f"/{CERTIFICATES[0]} or /{CERTIFICATES[1]} (bitnami).",
    "KAFKA_TLS_CLIENT_AUTH": "`ssl.client.auth` beside it (bitnami).",
    "KAFKA_CERTIFICATE_PASSWORD": "The password of these stores and of the key (bitnami).",
    "KAFKA_BROKER_ID": "`node.id`, if `KAFKA_NODE_ID` is not set.",
    "KAFKA_OPTS": "`-Djava.security.auth.login.config=FILE`: users and passwords of SASL from a JAAS file. "
    "The rest is for a JVM.",
    "KAFKA_ADVERTISED_HOST_NAME": "The advertised host, where no listeners are given (wurstmeister).",
    "KAFKA_ADVERTISED_PORT": "The port beside it, by default that of `KAFKA_PORT` (wurstmeister).",
    "KAFKA_PORT": "The port to listen on, where no listeners are given, by default 9092 (wurstmeister).",
    "ADV_HOST": "The advertised host, where no listeners are given (lensesio).",
    "ODRADEK_REGISTRY_PORT": "Serve a schema registry on this port. `ODRADEK_REGISTRY_TOKEN` is its token.",
    "ODRADEK_CONTROL_PORT": "Serve the control API on this port. `ODRADEK_CONTROL_TOKEN` is its token.",
}
"""Variables that are read, and are no config of that name."""

DEBEZIUM: Mapping[str, str] = {
    "NODE_ID": "KAFKA_NODE_ID",
    "BROKER_ID": "KAFKA_BROKER_ID",
    "PORT": "KAFKA_PORT",
    "HOST_NAME": "KAFKA_ADVERTISED_HOST_NAME",
    "ADVERTISED_HOST_NAME": "KAFKA_ADVERTISED_HOST_NAME",
    "ADVERTISED_PORT": "KAFKA_ADVERTISED_PORT",
    "CREATE_TOPICS": "KAFKA_CREATE_TOPICS",
    "LOG_LEVEL": "KAFKA_LOG4J_ROOT_LOGLEVEL",
}
"""Variables of `debezium/kafka`, and how the other images call them; the later one counts more."""
_KRAFT_OF_DEBEZIUM = {
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,"
    "SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL",
}
"""What the configuration file of `debezium/kafka` says about controllers."""

WITHOUT_EFFECT: Mapping[str, str] = {
    "KAFKA_VERSION": "the image's own",
    **dict.fromkeys(("KAFKA_HEAP_OPTS", "KAFKA_JVM_PERFORMANCE_OPTS", "KAFKA_GC_LOG_OPTS"), "there is no JVM"),
    **dict.fromkeys(("KAFKA_JMX_OPTS", "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME"), "there is no JVM"),
    **dict.fromkeys(("KAFKA_LOG4J_OPTS", "KAFKA_LOG4J_LOGGERS"), "there is no log4j"),
    "KAFKA_TOOLS_LOG4J_LOGLEVEL": "there are no Java tools",
    "ZOOKEEPER_CONNECT": "there is no ZooKeeper, and none is needed",
    "KAFKA_ZOOKEEPER_CONNECT": "there is no ZooKeeper, and none is needed",
    "KAFKA_ZOOKEEPER_PROTOCOL": "there is no ZooKeeper, and none is needed",
    "KAFKA_CFG_ZOOKEEPER_CONNECT": "there is no ZooKeeper, and none is needed",
    "KAFKA_ENABLE_KRAFT": "there is no ZooKeeper, and none is needed",
    "KAFKA_CONFLUENT_SUPPORT_METRICS_ENABLE": "nothing is reported to Confluent",
    "KAFKA_REST_BOOTSTRAP_SERVERS": "there is no REST proxy",
    "KAFKA_SKIP_KRAFT_STORAGE_INIT": "nothing needs to be formatted",
    "KAFKA_KRAFT_BOOTSTRAP_SCRAM_USERS": "users of SCRAM are always created",
    "KAFKA_CONTROLLER_USER": "brokers and controllers are one process",
    "KAFKA_CONTROLLER_PASSWORD": "brokers and controllers are one process",
    "KAFKA_CLIENT_LISTENER_NAME": "the image's commands take their options from `--command-config`",
    "KAFKA_DATA_DIRS": "`KAFKA_LOG_DIRS` says where the logs are",
    "KAFKA_HOME": "the image's own",
    "KAFKA_METRIC_REPORTERS": "there are no metrics of a JVM to report",
    "ALLOW_PLAINTEXT_LISTENER": "plain text is allowed",
}
"""Variables that change nothing, and why."""

REFUSED: Mapping[str, str] = {
    "HOSTNAME_COMMAND": "no command is run; say the host in KAFKA_ADVERTISED_LISTENERS",
    "PORT_COMMAND": "no command is run; say the port in KAFKA_ADVERTISED_LISTENERS",
    "BROKER_ID_COMMAND": "no command is run; say the number in KAFKA_BROKER_ID",
}
"""Variables that ask for what odradek cannot do under that name, and what to say instead."""

_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_OF_ZOOKEEPER = ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer")
"""Kafka's authorizers before it: they kept the same rules in ZooKeeper."""
_LEVELS = {"trace": "debug", "debug": "debug", "info": "info", "warn": "warning", "error": "error", "fatal": "critical"}
_LISTENERS = re.compile(r"([A-Za-z0-9_.-]+)://")
_LISTS = ("listeners", "advertised.listeners", "listener.security.protocol.map", "controller.quorum.voters")
"""Lists whose empty parts are left out: scripts that add to them leave commas behind."""
_JAAS_FILE = re.compile(r"-Djava\.security\.auth\.login\.config=(\S+)")
_TEXT = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"({_TEXT})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_SECTION = re.compile(rf"([\w.-]+)\s*\{{((?:{_TEXT}|[^\"}}])*)\}}\s*;")
_MODULE = re.compile(rf'(?:{_TEXT}|[^";])+;')


class EnvironmentRefused(ValueError):
    """A variable that cannot be honoured, as one line."""


@dataclass
class FromEnvironment:
    """The settings in the environment.

    `topics` are texts as `--topic` takes them, `scram` as `--add-scram` does; `notes` say in one line each which
    known variables have no effect, `warnings` which unknown ones.
    """

    configs: dict[str, str] = field(default_factory=dict)
    cluster_id: str | None = None
    topics: list[str] = field(default_factory=list)
    scram: list[str] = field(default_factory=list)
    log_level: str | None = None
    registry_port: int | None = None
    control_port: int | None = None
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    """Config to the variable that names it."""

    def unknown(self, is_known: Callable[[str], bool]) -> list[tuple[str, str]]:
        """Take out the configs that Kafka does not know; variable and name of each."""
        unknown = [name for name in self.variables if not is_known(name)]
        for name in unknown:
            del self.configs[name]
        return [(self.variables[name], name) for name in unknown]


def read_environment(variables: Mapping[str, str], root: Path = Path("/")) -> FromEnvironment:
    """The settings in the variables of a Kafka image, and in the files below `root` that they name.

    Variables of other programs are left alone. Where nothing says where to listen, the listener is that of
    `apache/kafka`. EnvironmentRefused for a variable that odradek cannot honour.
    """
    found = FromEnvironment(configs=_mounted(root / MOUNTED))
    debezium = "ZOOKEEPER_CONNECT" in variables or {"CLUSTER_ID", "NODE_ID"} <= variables.keys()
    if debezium:
        variables = _prefixed(variables)
    bitnami = any(name.startswith("KAFKA_CFG_") for name in variables) or "ALLOW_PLAINTEXT_LISTENER" in variables
    for name, value in sorted(variables.items()):
        if name in REFUSED:
            raise EnvironmentRefused(f"{name} cannot be honoured: {REFUSED[name]}")
        if name in WITHOUT_EFFECT:
            found.notes.append(f"{name} has no effect: {WITHOUT_EFFECT[name]}")
        elif name in OTHERS:
            continue
        elif name.startswith("KAFKA_"):
            config = config_name(name)
            found.configs[config] = value
            found.variables[config] = name
    if found.configs.get("authorizer.class.name", "").strip() in _OF_ZOOKEEPER:
        found.configs["authorizer.class.name"] = _AUTHORIZER
    if found.configs.get("process.roles", "").strip() == "broker":
        found.warnings.append("process.roles=broker: the controllers run in this container, as a cluster of its own")
        controllers = ("controller.quorum.voters", "controller.quorum.bootstrap.servers", "controller.listener.names")
        for config in ("process.roles", *controllers):
            found.configs.pop(config, None)
            found.variables.pop(config, None)
    for config in _LISTS:
        if config in found.configs:
            found.configs[config] = ",".join(_list(found.configs[config], ","))
    found.cluster_id = variables.get("CLUSTER_ID") or variables.get("KAFKA_KRAFT_CLUSTER_ID") or None
    broker_id = variables.get("KAFKA_BROKER_ID")
    if broker_id and broker_id != "-1" and "node.id" not in found.configs:
        found.configs["node.id"] = broker_id
    found.log_level = _log_level(variables.get("KAFKA_LOG4J_ROOT_LOGLEVEL"))
    found.topics = [_topic(text) for text in _list(variables.get("KAFKA_CREATE_TOPICS", ""), ",")]
    found.registry_port = _port(variables, "ODRADEK_REGISTRY_PORT")
    found.control_port = _port(variables, "ODRADEK_CONTROL_PORT")
    _add_stores(found.configs, variables, root)
    if not found.configs.get("listeners"):
        _add_listeners(found.configs, variables, own_address=bitnami or debezium)
    _add_users(found, variables)
    options = variables.get("KAFKA_OPTS", "")
    _add_log_ins(found.configs, options, root)
    if _JAAS_FILE.sub("", options).strip():
        found.notes.append("KAFKA_OPTS has options without effect: there is no JVM")
    return found


def config_name(variable: str) -> str:
    """The config that a variable names: `KAFKA_LOG_RETENTION_MS` is `log.retention.ms`."""
    text = variable.removeprefix("KAFKA_").removeprefix("CFG_").lower()
    return text.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def markdown() -> str:
    """The tables of docs/containers.md."""
    lines = ["| Variable | What it does |", "| --- | --- |"]
    lines += ["| `KAFKA_...`, `KAFKA_CFG_...` | Any config of the broker, such as `KAFKA_LOG_RETENTION_MS`. |"]
    lines += [f"| `{name}` | {effect} |" for name, effect in OTHERS.items()]
    lines += [f"| `{name}` | As `{other}`, beside `ZOOKEEPER_CONNECT` or `CLUSTER_ID` with `NODE_ID` (debezium). |"
              for name, other in DEBEZIUM.items()]  # fmt: skip
    lines += [f"| `{name}` | No effect: {reason}. |" for name, reason in WITHOUT_EFFECT.items()]
    lines += [f"| `{name}` | Refused: {reason}. |" for name, reason in REFUSED.items()]
    return "\n".join(lines) + "\n"


def _mounted(file: Path) -> dict[str, str]:
    try:
        return parse_properties(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EnvironmentRefused(f"{file}: {error}") from None


def _prefixed(variables: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of `debezium/kafka` under the names of the other images."""
    found = {other: variables[name] for name, other in DEBEZIUM.items() if name in variables}
    role = variables.get("NODE_ROLE", "combined")
    if role != "combined" or "CONTROLLER://" in variables.get("KAFKA_LISTENERS", ""):
        found |= {"KAFKA_PROCESS_ROLES": role.replace("combined", "broker,controller"), **_KRAFT_OF_DEBEZIUM}
    return {**found, **variables}


def _add_listeners(configs: dict[str, str], variables: Mapping[str, str], *, own_address: bool) -> None:
    """Where nothing says where to listen: at the ports that are advertised, or port 9092, at all addresses.

    `own_address`: where no host is given, the image advertises the container's address instead of localhost.
    """
    host = variables.get("KAFKA_ADVERTISED_HOST_NAME") or variables.get("ADV_HOST")
    if advertised := configs.get("advertised.listeners"):
        if configs.get("process.roles", "").strip() == "controller":
            raise EnvironmentRefused("KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller.")
        configs["listeners"] = re.sub(r"://[^,]*:", "://0.0.0.0:", advertised)
        return
    port = _port(variables, "KAFKA_PORT") or 9092
    configs["listeners"] = f"PLAINTEXT://:{port}"
    if host:
        configs["advertised.listeners"] = f"PLAINTEXT://{host}:{_port(variables, 'KAFKA_ADVERTISED_PORT') or port}"
    elif not own_address:
        configs["advertised.listeners"] = f"PLAINTEXT://localhost:{port}"


def _add_stores(configs: dict[str, str], variables: Mapping[str, str], root: Path) -> None:
    secrets = root / SECRETS
    for kind in ("KEYSTORE", "TRUSTSTORE"):
        if file := variables.get(f"KAFKA_SSL_{kind}_FILENAME"):
            configs[f"ssl.{kind.lower()}.location"] = str(secrets / file)
    for variable, config in (
        ("KAFKA_SSL_KEYSTORE_CREDENTIALS", "ssl.keystore.password"),
        ("KAFKA_SSL_KEY_CREDENTIALS", "ssl.key.password"),
        ("KAFKA_SSL_TRUSTSTORE_CREDENTIALS", "ssl.truststore.password"),
    ):
        if file := variables.get(variable):
            configs[config] = _content(secrets / file, variable).strip()
    if kind := variables.get("KAFKA_TLS_TYPE", "").upper():
        _add_certificates(configs, variables, kind, [root / folder for folder in CERTIFICATES])


def _add_certificates(
    configs: dict[str, str], variables: Mapping[str, str], kind: str, folders: Sequence[Path]
) -> None:
    """The stores of bitnami's image, which have fixed names."""
    if kind not in ("JKS", "PEM"):
        raise EnvironmentRefused(f"KAFKA_TLS_TYPE: {kind} is neither JKS nor PEM")

    def stored(name: str) -> Path:
        paths = [folder / name for folder in folders]
        return next((path for path in paths if path.exists()), paths[0])

    password = variables.get("KAFKA_CERTIFICATE_PASSWORD")
    given = {
        "ssl.client.auth": variables.get("KAFKA_TLS_CLIENT_AUTH") or "required",
        "ssl.keystore.type": kind,
        "ssl.truststore.type": kind,
        "ssl.key.password": password,
    }
    if kind == "JKS":
        for store in ("keystore", "truststore"):
            given |= {f"ssl.{store}.location": str(stored(f"kafka.{store}.jks")), f"ssl.{store}.password": password}
    else:
        files = {
            "ssl.keystore.key": "kafka.keystore.key",
            "ssl.keystore.certificate.chain": "kafka.keystore.pem",
            "ssl.truststore.certificates": "kafka.truststore.pem",
        }
        given |= {config: _content(stored(name), "KAFKA_TLS_TYPE") for config, name in files.items()}
    for config, value in given.items():
        if value is not None:
            configs.setdefault(config, value)


def _content(file: Path, variable: str) -> str:
    try:
        return file.read_text()
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "no text"
        raise EnvironmentRefused(f"{variable}: {file}: {said}") from None


def _add_log_ins(configs: dict[str, str], options: str, root: Path) -> None:
    """The login modules of a JAAS file: of `LISTENER.KafkaServer` in it, else of `KafkaServer`."""
    if (named := _JAAS_FILE.search(options)) is None:
        return
    file = root / named[1].strip("\"'").lstrip("/")
    text = _COMMENT.sub(lambda found: found[1] or " ", _content(file, "KAFKA_OPTS"))
    sections = {name.lower(): _MODULE.findall(body) for name, body in _SECTION.findall(text)}
    for listener in _sasl_listeners(configs):
        prefix = f"listener.name.{listener.lower()}"
        enabled = configs.get(f"{prefix}.sasl.enabled.mechanisms") or configs.get("sasl.enabled.mechanisms", "GSSAPI")
        modules = sections.get(f"{listener}.KafkaServer".lower()) or sections.get("kafkaserver", [])
        for mechanism in _list(enabled, ","):
            for module in modules:
                if module.split()[0].rpartition(".")[2] == LOGIN_MODULES.get(mechanism):
                    configs.setdefault(f"{prefix}.{mechanism.lower()}.sasl.jaas.config", module.strip())


def _add_users(found: FromEnvironment, variables: Mapping[str, str]) -> None:
    """Users of bitnami's variables: for PLAIN in the JAAS text of each SASL listener, for SCRAM as records."""
    names = _list(variables.get("KAFKA_CLIENT_USERS", ""), ",;")
    passwords = _list(variables.get("KAFKA_CLIENT_PASSWORDS", ""), ",;")
    if len(names) != len(passwords):
        raise EnvironmentRefused(
            f"KAFKA_CLIENT_USERS names {len(names)} users, KAFKA_CLIENT_PASSWORDS has {len(passwords)} passwords"
        )
    users = dict(zip(names, passwords, strict=True))
    if inter_broker := variables.get("KAFKA_INTER_BROKER_USER"):
        users[inter_broker] = variables.get("KAFKA_INTER_BROKER_PASSWORD", "")
    if not users:
        return
    mechanisms = found.configs.setdefault("sasl.enabled.mechanisms", BITNAMI_SASL)
    listed = _list(mechanisms, ",")
    pairs = " ".join(f"user_{name}={quoted(password)}" for name, password in users.items())
    for mechanism in listed:
        module = (
            f"plain.PlainLoginModule required {pairs};" if mechanism == "PLAIN" else "scram.ScramLoginModule required;"
        )
        for listener in _sasl_listeners(found.configs):
            config = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
            found.configs.setdefault(config, f"org.apache.kafka.common.security.{module}")
        if mechanism.startswith("SCRAM-"):
            found.scram += [f"{mechanism}=[name={name},password={password}]" for name, password in users.items()]


def _sasl_listeners(configs: Mapping[str, str]) -> Sequence[str]:
    protocols = dict(
        pair.split(":", 1) for pair in _list(configs.get("listener.security.protocol.map", ""), ",") if ":" in pair
    )
    names = _LISTENERS.findall(configs.get("listeners", ""))
    return [name for name in names if protocols.get(name, name).startswith("SASL_")]


def _topic(text: str) -> str:
    """`name:partitions:replicas[:cleanup.policy]` as `--topic` takes it."""
    name, *rest = text.split(":")
    if not name or len(rest) > 3 or not all(part.isdecimal() for part in rest[:2]):
        raise EnvironmentRefused(f"KAFKA_CREATE_TOPICS: {text}: expected name:partitions:replicas[:cleanup.policy]")
    if len(rest) > 1 and rest[1] != "1":
        raise EnvironmentRefused(f"KAFKA_CREATE_TOPICS: {text}: one container is one node, so there is one replica")
    policy = f":cleanup.policy={rest[2]}" if len(rest) == 3 else ""
    return f"{name}:{rest[0] if rest else 1}{policy}"


def _port(variables: Mapping[str, str], name: str) -> int | None:
    text = variables.get(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) > 65535:
        raise EnvironmentRefused(f"{name}: {text} is not a port: a number from 0 to 65535")
    return int(text)


def _log_level(text: str | None) -> str | None:
    if not text:
        return None
    if text.lower() not in _LEVELS:
        raise EnvironmentRefused(f"KAFKA_LOG4J_ROOT_LOGLEVEL: {text} is not one of {', '.join(_LEVELS).upper()}")
    return _LEVELS[text.lower()]


def _list(text: str, separators: str) -> list[str]:
    return [part.strip() for part in re.split(f"[{separators}]", text) if part.strip()]
