# SPDX-License-Identifier: Apache-2.0
"""What can be known of an engine from its events alone, kept as simply as possible: names of blocks, and copies by tier.

Where the mirror and kvindex agree and the engine differs, its events do not tell the truth; where the mirror agrees with the
engine, kvindex is wrong.
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from .events import Event, EventStream
from .prompts import Held, Prompt

MAIN_GROUPS = ("full_attention", "mla_attention", "sink_full_attention")
TIERS = {None: "GPU", "GPU": "GPU", "CPU": "CPU", "STORAGE": "DISK"}

Link = tuple[int | None, tuple[Hashable, ...], str | None, str | None]


class Mirror:
    """Follows one life of one publisher."""

    def __init__(self, endpoint: str, replay: str, block_size: int):
        self.block_size = block_size
        self._lock = threading.Lock()
        self._copies: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._names: dict[Link, int] = {}
        self._kinds: dict[int | None, str] = {}
        self._pairs = False
        self.stream = EventStream(endpoint, replay, self._take)

    def _take(self, event: Event) -> None:
        with self._lock:
            tier = TIERS.get(event.get("medium"), str(event.get("medium")))
            match event["type"]:
                case "AllBlocksCleared":
                    self._copies["GPU"].clear()
                case "BlockStored" if self._is_main(event):
                    self._copies[tier].update(event["block_hashes"])
                    if tier == "GPU":  # lower tiers know tokens without their context, if at all
                        self._learn(event)
                case "BlockRemoved" if self._is_main(event):
                    self._copies[tier].subtract(event["block_hashes"])

    def _is_main(self, event: Event) -> bool:
        """Hybrid models announce every group of layers; the main one needs all blocks of a prefix."""
        group = event.get("group_idx")
        kind = event.get("kv_cache_spec_kind")
        if kind:
            self._kinds[group] = kind
        return self._kinds[group] in MAIN_GROUPS if group in self._kinds else group in (None, 0)

    def _learn(self, event: Event) -> None:
        parent, size = event["parent_block_hash"], event["block_size"]
        tokens = [tuple(token) if isinstance(token, list) else token for token in event["token_ids"]]
        self._pairs = self._pairs or isinstance(tokens[0], tuple)  # EAGLE: each token with its neighbour
        adapter = event.get("lora_name")
        salt = event.get("cache_salt")  # SGLang; vLLM has it among the keys of a prompt's first block
        for keys in (event.get("extra_keys") or ())[:1]:
            salt = next((key for key in keys or () if key != adapter), salt)
        for i, block in enumerate(event["block_hashes"]):
            link = (parent, tuple(tokens[i * size : (i + 1) * size]), adapter, salt if parent is None else None)
            self._names[link] = block
            parent = block

    def chain(self, prompt: Prompt) -> list[int]:
        """The engine's names of the prompt's blocks, as far as all of them are on some tier."""
        with self._lock:
            return [block for block, _ in self._walk(prompt)]

    def held(self, prompt: Prompt) -> Held:
        tiers: Counter[str] = Counter()
        total = 0
        with self._lock:
            for _, holders in self._walk(prompt):
                tiers.update({tier: self.block_size for tier in holders})
                total += self.block_size
        return Held(total, tiers)

    def _walk(self, prompt: Prompt) -> Iterator[tuple[int, list[str]]]:
        units: Sequence[Hashable] = list(pairwise(prompt.tokens)) if self._pairs else prompt.tokens
        parent: int | None = None
        for end in range(self.block_size, len(units) + 1, self.block_size):
            tokens = tuple(units[end - self.block_size : end])
            block = self._names.get((parent, tokens, prompt.adapter, prompt.salt if parent is None else None))
            holders = [] if block is None else [tier for tier, copies in self._copies.items() if copies[block] > 0]
            if block is None or not holders:
                return
            yield block, holders
            parent = block

    def close(self) -> None:
        self.stream.close()
