"""Listeners of a running broker: what its dynamic `listeners` and `listener.security.protocol.map` make of them.

As in Kafka listeners are told apart by their names: one that is new is opened, one that is gone is closed, and one that
stays keeps its address until the broker starts again. `advertised.listeners` cannot change, so nobody is told of new
ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.keys import LIVE_LISTENERS, broker_keys
from odradek.broker.config.listener_layout import NodeListeners, layout_of, listeners_of

if TYPE_CHECKING:
    from odradek.broker.config.listeners import Listener

_ADVERTISED = "advertised.listeners"
_LISTENERS = "listeners"


def check_listeners(config: BrokerConfig, node_id: int, values: Mapping[str, str]) -> None:
    """ConfigError, in Kafka's words, if a node cannot have the listeners of these dynamic configs."""
    current = config.dynamic_nodes.get(node_id, {})
    if all(values.get(name) == current.get(name) for name in LIVE_LISTENERS):
        return
    after = layout_with(config, node_id, values)
    before = {each.name: each.protocol for each in _all_of(layout_with(config, node_id, current))}
    for listener in _all_of(after):
        if before.get(listener.name, listener.protocol) is not listener.protocol:
            raise ConfigError(
                "Invalid value org.apache.kafka.common.config.ConfigException: Security protocol cannot be updated for "
                f"existing listener ListenerName({listener.name}) for configuration Invalid dynamic configuration"
            )


def layout_with(config: BrokerConfig, node_id: int, values: Mapping[str, str]) -> NodeListeners:
    """The listeners of a node with these dynamic configs. ConfigError, in Kafka's words, for what does not fit."""
    own = {name: values[name] for name in LIVE_LISTENERS if name in values}
    known = {name: text for name, text in config.static.items() if name in broker_keys()}
    if len(config.node_ids) > 1:
        known |= _texts_of(listeners_of(BrokerConfig(file=known, node_ids=config.node_ids))[node_id])
    with _requirements():
        return layout_of(BrokerConfig(file=known | own, node_ids=(node_id,)), node_id)


def _texts_of(layout: NodeListeners) -> dict[str, str]:
    """What one of several nodes would have in a file of its own."""
    texts = {}
    if layout.given:
        texts[_LISTENERS] = ",".join(map(str, _all_of(layout)))
    if layout.advertised is not None:
        texts[_ADVERTISED] = ",".join(map(str, layout.advertised.values()))
    return texts


def _all_of(layout: NodeListeners) -> tuple[Listener, ...]:
    return (*layout.listeners, *layout.controllers)


@contextmanager
def _requirements() -> Iterator[None]:
    """Kafka says of its own rules that they are requirements, and not so of what it cannot read."""
    try:
        yield
    except ConfigError as error:
        text = str(error)
        plain = text.startswith(("Error ", "Invalid ", "Listener ", "Only one "))
        raise ConfigError(text if plain else f"requirement failed: {text}") from None
