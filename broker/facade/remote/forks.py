"""What a control API does about forks: each is a broker in the server's process, with a control API of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ForkInfo:
    """A fork that runs. ``control``: the URL of its control API, which wants the same token."""

    id: str
    control: str
    bootstrap_servers: str


class ForkOperations:
    """Forks over HTTP."""

    @property
    def forks(self) -> list[ForkInfo]:
        """The forks of this broker that run in this process."""
        raise NotImplementedError

    def fork(self, data_dir: str | None = None) -> ForkInfo:
        """Start a second broker that begins with the state of this one, on ports of its own.

        It is in memory, or keeps its logs in ``data_dir``: an empty directory where the server runs, or one that is
        not there yet. It stays when the fork ends. The fork has a control API of its own, and a clock. It ends with
        `close_fork`, or with this server. ValueError for a directory that is not empty, RuntimeError when 100 forks
        run.
        """
        raise NotImplementedError

    def close_fork(self, fork: str) -> None:
        """End a fork, by its id; ValueError if none of it runs."""
        raise NotImplementedError
