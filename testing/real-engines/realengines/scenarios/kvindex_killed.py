# SPDX-License-Identifier: Apache-2.0
"""kvindex is the one that dies, with SIGKILL. What it had acknowledged is still there when it is back; what the engine did
meanwhile comes by the replay, and where that does not reach back the answers say so."""

import signal
import time

from ..client import KvIndexServer
from ..compare import Fault
from ..engines.vllm_server import VllmServer
from ..lab import Followed, Lab
from ..prompts import Prompt, Prompts
from .vllm_server import ask_both

REPLAY_BATCHES = 60
AWAY = {"within the replay buffer": 25, "beyond the replay buffer": 150}


def run(lab: Lab) -> None:
    index = KvIndexServer(lab.work / "killed")
    try:
        engine = VllmServer(lab.models, lab.log, blocks=110, replay_batches=REPLAY_BATCHES)
        try:
            _at_once(lab, index, engine)
        finally:
            engine.end()
        engine.start()
        try:
            _engine_goes_on(lab, index, engine)
        finally:
            engine.end()
    finally:
        index.end()


def _at_once(lab: Lab, index: KvIndexServer, engine: VllmServer) -> None:
    """Seconds after the registration kvindex dies, then the engine, which can replay nothing any more."""
    phase = "killed at once"
    followed = Followed(index, lab.comparison, engine.registration(f"{lab.name}-early"))
    prompts = lab.prompts(salts=()).many(30)
    for prompt in prompts:
        engine.complete(prompt)
    followed.settle(phase)
    before = followed.ask(prompts)
    index.end(signal.SIGKILL)
    engine.end(signal.SIGKILL)
    index.start()
    for prompt, was, now in zip(prompts, before, followed.ask(prompts), strict=True):
        lab.comparison.statement(f"{phase}, still there", was.held == now.held, Fault.MISS, prompt=prompt.tokens, before=was, after=now)
    followed.close()


def _engine_goes_on(lab: Lab, index: KvIndexServer, engine: VllmServer) -> None:
    followed = Followed(index, lab.comparison, engine.registration(lab.name))
    prompts = lab.prompts(salts=())
    seen = [ask_both(lab, engine, followed, "before", prompt) for prompt in prompts.many(2 * lab.rounds)]
    for phase, requests in AWAY.items():
        index.end(signal.SIGKILL)
        seen += [engine.complete(prompt).prompt for prompt in prompts.many(requests)]
        index.start()
        _wait_until_followed(index, followed)
        followed.compare(phase, seen[-150:])  # a disagreement is explained where the answer names the instance
    _exact_again(lab, engine, followed, prompts, seen)
    followed.close()


def _wait_until_followed(index: KvIndexServer, followed: Followed, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        listeners = index.listeners(followed.registration).values()
        if listeners and all(listener["state"] not in ("pending", "replaying") for listener in listeners):
            return
        time.sleep(0.2)


def _exact_again(lab: Lab, engine: VllmServer, followed: Followed, prompts: Prompts, seen: list[Prompt]) -> None:
    """A clear settles what was unknown."""
    engine.clear()
    seen += [ask_both(lab, engine, followed, "after a clear", prompt) for prompt in prompts.many(lab.rounds)][1:]
    followed.compare("after a clear, all", seen[-150:])
    named = followed.ask(seen[-1:])[0].named_degraded
    lab.comparison.statement("after a clear, no more named", not named, Fault.UNSAID)
