# SPDX-License-Identifier: Apache-2.0
"""SGLang's caches and publisher, without a model."""

from ..engines.sglang_cache import SglangCache
from ..lab import Lab, sample, strangers
from ..models import ADAPTERS
from ..prompts import Prompt


def run(
    lab: Lab,
    *,
    unified: bool = True,
    page: int = 16,
    pages: int = 300,
    adapters: bool = False,
    eagle: bool = False,
    dialect: str = "default",
    profile: str = "xxh3",
) -> None:
    names = ADAPTERS if adapters else ()
    cache = SglangCache(unified=unified, page=page, pages=pages, adapters=names, eagle=eagle, dialect=dialect)
    followed = lab.follow(cache.registration(lab.name, hash_profile=profile))
    prompts = lab.prompts(names)
    random = prompts.random
    seen: list[Prompt] = []
    for number in range(lab.rounds):
        phase = random.choice(["new", "turns", "filler", "evict"]) if seen else "new"
        served: list[Prompt] = []
        if phase == "new":
            served = prompts.many(15)
        elif phase == "turns":
            served = [prompts.turn(earlier) for earlier in sample(random, seen, 10)]
        elif phase == "filler":
            served = [prompts.filler(600) for _ in range(3)]
        else:
            cache.evict(random.randint(page, page * pages // 3))
        if number % 7 == 6:
            phase += ", then clear"
            cache.clear()
        for prompt in served:
            cache.serve(prompt)
        seen += served
        asked = sample(random, seen, 250)
        asked += [prompt.cut(random.randrange(1, len(prompt.tokens))) for prompt in sample(random, seen, 40)]
        held = {prompt: cache.held(prompt) for prompt in asked}  # looking may split a node, which is announced
        followed.compare(phase, asked, held.__getitem__)
        followed.compare(f"{phase}, other contexts", strangers(random, asked), cache.held)
    followed.close()
