from __future__ import annotations

import ast

from generators import codecs
from odradek._compiled import MODULES


def test_all_of_them_are_compiled_and_their_messages_with_them() -> None:
    """A message class of plain Python would cost them most of what they gain."""
    folder = "protocol.generated"
    written = {name.removesuffix(".py").replace("/", ".") for name in codecs.files()} - {f"{folder}.codecs.index"}
    messages = {f"{folder}.messages.{name}" for name in codecs.APIS}
    records = {f"{folder}.stored.{name}" for name in codecs.RECORDS}
    assert written | messages | records <= set(MODULES)
    assert {name for name in MODULES if name.startswith(f"{folder}.codecs.")} == written


def test_versions_of_one_layout_share_a_function() -> None:
    functions = {
        node.name
        for node in ast.parse(codecs.files()["protocol/generated/codecs/produce.py"]).body
        if isinstance(node, ast.FunctionDef) and "produce_request" in node.name
    }
    assert functions == {f"decode_produce_request_{version}" for version in (0, 3, 9, 13)}
