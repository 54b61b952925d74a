"""A real Kafka before 4.0: one node, with ZooKeeper where its KRaft mode was a preview."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tests.conformance.real_kafka import (
    CLUSTER_ID,
    HERE,
    TEST_DEFAULTS,
    RealKafka,
    classpath,
    java_command,
    properties_text,
    run_tool,
)

OLDER_VERSIONS: Mapping[str, str] = {"2.8": "2.8.2", "3.9": "3.9.1"}
"""Release to the patch release that is asked."""


class OlderKafka(RealKafka):
    """A real node of one of `OLDER_VERSIONS`."""

    def __init__(self, release: str, *, port: int = 0, config: Mapping[str, str] | None = None) -> None:
        super().__init__(heap="400m", port=port, config=config)
        self._jars = classpath(OLDER_VERSIONS[release], HERE / "older.xml")
        self._zookeeper = release.startswith("2.")
        self._zookeeper_process: subprocess.Popen[bytes] | None = None

    def properties(self) -> dict[str, str]:
        if not self._zookeeper:
            return super().properties()
        known = {name: value for name, value in TEST_DEFAULTS.items() if not name.startswith("share.")}
        return {
            "broker.id": "0",
            "zookeeper.connect": f"127.0.0.1:{self._controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": str(self.log_dir),
            **known,
        }

    def prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        properties = self.folder / "server.properties"
        properties.write_text(properties_text(self.properties()))
        if self._zookeeper:
            own = {"dataDir": str(self.folder / "zookeeper"), "clientPort": str(self._controller_port)}
            settings = self.folder / "zookeeper.properties"
            settings.write_text(properties_text({**own, "admin.enableServer": "false"}))
            main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
            self._zookeeper_process = self._run(main, str(settings), "zookeeper.txt")
        else:
            done = run_tool(
                "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties), jars=self._jars
            )
            if done.returncode:
                raise RuntimeError(f"formatting the data folder failed: {done.stdout}{done.stderr}")

    def launch(self) -> subprocess.Popen[bytes]:
        self.process = self._run("kafka.Kafka", str(self.folder / "server.properties"), "output.txt")
        return self.process

    def _run(self, main: str, settings: str, output: str) -> subprocess.Popen[bytes]:
        command = java_command(main, settings, heap=self._heap, jars=self._jars)
        with open(self.folder / output, "ab") as told:
            return subprocess.Popen(command, stdout=told, stderr=told, cwd=self.folder)

    def halt(self, *, kill: bool = False) -> None:
        super().halt(kill=kill)
        process, self._zookeeper_process = self._zookeeper_process, None
        if process is not None:
            process.kill()
            process.wait()
