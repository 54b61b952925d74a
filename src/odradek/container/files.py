"""`python -m odradek.container.files /` writes the files of the image; the Containerfile calls it.

They are what `docker run` starts, what the Testcontainers modules expect of Kafka's images, and the commands that
compose files call.

Those modules start a shell that waits for a script, copy the script in when they know the port on the host, and read
the log until the broker runs. Their scripts call `/etc/kafka/docker/run` (apache/kafka) or, of cp-kafka, `run` or
`bash-config`, `configure` and `launch` in `/etc/confluent/docker`; before that some of them append a call of
`kafka-storage format` to `configure`, empty `ensure`, or start a ZooKeeper.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from odradek.tools.options import COMMANDS

SERVE = "exec python -m odradek serve --from-env"

FILES: Mapping[str, str] = {
    "etc/kafka/docker/run": f"#!/bin/sh\n{SERVE}\n",
    "etc/confluent/docker/bash-config": "# Read by scripts that start cp-kafka. There is nothing to set.\n",
    "etc/confluent/docker/ensure": "#!/bin/sh\n",
    "etc/confluent/docker/configure": "#!/bin/sh\n",
    "etc/confluent/docker/launch": f"#!/bin/sh\n{SERVE}\n",
    "etc/confluent/docker/run": "#!/bin/sh\ncd {root}/etc/confluent/docker && ./configure && exec ./launch\n",
    "usr/local/bin/zookeeper-server-start": '#!/bin/sh\necho "odradek needs no ZooKeeper: none is started"\n',
}
"""Path below the root to content; ``{root}`` is the root's own path, nothing in an image."""
FOLDERS = ("opt/kafka/bin", "opt/bitnami/kafka/bin", "kafka/bin")
"""Where `apache/kafka`, `bitnami/kafka` and `debezium/kafka` have their commands; `cp-kafka` has them on the path."""


def commands() -> dict[str, str]:
    """The commands, as files: by their names on the path, and by those that end in `.sh`, there and in the folders."""
    found = {}
    for name in ("kafka-storage", *COMMANDS):
        module = "odradek.container.storage" if name == "kafka-storage" else f"odradek tools {name}"
        content = f'#!/bin/sh\nexec python -m {module} "$@"\n'
        found[f"usr/bin/{name}"] = content
        if name.startswith("kafka-"):
            found |= {f"{folder}/{name}.sh": content for folder in ("usr/bin", *FOLDERS)}
    return found


def install(root: Path) -> list[Path]:
    """Write the files below `root` (``/`` in an image), each of them executable."""
    written = []
    for name, content in {**FILES, **commands()}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.replace("{root}", str(root).rstrip("/")))
        path.chmod(0o755)
        written.append(path)
    return written


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected one word: the root of the image's file system")
    for path in install(Path(sys.argv[1])):
        print(path)
