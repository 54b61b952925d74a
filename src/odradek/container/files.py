"""The files of the image: what `docker run` starts, and what the Testcontainers modules expect of Kafka's images.

Those modules start a shell that waits for a script, copy the script in when they know the port on the host, and read
the log until the broker runs. Their scripts call `/etc/kafka/docker/run` (apache/kafka) or, of cp-kafka, `run` or
`bash-config`, `configure` and `launch` in `/etc/confluent/docker`; before that some of them append a call of
`kafka-storage format` to `configure`, empty `ensure`, or start a ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SERVE = "exec python -m odradek serve --from-env"

FILES: Mapping[str, str] = {
    "etc/kafka/docker/run": f"#!/bin/sh\n{SERVE}\n",
    "etc/confluent/docker/bash-config": "# Read by scripts that start cp-kafka. There is nothing to set.\n",
    "etc/confluent/docker/ensure": "#!/bin/sh\n",
    "etc/confluent/docker/configure": "#!/bin/sh\n",
    "etc/confluent/docker/launch": f"#!/bin/sh\n{SERVE}\n",
    "etc/confluent/docker/run": "#!/bin/sh\ncd {root}/etc/confluent/docker && ./configure && exec ./launch\n",
    "usr/local/bin/kafka-storage": '#!/bin/sh\nexec python -m odradek.container.storage "$@"\n',
    "usr/local/bin/zookeeper-server-start": '#!/bin/sh\necho "odradek needs no ZooKeeper: none is started"\n',
}
"""Path below the root to content; ``{root}`` is the root's own path, nothing in an image."""


def install(root: Path) -> list[Path]:
    """Write the files below `root` (``/`` in an image), each of them executable."""
    written = []
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.replace("{root}", str(root).rstrip("/")))
        path.chmod(0o755)
        written.append(path)
    return written
