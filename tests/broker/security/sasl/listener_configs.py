"""Configurations of a listener for tests of single mechanisms."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.config.broker_config import default_text
from odradek.broker.config.keys import broker_keys
from odradek.broker.config.listeners import ListenerConfig


def listener_config(values: Mapping[str, str | None], name: str = "SASL") -> ListenerConfig:
    """What a listener sees of these broker configs; nothing is checked. None: a config that the release has not."""

    def text_of(key: str) -> str | None:
        return values.get(key, default_text(key) if key in broker_keys() else None)

    return ListenerConfig(name, text_of)


def with_jaas(mechanism: str, text: str) -> ListenerConfig:
    """The configuration of a mechanism with this JAAS text."""
    key = f"listener.name.sasl.{mechanism.lower()}.sasl.jaas.config"
    return listener_config({key: text}).for_mechanism(mechanism)
