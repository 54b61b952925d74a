"""What a question may cost: it ends, wherever it is, and others do not wait for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from odradek.registry.effort import Effort, Steps, TooLongError, TooManyStepsError, within
from odradek.registry.errors import RegistryError
from tests.fakes.steps import steps


def spin() -> None:
    while True:
        pass


def spin_and_catch() -> None:
    """As a library does that knows all exceptions."""
    while True:
        try:
            spin()
        except Exception:
            pass


class Stubborn:
    """Loses what is raised in it, as finalizers do."""

    def __del__(self) -> None:
        for _ in range(20):
            pass


def spin_in_finalizers() -> None:
    while True:
        Stubborn()


@pytest.mark.parametrize("work", [spin, spin_and_catch, spin_in_finalizers])
def test_work_that_never_ends_is_ended(work: Callable[[], None]) -> None:
    with pytest.raises(TooLongError):
        within(0.001, work)


def test_what_python_ignores_of_others_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: told.append(ignored.exc_type))
    for _ in range(2):
        with pytest.raises(TooLongError):
            within(0.001, spin_in_finalizers)
    Broken()
    assert told == [ZeroDivisionError]


class Broken:
    def __del__(self) -> None:
        1 / 0  # noqa: B018


def test_a_result_is_given_and_nothing_comes_after_it() -> None:
    """The time may be over just when the work ends: there is a result or an error, and no exception later."""
    ended = 0
    for microseconds in range(300):
        try:
            assert within(microseconds / 1e6, lambda: sum(range(1000))) == 499500
        except TooLongError:
            ended += 1
        sum(range(1000))
    assert within(60, lambda: "result") == "result"


def test_an_error_of_the_work_is_raised() -> None:
    def fail() -> None:
        raise ValueError("why")

    with pytest.raises(ValueError, match="why"):
        within(60, fail)
    with pytest.raises(ValueError, match="why"):
        Effort().of("it", fail)


def test_an_expensive_question_is_refused_with_its_name() -> None:
    with pytest.raises(RegistryError, match=r"the comparison is too expensive: it takes longer than 0.01 s") as refused:
        Effort(0.001, 0.01).of("the comparison", spin)
    assert (refused.value.code, refused.value.status) == (422, 422)


def test_too_many_steps_are_refused_as_such() -> None:
    def walk() -> None:
        steps = Steps()
        while True:
            steps.take()

    with pytest.raises(TooManyStepsError):
        walk()
    with pytest.raises(RegistryError, match=f"it is too expensive: it takes more than {Steps.MOST} steps") as refused:
        Effort(60).of("it", walk)
    assert refused.value.status == 422


class Held:
    """A question that ends when it is told to. Each one that waits for a lock can be interrupted, as it polls."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def __call__(self) -> str:
        while not self.ended.wait(0.001):
            pass
        return "ended"


@pytest.fixture
def held() -> Iterator[Held]:
    question = Held()
    yield question
    question.ended.set()


def test_cheap_questions_do_not_wait_for_expensive_ones(held: Held) -> None:
    effort = Effort(0.001, 60)
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(effort.of("it", held))) for _ in range(3)]
    for each in threads:
        each.start()
    cheap = Effort(60, 60)
    cheap._slow, cheap._queue, cheap._quick = effort._slow, effort._queue, effort._quick
    assert cheap.of("another", lambda: "cheap") == "cheap"
    assert answers == []
    held.ended.set()
    for each in threads:
        each.join()
    assert answers == ["ended"] * 3


def test_many_expensive_questions_are_refused_until_others_have_ended(held: Held) -> None:
    effort = Effort(0.001, 60)
    answers: list[str] = []

    def ask() -> None:
        try:
            answers.append(effort.of("it", held))
        except RegistryError as error:
            answers.append(str(error.status))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for each in threads:
        each.start()
    while answers.count("429") < 4:
        held.ended.wait(0.001)
    held.ended.set()
    for each in threads:
        each.join()
    assert sorted(answers) == ["429"] * 4 + ["ended"] * 8


def test_no_thread_is_left_with_something_to_look_for() -> None:
    """A traced function would look for it without end, in CPython 3.11."""
    assert within(60, lambda: "result") == "result"
    with pytest.raises(TooLongError):
        within(0.001, lambda: [None for _ in iter(int, 1)])
    assert steps(lambda: len("abc")) > 0
