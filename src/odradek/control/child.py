"""The child process of `KafkaBroker(process=True)`: a broker with a control API that ends with its parent.

Standard input has one line, the arguments; then it stays open for as long as the parent lives. Standard output gets one
line of JSON: the URL, or the error that kept the broker from starting.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import sys
import threading
from typing import Any

from odradek.broker.facade.remote.json_values import error_told
from odradek.broker.fast.collector import lasting_imports

_LOOK_EVERY_S = 0.5


def main() -> int:
    """Serve until standard input ends, or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends this process
    parent = os.getppid()
    given = pickle.loads(base64.b64decode(sys.stdin.buffer.readline()))
    try:
        arguments, named = given["arguments"]
        url, broker, server = _start(arguments, named, given["token"])
    except Exception as error:
        print(json.dumps(error_told(error)), flush=True)
        return 1
    print(json.dumps({"url": url}), flush=True)
    ended = threading.Event()
    threading.Thread(target=_wait_for_end, args=(ended,), daemon=True).start()
    while not ended.wait(_LOOK_EVERY_S) and os.getppid() == parent:
        pass
    server.close()
    broker.close()
    return 0


def _start(arguments: tuple[Any, ...], named: dict[str, Any], token: str) -> tuple[str, Any, Any]:
    with lasting_imports():
        from odradek.broker.facade.threaded import KafkaBroker
        from odradek.control.server import ControlServer

    broker = KafkaBroker(*arguments, **named)
    server = ControlServer(broker, token=token)
    broker.start()
    try:
        return server.start().url, broker, server
    except BaseException:
        broker.close()
        raise


def _wait_for_end(ended: threading.Event) -> None:
    sys.stdin.buffer.read()
    ended.set()


if __name__ == "__main__":
    sys.exit(main())
