"""Compiles the modules of src/odradek/_compiled.py with mypyc where ODRADEK_COMPILE=1 asks for it (`make wheel`).

Everything else about the build is in pyproject.toml. Without the variable nothing is compiled, and no compiler is
needed.
"""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "mypyc"
FOLDERS = {"": "src/odradek", "broker": "broker", "protocol": "protocol", "storage": "storage"}
HIDDEN = ["-fvisibility=hidden"]
"""For gcc and clang: a call of a compiled function is a jump, not a look-up by name (5 % of a small request)."""
PACKED = ["-Wl,-z,pack-relative-relocs"]
"""For the linker of the library with all modules: its 31,000 pointers take 20 KB, not 746, which each start reads."""
OPTIONS = ["--follow-imports=silent", "--ignore-missing-imports"]


def extensions() -> list[Any]:
    """The extension modules, written as C.

    mypyc names a module by its path, so it works in a copy of the package in one folder. The relative paths that it
    sees there are what tracebacks show.
    """
    from mypyc.build import mypycify

    modules = runpy.run_path(str(ROOT / "src" / "odradek" / "_compiled.py"))["MODULES"]
    shutil.rmtree(BUILD / "odradek", ignore_errors=True)
    for package, folder in FOLDERS.items():
        left_out = shutil.ignore_patterns(
            "__pycache__", *(() if package else ("broker", "pipeline", "protocol", "storage"))
        )
        shutil.copytree(ROOT / folder, BUILD / "odradek" / package, ignore=left_out, dirs_exist_ok=True)
    paths = [f"odradek/{module.replace('.', '/')}.py" for module in modules]
    before = Path.cwd()
    os.chdir(BUILD)
    try:
        found = mypycify(
            [*OPTIONS, *paths],
            opt_level=os.environ.get("ODRADEK_COMPILE_LEVEL", "1"),
            debug_level="0",
            multi_file=True,
            group_name="odradek",
            target_dir=str(BUILD / "c"),
        )
        for each in found:
            each.extra_compile_args += HIDDEN if sys.platform != "win32" else []
            each.extra_link_args += PACKED if each.name.endswith("__mypyc") and packs_pointers() else []
        return found
    finally:
        os.chdir(before)


def compilers() -> list[str]:
    """What a compiled build needs beside setuptools: one minor version of the compiler, and where types come from."""
    import tomllib  # not above: an older Python reads this file, and is told by pip which one is needed

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return ["mypy[mypyc]==2.4.*", *project["dependencies"]]


def packs_pointers() -> bool:
    """Whether the loader here reads packed pointers: glibc's does from 2.36, and an older one refuses the library."""
    name, version = platform.libc_ver()
    return name == "glibc" and tuple(int(part) for part in version.split(".")[:2]) >= (2, 36)


class BuildInParallel(build_ext):
    """Compiles the C files of an extension side by side: one for each module, for minutes if one by one."""

    def build_extensions(self) -> None:
        one_by_one = self.compiler.compile

        def side_by_side(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                found = pool.map(lambda source: one_by_one([source], **options), sources)
                return list(chain.from_iterable(found))

        self.compiler.compile = side_by_side
        super().build_extensions()


# That folders of the working directory come first in imports: ours are inside of `odradek`.
warnings.filterwarnings("ignore", "Editable installation", module=r"setuptools\.command\.editable_wheel")

asked = os.environ.get("ODRADEK_COMPILE") == "1"
setup(
    ext_modules=extensions() if asked and "bdist_wheel" in sys.argv else [],
    cmdclass={"build_ext": BuildInParallel},
    setup_requires=compilers() if asked and "egg_info" in sys.argv else [],
)
