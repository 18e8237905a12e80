# SPDX-License-Identifier: Apache-2.0
"""What a scenario works with."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .client import Answer, KvIndex, Registration
from .compare import Comparison, Fault
from .mirror import Mirror
from .prompts import Held, Prompt, Prompts

SALTS = ("salt-1", "salt-2")
NOBODYS_SALT = "salt-of-nobody"


@dataclass(frozen=True)
class Lab:
    name: str
    index: KvIndex
    comparison: Comparison
    seed: int
    rounds: int
    work: Path

    @property
    def models(self) -> Path:
        return self.work / "models"

    @property
    def log(self) -> Path:
        """Of the engine, where it is a process of its own."""
        return self.work / "out" / f"{self.name}.engine.log"

    def prompts(self, adapters: Sequence[str] = (), salts: Sequence[str] = SALTS) -> Prompts:
        return Prompts(self.seed, adapters, salts)

    def follow(self, registration: Registration) -> "Followed":
        return Followed(self.index, self.comparison, registration)


class Followed:
    """One publisher, registered with kvindex and mirrored."""

    def __init__(self, index: KvIndex, comparison: Comparison, registration: Registration):
        self._index, self._comparison, self.registration = index, comparison, registration
        index.unregister(registration)
        index.register(registration)
        self.mirror = self._new_mirror()
        time.sleep(1)  # subscriptions need a moment at the publisher; what it sent before comes by its replay

    def _new_mirror(self) -> Mirror:
        return Mirror(self.registration.endpoint, self.registration.replay, self.registration.block_size)

    def new_life(self) -> None:
        """The engine was restarted: its numbers begin again, and what was known of it is history."""
        self.mirror.close()
        self.mirror = self._new_mirror()

    def settle(self, phase: str) -> None:
        """Until the engine has told everything and answers show it."""
        sequence = self.mirror.stream.settle()
        if sequence >= 0:
            visible = self._index.wait_until_visible(self.registration, sequence)
            self._comparison.statement(f"{phase}, visible in time", visible, Fault.REFUSED, sequence=sequence)

    def ask(self, prompts: Sequence[Prompt]) -> list[Answer]:
        return self._index.ask(self.registration, prompts)

    def compare(
        self,
        phase: str,
        prompts: Sequence[Prompt],
        truth: Callable[[Prompt], Held] | None = None,
        excuses: Mapping[Fault, str] = {},
    ) -> None:
        """Answers against the engine's inside, or where that cannot be seen against the mirror. The engine has to stand still."""
        self.settle(phase)
        for prompt, answer in zip(prompts, self.ask(prompts), strict=True):
            mirror = self.mirror.held(prompt)
            self._comparison.answer(phase, prompt, answer, truth(prompt) if truth else mirror, mirror=mirror, excuses=excuses)

    def close(self) -> None:
        self.mirror.close()
        self._index.unregister(self.registration)


def sample(random: Random, prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    return random.sample(prompts, min(most, len(prompts)))


def strangers(random: Random, prompts: Sequence[Prompt], most: int = 60) -> list[Prompt]:
    """The same tokens in contexts in which they were not asked: whatever is promised there is somebody else's."""
    asked = set(prompts)
    moved = [prompt.elsewhere(adapter, salt) for prompt in prompts for adapter, salt in _other_contexts(prompt)]
    return sample(random, [prompt for prompt in moved if prompt not in asked], most)


def _other_contexts(prompt: Prompt) -> list[tuple[str | None, str | None]]:
    return [(None, None), (prompt.adapter, None), (None, prompt.salt), (prompt.adapter, NOBODYS_SALT)]
