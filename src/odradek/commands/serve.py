"""`odradek serve`: a broker on a port."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.fast.collector import lasting_imports
from odradek.commands import CommandError, CommandParser, os_error_text
from odradek.output import loose_output
from odradek.protocol.shown import one_line, printable

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.topics import TopicSpec
    from odradek.container.environment import FromEnvironment
    from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord

_HOST, _PORT = "127.0.0.1", 9092
_log = logging.getLogger("odradek")
_LEVELS = ("debug", "info", "warning", "error", "critical")

KAFKAS_WORDS = "[KafkaServer id={node}] started. Kafka Server started. Transitioning from RECOVERY to RUNNING."
"""The line that starters of containers wait for in the log of a Kafka image."""

Control = Callable[["Cluster"], AbstractContextManager[str]]


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--host", help=f"address to listen on, unless `listeners` is configured (default {_HOST})")
    parser.add_argument(
        "--port", type=_port, help=f"port, 0 for any free one, unless `listeners` is configured (default {_PORT})"
    )
    parser.add_argument(
        "--nodes", type=_count, default=1, help="number of nodes in the cluster; node n listens on PORT+n-1"
    )
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:PARTITIONS[:key=value,...]",
        help="create a topic if it does not exist (repeatable)",
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a broker config of Kafka, such as listeners, advertised.listeners=PLAINTEXT://kafka:9092 or node.id; "
        "overrides --from-env and --config-file (repeatable)",
    )
    parser.add_argument(
        "--node-config",
        action="append",
        default=[],
        metavar="NODE:KEY=VALUE",
        help="set a broker config of one node, such as 2:broker.rack=b; overrides --config (repeatable; see "
        "docs/listeners.md)",
    )
    parser.add_argument(
        "--config-file",
        type=Path,
        metavar="FILE",
        help="read Kafka's server.properties; unknown names are kept, with a warning",
    )
    parser.add_argument(
        "--cluster-id", metavar="ID", help="the id of a new cluster, as for kafka-storage format (default a random one)"
    )
    parser.add_argument(
        "--release-version",
        metavar="RELEASE",
        help="the release whose metadata.version and features a new cluster has, as for kafka-storage format: 3.9-IV0",
    )
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME=LEVEL",
        help="a feature level of a new cluster, as for kafka-storage format (repeatable)",
    )
    parser.add_argument(
        "--kafka-version",
        metavar="VERSION",
        help="behave like this Kafka release, 2.8 to 4.4 (default 4.4; see docs/versions.md)",
    )
    parser.add_argument(
        "--zookeeper",
        action="store_true",
        help="behave like that release with ZooKeeper (up to 3.9; 2.8 always does)",
    )
    parser.add_argument(
        "--from-env",
        action="store_true",
        help="read the environment variables of Kafka's container images: KAFKA_..., KAFKA_CFG_..., CLUSTER_ID; they "
        "override --config-file (see docs/containers.md)",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="keep the logs in DIR (default: log.dirs if configured, else in memory)",
    )
    parser.add_argument(
        "--add-scram",
        action="append",
        default=[],
        metavar="SCRAM-SHA-256=[name=NAME,password=PASSWORD]",
        help="create a SCRAM user if it does not exist; the syntax is that of kafka-storage format (repeatable)",
    )
    for server, served, callers in (
        ("control", "the control API", "callers of the control API"),
        ("registry", "a schema registry", "clients of the schema registry"),
    ):
        name, variable = served.partition(" ")[2], f"ODRADEK_{server.upper()}_TOKEN"
        parser.add_argument(
            f"--{server}-port",
            type=_port,
            metavar="PORT",
            help=f"serve {served} over HTTP on this port, 0 for any free one (see docs/{server}.md)",
        )
        parser.add_argument(
            f"--{server}-host",
            metavar="HOST",
            help=f"address of the {name} (default {_HOST}); an address that other machines can reach needs a token",
        )
        parser.add_argument(
            f"--{server}-token",
            default=os.environ.get(variable) or None,
            metavar="TOKEN",
            help=f"token that {callers} must send (default ${variable})",
        )
        for option in ("host", "token"):
            parser.needs(f"--{server}-{option}", f"--{server}-port")
    parser.add_argument(
        "--strict",
        nargs="?",
        const="warn",
        default="",
        metavar="RULES",
        help="warn when a client relies on something that a real cluster does not promise; 'warn -auto-created' turns "
        "a rule off, 'warn +partitioner-order' turns one on (see docs/testing.md)",
    )
    parser.add_argument(
        "--no-transcript",
        action="store_true",
        help="do not record requests and responses; the same as --config odradek.transcript=false",
    )
    parser.add_argument("--log-level", choices=_LEVELS, help="lowest level to log (default warning)")


class _Formatter(logging.Formatter):
    """Escapes what clients have sent. Several lines are those of bugs, which have a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        is_bug = record.name == _log.name or record.exc_info
        return (printable if is_bug else one_line)(super().format(record))


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP."""
    with loose_output():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    with lasting_imports():
        import trio

        from odradek.broker.clock import BrokerClock
        from odradek.broker.cluster import Cluster
        from odradek.broker.config.node_config import broker_config

    environment = _environment(arguments)
    level = arguments.log_level or (environment and environment.log_level) or "warning"
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for note in environment.notes if environment else ():
        _log.info("%s", note)
    for warning in environment.warnings if environment else ():
        _log.warning("%s", warning)
    topics = _topics([*(environment.topics if environment else ()), *arguments.topic])
    values = dict(_pair(text, "--config") for text in arguments.config)
    if arguments.no_transcript:
        values["odradek.transcript"] = "false"
    if arguments.release_version is not None:
        values["odradek.release.version"] = arguments.release_version
    if arguments.feature:
        values["odradek.features"] = ",".join(arguments.feature)
    if arguments.kafka_version is not None:
        values["odradek.kafka.version"] = arguments.kafka_version
    if arguments.zookeeper:
        values["odradek.zookeeper"] = "true"
    try:
        users = _users([*(environment.scram if environment else ()), *arguments.add_scram])
        given = environment.configs if environment else {}
        config = broker_config(values, arguments.config_file, given, _of_nodes(arguments.node_config))
        cluster = Cluster(
            nodes=arguments.nodes,
            config=config,
            cluster_id=_cluster_id(arguments, environment),
            data_dir=arguments.data_dir,
            clock=BrokerClock(),
        )
        host, port = _where(cluster, arguments)
    except (ValueError, OSError) as error:
        raise CommandError(_one_line(error)) from error
    registry = _server(arguments, "registry")
    control = _with_strictness(_server(arguments, "control"), arguments.strict)
    cluster.bug_log.on_bug = lambda bug: _log.error("%s", bug)
    try:
        said = KAFKAS_WORDS if arguments.from_env else ""
        trio.run(_serve, cluster, topics, users, (host, port), control, registry, said, clock=cluster.clock)
    except Exception as error:
        raise _expected(error) from None
    return 0


def _cluster_id(arguments: argparse.Namespace, environment: FromEnvironment | None) -> str | None:
    if arguments.cluster_id == "":
        raise CommandError("--cluster-id: You must specify the cluster id.")
    return arguments.cluster_id or (environment.cluster_id if environment else None)


def _environment(arguments: argparse.Namespace) -> FromEnvironment | None:
    """The settings from the environment, if --from-env asks for them. A variable that names no config of Kafka becomes
    a note. CommandError.
    """
    if not arguments.from_env:
        return None
    from odradek.broker.config.broker_config import RELEASE_CONFIGS, BrokerConfig
    from odradek.broker.config.definition import ConfigError
    from odradek.broker.mistakes import did_you_mean
    from odradek.container.environment import EnvironmentRefused, read_environment
    from odradek.container.storage import formatted

    try:
        found = read_environment(os.environ)
    except EnvironmentRefused as error:
        raise CommandError(str(error)) from error
    asked = {name: text for name, text in found.configs.items() if name in RELEASE_CONFIGS}
    try:
        keys = BrokerConfig(asked).keys
    except ConfigError as error:
        raise CommandError(str(error)) from error
    for variable, name in found.unknown(lambda name: keys.find(name) is not None):
        found.warnings.append(
            f"{variable} has no effect: Kafka has no config '{name}'{did_you_mean(name, keys.broker)}"
        )
    for server, port in (("control", found.control_port), ("registry", found.registry_port)):
        if port is not None and getattr(arguments, f"{server}_port") is None:
            _publish(arguments, server, port)
    kept = formatted()
    found.cluster_id = found.cluster_id or kept.get("cluster_id")
    found.scram += kept.get("scram", [])
    return found


def _publish(arguments: argparse.Namespace, server: str, port: int) -> None:
    """Serve at all addresses of a container; a token that nobody has given is made and printed."""
    setattr(arguments, f"{server}_port", port)
    if getattr(arguments, f"{server}_host") is None:
        setattr(arguments, f"{server}_host", "0.0.0.0")
    if getattr(arguments, f"{server}_token") is None:
        from secrets import token_urlsafe

        token = token_urlsafe(16)
        setattr(arguments, f"{server}_token", token)
        print(f"odradek {server} token {token}", flush=True)


def _where(cluster: Cluster, arguments: argparse.Namespace) -> tuple[str | None, int]:
    """Host and port to listen on; neither where `listeners` says so."""
    if not cluster.has_addresses:
        return arguments.host or _HOST, _PORT if arguments.port is None else arguments.port
    if arguments.host is not None or arguments.port is not None:
        raise CommandError("listeners says where to listen: give no --host and --port beside it")
    return None, 0


async def _serve(
    cluster: Cluster,
    topics: dict[str, TopicSpec],
    users: Sequence[UserScramCredentialRecord],
    address: tuple[str | None, int],
    control: Control,
    registry: Control,
    said: str,
) -> None:
    import trio

    with trio.open_signal_receiver(*_ending_signals()) as signals:
        async with cluster.run():
            if topics:
                _create(cluster, topics)
            for user in users:
                cluster.add_scram_user(user)
            with _naming("--port"):
                await cluster.listen(*address)
            with ExitStack() as servers:
                with _naming("--control-port"):
                    url = servers.enter_context(control(cluster))
                with _naming("--registry-port"):
                    registry_url = servers.enter_context(registry(cluster))
                if url:
                    print(f"odradek control on {url}", flush=True)
                if registry_url:
                    print(f"odradek schema registry on {registry_url}", flush=True)
                print("odradek ready on " + ",".join(_addresses(cluster)), flush=True)
                if said:
                    print(said.format(node=next(iter(cluster.nodes))), flush=True)
                async for _ in signals:
                    break


@contextmanager
def _naming(option: str) -> Iterator[None]:
    """Name the option that takes another port, if one is taken."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise OSError(error.errno, f"{error.strerror}; {option} 0 takes any free one", error.filename) from None


def _ending_signals() -> list[signal.Signals]:
    """As a JVM, a broker that was started by `nohup` does not end with its terminal."""
    ending = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending


def _create(cluster: Cluster, topics: dict[str, TopicSpec]) -> None:
    """The topics that the data directory does not have already."""
    from odradek.broker.facade.topics import create_topic

    for name, spec in topics.items():
        if cluster.topics.get(name) is None:
            create_topic(cluster, name, spec)


def _server(arguments: argparse.Namespace, name: str) -> Control:
    """The server of the control API or of a schema registry, and its URL. Without its port option: none, and no URL.

    CommandError for what cannot be served.
    """
    host, port, token = (getattr(arguments, f"{name}_{option}") for option in ("host", "port", "token"))
    if port is None:
        return lambda cluster: nullcontext("")
    try:
        serving: Callable[[str, int, str | None], Control] = import_module(f"odradek.{name}.server").serving
        return serving(host or _HOST, port, token)
    except (ImportError, ValueError) as error:
        raise CommandError(str(error)) from error


def _with_strictness(control: Control, strict: str) -> Control:
    """Log what clients rely on, too. CommandError for a rule that does not exist."""
    if not strict:
        return control
    from odradek.commands.strict_log import logging_strictness

    try:
        return logging_strictness(control, strict)
    except ValueError as error:
        raise CommandError(f"--strict: {error}") from error


def _addresses(cluster: Cluster) -> list[str]:
    """The addresses of the nodes, with the listener's name if there are several."""
    from odradek.broker.config.listeners import address_text

    endpoints = [endpoint for node in cluster.nodes.values() for endpoint in node.endpoints.values()]
    if len(endpoints) == len(cluster.nodes):
        return [address_text(each.host, each.port) for each in endpoints]
    return [str(each.listener._replace(host=each.host, port=each.port)) for each in endpoints]


def _expected(error: BaseException) -> BaseException:
    """A CommandError for what the user can put right, without the groups that nurseries wrap; else the error itself."""
    from odradek.broker.facade.thread_bridge import only_cause
    from odradek.protocol.errors import KafkaError

    error = only_cause(error)
    if isinstance(error, OSError | ValueError | KafkaError):
        return CommandError(_one_line(error))
    return error


def _one_line(error: BaseException) -> str:
    from odradek.protocol.errors import KafkaError

    if isinstance(error, OSError):
        return os_error_text(error)
    text = error.message if isinstance(error, KafkaError) and error.message else str(error)
    return " ".join(text.split())


def _users(texts: Sequence[str]) -> list[UserScramCredentialRecord]:
    if not texts:
        return []
    from odradek.broker.security.sasl.credentials import scram_record

    try:
        return [scram_record(text) for text in texts]
    except ValueError as error:
        raise CommandError(f"--add-scram: {error}") from error


def _topics(texts: Sequence[str]) -> dict[str, TopicSpec]:
    topics: dict[str, TopicSpec] = {}
    for text in texts:
        name, spec = _topic(text)
        if name in topics:
            raise CommandError(f"--topic {text}: the topic {name} is given twice")
        topics[name] = spec
    return topics


def _topic(text: str) -> tuple[str, TopicSpec]:
    from odradek.broker.facade.topics import TopicSpec

    name, _, rest = text.partition(":")
    count, _, settings = rest.partition(":")
    if not name or (rest and not count.isdecimal()):
        raise CommandError(f"--topic {text}: expected NAME:PARTITIONS[:key=value,...]")
    pairs: list[str] = []
    for piece in filter(None, settings.split(",")):
        if "=" not in piece and pairs:
            pairs[-1] += f",{piece}"  # a value that is a list, as in cleanup.policy=compact,delete
        else:
            pairs.append(piece)
    return name, TopicSpec(int(count or 1), config=dict(_pair(pair, "--topic") for pair in pairs))


def _of_nodes(texts: Sequence[str]) -> dict[int, dict[str, str]]:
    """The configs of single nodes."""
    found: dict[int, dict[str, str]] = {}
    for text in texts:
        node_id, _, pair = text.partition(":")
        if not node_id.isdecimal():
            raise CommandError(f"--node-config {text}: expected NODE:KEY=VALUE")
        key, value = _pair(pair, "--node-config")
        found.setdefault(int(node_id), {})[key] = value
    return found


def _pair(text: str, option: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise CommandError(f"{option} {text}: expected key=value")
    return key.strip(), value.strip()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: a number from 0 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of brokers: at least 1")
    return int(text)
