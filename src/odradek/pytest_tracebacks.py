"""The part of the pytest plugin that shortens tracebacks: a call of odradek that fails shows the test's line.

The frames of odradek, and of what it calls, are dropped before pytest renders the failure. `--full-trace` shows them.
"""

from __future__ import annotations

from types import TracebackType

_OWN = "odradek"
_MISTAKES = "odradek.broker.mistakes"
"""It raises AttributeError for a name that a user has misspelt."""
_BELOW = frozenset({"concurrent", "contextlib", "functools", "http", "outcome", "socket", "ssl", "threading", "trio"})
"""Packages whose frames say nothing to a user if odradek called them."""
BUGS = (AttributeError, NameError, RecursionError)
"""Errors that no call of odradek raises on purpose."""


def shorten(error: BaseException) -> None:
    """Drop odradek's frames from the tracebacks of an error and of those behind it.

    An error that odradek caught itself is dropped whole. An error that looks like a bug in odradek keeps its frames.
    """
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            shorten(each)
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if behind is not None and behind is not error:
        frames = _frames(behind.__traceback__)
        if frames and all(_is_inside(package) for package, _ in frames):
            error.__cause__ = None  # this suppresses the context, too
        else:
            shorten(behind)
    frames = _frames(error.__traceback__)
    if not isinstance(error, BUGS) or (frames and not _is_own_bug(*frames[-1])):
        error.__traceback__ = _without_own(error.__traceback__)


def _is_own_bug(package: str, raised: TracebackType) -> bool:
    return _is_inside(package) and raised.tb_frame.f_globals["__name__"] != _MISTAKES


def _is_inside(package: str) -> bool:
    return package == _OWN or package in _BELOW


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback with the frames of others alone; as it is if there are none."""
    kept: list[TracebackType] = []
    is_below = False
    for package, each in _frames(traceback):
        is_below = package == _OWN or (is_below and _is_inside(package))
        if not is_below:
            kept.append(each)
    following = None
    for each in reversed(kept):
        following = TracebackType(following, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return following or traceback


def _frames(traceback: TracebackType | None) -> list[tuple[str, TracebackType]]:
    """The entries of a traceback with their top-level packages, the oldest call first."""
    found = []
    while traceback is not None:
        found.append((str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0], traceback))
        traceback = traceback.tb_next
    return found
