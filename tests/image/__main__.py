"""`python -m tests.image`: builds the image, starts it, and measures it; with `--environments` it starts it with each
environment of tests/vectors/compose_environments.json, too. Without an engine it says so and does nothing.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.frontdoor.container.environments import ENVIRONMENTS, Environment, write_files
from tests.image.engine import Engine, Failed, found

ROOT = Path(__file__).parents[2]
_LARGEST_MB = 220
_STARTS = 10


def measure(engine: Engine, image: str) -> None:
    """Size, time to healthy, memory, a client's round trip, and how it ends. Failed for what should not be."""
    size = int(engine("image", "inspect", "--format", "{{.Size}}", image)) / 1e6
    seconds = []
    for _ in range(_STARTS):
        with engine.container(image) as container:
            seconds.append(engine.healthy(container))
    with engine.container(image) as container:
        engine.healthy(container)
        status = engine("exec", container, "cat", "/proc/1/status")
        memory = int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1e3
        name = engine("exec", container, "sh", "-c", "cat /proc/1/comm; id --user --name; odradek --version")
        round_trip(engine, container, "localhost:9092")
        began = time.monotonic()
        engine("stop", "--time", "10", container)
        ended = time.monotonic() - began
        code = engine("inspect", "--format", "{{.State.ExitCode}}", container)
    if code != "0":
        raise Failed(f"it ended with {code}")
    if size > _LARGEST_MB:
        raise Failed(f"{size:.0f} MB are more than {_LARGEST_MB}")
    median = statistics.median(seconds)
    print(f"{', '.join(name.splitlines())}: {size:.0f} MB, healthy after {median:.2f} s (median of {_STARTS}), "
          f"{memory:.0f} MB of memory, stopped in {ended:.1f} s")  # fmt: skip


def round_trip(engine: Engine, container: str, address: str) -> None:
    """One record, by the commands in a container."""
    engine("exec", "--interactive", container, "kafka-console-producer", "--bootstrap-server", address, "--topic", "t",
           given="hello\n")  # fmt: skip
    read = ("kafka-console-consumer", "--bootstrap-server", address, "--topic", "t", "--from-beginning")
    said = engine("exec", container, *read, "--max-messages", "1")
    if said != "hello":
        raise Failed(f"a record came back as {said!r}")


def start(engine: Engine, image: str, environment: Environment) -> str:
    """What became of an environment: healthy, and read and written from its own container, from another one in the
    network, and from the host, or the last line that it said.
    """
    with tempfile.TemporaryDirectory() as folder, engine.network() as network:
        files = Path(folder, "files")
        write_files(environment, files)
        host = environment["host"]
        options = ("--network", network, "--hostname", host, "--network-alias", host)
        try:
            copied = [files] if environment["files"] else []
            with engine.container(image, *options, environment=environment["environment"], files=copied) as container:
                seconds = engine.healthy(container)
                done = [f"healthy after {seconds:.1f} s"]
                if environment["files"]:
                    return done[0]
                where = _listener(environment["listeners"], host)
                round_trip(engine, container, where)
                done.append("client beside the broker")
                inside = _advertised(environment, host)
                if inside is not None:
                    with engine.container(image, "--network", network) as other:
                        engine.healthy(other)
                        round_trip(engine, other, inside)
                    done.append("client in the network")
                return ", ".join(done)
        except Failed as error:
            return f"not: {error}"


def _listener(listeners: str, host: str) -> str:
    for name, at, port in re.findall(r"(\w+)://([^,:]*):(\d+)", listeners):
        if name != "CONTROLLER":
            return f"{host if at == host else 'localhost'}:{port}"
    raise Failed("no listener of clients")


def _advertised(environment: Environment, host: str) -> str | None:
    """The address by which others in the network find the broker; None if it advertises none."""
    values = environment["environment"]
    text = values.get("KAFKA_ADVERTISED_LISTENERS") or values.get("KAFKA_CFG_ADVERTISED_LISTENERS") or ""
    return next((f"{at}:{port}" for at, port in re.findall(r"://([^,:]*):(\d+)", text) if at == host), None)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.image")
    parser.add_argument("--image", help="an image that is there already, instead of building one")
    parser.add_argument("--compile", type=int, default=1, choices=(0, 1), help="0 builds without compiled modules")
    parser.add_argument("--environments", action="store_true", help="start it with each environment, too")
    arguments = parser.parse_args(words)
    engine = found()
    if engine is None:
        print("no image built: neither docker nor podman answers")
        return 0
    image = arguments.image or "odradek:tested"
    try:
        if arguments.image is None:
            engine("build", "--tag", image, "--build-arg", f"ODRADEK_COMPILE={arguments.compile}",
                   "--file", str(ROOT / "Containerfile"), str(ROOT), timeout_s=3600)  # fmt: skip
        measure(engine, image)
    except Failed as error:
        print(f"{image}: {error}")
        return 1
    failed = 0
    for environment in ENVIRONMENTS if arguments.environments else ():
        said = start(engine, image, environment)
        as_expected = (environment["refused_in_image"] or "healthy") in said
        failed += not as_expected
        print(f"{environment['name']}: {said}{'' if as_expected else ' (unexpected)'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
