"""Mistakes in calls, told in the caller's words: names that do not exist, and values of another kind."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
T = TypeVar("T")

_ALIKE = 0.75
_BEGINNING = 5
_LONGEST = 100
_NAMED = 10


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`" (did you mean 'retention.ms'?)"` for the nearest known name, or nothing if none is near.

    A name of some length that is the beginning of others is near to the shortest of them.
    """
    import difflib

    by_lower = {text.lower(): text for text in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    if not close and len(name) >= _BEGINNING:
        close = sorted((text for text in by_lower if text.startswith(name.lower())), key=len)
    return f" (did you mean '{by_lower[close[0]]}'?)" if close else ""


def words_of(*names: str) -> set[str]:
    """The words of names, as `delete_topic` has them in common with ``topics delete``."""
    return {word.removesuffix("s") for name in names for word in name.replace("-", "_").split("_")}


def wrong(name: str, value: object, expected: str) -> str:
    """What the error for an argument says: ``partition='x': expected a whole number``."""
    text = repr(value)
    return f"{name}={text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...'}: expected {expected}"


def one_of(choices: Iterable[object]) -> str:
    """``one of commit, abort, open``, or ``a or b``."""
    names = list(map(str, choices))
    return f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)


# -- The arguments of a call


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "int": ("a whole number", _is_whole),
    "float": ("a number", lambda value: hasattr(value, "__float__") and not isinstance(value, bool)),
    "str": ("text", lambda value: isinstance(value, str)),
    "Mapping[str, Any]": ("values by name", lambda value: isinstance(value, Mapping)),
    "Iterable[Any]": ("a list", _is_list),
    "Sequence[Any]": ("a list", _is_list),
    "Sequence[int]": ("a list of whole numbers", lambda value: _is_list(value) and all(map(_is_whole, value))),
    "Headers": ("names and values", _is_list),
}
"""Kinds of arguments by their annotation: what is expected, and whether a value is that (numpy's numbers are)."""
_Kind = tuple[str, Callable[[Any], bool], bool]
_OPTIONAL = " | None"
_TAKES_ANY_NAME = 0x08


def check_arguments(function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """TypeError, with the nearest name, for an argument that does not exist, and for one of another kind than declared.

    Only annotations such as ``int`` and ``str | None`` are looked at. What else may be wrong with a call, Python says.
    """
    names, takes_any, positional, kinds = _declared(getattr(function, "__wrapped__", function))
    for name in named:
        if name not in names and not takes_any:
            call: Any = function
            near = did_you_mean(name, names[1:])
            raise TypeError(f"{call.__qualname__}() got an unexpected keyword argument {name!r}{near}")
    for pairs in (zip(positional, given, strict=False), named.items()):
        for name, value in pairs:
            kind = kinds.get(name)
            if kind is not None and not kind[1](value) and not (value is None and kind[2]):
                raise TypeError(wrong(name, value, kind[0]))


@functools.cache
def _declared(function: Any) -> tuple[Sequence[str], bool, Sequence[str], Mapping[str, _Kind]]:
    """The names of a function's arguments, whether it takes any other, those by position, and what kinds they are."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    kinds = {}
    for name, annotation in function.__annotations__.items():
        kind = _KINDS.get(str(annotation).removesuffix(_OPTIONAL))
        if kind is not None:
            kinds[name] = (*kind, str(annotation).endswith(_OPTIONAL))
    return names, bool(code.co_flags & _TAKES_ANY_NAME), names[: code.co_argcount], kinds


def checked(function: F) -> F:
    """A method whose calls are checked by `check_arguments` first."""

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        check_arguments(call, given, named)
        return function(*given, **named)

    return cast(F, call)


def checked_init(kind: type[T]) -> type[T]:
    """A dataclass that is made by a `checked` call."""
    made: Any = kind
    made.__init__ = checked(made.__init__)
    return kind


# -- The names in a mapping, and those of an object


class ByName(dict[K, T]):
    """A dictionary whose KeyErrors name it, the nearest key and some of those that there are."""

    def __init__(self, shown: str, items: Mapping[K, T]) -> None:
        super().__init__(items)
        self._shown = shown

    def __missing__(self, key: K) -> T:
        near = did_you_mean(key, map(str, self)) if isinstance(key, str) else ""
        some = ", ".join([*map(str, islice(self, _NAMED)), *(["..."] if len(self) > _NAMED else [])])
        raise KeyError(f"{self._shown} has no {key!r}{near}; {f'it has {some}' if self else 'it is empty'}")


class NearNames:
    """An object whose AttributeErrors name the attribute that was meant."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            __tracebackhide__ = True
            try:
                return object.__getattribute__(self, name)  # again: a property may have raised the error
            except AttributeError:
                if name.startswith("_") or hasattr(type(self), name):
                    raise
            raise AttributeError(
                f"{self._called()} has no {name!r}{self._meant(name)}"
            )  # Python would add a name again

    def _called(self) -> str:
        """What the object is called."""
        return type(self).__name__

    def _meant(self, name: str) -> str:
        """What the error for an unknown attribute adds."""
        return did_you_mean(name, [each for each in dir(type(self)) if not each.startswith("_")])
