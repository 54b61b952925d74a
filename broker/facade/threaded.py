"""A broker in a thread of its own, for sync and asyncio code."""

from __future__ import annotations

import importlib
import threading
from abc import ABCMeta
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast

import trio

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.settings import ForkSettings, Settings, StartedBroker, method_with_arguments_of
from odradek.broker.facade.thread_bridge import BrokerClosedError, HandOver, only_cause

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 10.0


class KafkaBroker(StartedBroker, BlockingBroker, metaclass=ABCMeta):
    """A broker in a thread of its own: ``with KafkaBroker(topics={"orders": 6}) as broker: ...``.

    - ``host``, ``port``: the address to listen on (port 0 for any free one; node n listens on ``port + n - 1``), unless
      the configuration sets ``listeners``.
    - ``topics``: names, or a mapping from names to the number of partitions, or to a mapping with ``partitions``,
      ``replication_factor`` and ``config``.
    - ``config``: Kafka's broker configs. They override those of ``config_file``, Kafka's server.properties, which may
      contain unknown names.
    - ``node_config``: configs of single nodes by id, over the others: ``{2: {"broker.rack": "b"}}``. What odradek keeps
      for the whole cluster may not differ (docs/listeners.md).
    - ``process=True``: run the broker in a child process, with the same methods (docs/control.md).
    - ``strict``: check at the end whether clients relied on something that a real cluster does not promise. ``"warn"``
      emits StrictnessWarning, ``True`` or ``"fail"`` raises StrictnessError; ``"fail -auto-created"`` turns a rule off,
      ``"fail +partitioner-order"`` turns one on (docs/testing.md).
    - ``transcript=False``: do not record requests and responses, like ``odradek.transcript=false`` in the
      configuration. Reports then show the last 64 requests without their contents.
    - ``registry``: run a schema registry, at `schema_registry_url` (docs/registry.md).
    - ``kafka_version``: behave like this release of Kafka, such as ``"3.6"``; ``zookeeper``: like that release with
      ZooKeeper (docs/versions.md).

    ``start()`` (or ``with``) raises the error of a failed start. An error that ends the broker later is raised by the
    next call and by ``close()``.
    """

    _is_fork = False
    _registry: AbstractContextManager[Any] | None = None

    @method_with_arguments_of(Settings)
    def __new__(cls, *arguments: Any, process: bool = False, **named: Any) -> Self:
        """A broker in this process or, with ``process``, in another one: its HTTP client is imported when needed."""
        if not process:
            return super().__new__(cls)
        from odradek.broker.facade.process import ForkOfProcess, ProcessBroker

        for kind in (ProcessBroker, ForkOfProcess):
            KafkaBroker.register(kind)
        broker: Any = ProcessBroker(*arguments, **named)
        return cast(Self, broker)

    @method_with_arguments_of(Settings)
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._begin(Settings(*arguments, **named))

    def _begin(self, settings: Settings | ForkSettings) -> None:
        super().__init__(settings.cluster, self._ask, settings.secured)
        self._settings = settings
        self._strict = settings.strict
        self._thread: threading.Thread | None = None
        self._started: Future[None] = Future()
        self._hand_over: HandOver | None = None
        self._stop: trio.Event | None = None
        self._failure: BaseException | None = None

    def __repr__(self) -> str:
        try:
            return f"<KafkaBroker at {self.bootstrap_servers}>"
        except BrokerClosedError as error:
            return f"<KafkaBroker: {error}>"

    @property
    def bootstrap_servers(self) -> str:
        """The value for a client's ``bootstrap.servers``: ``host:port`` of every node that is up.

        Raises BrokerClosedError before ``start()`` and after ``close()``.
        """
        self._running()
        return super().bootstrap_servers

    def _running(self) -> HandOver:
        """The way into the broker's thread. Raises BrokerClosedError if the broker is not running."""
        if self._thread is None or self._hand_over is None:
            raise BrokerClosedError("the broker has not been started; use `with` or start()")
        if not self._thread.is_alive():
            raise BrokerClosedError("the broker is closed") from self._failure
        return self._hand_over

    def start(self) -> Self:
        """Start the broker. It accepts connections when the call returns."""
        if self._thread is not None:
            raise RuntimeError("a broker starts once; make a new one")
        if self._settings.registry:  # imported by name, as it knows this package
            self._registry = importlib.import_module("odradek.registry.server").RegistryServer(self)
        self._thread = threading.Thread(target=self._run, name="odradek broker", daemon=True)
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._thread.join(_CLOSE_TIMEOUT_S)
            raise
        if self._registry is not None:
            try:
                self._registry.__enter__()
            except BaseException:
                self.close()
                raise
        return self

    def close(self) -> None:
        """Stop the broker and wait for its thread. Raises the error that ended it, if there was one; see ``strict``."""
        if self._thread is None:
            return
        judge = self._judgement()
        if self._registry is not None:
            self._registry.__exit__(None, None, None)
        stop, hand_over = self._stop, self._hand_over
        if stop is not None and hand_over is not None:
            try:
                hand_over.token.run_sync_soon(stop.set)
            except trio.RunFinishedError:
                pass
        self._thread.join(_CLOSE_TIMEOUT_S)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise BrokerClosedError("the broker ended with an error") from failure
        judge()

    def fork(self, data_dir: str | Path | None = None) -> KafkaBroker:
        """Start a second broker with the state of this one, on its own ports.

        The two brokers are independent from then on; ``with`` or ``close()`` ends the fork. In memory they share the
        records that they have in common. The records of a broker with a data directory are copied; ``data_dir`` is an
        empty directory to keep the fork in.
        """
        return fork_of(self, data_dir)

    def __enter__(self) -> Self:
        return self if self._is_fork else self.start()

    # -- the broker's thread

    def _run(self) -> None:
        try:
            trio.run(self._main, clock=self._cluster.clock)
        except BaseException as error:
            failure = only_cause(error)
            if self._started.done():
                self._failure = failure
            else:
                self._started.set_exception(failure)

    async def _main(self) -> None:
        self._hand_over = HandOver()
        self._stop = trio.Event()
        async with self._cluster.run():
            await self._settings.start()
            self._started.set_result(None)
            await self._stop.wait()

    def _ask(self, function: Callable[[], T]) -> T:
        hand_over = self._running()
        try:
            return hand_over(function)
        except BrokerClosedError as error:
            if hand_over.thread.is_alive():
                raise
            raise error from self._failure


def fork_of(broker: BlockingBroker, data_dir: str | Path | None = None) -> KafkaBroker:
    """Start a broker in a thread of its own with the state of another one in this process; see `KafkaBroker.fork`."""
    from odradek.broker.facade.state.snapshot import Snapshot

    cluster = broker.cluster
    snapshot = broker._call(lambda: Snapshot(cluster))
    other = object.__new__(KafkaBroker)
    other._begin(ForkSettings(snapshot, cluster, data_dir, broker._secured))
    other._is_fork = True
    return other.start()


class BrokerFactory(Protocol):
    """The type of the pytest fixtures ``kafka_broker_factory`` and ``kafka_broker_session_factory``."""

    @method_with_arguments_of(Settings)
    def __call__(self, *arguments: Any, **named: Any) -> KafkaBroker:
        """Start a broker. The arguments are those of :class:`KafkaBroker`."""
        ...
