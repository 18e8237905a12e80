# SPDX-License-Identifier: Apache-2.0
"""`vllm serve`: a process that can be killed and restarted. Its own word is the number of cached tokens in its answers."""

import json
import signal
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..client import Registration
from ..processes import Service, free_ports
from ..prompts import Prompt

BLOCK_SIZE = 32  # on a CPU a multiple of 32
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # /reset_prefix_cache
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Completion:
    cached: int
    prompt: Prompt
    """the prompt with what was generated behind it"""


class VllmServer:
    block_size = BLOCK_SIZE

    def __init__(
        self,
        models: Path,
        log: Path,
        blocks: int,
        *,
        ranks: int = 1,
        adapters: Sequence[str] = (),
        replay_batches: int = 10_000,
        options: Sequence[object] = (),
        environment: Mapping[str, str] = {},
    ):
        self._http = free_ports(1)
        self._events = free_ports(2 * ranks)  # each rank has the port of rank 0 plus its number
        self._replay = self._events + ranks
        self._log = log
        self._environment = ENVIRONMENT | dict(environment)
        events = {
            "enable_kv_cache_events": True,
            "publisher": "zmq",
            "endpoint": f"tcp://*:{self._events}",
            "replay_endpoint": f"tcp://*:{self._replay}",
            "buffer_steps": replay_batches,
        }
        self._command: list[object] = [Path(sys.executable).parent / "vllm", "serve", models / "dense", "--served-model-name", "base"]
        self._command += ["--load-format", "dummy", "--dtype", "bfloat16", "--enforce-eager", "--max-model-len", 2048]
        self._command += ["--enable-prefix-caching", "--enable-prompt-tokens-details", "--port", self._http]
        self._command += ["--block-size", BLOCK_SIZE, "--num-gpu-blocks-override", blocks, "--max-num-seqs", 8]
        self._command += ["--kv-events-config", json.dumps(events)]
        if ranks > 1:
            self._command += ["--data-parallel-size", ranks, "--api-server-count", 1]
        if adapters:
            self._command += ["--enable-lora", "--max-loras", len(adapters), "--max-lora-rank", 8, "--lora-modules"]
            self._command += [f"{name}={models / name}" for name in adapters]
        self._command += options
        self.start()

    def start(self) -> None:
        self._service = Service(self._command, self._log, f"http://127.0.0.1:{self._http}/health", self._environment)
        self._service.wait_until_healthy()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._service.end(how)

    def registration(self, name: str, rank: int = 0, tenant: str = "default", **options: Any) -> Registration:
        events, replay = (f"tcp://127.0.0.1:{port + rank}" for port in (self._events, self._replay))
        return Registration(f"{name}-1", f"model-{name}", "vLLM", BLOCK_SIZE, events, replay, rank, tenant, options)

    def complete(self, prompt: Prompt, tokens: int = 1, rank: int | None = None, report_full: bool = False) -> Completion:
        body: dict[str, Any] = {
            "model": prompt.adapter or "base",
            "prompt": prompt.tokens,
            "max_tokens": tokens,
            "temperature": 0,
            "ignore_eos": True,
            "return_token_ids": True,
        }
        if prompt.salt:
            body["cache_salt"] = prompt.salt
        if report_full:
            body["vllm_xargs"] = {"kv_cache_report_mode": "full"}
        answer = self._post("/v1/completions", body, {} if rank is None else {"X-data-parallel-rank": str(rank)})
        details = answer["usage"].get("prompt_tokens_details") or {}
        return Completion(details.get("cached_tokens") or 0, prompt.followed_by(answer["choices"][0]["token_ids"]))

    def clear(self) -> None:
        self._post("/reset_prefix_cache", None)

    def _post(self, path: str, body: Any, headers: Mapping[str, str] = {}) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._http}{path}", data, {"Content-Type": "application/json", **headers}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=300) as reply:
            return json.loads(reply.read() or b"null")
