"""The generated flavour that blocks."""

from __future__ import annotations

from generators import blocking


def test_nothing_of_trio_is_left_in_them() -> None:
    for path, text in blocking.files().items():
        left = [word for word in ("await ", "async ", "trio", "Trio", "Pending") if word in text]
        assert not left, path
