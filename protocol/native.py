"""What mypyc is told about classes of compiled modules; plain Python does nothing about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**attributes):
        """`allow_interpreted_subclasses`: classes of modules that are not compiled may inherit from the class."""
        return lambda decorated: decorated
