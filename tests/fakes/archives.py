"""The archives of tests/vectors, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path

VECTORS = Path(__file__).parents[1] / "vectors"


def unpack(name: str, folder: str, target: Path) -> Path:
    """A copy of one folder of an archive, made in `target`."""
    with tarfile.open(VECTORS / name) as archive:
        members = [member for member in archive if Path(member.name).is_relative_to(folder)]
        # Python 3.11.0 to 3.11.3 know no filters; later ones warn of, or refuse, what goes unfiltered.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(target, members)
    return target / folder
