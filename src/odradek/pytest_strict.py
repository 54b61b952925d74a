"""The part of the pytest plugin that knows strictness: `@pytest.mark.kafka(strict=True)`, `--odradek-strict`.

A test fails, or gets a warning, if it relied on something that a real cluster does not promise. What depends on clients
that may still be closed is asked in the teardown, when the test's other fixtures have ended; it is an error of the
teardown then.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from odradek.broker.facade.report.strictness import Strictness, StrictnessFinding
    from odradek.broker.facade.threaded import KafkaBroker

_OPTION = "odradek_strict"


class Judged:
    """A broker that a fixture has started. `began`: since when the present test uses it; None for its own broker.

    `told`: what was found in the present test already.
    """

    def __init__(self, broker: KafkaBroker, *, for_session: bool) -> None:
        self.broker = broker
        self.for_session = for_session
        self.strict, broker._strict = broker._strict, None  # the broker need not judge when it is closed
        self.told: set[StrictnessFinding] = set()
        self.began: float | None = None
        self.begin_test()

    def begin_test(self) -> None:
        """Requests up to now belong to other tests, as far as the broker is theirs too."""
        if self.for_session:
            with suppress(closed()):
                self.began = self.broker.mark
        self.told.clear()

    def judge(self, strict: Strictness, *, at_end: bool) -> str:
        """Why the test fails; empty if it does not."""
        from odradek.broker.facade.report.strictness import AT_END

        findings: list[StrictnessFinding] = []
        with suppress(closed()):  # the test has closed it, and its clients before, or it has ended with an error
            _ = self.broker.bootstrap_servers
            findings = self.broker.strictness(self.began, strict.also)
        fresh = [each for each in findings if each not in self.told and (at_end or each.rule not in AT_END)]
        self.told.update(fresh)
        return strict.judge(fresh)


def closed() -> type[Exception]:
    """The error of a broker that does not run."""
    from odradek.broker.facade.thread_bridge import BrokerClosedError

    return BrokerClosedError


def uses_session(item: pytest.Item) -> bool:
    """Whether a test uses brokers of the session."""
    return any(name.startswith("kafka_broker_session") for name in getattr(item, "fixturenames", ()))


class Judge:
    """Judges brokers in the present test. ``brokers``: those that run."""

    def __init__(self, brokers: Sequence[Judged]) -> None:
        self.brokers = brokers
        self.item: pytest.Item | None = None
        self.failed = False

    def begins(self, item: pytest.Item) -> None:
        self.item = item
        self.failed = False

    def judged(self, brokers: Sequence[Judged], *, at_end: bool) -> list[str]:
        """Why the test fails."""
        item = self.item
        if item is None or self.failed:
            return []
        texts = []
        for each in brokers:
            strict = _strict_for(item, each.strict)
            if strict is not None and (uses_session(item) or not each.for_session):
                texts.append(each.judge(strict, at_end=at_end))
        return list(filter(None, texts))


JUDGE: pytest.StashKey[Judge] = pytest.StashKey()


def _strict_for(item: pytest.Item, own: Strictness | None) -> Strictness | None:
    """The setting of the nearest marker, or else the broker's argument, the option or the ini file."""
    for marker in item.iter_markers("kafka"):
        if "strict" in marker.kwargs:
            return _parsed(marker.kwargs["strict"], "@pytest.mark.kafka")
    if own is not None:
        return own
    option = item.config.getoption(_OPTION)
    return _parsed(item.config.getini(_OPTION) if option is None else option, "--odradek-strict")


def _parsed(strict: bool | str, where: str) -> Strictness | None:
    if not strict:
        return None
    from odradek.broker.facade.report.strictness import Strictness

    try:
        return Strictness.of(strict)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{where}: {error}") from None


def add_options(parser: pytest.Parser) -> None:
    """The option of the command line, and of the ini file."""
    parser.getgroup("odradek").addoption(
        "--odradek-strict",
        dest=_OPTION,
        metavar="MODE",
        help="fail or warn where a test relies on what a real cluster does not promise; 'fail -auto-created' leaves a "
        "rule out, 'fail +partitioner-order' takes one in",
    )
    parser.addini(_OPTION, "as --odradek-strict", default="")


def configure(config: pytest.Config, brokers: Sequence[Judged]) -> None:
    """Nothing is judged yet. UsageError for an option that means nothing."""
    _parsed(config.getoption(_OPTION) or config.getini(_OPTION), "--odradek-strict")
    config.stash[JUDGE] = Judge(brokers)


def mistakes(item: pytest.Item) -> Iterator[str]:
    """What is wrong with the `strict` of a test's markers."""
    for marker in item.iter_markers("kafka"):
        try:
            _parsed(marker.kwargs.get("strict", False), "@pytest.mark.kafka")
        except pytest.UsageError as error:
            yield str(error)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Later requests belong to this test."""
    judge = item.config.stash[JUDGE]
    judge.begins(item)
    try:
        return (yield)
    except BaseException:
        judge.failed = True
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that has passed for what cannot change any more."""
    judge = item.config.stash[JUDGE]
    try:
        result = yield
        _fail_for(judge.judged(judge.brokers, at_end=False))
    except BaseException:
        judge.failed = True
        raise
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """The brokers of the session: the fixtures of the test have ended."""
    result = yield
    judge = item.config.stash[JUDGE]
    _fail_for(judge.judged(judge.brokers, at_end=True))
    return result


def _fail_for(texts: list[str]) -> None:
    if texts:
        pytest.fail("\n".join(texts), pytrace=False)
