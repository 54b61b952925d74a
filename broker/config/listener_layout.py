"""The listeners of each node: `listeners`, `advertised.listeners` and their relatives, checked as Kafka does.

One value serves all nodes of the process. A name that occurs once belongs to every node: the first node has its port,
the others the following ones, and port 0 is any free one. A name that occurs once for each node belongs to them in
their order. The controllers' names belong to the nodes that are controllers in the same way. A node that joins later
has the port that its id gives it, where a name occurs once, and else listeners of its own.

A running broker can change `listeners` and `listener.security.protocol.map`. Listeners are identified by their names,
as in Kafka: a new one is opened, a removed one is closed, and the others keep their addresses until the broker
restarts. `advertised.listeners` cannot change, so new listeners are not advertised.

The rules of `max.connections.per.ip` are here as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from odradek.broker.config.broker_config import NO_NODE, BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.keys import LIVE_LISTENERS, broker_keys
from odradek.broker.config.listeners import (
    Listener,
    SecurityProtocol,
    address_text,
    normalised,
    parse_listener,
    parse_protocols,
)
from odradek.broker.config.node_config import Address, are_separate, check_roles, quorum_of, voters_of

PER_IP = "max.connections.per.ip"
OVERRIDES = "max.connections.per.ip.overrides"
NEEDS_OVERRIDES = f"{PER_IP} can be set to zero only if {OVERRIDES} property is set."
_HOST = r"[0-9a-zA-Z\-%._:]*"


def overrides_of(text: str) -> dict[str, int]:
    """The connections that each host may have, as `host:count` pairs say; ConfigError for other text."""
    found: dict[str, int] = {}
    for pair in re.split(r"\s*,\s*", text) if text else ():
        host, colon, count = pair.rpartition(":")
        if not colon:
            raise ConfigError(f"Error parsing configuration property '{OVERRIDES}': {pair!r} is not host:count")
        if not re.fullmatch(r"[+-]?[0-9]+", count.strip()):
            raise ConfigError(f"Error parsing configuration property '{OVERRIDES}': {count!r} is not a number")
        found[host.strip()] = int(count)
    return found


def check_connections(per_ip: int, overrides: str) -> None:
    """ConfigError, in Kafka's words, for limits that do not fit together."""
    hosts = overrides_of(overrides)
    if per_ip == 0 and not hosts:
        raise ConfigError(NEEDS_OVERRIDES)
    invalid = [host for host in hosts if not re.fullmatch(_HOST, host)]
    if invalid:
        raise ConfigError(f"{OVERRIDES} contains invalid addresses : {','.join(invalid)}")


def check_connections_of(config: BrokerConfig) -> None:
    """`check_connections` for what a broker starts with."""
    for node_id in config.node_ids:
        if not {PER_IP, OVERRIDES}.isdisjoint(config.static_of(node_id)):
            check_connections(config.get_int(PER_IP, node_id), config.get_str(OVERRIDES, node_id))


_ANYWHERE = "0.0.0.0"
_IP_STACKS = 2


class NodeListeners(NamedTuple):
    """The listeners of one node.

    `listeners`: those that clients may connect to, the one for brokers first; their addresses count only if `given`.
    `advertised`: the addresses to tell, by listener name; nobody is told of a listener that is not in it. None where
    nothing was set. `controllers`: where it listens as a controller; `told_controllers`: the same, as it is told.
    """

    listeners: tuple[Listener, ...]
    advertised: Mapping[str, Listener] | None
    controllers: tuple[Listener, ...]
    told_controllers: tuple[Listener, ...]
    given: bool


def listeners_of(config: BrokerConfig) -> dict[int, NodeListeners]:
    """The listeners of each of the config's nodes; ConfigError, in Kafka's words, for what does not fit together."""
    check_roles(config)
    quorum = quorum_of(config)
    rules = _Rules(config, quorum.combined)
    given = _are_given(config)
    bound = rules.parsed("listeners", distinct_ports=True)
    told = rules.parsed("advertised.listeners")
    check_connections_of(config)
    found = {}
    for index, node_id in enumerate(config.node_ids):
        advertises = config.get("advertised.listeners", node_id) is not None
        found[node_id] = rules.layout(node_id, bound[index], told[index] if advertises else None, given)
    found |= {node_id: rules.controller(node_id, address) for node_id, address in quorum.separate.items()}
    if given:
        _check_following_ports({node: [*each.listeners, *each.controllers] for node, each in found.items()})
    return found


def _are_given(config: BrokerConfig) -> bool:
    """Whether the nodes are told where to listen; ConfigError if only some are."""
    given = [node_id for node_id in config.node_ids if "listeners" in config.static_of(node_id)]
    if given and len(given) < len(config.node_ids):
        raise ConfigError(f"listeners is set for node {given[0]}, so set it for every node, or for all together")
    return bool(given)


def layout_of(config: BrokerConfig, node_id: int, *, is_controller: bool) -> NodeListeners:
    """The listeners that a config gives its one node, a broker; ConfigError as `listeners_of`."""
    rules = _Rules(config, [node_id] if is_controller else [])
    [bound] = rules.parsed("listeners", distinct_ports=True)
    told = None if config.get("advertised.listeners") is None else rules.parsed("advertised.listeners")[0]
    return rules.layout(node_id, bound, told, "listeners" in config.static)


class _Rules:
    """The listeners' names and protocols in the configuration, the same for all nodes. `combined`: brokers and
    controllers.
    """

    def __init__(self, config: BrokerConfig, combined: Collection[int]) -> None:
        self._config = config
        self._combined = combined
        self._controllers = list(config.get_list("controller.listener.names"))
        self._protocols = self._protocol_map()

    def _protocol_map(self) -> Mapping[str, SecurityProtocol]:
        protocols = parse_protocols(self._config.get_str("listener.security.protocol.map"))
        if "listener.security.protocol.map" in self._config.static_of():
            return protocols
        texts = [text for node_id in self._config.node_ids for text in self._config.get_list("listeners", node_id)]
        names = {text.partition(":")[0].upper() for text in texts}
        secured = {protocol.value for protocol in SecurityProtocol} - {SecurityProtocol.PLAINTEXT.value}
        if secured & {*names, *self._controllers}:
            return protocols
        return {**dict.fromkeys(self._controllers, SecurityProtocol.PLAINTEXT), **protocols}

    def parsed(self, key: str, *, distinct_ports: bool = False) -> list[list[Listener]]:
        """The listeners of each node that a config names: the node's own value, or its part of the one for all."""
        config = self._config
        of_all = config.get_list(key, NO_NODE)
        found = self._parsed(of_all, config.founder_ids, distinct_ports)
        for node_id in config.node_ids:
            if key in config.static_nodes.get(node_id, {}):
                found |= self._parsed(config.get_list(key, node_id), [node_id], distinct_ports)
            elif node_id in config.later_ids:
                distance = node_id - config.founder_ids[0]
                found[node_id] = self._of_later(key, of_all, node_id, distance)
        return [found[node_id] for node_id in config.node_ids]

    def _of_later(self, key: str, texts: Sequence[str], node_id: int, distance: int) -> list[Listener]:
        """What a value for all gives a node that joins a running cluster."""
        listeners = [parse_listener(text, self._protocols) for text in texts]
        if len({each.name for each in listeners}) < len(listeners):
            raise ConfigError(f"{key} lists the addresses of the nodes, and none for node {node_id}: give it its own")
        own = [each for each in listeners if node_id in self._combined or not self._is_of_controllers(each.name)]
        return [_following(each, distance) for each in own]

    def _parsed(self, texts: Sequence[str], nodes: Sequence[int], distinct_ports: bool) -> dict[int, list[Listener]]:
        shown = f"[{', '.join(texts)}]"
        try:
            listeners = [parse_listener(text, self._protocols) for text in texts]
            found = self._for_each_node(listeners, shown, nodes)
            if distinct_ports:
                for each in found.values():
                    _check_ports(each, shown)
        except ConfigError as error:
            raise ConfigError(f"Error creating broker listeners from '{shown}': {error}") from None
        return found

    def _is_of_controllers(self, name: str) -> bool:
        return name in self._controllers and not are_separate(self._config)

    def _for_each_node(
        self, listeners: Sequence[Listener], shown: str, nodes: Sequence[int]
    ) -> dict[int, list[Listener]]:
        """The parts of one value for each node; see the module."""
        by_name: dict[str, list[Listener]] = {}
        for listener in listeners:
            by_name.setdefault(listener.name, []).append(listener)
        found: dict[int, list[Listener]] = {node_id: [] for node_id in nodes}
        for name, given in by_name.items():
            of_controllers = self._is_of_controllers(name)
            owners = [node_id for node_id in found if not of_controllers or node_id in self._combined]
            if len(given) == 1:
                given = [_following(given[0], index) for index in range(len(owners))]
            elif len(given) != len(owners):
                text = f"Each listener must have a different name, listeners: {shown}"
                if len(found) > 1:
                    what = f"{len(owners)} controllers" if of_controllers else f"{len(owners)} nodes"
                    text += f" (of {what}: a name stands there once, or for each; {name} {len(given)} times)"
                raise ConfigError(text)
            for node_id, listener in zip(owners, given, strict=True):
                found[node_id].append(listener)
        return found

    def layout(
        self, node_id: int, bound: Sequence[Listener], told: Sequence[Listener] | None, given: bool
    ) -> NodeListeners:
        """The listeners of a node that these configs give it."""
        self._check_controllers(node_id, bound)
        own = [each for each in bound if each.name not in self._controllers]
        advertised = [each for each in (bound if told is None else told) if each.name not in self._controllers]
        first = self._inter_broker()
        self._check_early(bound)
        self._check_advertised(bound, advertised, first)
        if told is not None and any(each.host == _ANYWHERE for each in advertised):
            text = (
                f"advertised.listeners cannot use the nonroutable meta-address {_ANYWHERE}. Use a routable IP address."
            )
            raise ConfigError(text)
        order = {each.name: place for place, each in enumerate(advertised)}
        own.sort(key=lambda each: (each.name != first, order.get(each.name, len(order))))
        controllers = {each.name: each for each in bound if each.name in self._controllers}
        ordered = tuple(controllers[name] for name in self._controllers if name in controllers)
        by_name = None if told is None else {each.name: each for each in advertised}
        return NodeListeners(tuple(own), by_name, ordered, self._told_controllers(node_id, ordered, told or ()), given)

    def controller(self, node_id: int, address: Address) -> NodeListeners:
        """The listeners of a controller that is no broker: its own, or one at its address in the quorum."""
        names = self._config.get_list("controller.listener.names", node_id)
        if not names:
            raise ConfigError('Missing required configuration "controller.listener.names" which has no default value.')
        if "listeners" in self._config.static_nodes.get(node_id, {}):
            return self._own_of_controller(node_id, names)
        name = names[0]
        if name not in self._protocols:
            raise ConfigError(
                f"Controller listener with name {name} defined in controller.listener.names not found in "
                "listener.security.protocol.map  (an explicit security mapping for each controller listener is "
                "required if listener.security.protocol.map is non-empty, or if there are security protocols other "
                "than PLAINTEXT in use)"
            )
        listener = (Listener(name, self._protocols[name], *address),)
        return NodeListeners((), None, listener, listener, given=True)

    def _own_of_controller(self, node_id: int, names: Sequence[str]) -> NodeListeners:
        texts = self._config.get_list("listeners", node_id)
        [bound] = self._parsed(texts, [node_id], distinct_ports=True).values()
        if not {each.name for each in bound}.issuperset(names):
            raise ConfigError(
                "controller.listener.names must only contain values appearing in the 'listeners' configuration when "
                "running the KRaft controller role"
            )
        if not {each.name for each in bound} <= set(names):
            raise ConfigError(
                "The listeners config must only contain KRaft controller listeners from controller.listener.names when "
                "process.roles=controller"
            )
        of_brokers = {text.partition(":")[0].upper() for text in self._config.get_list("listeners")}
        for each in bound:
            if each.protocol.sasl and each.name in of_brokers:
                raise ConfigError(
                    f"listeners of node {node_id}: {each.name} belongs to brokers; one with SASL needs another name"
                )
        listeners = tuple(sorted(bound, key=lambda each: names.index(each.name)))
        return NodeListeners((), None, listeners, listeners, given=True)

    def _check_controllers(self, node_id: int, bound: Iterable[Listener]) -> None:
        names = {each.name for each in bound}
        if are_separate(self._config) and names & set(self._controllers):
            raise ConfigError(
                "controller.listener.names must not contain a value appearing in the 'listeners' configuration when "
                "running KRaft with just the broker role"
            )
        if node_id not in self._combined:
            return
        if self._controllers and not names & {name.upper() for name in self._controllers}:
            raise ConfigError(
                "controller.listener.names must contain at least one value appearing in the 'listeners' configuration "
                "when running the KRaft controller role"
            )
        if not names.issuperset(self._controllers):
            raise ConfigError(
                "controller.listener.names must only contain values appearing in the 'listeners' configuration when "
                "running the KRaft controller role"
            )

    def _check_early(self, bound: Iterable[Listener]) -> None:
        known = {each.name for each in bound}
        for name in self._config.get_list("early.start.listeners"):
            if name not in known:
                raise ConfigError(
                    f"early.start.listeners contains listener {name}, but this is not contained in listeners or "
                    "controller.listener.names"
                )

    def _inter_broker(self) -> str:
        name = self._config.get("inter.broker.listener.name")
        if name is None:
            return self._config.get_str("security.inter.broker.protocol")
        if "security.inter.broker.protocol" in self._config.static_of():
            raise ConfigError(
                "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set."
            )
        known = normalised(str(name))
        if known not in self._protocols:
            raise ConfigError(
                f"Listener with name {known} defined in inter.broker.listener.name not found in "
                "listener.security.protocol.map."
            )
        return known

    def _check_advertised(self, bound: Iterable[Listener], advertised: Iterable[Listener], first: str) -> None:
        names = [each.name for each in advertised]
        if not names:
            raise ConfigError(
                "There must be at least one broker advertised listener. Perhaps all listeners appear in "
                "controller.listener.names?"
            )
        if first not in names:
            raise ConfigError(
                "inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid options "
                f"based on currently configured listeners are {','.join(names)}"
            )
        known = [each.name for each in bound]
        if not set(names) <= set(known):
            raise ConfigError(
                "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. "
                f"Found {','.join(names)}. The valid options based on the current configuration are {','.join(known)}"
            )

    def _told_controllers(
        self, node_id: int, bound: Iterable[Listener], told: Iterable[Listener]
    ) -> tuple[Listener, ...]:
        """As advertised; else as they listen, where an address of the first one's may come from the voters."""
        advertised = {each.name: each for each in told}
        voter = voters_of(self._config.get_list("controller.quorum.voters")).get(node_id)
        found = []
        for place, listener in enumerate(bound):
            each = advertised.get(listener.name, listener)
            if listener.name not in advertised and each.host in ("", _ANYWHERE):
                host, port = voter if voter is not None and place == 0 else ("", each.port)
                each = each._replace(host=host, port=port)
            found.append(each)
        return tuple(found)


def _following(listener: Listener, index: int) -> Listener:
    port = listener.port + index if listener.port else 0
    if not 0 <= port <= 65_535:
        raise ConfigError(f"listener {listener}: there is no port {port} for node {index + 1} of the process")
    return listener._replace(port=port)


def _check_ports(listeners: Iterable[Listener], shown: str) -> None:
    """Ports are distinct, but for one that is taken on an IPv4 and on an IPv6 address."""
    by_port: dict[int, list[Listener]] = {}
    for listener in listeners:
        by_port.setdefault(listener.port, []).append(listener)
    for port, sharing in by_port.items():
        if port == 0 or len(sharing) == 1:
            continue
        versions = [_ip_version(each.host) for each in sharing]
        if versions.count(None) > 1:
            raise ConfigError(f"Each listener must have a different port, listeners: {shown}")
        known = [version for version in versions if version is not None]
        if len(known) > _IP_STACKS:
            raise ConfigError(
                "Each listener must have a different port unless exactly one listener has an IPv4 address and the "
                f"other IPv6 address, listeners: {shown}, port: {port}"
            )
        if len(known) == _IP_STACKS and (None in versions or len(set(known)) == 1):
            raise ConfigError(
                "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6, listeners: "
                f"{shown}, port: {port}"
            )


def _ip_version(host: str) -> int | None:
    import ipaddress

    try:
        return ipaddress.ip_address(host).version
    except ValueError:
        return None


def _check_following_ports(nodes: Mapping[int, Iterable[Listener]]) -> None:
    """Following ports of one node are not those of another."""
    taken: dict[tuple[str, int], str] = {}
    for node_id, listeners in nodes.items():
        for listener in listeners:
            owner = f"{listener.name} of node {node_id}"
            other = taken.setdefault((listener.host, listener.port), owner) if listener.port else owner
            if other is not owner:
                raise ConfigError(
                    f"listeners {other} and {owner} would both listen on {address_text(listener.host, listener.port)}: "
                    "leave as many ports free behind each as there are nodes, or list each node's"
                )


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
    is_controller = node_id in quorum_of(config).combined
    known = _known(config.static_of(node_id))
    if len(config.node_ids) > 1:
        started = BrokerConfig(file=_known(config.static), nodes=config.static_nodes, node_ids=config.node_ids)
        started.later_ids = config.later_ids
        known |= _texts_of(listeners_of(started)[node_id])
    with _requirements():
        return layout_of(BrokerConfig(file=known | own, node_ids=(node_id,)), node_id, is_controller=is_controller)


def _known(values: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in values.items() if name in broker_keys()}


def _texts_of(layout: NodeListeners) -> dict[str, str]:
    """The value that one of several nodes would have in a file of its own."""
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
