"""What a handler returns: a coroutine of a plain function or of a compiled one, or anything else."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from odradek.broker.requests.response import EncodedBody, is_coroutine


class CompiledCoroutine:
    """As mypyc makes them: a class of its own for each function."""

    def __await__(self) -> Generator[Any, Any, int]:
        yield
        return 1


def test_coroutines() -> None:
    async def handler() -> None: ...

    plain = handler()
    assert is_coroutine(plain)
    plain.close()
    assert is_coroutine(CompiledCoroutine())


def test_others() -> None:
    assert not is_coroutine(None)
    assert not is_coroutine(EncodedBody(b""))
