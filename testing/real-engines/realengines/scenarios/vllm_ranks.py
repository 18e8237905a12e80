# SPDX-License-Identifier: Apache-2.0
"""Two data-parallel ranks behind one server, each with a cache and a publisher of its own: a request's header picks the rank."""

from ..engines.vllm_server import VllmServer
from ..lab import Lab
from ..prompts import Held

RANKS = 2


def run(lab: Lab) -> None:
    engine = VllmServer(lab.models, lab.log, blocks=110, ranks=RANKS)
    try:
        ranks = [lab.follow(engine.registration(lab.name, rank)) for rank in range(RANKS)]
        prompts = lab.prompts()
        for prompt in prompts.many(6 * lab.rounds):
            rank = prompts.random.randrange(RANKS)
            for followed in ranks:
                followed.settle(f"rank {rank}")
            answer = ranks[rank].ask([prompt])[0].of_rank(rank)
            mirror = ranks[rank].mirror.held(prompt)
            cached = engine.complete(prompt, rank=rank).cached
            whole = (len(prompt.tokens) - 1) // engine.block_size * engine.block_size
            lab.comparison.answer(f"rank {rank}", prompt, answer.up_to(whole), Held(cached), mirror=mirror, tiers=False)
        for followed in ranks:
            followed.close()
    finally:
        engine.end()
