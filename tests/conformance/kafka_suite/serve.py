"""The command `odradek` as the stand-ins start it: forks of a process that has imported it, to start in no time.

A broker cannot load the test's own principal builder, or its check of passwords: Java classes. The JVM of the test
runs them: `Principals.java` answers a line of JSON with one. `BrokerMetrics.java` reads who has logged in on which
connection.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
from typing import Any

import odradek.broker
import odradek.commands
import odradek.control
from odradek.__main__ import main
from odradek.broker.clock import BrokerClock
from odradek.broker.config.listeners import ListenerConfig
from odradek.broker.net.login_gate import LoginGate
from odradek.broker.requests.context import ConnectionInfo
from odradek.broker.security.principal import ANONYMOUS, USER, Principal
from odradek.broker.security.sasl import passwords
from odradek.broker.security.sasl.credentials import Credentials
from odradek.broker.security.sasl.passwords import PlainServer
from odradek.broker.security.sasl.server import NewSaslServer, SaslError, SaslServer
from odradek.broker.security.tls.certificate_names import subject_of


class Principals:
    """What ConnectionInfo.principal becomes: a principal is put there once the connection is authenticated."""

    def __init__(self, port: int, listeners: frozenset[str]) -> None:
        self._port = port
        self._listeners = listeners
        self._slot: Any = vars(ConnectionInfo)["principal"]

    def __get__(self, info: ConnectionInfo, _: type[ConnectionInfo]) -> Principal:
        found: Principal = self._slot.__get__(info)
        return found

    def __set__(self, info: ConnectionInfo, principal: Principal) -> None:
        authenticated = principal != ANONYMOUS or not (info.protocol.sasl or info.protocol.tls)
        if info.listener in self._listeners and authenticated:
            principal = self._ask(info, principal)
        self._slot.__set__(info, principal)

    def _ask(self, info: ConnectionInfo, given: Principal) -> Principal:
        asked = {
            "listener": info.listener,
            "protocol": info.protocol.name,
            "address": info.peer_host,
            "name": given.name,
        }
        certificate = info.tls.getpeercert(binary_form=True) if info.protocol.tls and info.tls is not None else None
        if certificate is not None:
            asked["subject"] = subject_of(certificate)
        answer = ask(self._port, asked)
        if "error" in answer:
            raise ValueError(f"the test's principal builder: {answer['error']}")
        return BuiltPrincipal(answer["type"], answer["name"], given)


class BuiltPrincipal(Principal):
    """What the test's builder made of a principal. One who logs in again as the same is no other."""

    __slots__ = ("given",)

    given: Principal

    def __init__(self, kind: str, name: str, given: Principal) -> None:
        super().__init__(kind, name)
        object.__setattr__(self, "given", given)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) or other == self.given

    __hash__ = Principal.__hash__


class AskingPlainServer(PlainServer):
    """A log-in with PLAIN whose password the test checks."""

    def __init__(self, port: int, listener: str) -> None:
        super().__init__({})
        self._port = port
        self._listener = listener

    def evaluate(self, token: bytes) -> bytes:
        _, name, password = token.decode().split("\0")
        answer = ask(self._port, {"listener": self._listener, "name": name, "password": password})
        if "error" in answer:
            raise SaslError("Authentication failed: credentials for user could not be verified", name)
        if not answer["right"]:
            raise SaslError("Authentication failed: Invalid username or password", name)
        self.principal = Principal(USER, name)
        self.complete = True
        return b""


def ask(port: int, asked: dict[str, str]) -> dict[str, Any]:
    """What the JVM answers."""
    with socket.create_connection(("127.0.0.1", port)) as jvm, jvm.makefile("rw", encoding="utf-8") as lines:
        lines.write(json.dumps(asked) + "\n")
        lines.flush()
        answer: dict[str, Any] = json.loads(lines.readline())
        return answer


def check_passwords_by_asking(port: int, listeners: frozenset[str]) -> None:
    """Let the JVM check the passwords of PLAIN at these listeners."""
    usual = passwords.plain

    def chosen(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
        if config.name in listeners:
            return lambda: AskingPlainServer(port, config.name)
        return usual(config, credentials, clock)

    setattr(passwords, "plain", chosen)  # noqa: B010


def tell_users(file: str) -> None:
    """Write a line for each log-in, connection and user: only the broker knows both."""
    complete = LoginGate._complete

    def told(gate: LoginGate, info: ConnectionInfo, server: SaslServer) -> int:
        session_ms = complete(gate, info, server)
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(f"{info.id}\t{info.principal.name}\n")
        return session_ms

    setattr(LoginGate, "_complete", told)  # noqa: B010


def main_of(asked: dict[str, Any]) -> int:
    """What a fork of this process is: `odradek` with these arguments, this environment and these files."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(asked["environment"])
    for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    tell_users(asked["users"])
    if where := os.environ.get("ODRADEK_SUITE_PRINCIPALS"):
        known = json.loads(where)
        type.__setattr__(ConnectionInfo, "principal", Principals(known["port"], frozenset(known["builders"])))
        check_passwords_by_asking(known["port"], frozenset(known["passwords"]))
    return main(asked["arguments"])


def fork_for_each_line() -> None:
    """Each line of the input starts a broker, and its process id is a line of the output."""
    for package in (odradek.broker, odradek.commands, odradek.control):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with contextlib.suppress(ImportError):  # of what is optional
                importlib.import_module(module.name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while line := sys.stdin.readline():
        process = os.fork()
        if process == 0:
            status = 1
            try:
                status = main_of(json.loads(line))
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        print(process, flush=True)


if __name__ == "__main__":
    fork_for_each_line()
