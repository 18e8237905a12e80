# SPDX-License-Identifier: Apache-2.0
"""SGLang's own prefix caches, allocator and publisher, without a model: what its scheduler does to them is done here.

The truth is the cache's `match_prefix`. Without layers there is no KV data; the slots are real, so the cache fills up and evicts.
"""

import json
import time
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from sglang.srt.disaggregation.kv_events import EventPublisherFactory, KVEventBatch
from sglang.srt.mem_cache.allocator.paged import PagedTokenToKVPoolAllocator
from sglang.srt.mem_cache.base_prefix_cache import EvictParams, InsertParams, MatchPrefixParams
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.events import KvEventLoraNames
from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
from sglang.srt.mem_cache.radix_cache import RadixCache, RadixKey
from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache

from ..client import Registration
from ..processes import free_ports
from ..prompts import Held, Prompt


class _Named:
    """What the publisher's table of adapter names reads of a request."""

    def __init__(self, load: str):
        self.extra_key = self.lora_id = load


class SglangCache:
    def __init__(
        self, *, unified: bool, page: int, pages: int, adapters: Sequence[str] = (), eagle: bool = False, dialect: str = "default"
    ):
        """eagle: speculative decoding, for which SGLang caches pairs of neighbouring tokens in place of tokens."""
        self.block_size, self._eagle = page, eagle
        events, replay = (free_ports(1) for _ in range(2))
        self._events, self._replay = (f"tcp://127.0.0.1:{port}" for port in (events, replay))
        self._allocator = PagedTokenToKVPoolAllocator(pages * page, page, torch.bfloat16, "cpu", None, False)
        # An adapter gets a new id with each load, and the cache keeps what was computed under each apart.
        self._loads = {name: f"{number:032x}" for number, name in enumerate(adapters, 1)}
        names = KvEventLoraNames()
        for name, load in self._loads.items():
            names.register(lora_id=load, lora_name=name)
            names.register(_Named(load), name)
        parameters = CacheInitParams(
            disable=False,
            req_to_token_pool=ReqToTokenPool(16, 4096, "cpu", False),
            token_to_kv_pool_allocator=self._allocator,
            page_size=page,
            is_eagle=eagle,
            enable_kv_cache_events=True,
            dynamo_kv_event_format=dialect == "dynamo",
            kv_event_lora_names=names,
        )
        if unified:
            parameters.tree_components = (ComponentType.FULL,)
            parameters.tree_core_backend = "python"
        self._cache = UnifiedRadixCache(parameters) if unified else RadixCache(parameters)
        configuration = {"publisher": "zmq", "endpoint": f"tcp://*:{events}", "replay_endpoint": f"tcp://*:{replay}", "format": dialect}
        self._publisher = EventPublisherFactory.create(json.dumps(configuration), 0)
        self._publish()

    def registration(self, name: str, **options: Any) -> Registration:
        return Registration(f"{name}-1", f"model-{name}", "SGLang", self.block_size, self._events, self._replay, options=options)

    def _key(self, prompt: Prompt) -> RadixKey:
        load = self._loads[prompt.adapter] if prompt.adapter else None
        whole = RadixKey(array("q", prompt.tokens), load, is_bigram=self._eagle, cache_salt=prompt.salt)
        return whole.page_aligned(self.block_size)

    def _publish(self) -> None:
        if events := self._cache.take_events():
            self._publisher.publish(KVEventBatch(ts=time.time(), events=events))

    def serve(self, prompt: Prompt) -> None:
        """As a finished request does: keeps the matched prefix from eviction, makes room, and leaves its pages in the tree."""
        key = self._key(prompt)
        match = self._cache.match_prefix(MatchPrefixParams(key=key))
        needed = len(key) - match.device_prefix_len
        if needed > 0:
            lock = self._cache.inc_lock_ref(match.last_device_node)
            self._cache.evict(EvictParams(num_tokens=max(0, needed - self._allocator.available_size())))
            fresh = self._allocator.alloc(needed)
            if fresh is not None:
                known = self._cache.path_device_indices(match.last_device_node)[: match.device_prefix_len]
                slots = torch.cat([known.to(torch.int64), fresh.to(torch.int64)])
                self._cache.insert(InsertParams(key=key, value=slots, prev_prefix_len=match.device_prefix_len))
            self._cache.dec_lock_ref(match.last_device_node, lock.to_dec_params())
        self._publish()

    def evict(self, tokens: int) -> None:
        self._cache.evict(EvictParams(num_tokens=tokens))
        self._publish()

    def clear(self) -> None:
        self._cache.reset()
        self._allocator.clear()
        self._publish()

    def held(self, prompt: Prompt) -> Held:
        match = self._cache.match_prefix(MatchPrefixParams(key=self._key(prompt)))
        self._publish()
        return Held(match.device_prefix_len, Counter(GPU=match.device_prefix_len))
