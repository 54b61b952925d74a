"""The config of a node: from a `server.properties`, the environment and options, and values that each node has of its
own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from odradek.broker.config.broker_config import NO_NODE, BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.storage.java_properties import parse_properties

_RACK = "broker.rack"


def given_node_id(config: BrokerConfig) -> int | None:
    """The number of the first node that `node.id` or `broker.id` says; the others follow."""
    for name in ("node.id", "broker.id"):
        if name in config.static:
            return config.get_int(name)
    return None


def log_directories(config: BrokerConfig) -> list[Path]:
    """The log directories that `log.dirs` or `log.dir` names for all, none where neither was given; ConfigError for
    doubles.
    """
    return _directories(config, config.static, NO_NODE)


def own_log_directories(config: BrokerConfig, separate: Collection[int] = ()) -> dict[int, list[Path]]:
    """The log directories of each node, where nodes have their own; ConfigError for doubles, and if only some have.

    `separate`: the controllers that are no brokers. They have `metadata.log.dir`, or the first of `log.dirs`.
    """
    found = {}
    for node_id in (*config.node_ids, *separate):
        own = config.static_nodes.get(node_id, {})
        paths = _directories(config, own, node_id)
        if node_id in separate:
            paths = [Path(own["metadata.log.dir"])] if "metadata.log.dir" in own else paths[:1]
        if paths:
            found[node_id] = paths
    if found and len(found) < len(config.node_ids) + len(separate):
        raise ConfigError(
            f"log.dirs is set for node {next(iter(found))}, so set it for every node, or for all together"
        )
    known = [path.absolute() for paths in found.values() for path in paths]
    if len(set(known)) < len(known):
        raise ConfigError(f"log.dirs of the nodes name a directory twice: {','.join(map(str, known))}")
    return found


def _directories(config: BrokerConfig, given: Mapping[str, str], node_id: int) -> list[Path]:
    for name in ("log.dirs", "log.dir"):
        if name in given:
            directories = [Path(text) for text in config.get_list(name, node_id)]
            if len({path.absolute() for path in directories}) < len(directories):
                raise ConfigError(f"{name}={given[name]} names a directory twice")
            return directories
    return []


def metadata_directory(config: BrokerConfig) -> Path | None:
    """The directory of the metadata log by `metadata.log.dir`; None for the first log directory."""
    text = config.get("metadata.log.dir")
    return Path(text) if isinstance(text, str) else None


def check_directories(config: BrokerConfig, directories: Sequence[Path], nodes: int) -> None:
    """ConfigError for several nodes with a directory for the metadata log."""
    if nodes > 1 and directories and metadata_directory(config) is not None:
        raise ConfigError(f"metadata.log.dir: {nodes} nodes keep the metadata log in the log directory of each")


def racks(config: BrokerConfig) -> dict[int, str | None]:
    """The rack of each node that `broker.rack` says: its own, or its part of as many as the cluster started with,
    parted by commas, or the one for all.
    """
    founders = config.founder_ids
    of_all = config.static.get(_RACK)
    parts = [] if of_all is None else [part.strip() for part in of_all.split(",")]
    shared: dict[int, str | None] = dict.fromkeys(config.node_ids, of_all)
    if len(parts) == len(founders) > 1:
        shared = {**dict.fromkeys(config.node_ids), **dict(zip(founders, parts, strict=True))}
    return {node_id: config.static_nodes.get(node_id, {}).get(_RACK, rack) for node_id, rack in shared.items()}


def read_config_file(path: str | Path) -> dict[str, str]:
    """Names and values of a file in Java's properties format, a later line before an earlier one.

    OSError if it cannot be read; ConfigError if it is no properties file.
    """
    try:
        return parse_properties(Path(path).read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def broker_config(
    values: Mapping[str, str],
    path: str | Path | None,
    environment: Mapping[str, str] | None = None,
    nodes: Mapping[int, Mapping[str, str]] | None = None,
) -> BrokerConfig:
    """The configuration that `values` say, where they say nothing `environment`, and then a file. `nodes`: what single
    nodes have of their own.

    ConfigError and OSError as in `BrokerConfig` and `read_config_file`.
    """
    file = {**(read_config_file(path) if path else {}), **(environment or {})}
    return BrokerConfig(values, file=file, nodes=nodes)
