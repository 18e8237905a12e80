# SPDX-License-Identifier: Apache-2.0
"""vLLM in this process under traffic of every kind; after each round every answer is compared with what its block pool holds."""

from collections.abc import Callable
from typing import Any

from ..compare import Fault
from ..engines.vllm_local import LocalVllm
from ..lab import Lab, sample, strangers
from ..models import ADAPTERS
from ..prompts import Prompt

COMPARED = 400
UNDECIDED = {Fault.MISS: "a second copy that events do not tell from a repetition (copies_undecided)"}


def run(
    lab: Lab,
    *,
    model: str = "dense",
    blocks: int = 120,
    adapters: bool = False,
    report_full: bool = False,
    recompute: bool = False,
    offloading: str | None = None,
) -> None:
    names = ADAPTERS if adapters else ()
    engine = LocalVllm(lab.models, model, blocks, names, offloading, block_size=32)
    followed = lab.follow(engine.registration(lab.name))
    traffic = Traffic(lab, engine, names, report_full, recompute)
    reused = promised = 0
    for number in range(lab.rounds):
        phase = traffic.round(number)
        asked = sample(traffic.random, traffic.seen, COMPARED)
        excuses = UNDECIDED if recompute else {}
        followed.compare(phase, asked, engine.held, excuses)
        followed.compare(f"{phase}, other contexts", strangers(traffic.random, asked), engine.held, excuses)
        if not offloading and not report_full:
            lab.comparison.table(phase, lab.index.blocks(followed.registration), engine.table())
        reused += sum(engine.reusable(prompt) for prompt in asked)
        promised += sum(engine.held(prompt).total for prompt in asked)
    lab.comparison.note(f"held on any tier {promised:,} tokens, reusable from the device by all attention groups {reused:,}")
    followed.close()


class Traffic:
    """What clients do, one kind a round."""

    def __init__(self, lab: Lab, engine: LocalVllm, adapters: tuple[str, ...], report_full: bool, recompute: bool):
        self.prompts = lab.prompts(adapters)
        self.random = self.prompts.random
        self.seen: list[Prompt] = []
        self._engine, self._report_full, self._recompute = engine, report_full, recompute
        self._kinds: list[Callable[[], None]] = [
            self._one_by_one,
            self._batch,
            self._turns,
            self._crowd,
            self._same,
            self._whole_blocks,
            self._filler,
        ]

    def round(self, number: int) -> str:
        """Each kind once, in random order, then again; a clear now and then. Returns what it was."""
        position = number % len(self._kinds)
        if position == 0:
            self.random.shuffle(self._kinds)
        kind = self._kinds[position] if self.seen else self._batch
        kind()
        if self._report_full:
            self._serve(sample(self.random, self.seen, 3), report_full=True)
        if self._recompute:
            self._serve(sample(self.random, self.seen, 2), recompute=True)
        if number % 6 == 5:
            self._engine.clear()
            self._serve([self.prompts.next()])  # an engine tells of a clear with its next step
            return f"{kind.__name__.strip('_')}, then clear"
        return kind.__name__.strip("_")

    def _serve(self, prompts: list[Prompt], tokens: int = 1, **how: Any) -> None:
        fitting = [prompt.cut(1_900 - tokens) for prompt in prompts]
        self.seen += self._engine.serve(fitting, tokens, **how)

    def _one_by_one(self) -> None:
        for prompt in self.prompts.many(10):
            self._serve([prompt])

    def _batch(self) -> None:
        self._serve(self.prompts.many(24), self.random.randint(1, 100))

    def _turns(self) -> None:
        self._serve([self.prompts.turn(earlier) for earlier in sample(self.random, self.seen, 12)], self.random.randint(1, 40))

    def _crowd(self) -> None:
        """More than fits: requests are preempted and begin again."""
        self._serve(self.prompts.many(16), 600)

    def _same(self) -> None:
        prompt = self.prompts.next()
        self._serve([prompt] * 6, self.random.randint(1, 70))
        self._serve([prompt] * 3)

    def _whole_blocks(self) -> None:
        size = self._engine.block_size
        prompt = self.prompts.next().followed_by(self.prompts.tokens(size))
        prompt = prompt.cut(len(prompt.tokens) // size * size)
        self._serve([prompt])
        self._serve([prompt] * 3, size + 1)
        self._serve([prompt.cut(size)] * 2)

    def _filler(self) -> None:
        self._serve([self.prompts.filler() for _ in range(3)])
