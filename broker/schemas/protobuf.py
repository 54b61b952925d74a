"""Protobuf: bytes as JSON values, by a message of a .proto file or of a descriptor set."""

from __future__ import annotations

import errno
import importlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from odradek.broker.schemas.framing import Framed, message_indexes

_PROTOC_TIMEOUT_S = 10
_PROTOCS = threading.Semaphore(4)
"""How many run at the same time."""
_LONGEST_PART = 255
"""Characters of a name of a file or folder, on all usual file systems."""
FILE = "given.proto"
"""The name of the file with the given text."""
_PART = re.compile(r"(?!\.+$)[\w.-]+", re.ASCII)
_LOGGED = re.compile(r"WARNING: |[IWEF]\d{4} ")
_WHAT_TO_INSTALL = 'Protobuf needs more: pip install "odradek[schemas]"'
_OF_GOOGLE = re.compile(r"google/protobuf/(\w+)\.proto")


class ProtobufSchema:
    """Messages, one of which is meant where the data do not say which.

    ``source``: the text of a .proto file, or a FileDescriptorSet as ``protoc --include_imports -o`` writes it.
    ``imported``: the texts of the files that a .proto file imports, by their paths.
    ``message``: the full name of the message; by default the first of the (last) file. ValueError for what is neither,
    and for an unknown message; ImportError, with what to install, without the libraries.
    """

    kind: Literal["protobuf"] = "protobuf"

    def __init__(
        self, source: str | bytes, message: str | None = None, imported: Mapping[str, str] | None = None
    ) -> None:
        data = source if isinstance(source, bytes) else compiled(source, imported)
        self._pool, files = _pool_of(data)
        names = [name for each in reversed(files) for name in _names(each.message_types_by_name.values())]
        if not names:
            raise ValueError("this declares no messages")
        if message is None:
            self._meant = next(file for file in reversed(files) if file.message_types_by_name)
            self.name = _first(self._meant).full_name
        elif message in names:
            self._meant = self._pool.FindMessageTypeByName(message).file
            self.name = message
        else:
            raise ValueError(f"there is no message {message!r}; there are {', '.join(names[:20])}")

    def __repr__(self) -> str:
        return f"<ProtobufSchema {self.name}>"

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """The data as JSON values, and what may be wrong with them; ValueError for data that do not fit."""
        name, data = self.name, framed.data
        if framed.schema_id is not None:
            indexes, data = message_indexes(data)
            name = self._at(indexes)
        message = self._new(name)
        try:
            message.ParseFromString(data)
        except Exception:
            raise ValueError(f"does not fit {name}: {len(data)} bytes that are not a message of its shape") from None
        unknown = sorted(
            {each.field_number for each in _import("google.protobuf.unknown_fields").UnknownFieldSet(message)}
        )
        problem = f"{name} has no field {', '.join(map(str, unknown))}" if unknown else None
        return self._plain(message, name), problem

    def encode(self, data: Any) -> bytes:
        """The data as the first message of the file, behind its index; ValueError for data that do not fit."""
        message = self._new(self.name)
        try:
            _import("google.protobuf.json_format").ParseDict(data, message, descriptor_pool=self._pool)
        except Exception as error:
            raise ValueError(f"does not fit {self.name}: {error}") from None
        return b"\0" + bytes(message.SerializeToString())

    def _new(self, name: str) -> Any:
        return _import("google.protobuf.message_factory").GetMessageClass(self._pool.FindMessageTypeByName(name))()

    def _plain(self, message: Any, name: str) -> Any:
        try:
            return _import("google.protobuf.json_format").MessageToDict(
                message,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
                descriptor_pool=self._pool,
            )
        except Exception as error:
            raise ValueError(f"does not fit {name}: {error}") from None

    def _at(self, indexes: list[int]) -> str:
        """The message of the file that Confluent's indexes mean."""
        among = list(self._meant.message_types_by_name.values())
        found: Any = None
        for index in indexes:
            if not 0 <= index < len(among):
                raise ValueError(f"the data are of the message {indexes}, which {self._meant.name} does not have")
            found = among[index]
            among = list(found.nested_types)
        return str(found.full_name)


def compiled(text: str, imported: Mapping[str, str] | None = None) -> bytes:
    """The descriptor set of a .proto file, by protoc in a process of its own; ValueError with what protoc says.

    ``imported``: the texts of the files that it imports, by the path under which it does.
    """
    _import("grpc_tools.protoc")
    with tempfile.TemporaryDirectory(prefix="odradek-proto-") as folder:
        place = Path(folder)
        for path, each in {**(imported or {}), FILE: text}.items():
            _write(place, path, each)
        words = [sys.executable, "-m", "grpc_tools.protoc", f"-I{place}", "--include_imports"]
        words += [f"-o{place / 'set'}", FILE]
        try:
            with _PROTOCS:
                done = subprocess.run(words, capture_output=True, cwd=place, timeout=_PROTOC_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            raise ValueError(
                f"this .proto file is too expensive: protoc takes longer than {_PROTOC_TIMEOUT_S} s"
            ) from None
        if done.returncode:
            told = _complaints(done.stderr.decode(errors="replace"), place)
            raise ValueError(f"this is not a .proto file: {told or 'protoc refuses it'}")
        return (place / "set").read_bytes()


def _write(place: Path, path: str, text: str) -> None:
    parts = path.split("/")
    if not all(_PART.fullmatch(each) and len(each) <= _LONGEST_PART for each in parts):
        raise ValueError(f"{_shown(path)} is not the path of a .proto file")
    file = place.joinpath(*parts)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise ValueError(f"{_shown(path)} and another imported file cannot both be there") from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise ValueError(f"{_shown(path)} is too long for the path of a file") from None


def _shown(path: str) -> str:
    return repr(path if len(path) <= _LONGEST_PART else f"{path[:_LONGEST_PART]}...")


def _complaints(told: str, place: Path) -> str:
    """Protoc's message about the file, without the log lines of its libraries."""
    lines = [line.removeprefix(f"{place}{os.sep}") for line in told.splitlines() if not _LOGGED.match(line)]
    return "; ".join(lines)


def _pool_of(data: bytes) -> tuple[Any, list[Any]]:
    """A pool with the files of a descriptor set, and their descriptors."""
    descriptors = _import("google.protobuf.descriptor_pb2").FileDescriptorSet()
    try:
        descriptors.ParseFromString(data)
    except Exception:
        raise ValueError("this is not a descriptor set: protoc --include_imports -o FILE writes one") from None
    pool = _import("google.protobuf.descriptor_pool").DescriptorPool()
    there = {each.name for each in descriptors.file}
    for each in descriptors.file:
        for needed in each.dependency:
            _add_googles(pool, needed, there)
    files = []
    for each in descriptors.file:
        missing = [name for name in each.dependency if name not in there]
        if missing:
            raise ValueError(f"the descriptor set lacks {', '.join(missing)}: protoc --include_imports adds it")
        try:
            pool.Add(each)
            files.append(pool.FindFileByName(each.name))
        except Exception as error:
            raise ValueError(f"this is not a descriptor set: {each.name}: {error}") from None
    return pool, files


def _add_googles(pool: Any, name: str, there: set[str]) -> None:
    """A file that comes with the library, and those that it needs."""
    found = _OF_GOOGLE.fullmatch(name)
    if name in there or not found:
        return
    try:
        module = importlib.import_module(f"google.protobuf.{found[1]}_pb2")
    except ImportError:
        return
    there.add(name)
    for each in module.DESCRIPTOR.dependencies:
        _add_googles(pool, each.name, there)
    pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)


def _first(file: Any) -> Any:
    return next(iter(file.message_types_by_name.values()))


def _names(messages: Any) -> list[str]:
    return [name for each in messages for name in (each.full_name, *_names(each.nested_types))]


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{_WHAT_TO_INSTALL} ({error})") from error
