"""The table of commands with the options that each knows, and how they are read: as jopt-simple does."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from odradek.client_security.options import AuthenticationError, ClientSecurity, TlsError, security_options
from odradek.commands import client_options
from odradek.pipeline.cluster_client import ClusterClient
from odradek.protocol.errors import ErrorCode

KAFKA = "4.4.0"
"""The release whose tools these are like."""
_PATIENCE_S = 60.0
"""How long Kafka's clients wait for a broker: `default.api.timeout.ms`, and `max.block.ms` of a producer."""


class ToolError(Exception):
    """What a command says on standard error before it ends with 1."""


class Refused(Exception):
    """What a broker has refused, in its words."""


def check(code: int, message: str | None) -> None:
    """Raise Refused for an answer with an error."""
    if code:
        raise Refused(message or ErrorCode(code).name)


class Command(NamedTuple):
    """A command: its function as `module:function`, options without and with a value, and those that must be there."""

    function: str
    flags: str
    values: str
    required: str = ""


_CLIENT = "bootstrap-server command-config"
_RESET = "to-offset shift-by"
COMMANDS: Mapping[str, Command] = {
    "kafka-topics": Command(
        "topics:topics",
        "list create delete describe alter if-exists if-not-exists exclude-internal topics-with-overrides "
        "under-replicated-partitions unavailable-partitions",
        f"{_CLIENT} topic partitions replication-factor config",
    ),
    "kafka-configs": Command(
        "configs:configs",
        "alter describe all entity-default broker-defaults",
        f"{_CLIENT} zookeeper add-config delete-config entity-type entity-name topic broker user",
    ),
    "kafka-broker-api-versions": Command("topics:broker_api_versions", "", _CLIENT, "bootstrap-server"),
    "kafka-console-producer": Command(
        "console:producer",
        "sync",
        f"{_CLIENT} broker-list topic property reader-property producer-property command-property producer.config "
        "compression-codec request-required-acks",
        "topic",
    ),
    "kafka-console-consumer": Command(
        "console:consumer",
        "from-beginning skip-message-on-error",
        f"{_CLIENT} topic max-messages timeout-ms group partition offset property formatter-property consumer-property "
        "command-property consumer.config isolation-level",
        "bootstrap-server",
    ),
    "kafka-consumer-groups": Command(
        "groups:groups",
        "list describe delete reset-offsets all-groups all-topics members offsets verbose dry-run execute to-earliest "
        "to-latest to-current state",
        f"{_CLIENT} group topic timeout {_RESET}",
        "bootstrap-server",
    ),
    "cub": Command("waiting:cub", "", "b c"),
    "nc": Command("waiting:nc", "z v", "w"),
}


@dataclass
class Options:
    """What a command was given: options to their values (a flag has none), and the other words."""

    command: str
    given: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def all(self, *names: str) -> list[str]:
        """The values of an option, or of several that mean the same."""
        return [value for name in names for value in self.given.get(name, [])]

    def one(self, *names: str) -> str | None:
        """The last value."""
        return next(reversed(self.all(*names)), None)

    def number(self, name: str) -> int | None:
        """The value as a number; ToolError for another text."""
        text = self.one(name)
        try:
            return None if text is None else int(text)
        except ValueError:
            raise ToolError(f"Cannot parse argument '{text}' of option {name}") from None

    def pairs(self, *names: str) -> dict[str, str]:
        """Values of the form `name=value`."""
        found = {}
        for text in self.all(*names):
            name, equals, value = text.partition("=")
            if not equals:
                raise ToolError(f"Invalid command line properties: {text}")
            found[name] = value
        return found


def parse(command: str, words: Sequence[str]) -> Options:
    """The options in the words. ToolError for one that the command does not know, and for a value that is missing."""
    known = COMMANDS[command]
    flags, values = {*known.flags.split(), "help", "version"}, set(known.values.split())
    options = Options(command)
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or word == "-":
            options.words.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1 and set(name) <= flags:  # -vz
            options.given |= {letter: [] for letter in name}
            continue
        near = [each for each in (*flags, *values) if each.startswith(name)]
        name = near[0] if len(near) == 1 and name not in near else name
        if name in flags:
            options.given[name] = []
        elif name in values:
            if not equals and not waiting:
                raise ToolError(f"Option {name} requires an argument")
            options.given.setdefault(name, []).append(value if equals else waiting.pop(0))
        else:
            shown = " ".join(map(dashed, sorted(flags | values)))
            raise ToolError(f"{name} is not a recognized option\nThis {command} is odradek's. It knows {shown}")
    if options.given.keys() & {"help", "version"}:
        return options
    for name in known.required.split():
        if name not in options and not (name == "bootstrap-server" and "broker-list" in options):
            raise ToolError(f'Missing required argument "[{name}]"')
    return options


def dashed(name: str) -> str:
    """An option as it is typed."""
    return f"-{name}" if len(name) == 1 else f"--{name}"


def action(options: Options, *names: str) -> str:
    """The one of these options that is given; ToolError unless it is exactly one."""
    given = [name for name in names if name in options]
    if len(given) != 1:
        listed = ", ".join(f"--{name}" for name in names[:-1])
        raise ToolError(f"Command must include exactly one action: {listed} or --{names[-1]}")
    return given[0]


def security(options: Options, file: str = "command-config", *more: str) -> ClientSecurity:
    """The security options of a file, and those given one by one in the options `more`."""
    path = options.one(file)
    given = client_options(Path(path)) if path else {}
    return ClientSecurity.parse({**given, **security_options(options.pairs(*more))})


def connect(options: Options, chosen: ClientSecurity, *, patience_s: float = _PATIENCE_S) -> ClusterClient:
    """A client of the cluster, as soon as one of its brokers answers; ToolError if none does in time."""
    bootstrap = options.one("bootstrap-server", "broker-list")
    if bootstrap is None:
        raise ToolError("--bootstrap-server must be specified")
    deadline = time.monotonic() + patience_s
    try:
        client = ClusterClient(bootstrap, security=chosen)
    except ValueError as error:
        raise ToolError(str(error)) from None
    told = False
    while True:
        try:
            client.topics([])
            return client
        except (AuthenticationError, TlsError):
            raise
        except ConnectionError as error:
            if time.monotonic() > deadline:
                raise ToolError(f"Timed out waiting for a node assignment: {error}") from None
            if not told and patience_s:
                print(f"No node answers at {bootstrap} yet; waiting up to {patience_s:g} s.", file=sys.stderr)
            told = True
        time.sleep(0.1)
