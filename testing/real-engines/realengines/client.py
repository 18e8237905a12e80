# SPDX-License-Identifier: Apache-2.0
"""kvindex as its users have it: a process with an HTTP API. Nothing here knows its code."""

import json
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .processes import Service, free_ports
from .prompts import Held, Prompt

CHECKOUT = Path(__file__).resolve().parents[3]
BATCH = 200
LOW_64_BITS = 2**64 - 1


@dataclass(frozen=True)
class Registration:
    instance: str
    model: str
    type: str
    block_size: int
    endpoint: str
    replay: str
    rank: int = 0
    tenant: str = "default"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        return {"instance_id": self.instance, "dp_rank": self.rank, "tenant_id": self.tenant}

    def body(self) -> dict[str, Any]:
        return (
            self.identity
            | self.options
            | {
                "type": self.type,
                "modelname": self.model,
                "block_size": self.block_size,
                "endpoint": self.endpoint,
                "replay_endpoint": self.replay,
            }
        )


@dataclass(frozen=True)
class Answer:
    """What kvindex says of one instance and one prompt. `error` where it says nothing."""

    held: Held
    ranks: Counter[int]
    named_degraded: bool
    state: str
    error: str | None = None

    def up_to(self, tokens: int) -> "Answer":
        """As if the prompt ended there, for engines that always compute the rest."""
        return replace(self, held=Held(min(self.held.total, tokens), self.held.tiers))

    def of_rank(self, rank: int) -> "Answer":
        """What one data-parallel rank holds on its device."""
        return replace(self, held=Held(self.ranks[rank]))


class KvIndex:
    """The HTTP API of a running kvindex."""

    def __init__(self, url: str):
        self.url = url

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any, dict[str, str]]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, json.loads(reply.read()), dict(reply.headers)
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or b"null"), dict(refusal.headers)

    def register(self, registration: Registration) -> None:
        status, answer, _ = self.call("POST", "/register", registration.body())
        if status not in (200, 201):
            raise RuntimeError(f"registration refused: {status} {answer}")

    def unregister(self, registration: Registration) -> None:
        self.call("POST", "/unregister", registration.identity)

    def wait_until_visible(self, registration: Registration, sequence: int, seconds: float = 30) -> bool:
        """Whether answers show this batch of the publisher within that time."""
        event = {"instance_id": registration.instance, "dp_rank": registration.rank, "event_id": sequence}
        query = self._query(registration, Prompt((1,))) | {"min_event": event}
        deadline = time.monotonic() + seconds
        while True:
            status, _, _ = self.call("POST", "/query", query)
            if status == 200 or time.monotonic() > deadline:
                return status == 200

    def ask(self, registration: Registration, prompts: Sequence[Prompt]) -> list[Answer]:
        return self._ask(registration, [self._query(registration, prompt) for prompt in prompts])

    def ask_by_hash(self, registration: Registration, prompts: Sequence[Prompt], hashes: Sequence[Sequence[int]]) -> list[Answer]:
        queries = []
        for prompt, chain in zip(prompts, hashes, strict=True):
            query = self._query(registration, prompt) | {"seq_hashes": list(chain)}
            del query["token_ids"]
            queries.append(query)
        return self._ask(registration, queries)

    def _ask(self, registration: Registration, queries: list[dict[str, Any]]) -> list[Answer]:
        answers: list[Answer] = []
        for start in range(0, len(queries), BATCH):
            status, reply, headers = self.call("POST", "/query_batch", {"queries": queries[start : start + BATCH]})
            if status != 200:
                raise RuntimeError(f"/query_batch: {status} {reply}")
            answers += [_answer(registration, one, headers) for one in reply["answers"]]
        return answers

    @staticmethod
    def _query(registration: Registration, prompt: Prompt) -> dict[str, Any]:
        query: dict[str, Any] = {
            "model": registration.model,
            "block_size": registration.block_size,
            "tenant_id": registration.tenant,
            "token_ids": prompt.tokens,
        }
        if prompt.adapter:
            query["lora_name"] = prompt.adapter
        if prompt.salt:
            query["cache_salt"] = prompt.salt
        return query

    def blocks(self, registration: Registration) -> Counter[int]:
        """Every block the table has of this instance, by engine hash, with its number of copies."""
        found: Counter[int] = Counter()
        for owner in self._owners(registration):
            behind = ""
            while True:
                path = f"/digests/blocks?owner={owner}&limit=10000{behind}"
                page = self.call("GET", path)[1]
                for block in page["blocks"]:
                    name = block["engine_hash"]
                    found[int(name, 16) if isinstance(name, str) else name & LOW_64_BITS] += block["copies"]
                if not page["more"]:
                    break
                behind = f"&after={page['blocks'][-1]['engine_hash']}"
        return found

    def _owners(self, registration: Registration) -> Iterable[str]:
        partitions = self.call("GET", f"/digests?instance_id={registration.instance}")[1]["partitions"]
        return [owner["id"] for partition in partitions for owner in partition.get("owners", [])]

    def listeners(self, registration: Registration) -> dict[str, Any]:
        """What `/workers` says of the publishers of this instance."""
        workers: list[dict[str, Any]] = self.call("GET", "/workers")[1]
        for worker in workers:
            if worker["instance_id"] == registration.instance and worker["tenant_id"] == registration.tenant:
                return dict(worker["listeners"])
        return {}


def _answer(registration: Registration, one: dict[str, Any], headers: dict[str, str]) -> Answer:
    state = headers.get("X-KvIndex-State", "")
    named = registration.instance in headers.get("X-KvIndex-Degraded", "").split(",")
    row = one["body"].get(registration.tenant, {}).get(registration.instance) if one["status"] == 200 else None
    if row is None:
        return Answer(Held(0), Counter(), named, state, error=f"{one['status']} {str(one['body'])[:200]}")
    ranks = Counter({int(rank): tokens for rank, tokens in row["DP"].items()})
    tiers = Counter({key: value for key, value in row.items() if key not in ("longest_matched", "DP")})
    return Answer(Held(row["longest_matched"], tiers), ranks, named, state)


class KvIndexServer(KvIndex):
    """`kvindex all` of this checkout on a free port, with a data directory of its own."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._port = free_ports(1)
        super().__init__(f"http://127.0.0.1:{self._port}")
        shutil.rmtree(directory, ignore_errors=True)
        self.start()

    def start(self) -> None:
        command = [CHECKOUT / "kvindex", "all", "--http-port", self._port, "--data-dir", self._directory / "data"]
        self._service = Service(command, self._directory / "kvindex.log", self.url + "/ready")
        self._service.wait_until_healthy()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._service.end(how)


def build() -> None:
    """Builds kvindex where its sources have changed."""
    subprocess.run([CHECKOUT / "kvindex", "build"], check=True)
