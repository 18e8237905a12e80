# SPDX-License-Identifier: Apache-2.0
"""vLLM in this process: its block pool can be looked into between steps, so nothing has to be asked to know what it holds.

Of vLLM's inner parts this uses the scheduler's KV-cache manager with its block pool, the hasher of requests, and the manager of
the offloading connector. They move from version to version: `_look_inside` is the place to mend.
"""

import os

# Before vLLM is imported: one process, on the CPU, without the network, quietly.
os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
}

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vllm import LLM, SamplingParams
from vllm.config import KVEventsConfig, KVTransferConfig
from vllm.lora.request import LoRARequest
from vllm.v1.core.kv_cache_utils import get_block_hash, get_group_id
from vllm.v1.kv_cache_interface import FullAttentionSpec
from vllm.v1.kv_offload.base import LookupResult, ReqContext, make_offload_key
from vllm.v1.request import Request

from ..client import LOW_64_BITS, Registration
from ..processes import free_ports
from ..prompts import Held, Prompt

MAX_LENGTH = 2048


class LocalVllm:
    """One engine; a process can have one at a time."""

    def __init__(self, models: Path, model: str, blocks: int, adapters: Sequence[str] = (), offloading: str | None = None, **options: Any):
        """offloading: None, `placeholder` or `described`, the two ways in which vLLM announces blocks on the host."""
        self._events, self._replay = (f"tcp://*:{free_ports(1)}" for _ in range(2))
        self._adapters = {name: LoRARequest(name, number, str(models / name)) for number, name in enumerate(adapters, 1)}
        if adapters:
            options |= {"enable_lora": True, "max_loras": len(adapters), "max_lora_rank": 8}
        if offloading:
            options["kv_transfer_config"] = KVTransferConfig(
                kv_connector="OffloadingConnector",
                kv_role="kv_both",
                kv_connector_extra_config={
                    "spec_name": "AcknowledgedOffloading",
                    "spec_module_path": "realengines.engines.offloading",
                    "cpu_bytes_to_use": 2_000_000,
                    "self_describing_kv_events": offloading == "described",
                },
            )
        self._llm = LLM(
            str(models / model),
            load_format="dummy",
            dtype="bfloat16",
            enforce_eager=True,
            enable_prefix_caching=True,
            max_model_len=MAX_LENGTH,
            max_num_seqs=8,
            num_gpu_blocks_override=blocks,
            kv_events_config=KVEventsConfig(
                enable_kv_cache_events=True, publisher="zmq", endpoint=self._events, replay_endpoint=self._replay
            ),
            **options,
        )
        self._look_inside()

    def _look_inside(self) -> None:
        core: Any = self._llm.llm_engine.engine_core.engine_core  # type: ignore[attr-defined]
        manager = core.scheduler.kv_cache_manager
        self._pool, self._coordinator = manager.block_pool, manager.coordinator
        self._hasher = core.request_block_hasher
        groups = manager.kv_cache_config.kv_cache_groups
        self._main = next(i for i, group in enumerate(groups) if isinstance(group.kv_cache_spec, FullAttentionSpec))
        self.block_size = groups[self._main].kv_cache_spec.block_size
        connector = core.scheduler.connector
        self._host = connector.connector_scheduler.manager if connector is not None else None

    def registration(self, name: str, **options: Any) -> Registration:
        events, replay = (endpoint.replace("*", "127.0.0.1") for endpoint in (self._events, self._replay))
        return Registration(f"{name}-1", f"model-{name}", "vLLM", self.block_size, events, replay, options=options)

    def serve(self, prompts: Sequence[Prompt], tokens: int = 1, report_full: bool = False, recompute: bool = False) -> list[Prompt]:
        """Runs the prompts as one batch; returns them with what was generated behind.

        report_full: the client asks for events about reused blocks, too
        recompute: asks for the prompt's own probabilities, for which cached blocks are of no use: there are then two of each
        """
        parameters = SamplingParams(
            max_tokens=tokens,
            temperature=0,
            ignore_eos=True,
            prompt_logprobs=1 if recompute else None,
            extra_args={"kv_cache_report_mode": "full"} if report_full else None,
        )
        requests: Any = [
            {"prompt_token_ids": list(prompt.tokens)} | ({"cache_salt": prompt.salt} if prompt.salt else {}) for prompt in prompts
        ]
        adapters: Any = [self._adapter(prompt) for prompt in prompts] if self._adapters else None
        outputs = self._llm.generate(requests, parameters, lora_request=adapters, use_tqdm=False)
        return [prompt.followed_by(output.outputs[0].token_ids) for prompt, output in zip(prompts, outputs, strict=True)]

    def clear(self) -> None:
        self._llm.reset_prefix_cache()

    def _adapter(self, prompt: Prompt) -> LoRARequest | None:
        return self._adapters.get(prompt.adapter) if prompt.adapter else None

    def _hashes(self, prompt: Prompt) -> list[Any]:
        """By vLLM's own code, so that a rule that changes needs no change here."""
        request = Request(
            request_id="looking",
            prompt_token_ids=list(prompt.tokens),
            sampling_params=SamplingParams(max_tokens=1),
            pooling_params=None,
            lora_request=self._adapter(prompt),
            cache_salt=prompt.salt,
            block_hasher=self._hasher,
        )
        return request.block_hashes

    def held(self, prompt: Prompt) -> Held:
        """What the main attention group and the host hold of the prompt's whole blocks."""
        tiers: Counter[str] = Counter()
        total = 0
        for block in self._hashes(prompt):
            holders = ["GPU"] if self._pool.get_cached_block(block, [self._main]) else []
            if self._host is not None and self._host.lookup(make_offload_key(block, self._main), ReqContext("looking")) is LookupResult.HIT:
                holders.append("CPU")
            if not holders:
                break
            tiers.update({tier: self.block_size for tier in holders})
            total += self.block_size
        return Held(total, tiers)

    def reusable(self, prompt: Prompt) -> int:
        """Tokens vLLM would take from its device cache: with several attention groups all of them have to agree."""
        return int(self._coordinator.find_longest_cache_hit(self._hashes(prompt), len(prompt.tokens))[1])

    def table(self) -> Counter[int]:
        """All blocks of the main group, with their numbers of copies, under the names that events give them."""
        found: Counter[int] = Counter()
        for key, cached in self._pool.cached_block_hash_to_block._cache.items():
            if get_group_id(key) == self._main:
                copies = len(cached) if isinstance(cached, dict) else 1
                found[int.from_bytes(get_block_hash(key), "big") & LOW_64_BITS] += copies
        return found
