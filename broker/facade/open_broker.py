"""A broker in the caller's trio run."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.settings import Settings, arguments_of
from odradek.broker.facade.verbs.broker import TrioBroker

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

T = TypeVar("T")


@arguments_of(Settings)
@asynccontextmanager
async def open_broker(*arguments: Any, **named: Any) -> AsyncIterator[TrioBroker]:
    """A broker in the caller's trio run: ``async with open_broker(topics={"orders": 6}) as broker: ...``.

    The arguments are those of :class:`KafkaBroker`, without ``clock`` and ``process``. The broker's clock follows the
    clock of the run (including trio's ``MockClock``), and can be moved independently.
    """
    if not trio.lowlevel.in_trio_run():
        raise RuntimeError(
            "open_broker() runs the broker in your trio run, and there is none here: in asyncio or plain code use "
            "`with odradek.KafkaBroker(...) as broker:`, which brings its own thread"
        )
    if "clock" in named:
        raise TypeError("open_broker() takes no clock: the broker has that of your trio run")
    run_clock = trio.lowlevel.current_clock()
    clock = run_clock if isinstance(run_clock, BrokerClock) else BrokerClock()
    settings = Settings(*arguments, **named, clock=clock)
    beside, strictly = _registry_beside if settings.registry else nullcontext, settings.strict
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
