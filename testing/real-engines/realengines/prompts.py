# SPDX-License-Identifier: Apache-2.0
"""Prompts that share prefixes as a chat service's do: few system prompts, documents below them, questions below those."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

VOCABULARY = range(10, 30_000)


@dataclass(frozen=True)
class Prompt:
    """Token ids and the context they are asked in: no block is shared between contexts."""

    tokens: tuple[int, ...]
    adapter: str | None = None
    salt: str | None = None

    @property
    def context(self) -> str:
        return "+".join(word for word, given in (("adapter", self.adapter), ("salt", self.salt)) if given) or "plain"

    def followed_by(self, tokens: Sequence[int]) -> "Prompt":
        return replace(self, tokens=self.tokens + tuple(tokens))

    def cut(self, length: int) -> "Prompt":
        return replace(self, tokens=self.tokens[:length])

    def elsewhere(self, adapter: str | None, salt: str | None) -> "Prompt":
        return replace(self, adapter=adapter, salt=salt)


@dataclass(frozen=True)
class Held:
    """Tokens of a prompt's prefix: the longest on any tier, and how many of those are on each."""

    total: int
    tiers: Counter[str] = field(default_factory=Counter)


class Prompts:
    """A seeded source of prompts. One seed gives the same prompts on every machine."""

    def __init__(self, seed: int, adapters: Sequence[str] = (), salts: Sequence[str] = ()):
        self.random = Random(seed)
        plain = max(1, len(adapters) + len(salts))
        self.contexts: list[tuple[str | None, str | None]] = [(None, None)] * plain
        self.contexts += [(adapter, None) for adapter in adapters] + [(None, salt) for salt in salts]
        self.contexts += [(adapters[0], salts[0])] if adapters and salts else []
        self._systems = [self.tokens(30, 250) for _ in range(6)]
        self._documents = [[self.tokens(30, 400) for _ in range(5)] for _ in self._systems]

    def tokens(self, least: int, most: int | None = None) -> tuple[int, ...]:
        length = self.random.randint(least, most or least)
        return tuple(self.random.choices(VOCABULARY, k=length))

    def next(self) -> Prompt:
        """Some systems and documents are far more popular than others."""
        system = min(int(self.random.expovariate(0.5)), len(self._systems) - 1)
        document = min(int(self.random.expovariate(0.6)), len(self._documents[system]) - 1)
        shared = self._systems[system] + (self._documents[system][document] if self.random.random() < 0.85 else ())
        return Prompt(shared + self.tokens(1, 120), *self.random.choice(self.contexts))

    def many(self, count: int) -> list[Prompt]:
        return [self.next() for _ in range(count)]

    def turn(self, earlier: Prompt) -> Prompt:
        """The next question in a conversation."""
        return earlier.followed_by(self.tokens(1, 60))

    def filler(self, length: int = 1500) -> Prompt:
        """Shares nothing, and drives other blocks out."""
        return Prompt(self.tokens(length))
