"""A broker in a child process: `KafkaBroker(process=True)`."""

from __future__ import annotations

import base64
import contextlib
import json
import pickle
import secrets
import subprocess
import sys
from typing import Any, Self

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.remote.broker import RemoteBroker, RemoteFork
from odradek.broker.facade.remote.transport import Transport, remote_error
from odradek.broker.facade.settings import Settings, StartedBroker, strictness
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.mistakes import check_arguments

_CLOSE_TIMEOUT_S = 15.0
_CHILD = "odradek.control.child"


class ProcessBroker(StartedBroker, RemoteBroker):
    """A broker in a child process. The process ends with `close`, or with this process.

    `KafkaBroker(process=True)` makes one. `KafkaBroker` registers this class, so ``isinstance`` takes it for one.
    """

    def __init__(
        self, *arguments: Any, clock: BrokerClock | None = None, strict: bool | str = False, **named: Any
    ) -> None:
        if clock is not None:
            raise ValueError("process=True: the clock is in the broker's process; move it with broker.clock")
        check_arguments(Settings.__init__, (self, *arguments), named)
        self._strict = strictness(strict)
        self._arguments = arguments, named
        self._faults = []
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Transport | None = None

    @property
    def _remote(self) -> Transport:
        if self._child is None or self._connection is None:
            raise BrokerClosedError("the broker has not been started; use `with` or start()")
        if (status := self._child.poll()) is not None:
            raise BrokerClosedError(f"the broker is closed: its process has ended with status {status}")
        return self._connection

    def __repr__(self) -> str:
        try:
            return f"<KafkaBroker at {self.bootstrap_servers}, in process {self._child.pid if self._child else '?'}>"
        except BrokerClosedError as error:
            return f"<KafkaBroker: {error}>"

    def start(self) -> Self:
        """Start the process. Its broker accepts connections when the call returns. Raises what made it fail."""
        if self._child is not None:
            raise RuntimeError("a broker starts once; make a new one")
        token = secrets.token_urlsafe()
        settings = base64.b64encode(pickle.dumps({"arguments": self._arguments, "token": token}))
        command = [sys.executable, "-m", _CHILD]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.write(settings + b"\n")
            self._child.stdin.flush()
        line = self._child.stdout.readline()
        told = json.loads(line) if line else {}
        if "url" not in told:
            self._end()
            if told:
                raise remote_error(told)
            raise BrokerClosedError("the broker's process ended before it was ready; its standard error says why")
        self._connection = Transport(told["url"], token)
        return self

    def _fork_kind(self) -> type[RemoteFork]:
        return ForkOfProcess

    def __enter__(self) -> Self:
        return self.start()

    def close(self) -> None:
        """End the process. Raises BrokerClosedError if it had ended by itself; see ``strict``."""
        child = self._child
        if child is None or child.stdin is None or child.stdin.closed:
            return
        status = child.poll()
        judge = self._judgement()
        self._end()
        if status is not None:
            raise BrokerClosedError(f"the broker's process ended by itself, with status {status}")
        judge()

    def _end(self) -> None:
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        try:
            child.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


class ForkOfProcess(RemoteFork):
    """A fork in the same child process; ``isinstance`` takes it for a `KafkaBroker`, too."""

    def __repr__(self) -> str:
        return f"<KafkaBroker, a fork at {self._remote.url}>"

    def start(self) -> Self:
        """Raises RuntimeError: a fork is running from the beginning."""
        raise RuntimeError("a fork runs already")

    def _fork_kind(self) -> type[RemoteFork]:
        return ForkOfProcess
