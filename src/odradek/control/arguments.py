"""The arguments of an operation, out of a request."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from typing import Any

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.facade.remote.decoding import decoded
from odradek.broker.facade.remote.operations import Operation, Parameter


def of_body(operation: Operation, body: bytes) -> dict[str, Any]:
    """From a JSON object; an empty body is an empty object. ValueError or TypeError, in words."""
    data = parsed(body) if body.strip() else {}
    if not isinstance(data, dict):
        raise TypeError("the body: expected a JSON object with the arguments")
    return _chosen(operation, data)


def of_query(operation: Operation, query: Mapping[str, str]) -> dict[str, Any]:
    """From the query of a URL, where all is text."""
    hints = {each.name: each.hint for each in operation.parameters}
    return _chosen(operation, {name: _of_text(hints.get(name), text) for name, text in query.items()})


def parsed(body: bytes) -> Any:
    """The JSON in it; ValueError, in words, if there is none."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"the body is no JSON: {reason}") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _of_text(hint: Any, text: str) -> Any:
    """What a text in a URL stands for: numbers and true or false where such are expected."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    if int in kinds and text.lstrip("-").isdecimal() and len(text) < 20:
        return int(text)
    if float in kinds:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _chosen(operation: Operation, data: dict[str, Any]) -> dict[str, Any]:
    known = {each.name: each for each in operation.parameters}
    for name in data:
        if name not in known:
            there = f"it takes {', '.join(known)}" if known else "it takes no arguments"
            raise TypeError(f"{operation.name} has no argument {name!r}{did_you_mean(name, known)}; {there}")
    missing = [each.name for each in known.values() if each.default is ... and each.name not in data]
    if missing:
        raise TypeError(f"{operation.name} needs {', '.join(missing)}")
    return {name: _value(known[name], each) for name, each in data.items()}


def _value(parameter: Parameter, data: Any) -> Any:
    return decoded(str if parameter.handle else parameter.hint, data, parameter.name)
