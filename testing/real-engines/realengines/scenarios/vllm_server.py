# SPDX-License-Identifier: Apache-2.0
"""`vllm serve`: each prompt is asked of kvindex first and of the engine then, whose `cached_tokens` is the truth."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

from ..compare import Fault
from ..engines.vllm_server import VllmServer
from ..lab import Followed, Lab, sample, strangers
from ..models import ADAPTERS
from ..prompts import Held, Prompt, Prompts

NAMED_WITHIN_SECONDS = 3.0
TRUSTED_WITHIN_SECONDS = 30.0


def run(lab: Lab) -> None:
    engine = VllmServer(lab.models, lab.log, blocks=120, adapters=ADAPTERS)
    try:
        Visit(lab, engine, lab.follow(engine.registration(lab.name))).everything()
    finally:
        engine.end()


def ask_both(
    lab: Lab, engine: VllmServer, followed: Followed, phase: str, prompt: Prompt, *, rank: int | None = None, report_full: bool = False
) -> Prompt:
    """One prompt, kvindex first. An engine computes at least the last token anew: what is promised beyond that is not used."""
    followed.settle(phase)
    answer = followed.ask([prompt])[0]
    mirror = followed.mirror.held(prompt)
    completion = engine.complete(prompt, rank=rank, report_full=report_full)
    usable = (len(prompt.tokens) - 1) // engine.block_size * engine.block_size
    answer = (answer if rank is None else answer.of_rank(rank)).up_to(usable)
    lab.comparison.answer(phase, prompt, answer, Held(completion.cached), mirror=mirror, tiers=False)
    return completion.prompt


class Visit:
    """One engine's day. Every phase goes on where the one before ended."""

    def __init__(self, lab: Lab, engine: VllmServer, followed: Followed):
        self._lab, self._engine, self._followed = lab, engine, followed
        self._prompts: Prompts = lab.prompts(ADAPTERS)
        self._random = self._prompts.random
        self._seen: list[Prompt] = []

    def everything(self) -> None:
        self._one_by_one("shared prefixes", 6 * self._lab.rounds)
        self._compare_all("shared prefixes")
        self._together()
        self._turns()
        self._clear()
        for how in (signal.SIGKILL, signal.SIGTERM):
            self._restart(how)
        self._followed.close()

    def _one_by_one(self, phase: str, count: int) -> None:
        for prompt in self._prompts.many(count):
            self._seen.append(ask_both(self._lab, self._engine, self._followed, phase, prompt))

    def _compare_all(self, phase: str) -> None:
        asked = sample(self._random, self._seen, 300)
        self._followed.compare(f"{phase}, all so far", asked)
        self._followed.compare(f"{phase}, other contexts", strangers(self._random, asked))

    def _together(self) -> None:
        """Requests at the same time, some of them for the same prompt, with long answers: blocks are preempted."""
        prompts = self._prompts.many(3 * self._lab.rounds) + [self._prompts.next()] * 6
        with ThreadPoolExecutor(8) as clients:
            self._seen += [done.prompt for done in clients.map(lambda prompt: self._engine.complete(prompt, 300), prompts)]
        self._compare_all("together")

    def _turns(self) -> None:
        for earlier in sample(self._random, self._seen, 2 * self._lab.rounds):
            turn = self._prompts.turn(earlier).cut(1_900)
            self._seen.append(ask_both(self._lab, self._engine, self._followed, "turns", turn, report_full=self._random.random() < 0.3))
        self._compare_all("turns")

    def _clear(self) -> None:
        self._engine.clear()
        self._engine.complete(self._prompts.next())  # the clear is told with the next step
        self._compare_all("after a clear")
        self._one_by_one("after a clear", self._lab.rounds)

    def _restart(self, how: signal.Signals) -> None:
        phase = f"after {how.name}"
        self._engine.end(how)
        # Whatever is said of an engine that is gone comes with a warning, which ends when the new one was heard.
        self._await_named(f"{phase}, named while it is gone", True, NAMED_WITHIN_SECONDS)
        self._engine.start()
        self._followed.new_life()
        self._seen.append(self._engine.complete(self._prompts.next()).prompt)
        self._await_named(f"{phase}, trusted again", False, TRUSTED_WITHIN_SECONDS)
        self._compare_all(phase)
        self._one_by_one(phase, self._lab.rounds)

    def _await_named(self, phase: str, wanted: bool, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (named := self._followed.ask(self._seen[:1])[0].named_degraded) is not wanted and time.monotonic() < deadline:
            time.sleep(0.1)
        self._lab.comparison.statement(phase, named is wanted, Fault.UNSAID)
