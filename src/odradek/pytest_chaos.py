"""The part of the pytest plugin that knows `odradek.Chaos`.

`kafka_chaos` is a `Chaos` as `@pytest.mark.kafka_chaos(seed=7, ...)` says; `seeds=20` (or a list) runs the test with
each of them. A test that fails shows the schedule of every `Chaos` that ran in it. With `--kafka-chaos-shrink` it runs
again with fewer faults, until each of those that are left is needed to let it fail.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from odradek.broker.facade.chaos.chaos import Chaos, Trials

_MOST_RUNS = 200
_FAILURE: pytest.StashKey[type[BaseException]] = pytest.StashKey()
_SHRINKING: pytest.StashKey[bool] = pytest.StashKey()


def add_options(parser: pytest.Parser) -> None:
    """The options of the command line."""
    group = parser.getgroup("odradek")
    group.addoption("--kafka-chaos-seed", type=int, metavar="SEED", help="the seed of every kafka_chaos fixture")
    group.addoption(
        "--kafka-chaos-shrink",
        action="store_true",
        help="run a test that fails under odradek.Chaos again, until only the faults are left that it needs to fail",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "kafka_chaos(seed=7, seeds=20, ...): how the kafka_chaos fixture is made (odradek.Chaos); seeds: a number of "
        "seeds, or several, each of which runs the test",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the test once for each seed that its marker names."""
    seeds = _options(metafunc.definition).get("seeds")
    if seeds is None or "kafka_chaos_seed" not in metafunc.fixturenames:
        return
    if metafunc.config.getoption("--kafka-chaos-seed") is None:
        chosen = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
        metafunc.parametrize("kafka_chaos_seed", chosen, ids=[f"seed{seed}" for seed in chosen])


@pytest.fixture
def kafka_chaos_seed(request: pytest.FixtureRequest) -> int:
    """The seed of `kafka_chaos`: the command line's, else the marker's, else 0."""
    given = request.config.getoption("--kafka-chaos-seed")
    return int(_options(request.node).get("seed", 0) if given is None else given)


@pytest.fixture
def kafka_chaos(request: pytest.FixtureRequest, kafka_chaos_seed: int) -> Chaos:
    """Faults for the test's broker: ``with kafka_chaos.run(kafka_broker): ...``."""
    from odradek.broker.facade.chaos.chaos import Chaos

    options = _options(request.node)
    return Chaos(kafka_chaos_seed, **{name: value for name, value in options.items() if name not in ("seed", "seeds")})


def _options(item: pytest.Item) -> dict[str, Any]:
    """The arguments of a test's `kafka_chaos` markers; the nearest wins."""
    options: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("kafka_chaos"))):
        options |= marker.kwargs
    return options


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Earlier runs belong to other tests."""
    trials = _trials()
    if trials is not None:
        trials.begin()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Show the schedules that ran when the test fails."""
    item.stash.setdefault(_SHRINKING, False)
    try:
        return (yield)
    except BaseException as error:
        item.stash[_FAILURE] = type(error)
        trials = _trials()
        if trials is not None and not item.stash[_SHRINKING]:
            for chaos in trials.ran:
                item.add_report_section("call", "chaos schedule", schedule_section(chaos))
        raise


def schedule_section(chaos: Chaos) -> str:
    """The faults of a `Chaos`, for the report of a failed test."""
    done = "\n".join(chaos.log) or "nothing"
    return f"{chaos.origin}\n" + "\n".join(map(str, chaos.schedule)) + f"\ndone until the test failed:\n{done}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """With `--kafka-chaos-shrink`: run the test, and run it again if it fails under chaos."""
    if not item.config.getoption("--kafka-chaos-shrink"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _run(item, nextitem)
    trials = _trials()
    failed = [report for report in reports if report.when == "call" and report.failed]
    if failed and trials is not None and trials.ran and hasattr(item, "_initrequest"):
        failed[0].sections.append(("the chaos that matters", _shrink(item, nextitem, trials)))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    from _pytest.runner import runtestprotocol

    return runtestprotocol(item, log=False, nextitem=nextitem)


def _shrink(item: Any, nextitem: pytest.Item | None, trials: Trials) -> str:
    """Search for the faults that matter; returns what to say of them."""
    from odradek.broker.facade.chaos.chaos import shrunk

    failure = item.stash[_FAILURE]
    ran = [(chaos.origin, chaos.schedule) for chaos in trials.ran]
    runs = 0

    def fails(some: Sequence[tuple[int, int]]) -> bool:
        nonlocal runs
        runs += 1
        item.stash[_FAILURE] = type(None)
        with trials.keeping(some):
            item._initrequest()
            _run(item, nextitem)
        return item.stash[_FAILURE] is failure

    faults = trials.faults()
    item.stash[_SHRINKING] = True
    try:
        kept = shrunk(faults, fails, tries=_MOST_RUNS)
    finally:
        item.stash[_SHRINKING] = False
    if not kept:
        return f"none: the test fails with {failure.__name__} without any fault too ({runs} runs)"
    lines = [f"{len(kept)} of {len(faults)} faults, found in {runs} runs; to repeat them:"]
    for place, (origin, schedule) in enumerate(ran):
        numbers = [number for at, number in kept if at == place]
        lines += [f"# {origin}", "odradek.Chaos.replay(["]
        lines += [f"    {_quoted(str(fault))}," for fault in schedule if fault.number in numbers]
        lines.append("])")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """As a literal, which a formatter leaves as it is."""
    return repr(text) if '"' in text or "\\" in text else f'"{text}"'


def _trials() -> Trials | None:
    """The schedules that ran in this process; None if nobody has imported `Chaos`."""
    module = sys.modules.get("odradek.broker.facade.chaos.chaos")
    return None if module is None else module.TRIALS
