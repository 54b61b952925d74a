"""A broker in the caller's trio run."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.settings import Settings, strictness, with_release, with_transcript
from odradek.broker.facade.topics import Topics
from odradek.broker.facade.verbs.broker import TrioBroker

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.security_settings import Security

T = TypeVar("T")


@asynccontextmanager
async def open_broker(
    nodes: int = 1,
    topics: Topics | None = None,
    config: Mapping[str, Any] | None = None,
    data_dir: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    config_file: str | Path | None = None,
    node_config: Mapping[int, Mapping[str, Any]] | None = None,
    security: Security | None = None,
    strict: bool | str = False,
    transcript: bool = True,
    registry: bool = False,
    kafka_version: str | None = None,
    zookeeper: bool | None = None,
) -> AsyncIterator[TrioBroker]:
    """A broker in the caller's trio run: ``async with open_broker(topics={"orders": 6}) as broker: ...``.

    The arguments are those of :class:`KafkaBroker`. The broker's clock follows the clock of the run (including
    trio's ``MockClock``), and can be moved independently.
    """
    if not trio.lowlevel.in_trio_run():
        raise RuntimeError(
            "open_broker() runs the broker in your trio run, and there is none here: in asyncio or plain code use "
            "`with odradek.KafkaBroker(...) as broker:`, which brings its own thread"
        )
    strictly = strictness(strict)
    run_clock = trio.lowlevel.current_clock()
    clock = run_clock if isinstance(run_clock, BrokerClock) else BrokerClock()
    config = with_release(with_transcript(config, transcript), kafka_version, zookeeper)
    beside = _registry_beside if registry else nullcontext
    settings = Settings(nodes, topics, config, data_dir, host, port, clock, config_file, security, node_config)
    failure: Exception | None = None
    async with settings.cluster.run() as cluster:
        try:
            await settings.start()
            broker = TrioBroker(cluster, _directly, settings.secured)
            with beside(cluster):
                yield broker
            if strictly is not None:
                strictly.demand(broker.strictness(also=strictly.also))
        except Exception as error:
            failure = error  # raised outside of the nurseries, which would wrap it into groups
    if failure is not None:
        raise failure


def _registry_beside(cluster: Cluster) -> AbstractContextManager[str]:
    """Imported by name, as it knows this package."""
    serving = importlib.import_module("odradek.registry.server").serving("127.0.0.1", 0, None)
    beside: AbstractContextManager[str] = serving(cluster)
    return beside


def _directly(function: Callable[[], T]) -> T:
    return function()
