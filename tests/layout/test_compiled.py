"""Compiled modules: what mypyc gets wrong is not in them, and an installation is compiled as a whole."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import odradek
from odradek._compiled import MODULES, compiled, is_compiled

ROOT = Path(__file__).parents[2]
MODULES_USED = ("protocol.one", "storage.two")


PACKAGES = sorted({module.rpartition(".")[0] for module in MODULES})


@functools.cache
def _nodes(package: str) -> Sequence[tuple[str, ast.AST]]:
    """What is written in the compiled modules of a package, each part with its module."""
    trees = {
        module: ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
        for module in MODULES
        if module.rpartition(".")[0] == package
    }
    return [(module, node) for module, tree in trees.items() for node in ast.walk(tree)]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_holds_exceptions_of_one_kind(package: str) -> None:
    """mypyc takes the type of the first `except ... as name` of a function for that of all others of the name."""
    for module, function in _nodes(package):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        kinds: dict[str, str] = {}
        for handler in ast.walk(function):
            if isinstance(handler, ast.ExceptHandler) and handler.name and handler.type:
                kind = ast.unparse(handler.type)
                assert kinds.setdefault(handler.name, kind) == kind, f"{module}: {function.name}, line {handler.lineno}"


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_unpacked_into_a_call_of_super(package: str) -> None:
    """mypyc passes what is unpacked there as one argument."""
    for module, call in _nodes(package):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("super()."):
            assert not any(isinstance(each, ast.Starred) for each in call.args), f"{module}, line {call.lineno}"
            assert all(each.arg for each in call.keywords), f"{module}, line {call.lineno}"


@pytest.mark.parametrize("package", PACKAGES)
def test_an_attribute_of_a_class_says_so(package: str) -> None:
    """Without ClassVar the compiled class itself has a descriptor in the value's place; only a dataclass needs none."""
    for module, owner in _nodes(package):
        if not isinstance(owner, ast.ClassDef) or owner.name.endswith("Error") or _bases(owner) & _INTERPRETED:
            continue
        if any(ast.unparse(each).startswith("dataclass") for each in owner.decorator_list):
            continue
        for line in owner.body:
            if isinstance(line, ast.Assign):
                assert ast.unparse(line.targets[0]) == "__slots__", f"{module}: {owner.name}, line {line.lineno}"
            elif isinstance(line, ast.AnnAssign) and line.value is not None:
                declared = ast.unparse(line.annotation).startswith("ClassVar")
                assert declared or ast.unparse(line.target) == "__slots__", (
                    f"{module}: {owner.name}, line {line.lineno}"
                )


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_is_not_generic(package: str) -> None:
    """mypyc gives a generic class weak references and does not clear them before Python 3.12: who holds one crashes."""
    for module, owner in _nodes(package):
        if isinstance(owner, ast.ClassDef) and owner.name not in _LIVES_ON:
            for base in owner.bases:
                generic = isinstance(base, ast.Subscript) and ast.unparse(base.value) not in _LIVES_ON | {"Protocol"}
                assert not generic, f"{module}: {owner.name}, line {owner.lineno}"


_LIVES_ON = {
    "AbortedTransactions",
    "CoordinatorService",
    "GroupService",
    "ParkedConnections",
    "Shard",
    "ShareStateService",
    "TransactionService",
}
"""Generic all the same: few objects, which nobody refers to weakly."""


@pytest.mark.parametrize("package", PACKAGES)
def test_no_field_of_a_named_tuple_is_an_object(package: str) -> None:
    """mypyc looks for the name `object` in the module, and importing it fails; Any says the same."""
    for module, owner in _nodes(package):
        if isinstance(owner, ast.ClassDef) and "NamedTuple" in _bases(owner):
            for field in owner.body:
                if isinstance(field, ast.AnnAssign):
                    names = {each.id for each in ast.walk(field.annotation) if isinstance(each, ast.Name)}
                    assert "object" not in names, f"{module}: {owner.name}, line {field.lineno}"


def _bases(owner: ast.ClassDef) -> set[str]:
    return {ast.unparse(base) for base in owner.bases}


_INTERPRETED = {"Enum", "IntEnum", "NamedTuple", "Protocol"}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_inside_calls_what_the_one_around_it_calls(package: str) -> None:
    """mypyc takes such a function of the module for the one inside, and makes a circle of references."""
    for module, outer in _nodes(package):
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [each for each in ast.walk(outer) if each is not outer and isinstance(each, _FUNCTIONS)]
            if all(isinstance(each, ast.Lambda) for each in inside):
                continue
            names = {each for one in inside for each in _names(one)}
            around = _names(outer, without=inside)
            held = {**vars(builtins), **vars(importlib.import_module(f"odradek.{module}"))}
            functions = [each for each in names & around if inspect.isroutine(held.get(each))]
            assert not functions, f"{module}: {outer.name}, line {outer.lineno}"


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _names(node: ast.AST, without: Sequence[ast.AST] = ()) -> set[str]:
    found = {node.id} if isinstance(node, ast.Name) else set()
    for each in ast.iter_child_nodes(node):
        if each not in without:
            found |= _names(each, without)
    return found


def test_modules_are_named_once_and_in_order() -> None:
    assert list(MODULES) == sorted(set(MODULES))


def test_compiled_flag_needs_all_modules_compiled(tmp_path: Path) -> None:
    (tmp_path / "protocol").mkdir()
    (tmp_path / "storage").mkdir()
    assert not is_compiled(str(tmp_path), MODULES_USED, ".so")
    (tmp_path / "protocol" / "one.so").touch()
    with pytest.raises(ImportError, match=r"compiled only in part: storage\.two is not"):
        is_compiled(str(tmp_path), MODULES_USED, ".so")
    (tmp_path / "storage" / "two.so").touch()
    assert is_compiled(str(tmp_path), MODULES_USED, ".so")


def test_the_package_says_what_it_is() -> None:
    assert odradek.compiled is compiled
    assert compiled is not any(sys.modules[f"odradek.{name}"].__file__.endswith(".py") for name in _loaded())  # type: ignore[union-attr]


def test_a_traceback_names_file_and_line() -> None:
    """Of a compiled function too, in which nobody sees local names."""
    from odradek.protocol.varint import read_uvarint

    with pytest.raises(IndexError) as caught:
        read_uvarint(b"\xff", 0)
    last = caught.traceback[-1]
    source = (ROOT / "protocol" / "varint.py").read_text().splitlines()
    assert str(last.path).endswith("odradek/protocol/varint.py")
    assert last.name == "read_uvarint"
    assert source[last.lineno].strip() == "byte = buf[offset]"


_IMPORT_EACH_FIRST = """
import faulthandler, os, sys, traceback
import construct, cramjam, crc32c, trio  # once for all that follow

faulthandler.enable()
for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            __import__("odradek." + module)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended != 0:
        print(module, ended, flush=True)
"""


@pytest.mark.skipif(not compiled or not hasattr(os, "fork"), reason="compiled modules, and a system that forks")
def test_each_module_can_be_the_first_to_be_imported() -> None:
    """A compiled class that needs a type of a module that nothing has imported yet is a crash, not an ImportError."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_EACH_FIRST, *MODULES], capture_output=True, text=True, env=os.environ
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def _loaded() -> list[str]:
    import odradek.protocol.varint  # noqa: F401

    return [name for name in MODULES if f"odradek.{name}" in sys.modules]


def test_a_half_compiled_installation_is_named_when_it_is_imported(tmp_path: Path) -> None:
    from importlib.machinery import EXTENSION_SUFFIXES

    package = tmp_path / "odradek"
    source = Path(odradek.__file__).parent
    package.mkdir()
    for file in ("__init__.py", "_compiled.py", "_version.py"):
        shutil.copy(source / file, package / file)
    extension = package.joinpath(*MODULES[0].split(".")).with_suffix(EXTENSION_SUFFIXES[0])
    extension.parent.mkdir(parents=True)
    extension.touch()
    done = subprocess.run(
        [sys.executable, "-c", "import odradek"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    assert f"compiled only in part: {MODULES[1]}" in done.stderr
    assert "Install it anew" in done.stderr


def test_the_compiled_run_has_the_tests_of_each_compiled_module() -> None:
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    [listed] = re.findall(r"^COMPILED_TESTS := (.*)$", text, re.MULTILINE)
    rooms = re.findall(r"\$\(addprefix tests/broker/,([^)]*)\)", listed)[0].split()
    folders = {*re.findall(r"tests/(?:protocol|storage)", listed), *(f"tests/broker/{room}" for room in rooms)}
    tested = {f"tests/{'/'.join(module.split('.')[: 2 if module.startswith('broker.') else 1])}" for module in MODULES}
    # Modules at the top of broker and its values are used by all others.
    assert tested - folders == {"tests/broker/clock_face", "tests/broker/metadata"}
