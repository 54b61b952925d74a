"""Listeners that are added to a running broker and taken away, through its dynamic configs."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import WireClient, WireError
from tests.scenarios.listeners import HOST, shown
from tests.scenarios.sasl_broker import jaas
from tests.scenarios.target import wait_until

_BROKER, _SET, _DELETE = 4, 0, 1
MAP = "listener.security.protocol.map"
PROTOCOLS = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,EXTRA:PLAINTEXT,LOGIN:SASL_PLAINTEXT,SPARE:PLAINTEXT"
DONE = (0, None)
CANNOT = "Cannot update these configs dynamically: [advertised.listeners]"
PER_BROKER = "Cannot update these configs at default cluster level, broker id must be specified: [{}]"
PROTOCOL_STAYS = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Security protocol cannot be updated for existing "
    "listener ListenerName({}) for configuration Invalid dynamic configuration"
)


@dataclass(frozen=True)
class Ports:
    """Of a broker: its two listeners, and two that are free."""

    plain: int
    controller: int
    extra: int
    other: int

    def listeners(self, *more: str) -> str:
        """`listeners` with these besides."""
        return ",".join([f"PLAINTEXT://{HOST}:{self.plain}", f"CONTROLLER://{HOST}:{self.controller}", *more])

    def properties(self) -> dict[str, str]:
        """For a file that says nothing of `advertised.listeners`."""
        return {
            "process.roles": "broker,controller",
            "node.id": "0",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"0@{HOST}:{self.controller}",
            "listeners": self.listeners(),
            MAP: PROTOCOLS,
            "inter.broker.listener.name": "PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
        }

    def alter(self, resource: str = "0", **configs: str | None) -> tuple[int, str | None]:
        """Set configs (`_` for a dot) of the broker, None deletes; the answer."""
        named = {name.replace("_", "."): value for name, value in configs.items()}
        return self.alter_named(named, resource)

    def alter_named(self, configs: Mapping[str, str | None], resource: str = "0") -> tuple[int, str | None]:
        changes = [AlterableConfig(name, _DELETE if text is None else _SET, text) for name, text in configs.items()]
        with WireClient(HOST, self.plain) as client:
            request = IncrementalAlterConfigsRequest([AlterConfigsResource(_BROKER, resource, changes)])
            [answer] = client.request(request).responses
        return answer.error_code, answer.error_message


def brokers(port: int, security: ClientSecurity = PLAIN_TEXT) -> list[int]:
    """The ports of the brokers that a client of this port is told of."""
    with WireClient(HOST, port, timeout_s=60, security=security) as client:
        return [each.port for each in client.request(MetadataRequest(topics=[])).brokers]


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def check_added_and_removed(ports: Ports) -> None:
    """A listener comes, serves, is not advertised, and goes with its connections."""
    extra = f"EXTRA://{HOST}:{ports.extra}"
    assert ports.alter(listeners=ports.listeners(extra)) == DONE
    wait_until("the new listener", lambda: is_open(ports.extra))
    assert brokers(ports.extra) == []  # nobody is told of it
    assert brokers(ports.plain) == [ports.plain]
    value, source = shown(ports.plain)["listeners"][:2]
    assert (value, source) == (ports.listeners(extra), 2)
    with WireClient(HOST, ports.extra) as held:
        assert ports.alter(listeners=None) == DONE
        wait_until("the end of the listener", lambda: not is_open(ports.extra))
        try:
            held.request(MetadataRequest(topics=[]))
        except WireError:
            pass
        else:
            raise AssertionError("who came through the listener is cut")
    assert brokers(ports.plain) == [ports.plain]


def check_a_name_that_stays_keeps_its_socket(ports: Ports) -> None:
    assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.extra}")) == DONE
    wait_until("the new listener", lambda: is_open(ports.extra))
    with WireClient(HOST, ports.extra) as held:
        spare = f"SPARE://{HOST}:0"
        assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.other}", spare)) == DONE
        wait_until("the change", lambda: str(ports.other) in shown(ports.plain)["listeners"][0])
        assert held.request(MetadataRequest(topics=[])).brokers == []
        assert not is_open(ports.other)
    # Kafka finds only a listener with the address that it was opened with, to close it
    assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.extra}")) == DONE
    assert ports.alter(listeners=None) == DONE
    wait_until("the end of the listener", lambda: not is_open(ports.extra))


def check_a_listener_with_log_ins(ports: Ports) -> None:
    """It comes in one request with what its clients need."""
    key = "listener.name.login.plain.sasl.jaas.config"
    config = {"listeners": ports.listeners(f"LOGIN://{HOST}:{ports.extra}"), key: jaas("PLAIN", user_ann="a-secret")}
    assert ports.alter_named(config) == DONE
    wait_until("the new listener", lambda: is_open(ports.extra))
    known = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    for password, good in (("a-secret", True), ("guess", False)):
        login = ClientSecurity.parse({**known, "sasl.jaas.config": jaas("PLAIN", username="ann", password=password)})
        try:
            assert brokers(ports.extra, login) == []
        except WireError:
            assert not good
        else:
            assert good
    try:
        brokers(ports.extra)
    except WireError:
        pass
    else:
        raise AssertionError("nobody is served without a log-in")
    assert ports.alter_named(dict.fromkeys(config)) == DONE
    wait_until("the end of the listener", lambda: not is_open(ports.extra))


def check_refusals(ports: Ports) -> None:
    """In Kafka's words; nothing changes."""

    def refused(text: str, resource: str = "0", **configs: str | None) -> None:
        assert ports.alter(resource, **configs) == (42, text)

    plain = f"PLAINTEXT://{HOST}:{ports.plain}"
    refused(CANNOT, advertised_listeners=plain)
    refused(PER_BROKER.format("listeners"), "", listeners=ports.listeners())
    refused(PER_BROKER.format(MAP), "", **{MAP: PROTOCOLS})
    refused("Error creating broker listeners from '[x]': Unable to parse x to a broker endpoint", listeners="x")
    unknown = f"FOO://{HOST}:{ports.extra}"
    given = ports.listeners(unknown).replace(",", ", ")
    text = f"Error creating broker listeners from '[{given}]': No security protocol defined for listener FOO"
    refused(text, listeners=ports.listeners(unknown))
    refused(
        "requirement failed: controller.listener.names must contain at least one value appearing in the 'listeners' "
        "configuration when running the KRaft controller role",
        listeners=plain,
    )
    refused(PROTOCOL_STAYS.format("PLAINTEXT"), **{MAP: PROTOCOLS.replace("PLAINTEXT:PLAINTEXT", "PLAINTEXT:SSL", 1)})
    bad = PROTOCOLS.replace("EXTRA:PLAINTEXT", "EXTRA:FOO")
    refused(f"Invalid security protocol `FOO` defined in {MAP}", **{MAP: bad})
    for name in ("controller.listener.names", "inter.broker.listener.name", "early.start.listeners"):
        refused(f"Cannot update these configs dynamically: [{name}]", **{name: "EXTRA"})
    assert shown(ports.plain)["listeners"][:2] == (ports.listeners(), 4)
    assert not is_open(ports.extra)


def check_a_name_of_the_map(ports: Ports) -> None:
    """The map may change with the listeners, but not for one that is there."""
    listeners = ports.listeners(f"NEW://{HOST}:{ports.extra}")
    assert ports.alter(**{MAP: f"{PROTOCOLS},NEW:PLAINTEXT", "listeners": listeners}) == DONE
    wait_until("the new listener", lambda: is_open(ports.extra))
    wait_until("the map", lambda: shown(ports.plain)[MAP][:2] == (f"{PROTOCOLS},NEW:PLAINTEXT", 2))
    assert ports.alter(**{MAP: f"{PROTOCOLS},NEW:SSL"}) == (42, PROTOCOL_STAYS.format("NEW"))
    assert ports.alter_named({"listeners": None, MAP: None}) == DONE
    wait_until("the end of the listener", lambda: not is_open(ports.extra))


CHECKS = (
    check_refusals,
    check_added_and_removed,
    check_a_name_that_stays_keeps_its_socket,
    check_a_listener_with_log_ins,
    check_a_name_of_the_map,
)
