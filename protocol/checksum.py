"""CRC-32C by the `crc32c` package, without what that package does when it is imported.

Its `__init__` looks up its own version, for which it reads the metadata of what is installed: a fifth of the time in
which a broker starts. So the C function is loaded alone where it can be found, else the package as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Final


def _load() -> Callable[..., int]:
    package = PathFinder.find_spec("crc32c")
    if package is not None and package.submodule_search_locations is not None:
        spec = PathFinder.find_spec("_crc32c", list(package.submodule_search_locations))
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            found: Callable[..., int] | None = getattr(module, "crc32c", None)
            if found is not None:
                return found
    from crc32c import crc32c as packaged

    return packaged


crc32c: Final[Callable[..., int]] = _load()
"""`crc32c(data, value=0)`: the checksum of bytes or a view, going on from `value`."""
