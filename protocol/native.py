"""Declarations for mypyc about classes and numbers of compiled modules. They have no effect in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64 as i64
    from mypy_extensions import mypyc_attr as mypyc_attr
else:
    i64 = int
    """A number of 64 bits, kept as such in compiled code: nobody checks there whether it is wider."""

    def mypyc_attr(**attributes):
        """`allow_interpreted_subclasses`: classes of modules that are not compiled may inherit from the class.

        It can be copied and pickled then, too, whatever its `__init__` takes.
        `acyclic`: its objects refer to none that refers to them, so the garbage collector need not know them.
        `free_list_len`: how many of its objects are kept for the next ones.
        """
        return lambda decorated: decorated
