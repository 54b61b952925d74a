"""`odradek serve`: a broker on a port."""

from __future__ import annotations

import argparse
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.commands import CommandError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.topic_spec import TopicSpec
    from odradek.broker.metadata.node import Node

_LEVELS = ("debug", "info", "warning", "error", "critical")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=_port, default=9092, help="port, 0 = any free one (default %(default)s)")
    parser.add_argument("--nodes", type=_count, default=1, help="brokers in the cluster; node n listens on PORT+n-1")
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:PARTITIONS[:key=value,...]",
        help="create a topic if it does not exist (repeatable)",
    )
    parser.add_argument(
        "--config", action="append", default=[], metavar="KEY=VALUE", help="a broker config of Kafka (repeatable)"
    )
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="keep the logs in DIR (default: in memory)")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", help="what to log (default %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM."""
    import trio

    from odradek.broker.clock import BrokerClock
    from odradek.broker.cluster import Cluster

    logging.basicConfig(level=arguments.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    topics = _topics(arguments.topic)
    config = dict(_pair(text, "--config") for text in arguments.config)
    try:
        cluster = Cluster(nodes=arguments.nodes, config=config, data_dir=arguments.data_dir, clock=BrokerClock())
    except (ValueError, OSError) as error:
        raise CommandError(_one_line(error)) from error
    cluster.bug_log.on_bug = lambda bug: logging.getLogger("odradek").error("%s", bug)
    try:
        trio.run(_serve, cluster, topics, arguments.host, arguments.port, clock=cluster.clock)
    except Exception as error:
        raise _expected(error) from None
    return 0


async def _serve(cluster: Cluster, topics: dict[str, TopicSpec], host: str, port: int) -> None:
    import trio

    from odradek.broker.facade.topic_spec import create_topic

    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with cluster.run():
            for name, spec in topics.items():
                if cluster.topics.get(name) is None:
                    create_topic(cluster, name, spec)
            await cluster.listen(host, port)
            print("odradek ready on " + ",".join(_address(node) for node in cluster.nodes.values()), flush=True)
            async for _ in signals:
                break


def _address(node: Node) -> str:
    return f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"


def _expected(error: BaseException) -> BaseException:
    """A CommandError for what the user can put right, without the groups that nurseries wrap; else the error itself."""
    from odradek.protocol.errors import KafkaError

    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, OSError | ValueError | KafkaError):
        return CommandError(_one_line(error))
    return error


def _one_line(error: BaseException) -> str:
    from odradek.protocol.errors import KafkaError

    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    text = error.message if isinstance(error, KafkaError) and error.message else str(error)
    return " ".join(text.split())


def _topics(texts: Sequence[str]) -> dict[str, TopicSpec]:
    topics: dict[str, TopicSpec] = {}
    for text in texts:
        name, spec = _topic(text)
        if name in topics:
            raise CommandError(f"--topic {text}: the topic {name} is given twice")
        topics[name] = spec
    return topics


def _topic(text: str) -> tuple[str, TopicSpec]:
    from odradek.broker.facade.topic_spec import TopicSpec

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
