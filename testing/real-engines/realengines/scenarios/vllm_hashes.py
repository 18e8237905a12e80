# SPDX-License-Identifier: Apache-2.0
"""Hash profiles: one engine, a tenant for each profile. By tokens every profile has to find what the engine holds, also
one that is not the engine's; by hash the engine's own has to find it under the engine's hashes, whether or not the query names adapter and salt, for they are in the hashes."""

from ..engines.vllm_server import VllmServer
from ..lab import Lab
from ..models import ADAPTERS
from ..prompts import Held

SEED = "0"
PROFILES = {
    "xxh3": "xxh3",
    "dynamo": "xxh3_dynamo",
    "sha256": {"algorithm": "vllm_sha256", "seed": SEED},
    "sha256_cbor": {"algorithm": "vllm_sha256_cbor", "seed": SEED},
}


def run(lab: Lab, *, algorithm: str) -> None:
    options = ["--prefix-caching-hash-algo", algorithm]
    environment = {"PYTHONHASHSEED": SEED}
    engine = VllmServer(lab.models, lab.log, blocks=200, adapters=ADAPTERS, options=options, environment=environment)
    try:
        paths = {name: str(lab.models / name) for name in ADAPTERS}  # part of vLLM's hashes, and of no event
        tenants = {
            tenant: lab.follow(engine.registration(lab.name, tenant=tenant, hash_profile=profile, lora_paths=paths))
            for tenant, profile in PROFILES.items()
        }
        prompts = lab.prompts(ADAPTERS).many(6 * lab.rounds)
        for prompt in prompts:
            engine.complete(prompt)
        for tenant, followed in tenants.items():
            followed.compare(f"{tenant} by tokens", prompts)
        own = tenants[algorithm]
        chains = [own.mirror.chain(prompt) for prompt in prompts]
        bare = [prompt.elsewhere(None, None) for prompt in prompts]
        for form, asked in (("named", prompts), ("not named", bare)):
            answers = lab.index.ask_by_hash(own.registration, asked, chains)
            for prompt, chain, answer in zip(prompts, chains, answers, strict=True):
                truth = Held(len(chain) * engine.block_size)
                lab.comparison.answer(f"{algorithm} by hash, context {form}", prompt, answer, truth, tiers=False)
        for followed in tenants.values():
            followed.close()
    finally:
        engine.end()
