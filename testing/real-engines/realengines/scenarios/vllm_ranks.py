# SPDX-License-Identifier: Apache-2.0
"""Two data-parallel ranks behind one server, each with a cache and a publisher of its own: a request's header picks the rank."""

from ..engines.vllm_server import VllmServer
from ..lab import Lab
from .vllm_server import ask_both

RANKS = 2


def run(lab: Lab) -> None:
    engine = VllmServer(lab.models, lab.log, blocks=110, ranks=RANKS)
    try:
        ranks = [lab.follow(engine.registration(lab.name, rank)) for rank in range(RANKS)]
        prompts = lab.prompts()
        for prompt in prompts.many(6 * lab.rounds):
            rank = prompts.random.randrange(RANKS)
            ask_both(lab, engine, ranks[rank], f"rank {rank}", prompt, rank=rank)
        for followed in ranks:
            followed.close()
    finally:
        engine.end()
