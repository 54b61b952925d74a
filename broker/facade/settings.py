"""What a broker, or a fork of one, is started with, and how one that is strict is closed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.node_config import broker_config
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.facade.topics import Topics, config_texts, create_topic, topic_specs
from odradek.broker.mistakes import checked

if TYPE_CHECKING:
    from odradek.broker.facade.report.strictness import Strictness
    from odradek.broker.facade.security_settings import Secured, Security
    from odradek.broker.facade.state.snapshot import Snapshot

_ANY_ADDRESS = ("127.0.0.1", 0)
_OWN = ("log.dirs", "log.dir", "metadata.log.dir")
_ADDRESSES = ("listeners", "advertised.listeners")
_PORT = re.compile(r":\d+(?=\s*(,|$))")


def _address(cluster: Cluster, host: str, port: int) -> tuple[str | None, int]:
    """The address to listen on if the configuration has none. Raises ValueError if both are given."""
    if not cluster.has_addresses:
        return host, port
    if (host, port) != _ANY_ADDRESS:
        raise ValueError("listeners sets the address: do not give host or port as well")
    return None, 0


def strictness(strict: bool | str) -> Strictness | None:
    """Parse ``strict``. Imports nothing for a broker that is not strict. Raises ValueError if it cannot be parsed."""
    if strict is False:
        return None
    from odradek.broker.facade.report.strictness import Strictness

    return Strictness.of(strict)


def with_release(
    config: Mapping[str, Any] | None, version: str | None, zookeeper: bool | None
) -> Mapping[str, Any] | None:
    """The configs with the Kafka release that was asked for by arguments; ValueError if the configs name another."""
    asked = {"odradek.kafka.version": version, "odradek.zookeeper": zookeeper}
    given = {name: value for name, value in asked.items() if value is not None}
    for name, value in given.items():
        if config is not None and name in config and str(config[name]) != str(value):
            raise ValueError(f"the configs say {name}={config[name]}, the arguments {value}")
    return {**(config or {}), **given} if given else config


def with_transcript(config: Mapping[str, Any] | None, transcript: bool) -> Mapping[str, Any] | None:
    """The configuration with the transcript turned off if ``transcript`` is false; otherwise unchanged."""
    return config if transcript else {**(config or {}), "odradek.transcript": "false"}


class Settings:
    """What a broker is started with, checked in the caller's thread so that the caller sees the error.

    The arguments are those of `KafkaBroker`, which explains them; they are spelled here alone, see `arguments_of`.
    """

    @checked
    def __init__(
        self,
        nodes: int = 1,
        topics: Topics | None = None,
        config: Mapping[str, Any] | None = None,
        data_dir: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        clock: BrokerClock | None = None,
        config_file: str | Path | None = None,
        node_config: Mapping[int, Mapping[str, Any]] | None = None,
        security: Security | None = None,
        process: bool = False,
        strict: bool | str = False,
        transcript: bool = True,
        registry: bool = False,
        kafka_version: str | None = None,
        zookeeper: bool | None = None,
    ) -> None:
        if process:
            raise ValueError("process=True: only KafkaBroker starts a process")
        self.strict = strictness(strict)
        self.registry = registry
        config = with_release(with_transcript(config, transcript), kafka_version, zookeeper)
        self.topics = topic_specs(topics or {})
        texts = config_texts(config or {})
        own = {node_id: config_texts(values) for node_id, values in (node_config or {}).items()}
        self.secured: Secured | None = None
        if security is not None:
            from odradek.broker.facade.security_settings import Secured, Security

            given: object = security
            if not isinstance(given, Security):
                raise TypeError(f"security={given!r}: expected an odradek.Security")
            self.secured = Secured(security, host, port)
            texts = self.secured.config(texts)
            host, port = _ANY_ADDRESS
        self.cluster = Cluster(
            nodes=nodes,
            config=broker_config(texts, config_file, nodes=own),
            data_dir=None if data_dir is None else Path(data_dir),
            clock=clock or BrokerClock(),
        )
        self.address = _address(self.cluster, host, port)

    async def start(self) -> None:
        """Create users, ACLs and topics, and listen. The cluster must be running."""
        if self.secured is not None:
            self.secured.set_up(self.cluster)
        for name, spec in self.topics.items():
            if self.cluster.topics.get(name) is None:
                create_topic(self.cluster, name, spec)
        await self.cluster.listen(*self.address)
        self.cluster.start_image = self.cluster.controller.image_copied()


Settings.__init__.__qualname__ = "KafkaBroker.__init__"  # a TypeError names what the user has called


class ForkSettings:
    """What a fork is started with: the state of another broker, on free ports."""

    strict: Strictness | None = None

    def __init__(
        self, snapshot: Snapshot, parent: Cluster, data_dir: str | Path | None, secured: Secured | None
    ) -> None:
        own = {node_id: _elsewhere(values) for node_id, values in parent.config.static_nodes.items()}
        later = parent.config.later_ids
        if later and data_dir is not None:
            raise ValueError(f"node {later[0]} joined the running cluster: a fork of it is in memory")
        self._later = {node_id: own.pop(node_id, {}) for node_id in later}
        self.secured = secured
        self.registry = parent.schema_registry is not None
        self.cluster = Cluster(
            nodes=len(parent.config.founder_ids),
            config=BrokerConfig(_elsewhere(parent.config.static), nodes=own),
            clock=BrokerClock(start_ms=snapshot.now_ms),
            data_dir=None if data_dir is None else Path(data_dir),
            cluster_id=parent.cluster_id,
        )
        self._snapshot: Snapshot | None = snapshot
        self._start_image = parent.start_image
        self._host = next(iter(parent.nodes.values())).host

    async def start(self) -> None:
        """Restore the state, and listen. The cluster must be running."""
        from odradek.broker.facade.state.restore import apply_snapshot
        from odradek.broker.nodes.added_nodes import add_node

        assert self._snapshot is not None, "a fork starts once"
        for node_id, own in self._later.items():
            add_node(self.cluster, node_id, own)
        apply_snapshot(self.cluster, self._snapshot)
        self._snapshot = None
        self.cluster.start_image = self._start_image
        given = self.cluster.has_addresses
        await self.cluster.listen(None if given else self._host, 0)


def _elsewhere(texts: Mapping[str, str]) -> dict[str, str]:
    """The configs for a second broker: without directories, and with free ports."""
    return {
        name: _PORT.sub(":0", text) if name in _ADDRESSES else text for name, text in texts.items() if name not in _OWN
    }


class StartedBroker(Broker):
    """A broker that this process starts and closes. ``with`` and ``close()`` demand what ``strict`` asks for."""

    _strict: Strictness | None = None

    def close(self) -> None:
        """Stop the broker."""
        raise NotImplementedError

    def _judgement(self) -> Callable[[], None]:
        """Collect the findings of a strict broker while it runs.

        The function that is returned warns or raises; it does so only for the first judgement of a broker.
        """
        strict, self._strict = self._strict, None
        if strict is None:
            return lambda: None
        try:
            findings = self.strictness(also=strict.also)
        except BrokerClosedError:  # the error that ended the broker is reported instead
            return lambda: None
        return lambda: strict.demand(findings)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the broker. An error of the block is kept, and not replaced by one of the broker."""
        if error is None:
            self.close()
            return
        self._strict = None  # a test that failed may have left its clients open because of that
        try:
            self.close()
        except BrokerClosedError as ended:
            error.add_note(f"and the broker ended with {ended.__cause__!r}")


P = ParamSpec("P")
R = TypeVar("R")


def arguments_of(source: Callable[P, object]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Mark a function that takes the arguments of another one and hands them on."""

    def mark(function: Callable[..., R]) -> Callable[P, R]:
        marked: Any = function
        marked.__signature__ = signature(source).replace(return_annotation=signature(function).return_annotation)
        return function

    return mark


def method_with_arguments_of(
    source: Callable[P, object],
) -> Callable[[Callable[..., R]], Callable[Concatenate[Any, P], R]]:
    """The same for a method."""

    def mark(function: Callable[..., R]) -> Callable[Concatenate[Any, P], R]:
        marked: Any = function
        own, taken = signature(function), signature(source).parameters.values()
        marked.__signature__ = own.replace(parameters=[next(iter(own.parameters.values())), *taken])
        return function

    return mark
