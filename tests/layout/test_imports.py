"""No circle of imports: a module can be read, tested and moved with the modules below it alone."""

from __future__ import annotations

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of the packages: those inside functions and under TYPE_CHECKING too."""
    return grimp.build_graph("odradek", exclude_type_checking_imports=False, cache_dir=None)


def circles(graph: grimp.ImportGraph) -> list[list[str]]:
    """The strongly connected parts of the graph that have more than one module, by Tarjan's algorithm."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        open_modules.append(module)
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            if imported not in number:
                visit(imported)
                lowest[module] = min(lowest[module], lowest[imported])
            elif imported in open_modules:
                lowest[module] = min(lowest[module], number[imported])
        if lowest[module] == number[module]:
            start = open_modules.index(module)
            part = open_modules[start:]
            del open_modules[start:]
            if len(part) > 1:
                found.append(sorted(part))

    for module in sorted(graph.modules):
        if module not in number:
            visit(module)
    return found


def test_no_module_is_in_a_circle(graph: grimp.ImportGraph) -> None:
    found = circles(graph)
    shown = "\n\n".join("\n".join(f"  {line}" for line in _imports_within(graph, part)) for part in found)
    assert not found, f"circles of imports:\n{shown}"


def _imports_within(graph: grimp.ImportGraph, part: list[str]) -> list[str]:
    return [
        f"{module} -> {imported}"
        for module in part
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported in part
    ]


def test_circles_of_imports_are_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("x", "a")):
        graph.add_import(importer=importer, imported=imported)
    assert circles(graph) == [["d", "e"], ["a", "b", "c"]]
