# SPDX-License-Identifier: Apache-2.0
"""Processes that are started, waited for and ended as a whole: a server and what it has started itself."""

import os
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

GRACE_SECONDS = 30.0


def free_ports(count: int) -> int:
    """The first of so many ports in a row that are free, below those the system hands out by itself."""
    for _ in range(200):
        first = random.randrange(20_000, 32_000 - count)
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise RuntimeError(f"no {count} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


class Service:
    """A child process in a process group of its own, so that its children end with it."""

    def __init__(self, command: Sequence[object], log: Path, health: str, environment: Mapping[str, str] = {}):
        self.log, self._health = log, health
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | dict(environment),
                start_new_session=True,
            )

    def wait_until_healthy(self, seconds: float = 600) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"ended with {self._process.returncode}: see {self.log}")
            try:
                with urllib.request.urlopen(self._health, timeout=3) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.3)
        self.end(signal.SIGKILL)
        raise RuntimeError(f"not healthy after {seconds:.0f} s: see {self.log}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Returns when the whole group is gone; what outlives the grace period is killed."""
        self._signal(how)
        asked = time.monotonic()
        while self._signal(0) and time.monotonic() < asked + 2 * GRACE_SECONDS:
            if time.monotonic() > asked + GRACE_SECONDS:
                self._signal(signal.SIGKILL)
            time.sleep(0.1)

    def _signal(self, number: int) -> bool:
        """Whether there was anybody to send it to; 0 only asks."""
        self._process.poll()
        try:
            os.killpg(self._process.pid, number)
            return True
        except ProcessLookupError:
            return False
