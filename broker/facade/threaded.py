"""A broker in a thread of its own, for sync and asyncio code, and one in the caller's trio run."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.stored_record import Isolation, StoredRecord
from odradek.broker.facade.topic_spec import Topics, config_texts, create_topic, topic_specs

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 10.0


class _Settings:
    """What a broker is started with, checked where the caller sees the error."""

    def __init__(
        self,
        nodes: int,
        topics: Topics | None,
        config: Mapping[str, Any] | None,
        data_dir: str | Path | None,
        host: str,
        port: int,
        clock: BrokerClock | None,
    ) -> None:
        self.topics = topic_specs(topics or {})
        self.host = host
        self.port = port
        self.cluster = Cluster(
            nodes=nodes,
            config=config_texts(config or {}),
            data_dir=None if data_dir is None else Path(data_dir),
            clock=clock,
        )

    async def start(self) -> None:
        """Create the topics and listen; the cluster must be running."""
        for name, spec in self.topics.items():
            if self.cluster.topics.get(name) is None:
                create_topic(self.cluster, name, spec)
        await self.cluster.listen(self.host, self.port)


class KafkaBroker(Broker):
    """A broker in a thread of its own: ``with KafkaBroker(topics={"orders": 6}) as broker: ...``.

    It listens on ``host`` and ``port`` (0 = any free port; node n of several takes ``port + n - 1``). ``config``:
    Kafka's broker config names. ``topics``: names, or a mapping from the name to the number of partitions or to a
    mapping with ``partitions``, ``replication_factor`` and ``config``. An error at the start is raised by
    ``start()``/``with``; one that ends the broker later is raised by the next call and by ``close()``.
    """

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
    ) -> None:
        self._settings = _Settings(nodes, topics, config, data_dir, host, port, clock or BrokerClock())
        super().__init__(self._settings.cluster, self._hand_over)
        self._thread: threading.Thread | None = None
        self._started: Future[None] = Future()
        self._token: trio.lowlevel.TrioToken | None = None
        self._stop: trio.Event | None = None
        self._failure: BaseException | None = None

    def __repr__(self) -> str:
        try:
            return f"<KafkaBroker at {self.bootstrap_servers}>"
        except BrokerClosedError as error:
            return f"<KafkaBroker: {error}>"

    @property
    def bootstrap_servers(self) -> str:
        """What a client's ``bootstrap.servers`` takes: ``host:port`` of every node that is up.

        BrokerClosedError before ``start()`` and after ``close()``: there is no address then.
        """
        self._running()
        return super().bootstrap_servers

    def wait_records(
        self,
        topic: str,
        count: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> list[StoredRecord]:
        """Block until the topic holds ``count`` records or more, and return them, partition after partition.

        TimeoutError, with the numbers that there are, after seconds. Not for the broker's own thread; in asyncio, where
        it would stop the loop: ``await asyncio.to_thread(broker.wait_records, "orders", 3)``.
        """
        from odradek.broker.facade.record_wait import RecordWait

        with RecordWait(self._call, self._cluster.topics, topic, count, partition, isolation, timeout) as waiting:
            return waiting.blocking()

    def _running(self) -> tuple[threading.Thread, trio.lowlevel.TrioToken]:
        """The broker's thread and trio run; BrokerClosedError if it does not run."""
        if self._thread is None or self._token is None:
            raise BrokerClosedError("the broker has not been started; use `with` or start()")
        if not self._thread.is_alive():
            raise BrokerClosedError("the broker is closed") from self._failure
        return self._thread, self._token

    def start(self) -> Self:
        """Start the broker; it accepts connections when the call returns."""
        if self._thread is not None:
            raise RuntimeError("a broker starts once; make a new one")
        self._thread = threading.Thread(target=self._run, name="odradek broker", daemon=True)
        self._thread.start()
        try:
            self._started.result()
        except BaseException:
            self._thread.join(_CLOSE_TIMEOUT_S)
            raise
        return self

    def close(self) -> None:
        """Stop the broker and wait for its thread; raises what ended it, if an error did."""
        if self._thread is None:
            return
        stop, token = self._stop, self._token
        if stop is not None and token is not None:
            try:
                token.run_sync_soon(stop.set)
            except trio.RunFinishedError:
                pass
        self._thread.join(_CLOSE_TIMEOUT_S)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise BrokerClosedError("the broker ended with an error") from failure

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        try:
            self.close()
        except BrokerClosedError as ended:
            error.add_note(f"and the broker ended with {ended.__cause__!r}")

    # -- the broker's thread

    def _run(self) -> None:
        try:
            trio.run(self._main, clock=self._cluster.clock)
        except BaseException as error:
            failure = _only_cause(error)
            if self._started.done():
                self._failure = failure
            else:
                self._started.set_exception(failure)

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._stop = trio.Event()
        async with self._cluster.run():
            await self._settings.start()
            self._started.set_result(None)
            await self._stop.wait()

    def _hand_over(self, function: Callable[[], T]) -> T:
        thread, token = self._running()
        if threading.get_ident() == thread.ident:
            return function()
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(function())
            except BaseException as error:
                answer.set_exception(error)

        try:
            token.run_sync_soon(run)
        except trio.RunFinishedError:
            raise BrokerClosedError("the broker is closed") from self._failure
        while not wait([answer], timeout=0.2).done:
            if not thread.is_alive():
                raise BrokerClosedError("the broker is closed") from self._failure
        return answer.result()


class BrokerFactory(Protocol):
    """Starts brokers; what the pytest fixtures ``kafka_broker_factory`` and ``kafka_broker_session_factory`` are."""

    def __call__(
        self,
        nodes: int = 1,
        topics: Topics | None = None,
        config: Mapping[str, Any] | None = None,
        data_dir: str | Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        clock: BrokerClock | None = None,
    ) -> KafkaBroker:
        """A running broker; the arguments are those of :class:`KafkaBroker`."""
        ...


class TrioBroker(Broker):
    """A broker in the caller's trio run: what `open_broker` gives. What waits is awaited."""

    async def wait_records(
        self,
        topic: str,
        count: int,
        *,
        partition: int | None = None,
        isolation: Isolation = "read_uncommitted",
        timeout: float = WAIT_TIMEOUT_S,
    ) -> list[StoredRecord]:
        """Wait until the topic holds ``count`` records or more, and return them, partition after partition.

        TimeoutError, with the numbers that there are, after seconds.
        """
        from odradek.broker.facade.record_wait import RecordWait

        with RecordWait(self._call, self._cluster.topics, topic, count, partition, isolation, timeout) as waiting:
            return await waiting.awaiting()


@asynccontextmanager
async def open_broker(
    nodes: int = 1,
    topics: Topics | None = None,
    config: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncIterator[TrioBroker]:
    """A broker in the caller's trio run: ``async with open_broker(topics={"orders": 6}) as broker: ...``.

    The arguments are those of :class:`KafkaBroker`. The broker's clock follows the run's clock (trio's ``MockClock``
    too) and can be moved on its own.
    """
    if not trio.lowlevel.in_trio_run():
        raise RuntimeError(
            "open_broker() runs the broker in your trio run, and there is none here: in asyncio or plain code use "
            "`with odradek.KafkaBroker(...) as broker:`, which brings its own thread"
        )
    run_clock = trio.lowlevel.current_clock()
    clock = run_clock if isinstance(run_clock, BrokerClock) else BrokerClock()
    settings = _Settings(nodes, topics, config, data_dir, host, port, clock)
    failure: Exception | None = None
    async with settings.cluster.run() as cluster:
        try:
            await settings.start()
            yield TrioBroker(cluster, _directly)
        except Exception as error:
            failure = error  # raised outside of the nurseries, which would wrap it into groups
    if failure is not None:
        raise failure


def _directly(function: Callable[[], T]) -> T:
    return function()


def _only_cause(error: BaseException) -> BaseException:
    """The exception inside groups that hold nothing else, which trio's nurseries wrap around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
