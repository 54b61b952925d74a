"""`python -m odradek.container /` writes the image's files; the Containerfile calls it."""

from __future__ import annotations

import sys
from pathlib import Path

from odradek.container.files import install

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected one word: the root of the image's file system")
    for path in install(Path(sys.argv[1])):
        print(path)
