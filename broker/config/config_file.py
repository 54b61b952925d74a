"""Kafka's `server.properties`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.storage.java_properties import parse_properties


def read_config_file(path: str | Path) -> dict[str, str]:
    """Names and values of a file in Java's properties format, a later line before an earlier one.

    OSError if it cannot be read; ConfigError for what is no properties file.
    """
    try:
        return parse_properties(Path(path).read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def broker_config(
    values: Mapping[str, str], path: str | Path | None, environment: Mapping[str, str] | None = None
) -> BrokerConfig:
    """The configuration that `values` say, where they say nothing `environment`, and then a file.

    ConfigError and OSError as in `BrokerConfig` and `read_config_file`.
    """
    return BrokerConfig(values, file={**(read_config_file(path) if path else {}), **(environment or {})})
