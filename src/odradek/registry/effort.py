"""Limits the time that schemas are parsed and compared.

A schema of 2 kB can keep a parser busy for years, and the parsers are libraries without a way to stop them. So they run
in a thread of the server, and CPython raises an exception there when their time is over. All of them are written in
Python, and none of their C functions runs for long on an input of this size.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from odradek.registry.errors import too_busy, too_expensive

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

T = TypeVar("T")

_AGAIN_S = 0.01
"""An exception may be lost: Python ignores those in finalizers."""
_LOOK_S = 0.005
_PATIENCE = 20
"""Work may take so many times as long as its time: other threads and processes work, too."""
_QUICK_AT_ONCE = 2
_SLOW_WAITING = 8


class TooLongError(Exception):
    """The time is over."""


class _InterruptError(BaseException):
    """Raised in the thread that works; no library catches it."""


class TooManyStepsError(Exception):
    """A comparison of odradek's own has taken all its steps."""


class Steps:
    """Counts the steps of a comparison, so that the same ones are refused on every machine."""

    MOST = 50_000

    def __init__(self) -> None:
        self._left = self.MOST

    def take(self) -> None:
        """TooManyStepsError when there were too many."""
        self._left -= 1
        if self._left < 0:
            raise TooManyStepsError(f"it takes more than {self.MOST} steps")


class Effort:
    """Runs work in the caller's thread, with a limit of time.

    Work that takes longer than ``quick_s`` is repeated with the limit ``slow_s``, one piece at a time. So expensive
    work does not delay cheap work. Times are CPU seconds of the thread: other threads and processes do not count.
    """

    def __init__(self, quick_s: float = 0.05, slow_s: float = 2.0) -> None:
        self._times = quick_s, slow_s
        self._quick = threading.Semaphore(_QUICK_AT_ONCE)
        self._queue = threading.Semaphore(_SLOW_WAITING)
        self._slow = threading.Lock()

    def __repr__(self) -> str:
        return f"<Effort of {self._times[1]} s>"

    def of(self, what: str, work: Callable[[], T]) -> T:
        """The result of ``work``, which may be called twice, or what it raises.

        RegistryError: 422 for one that is too expensive, 429 while many such ones wait. ``what`` names it.
        """
        quick_s, slow_s = self._times
        try:
            try:
                with self._quick:
                    return within(quick_s, work)
            except TooLongError:
                pass
            if not self._queue.acquire(blocking=False):
                raise too_busy(what)
            try:
                with self._slow:
                    return within(slow_s, work)
            except TooLongError:
                raise too_expensive(what, f"it takes longer than {slow_s:g} s") from None
            finally:
                self._queue.release()
        except TooManyStepsError as error:
            raise too_expensive(what, str(error)) from None


def within(seconds: float, work: Callable[[], T]) -> T:
    """The result of a function that may work so long, in this thread. TooLongError after that."""
    watch = _Watch(seconds)
    try:
        try:
            watch.start()
            return work()
        finally:
            watch.stop()
    except _InterruptError:
        pass
    while True:
        try:
            watch.settle()
            break
        except _InterruptError:
            continue
    raise TooLongError(f"it takes longer than {seconds:g} s")


class _Watch(threading.Thread):
    """Raises `_InterruptError` in the thread that made it, from a time on until it is stopped."""

    def __init__(self, seconds: float) -> None:
        super().__init__(name="odradek registry watch", daemon=True)
        self._seconds = seconds
        self._worker = threading.get_ident()
        self._worked_s = _working_time(self._worker)
        self._begun_s = self._worked_s()
        self._raised = False
        self._over = threading.Lock()
        self._over.acquire()

    def run(self) -> None:
        wait_s, waited_s = self._seconds, 0.0
        while not self._over.acquire(timeout=wait_s):
            waited_s += wait_s
            left_s = self._seconds - (self._worked_s() - self._begun_s)
            if left_s > 0 and waited_s < self._seconds * _PATIENCE:
                wait_s = max(left_s, _LOOK_S)
            else:
                _hush()
                self._raised = True
                _raise_in(self._worker, _InterruptError)
                wait_s = _AGAIN_S

    def stop(self) -> None:
        """Raise nothing more. It may be called again, when it was interrupted itself."""
        if self._over.locked():
            self._over.release()
        self.join()
        if self._raised:
            raise _InterruptError

    def settle(self) -> None:
        """Take what was raised and has not arrived: nothing is raised once this has returned.

        CPython 3.11 cannot take an exception back: its threads would look for one at each call from then on, and one
        that is traced would look for ever. So the last one is raised here, in place of any other, and awaited.
        """
        if self._over.locked():
            self._over.release()
        self.join()
        try:
            _raise_in(self._worker, _InterruptError)
            while True:
                time.sleep(0)
        except _InterruptError:
            pass


def _hush() -> None:
    """Python tells of exceptions that it ignores, in finalizers and callbacks of the collector. Ours come again."""
    if not (isinstance(sys.unraisablehook, partial) and sys.unraisablehook.func is _told):
        sys.unraisablehook = partial(_told, sys.unraisablehook)


def _told(before: Callable[[UnraisableHookArgs], Any], ignored: UnraisableHookArgs) -> None:
    if ignored.exc_type is not _InterruptError:
        before(ignored)


def _working_time(thread: int) -> Callable[[], float]:
    """Seconds that a thread has worked; where the system does not say, seconds that have passed."""
    try:
        clock = time.pthread_getcpuclockid(thread)
    except AttributeError:
        return time.monotonic
    return lambda: time.clock_gettime(clock)


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Raise an exception in a thread at its next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
