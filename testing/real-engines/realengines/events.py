# SPDX-License-Identifier: Apache-2.0
"""An engine's event stream as a client of its own would read it: live frames, and the replay socket for what is missing."""

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec
import zmq

REPLAY_PATIENCE_MS = 3_000

Event = dict[str, Any]


class EventStream:
    """One life of one publisher, in the order of its numbers, each batch once."""

    def __init__(self, endpoint: str, replay: str, take: Callable[[Event], None]):
        self.sequence = -1
        self._newest = -1
        self._take, self._replay = take, replay
        self._lock = threading.RLock()
        self._last_frame = time.monotonic()
        self._closing = threading.Event()
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        self._socket.set(zmq.RCVHWM, 0)
        self._socket.subscribe(b"")
        self._socket.connect(endpoint)
        self._reader = threading.Thread(target=self._read, name="events", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._closing.is_set():
            if self._socket.poll(100):
                *_, number, payload = self._socket.recv_multipart()
                with self._lock:
                    if int.from_bytes(number, "big") > self.sequence + 1:
                        self._catch_up()
                    self._apply(int.from_bytes(number, "big"), payload)

    def _apply(self, sequence: int, payload: bytes) -> None:
        self._newest = max(self._newest, sequence)
        if sequence != self.sequence + 1:
            return  # known already, or behind a hole that the replay has not filled: settle() fails then
        self.sequence, self._last_frame = sequence, time.monotonic()
        for event in msgspec.msgpack.decode(payload)[1]:
            self._take(event)

    def _catch_up(self) -> int:
        """Asks for everything behind the last known batch; returns how many batches that were."""
        before = self.sequence
        socket: zmq.Socket[bytes]
        with zmq.Context.instance().socket(zmq.DEALER) as socket:
            socket.set(zmq.LINGER, 0)
            socket.connect(self._replay)
            socket.send_multipart([b"", (self.sequence + 1).to_bytes(8, "big")])
            while socket.poll(REPLAY_PATIENCE_MS):
                *_, number, payload = socket.recv_multipart()
                if int.from_bytes(number, "big", signed=True) < 0:  # the mark at the end of a replay
                    break
                self._apply(int.from_bytes(number, "big"), payload)
        return self.sequence - before

    def settle(self, quiet: float = 0.1, seconds: float = 20) -> int:
        """Waits until the engine has nothing more to tell; returns the last batch's number, -1 where there is none."""
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            with self._lock:
                silent = time.monotonic() - max(self._last_frame, start) > quiet
                if silent and self._catch_up() == 0 and self.sequence == self._newest:
                    return self.sequence
            time.sleep(0.02)
        raise RuntimeError(f"has {self.sequence} of {self._newest} batches: the publisher does not come to rest, or cannot replay")

    def close(self) -> None:
        self._closing.set()
        self._reader.join()
        self._socket.close(0)
