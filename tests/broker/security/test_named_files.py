"""Files that a config names: what is read, and what is refused without being opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from odradek.broker.security.named_files import MOST_BYTES, read_named

WORDS = {
    "folder": "it is a folder",
    "pipe": "it is no regular file",
    "link to a device": "it is no regular file",
    "link to a pipe": "it is no regular file",
    "too large": "it has more than",
    "missing": "No such file",
    "link to nothing": "No such file",
}


def make(kind: str, path: Path) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "link to a pipe":
        os.mkfifo(f"{path}.pipe")
        path.symlink_to(f"{path}.pipe")
    elif kind == "too large":
        path.touch()
        os.truncate(path, 20 << 30)
    elif kind == "link to nothing":
        path.symlink_to("nowhere")


def test_a_regular_file_is_read_and_links_are_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "keys.pem", tmp_path / "link"
    file.write_bytes(b"x" * MOST_BYTES)
    link.symlink_to(file)
    assert read_named(str(link)) == file.read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices have no names in the file system")
@pytest.mark.parametrize("kind", WORDS)
def test_anything_else_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "named"
    make(kind, path)
    with pytest.raises(OSError, match=WORDS[kind]):
        read_named(path)
