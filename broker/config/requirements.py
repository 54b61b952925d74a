"""What Kafka requires of a broker's configs beyond their types and limits, at the start and of each change."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.config.broker_config import BrokerConfig, ConfigError

_MIB = 1 << 20


def check_requirements(config: BrokerConfig, values: Mapping[str, str], node_id: int | None = None) -> None:
    """ConfigError, in Kafka's words, unless the configs fit together. `values` would replace dynamic ones of the node,
    or of all nodes."""

    def value(name: str, default: int | None = None) -> int | None:
        if name in values:
            return int(values[name])
        if default is not None and config.get(name, node_id) is None:
            return default
        return config.get_int(name, node_id)

    def required(fits: bool, text: str) -> None:
        if not fits:
            raise ConfigError(f"requirement failed: {text}")

    for name, least in (("log.roll.ms", 1), ("log.roll.jitter.ms", 0)):
        found = value(name, least)
        required(found is not None and found >= least, f"{name} must be greater than or equal to {least}")
    retention = value("log.retention.ms", -1)
    text = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
    required(retention is not None and (retention >= 1 or retention < 0), text)
    threads, buffer = value("log.cleaner.threads"), value("log.cleaner.dedupe.buffer.size")
    assert threads is not None
    assert buffer is not None
    if threads == 0:
        raise ConfigError("/ by zero")  # Kafka's words are those of its division
    text = "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
    required(buffer // threads > _MIB, text)
