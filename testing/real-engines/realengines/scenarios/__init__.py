# SPDX-License-Identifier: Apache-2.0
"""All scenarios. Their modules are imported when they run, for the engines' sake; this table is all that a list needs."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..lab import Lab


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    module: str
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, lab: "Lab") -> None:
        import_module(f"{__name__}.{self.module}").run(lab, **self.options)


LOCAL = "vLLM in process, answers against its block pool: "
SGLANG = "SGLang's cache, answers against its match_prefix: "

SCENARIOS = (
    Scenario("vllm-prefixes", LOCAL + "salts, turns, crowds, evictions, clears", "vllm_local"),
    Scenario("vllm-adapters", LOCAL + "LoRA adapters with and without salts", "vllm_local", {"adapters": True, "blocks": 150}),
    Scenario("vllm-report-full", LOCAL + "clients ask for events about reused blocks", "vllm_local", {"report_full": True}),
    Scenario(
        "vllm-duplicates",
        LOCAL + "the same beside real second copies; never more, misses are explained",
        "vllm_local",
        {"report_full": True, "recompute": True},
    ),
    Scenario(
        "vllm-hybrid",
        LOCAL + "sliding window beside full attention, against the full group",
        "vllm_local",
        {"model": "hybrid", "blocks": 200},
    ),
    Scenario("vllm-offload-placeholder", LOCAL + "host tier without tokens", "vllm_local", {"offloading": "placeholder"}),
    Scenario("vllm-offload-described", LOCAL + "host tier with tokens and no salts", "vllm_local", {"offloading": "described"}),
    Scenario("vllm-server", "vllm serve, answers against cached_tokens: adapters, salts, clear, kill -9, SIGTERM", "vllm_server"),
    Scenario("vllm-ranks", "vllm serve with two data-parallel ranks, each rank's number against its cached_tokens", "vllm_ranks"),
    Scenario(
        "vllm-hash-cbor",
        "hash profiles beside vllm serve with sha256_cbor: by tokens, by the engine's hashes",
        "vllm_hashes",
        {"algorithm": "sha256_cbor"},
    ),
    Scenario("vllm-hash-sha256", "hash profiles beside vllm serve with sha256", "vllm_hashes", {"algorithm": "sha256"}),
    Scenario("kvindex-killed", "kvindex killed with -9: at once, within and beyond the engine's replay buffer", "kvindex_killed"),
    Scenario("sglang-classic", SGLANG + "RadixCache", "sglang", {"unified": False}),
    Scenario("sglang-unified", SGLANG + "UnifiedRadixCache, adapters", "sglang", {"adapters": True}),
    Scenario("sglang-dynamo", SGLANG + "events in Dynamo's format, adapters", "sglang", {"adapters": True, "dialect": "dynamo"}),
    Scenario("sglang-eagle", SGLANG + "EAGLE's pairs of tokens", "sglang", {"eagle": True}),
    Scenario("sglang-sha256", SGLANG + "profile sglang_sha256, adapters", "sglang", {"adapters": True, "profile": "sglang_sha256"}),
)
