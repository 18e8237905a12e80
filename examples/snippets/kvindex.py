#!/usr/bin/env python3
"""kvindex from Python, standard library only: register an engine, then ask what of a prompt it has cached.

What to use is in the environment; see README.md beside this directory. msgpack is used where it is installed.
"""

import http.client
import json
import os
import struct
import time
import urllib.parse


class Refused(Exception):
    """An answer other than 200, or none: status 0. A router that gets this routes by load."""

    def __init__(self, status, reason, retry_after=1.0):
        super().__init__(f"{status} {reason}")
        self.status, self.reason, self.retry_after = status, reason, retry_after


class Answer:
    """What kvindex says of a prompt, and how far it is to be trusted."""

    def __init__(self, headers, body, tenant):
        self.state = headers.get("X-KvIndex-State", "exact")
        self.lag_ms = int(headers.get("X-KvIndex-Lag-Ms", "0"))
        names = headers.get("X-KvIndex-Degraded", "")
        self.degraded = [urllib.parse.unquote(name) for name in names.split(",") if name]
        rows = body["instances"] if "instances" in body else body.get(tenant, {})
        self.rows = {instance: row["longest_matched"] for instance, row in rows.items()}

    def usable(self):
        """The rows to go by: none when stale, none of instances that lost events."""
        if self.state == "stale" or "*" in self.degraded:
            return {}
        return {instance: n for instance, n in self.rows.items() if instance not in self.degraded}


class KvIndex:
    """One connection, kept open; not for several threads at once."""

    def __init__(self, url, timeout=5.0, tenant="default"):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=timeout)
        self.tenant = tenant

    def call(self, path, body, content_type="application/json", deadline_ms=None, attempts=1):
        """Returns headers and body of a 200. With attempts: 429 and 503 are asked again after Retry-After."""
        headers = {"Content-Type": content_type}
        if deadline_ms is not None:
            headers["X-KvIndex-Deadline-Ms"] = str(deadline_ms)
        for attempt in range(attempts):
            try:
                return self._send(path, body, headers)
            except Refused as refused:
                if refused.status not in (429, 503) or attempt + 1 == attempts:
                    raise
                time.sleep(refused.retry_after)

    def _send(self, path, body, headers):
        try:
            self.connection.request("POST", path, body, headers)
            response = self.connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException) as error:  # away, or later than the timeout
            self.connection.close()
            raise Refused(0, type(error).__name__) from error
        if response.status == 200:
            return response.headers, raw
        reason = json.loads(raw).get("reason", "") if raw[:1] == b"{" else ""
        raise Refused(response.status, reason, float(response.headers.get("Retry-After", "1")))

    def register(self, **registration):
        """May be sent again and again: the same registration changes nothing."""
        return json.loads(self.call("/register", json.dumps(registration), attempts=10)[1])

    def query(self, tokens, deadline_ms, **context):
        body = json.dumps({"token_ids": tokens, **context})
        headers, raw = self.call("/query", body, deadline_ms=deadline_ms)
        return Answer(headers, json.loads(raw), self.tenant)

    def query_own_write(self, tokens, instance, event, **context):
        """Waits until the engine's batch with that number is visible."""
        min_event = {"instance_id": instance, "event_id": event}
        body = json.dumps({"token_ids": tokens, "min_event": min_event, **context})
        headers, raw = self.call("/query", body, attempts=10)
        return Answer(headers, json.loads(raw), self.tenant)

    def query_octets(self, tokens, deadline_ms, **context):
        """Little-endian u32: nothing to print, nothing to parse."""
        path = "/query?" + urllib.parse.urlencode(context)
        octets = struct.pack(f"<{len(tokens)}I", *tokens)
        headers, raw = self.call(path, octets, "application/octet-stream", deadline_ms)
        return Answer(headers, json.loads(raw), self.tenant)

    def query_by_hash(self, hashes, deadline_ms, **context):
        body = json.dumps({"seq_hashes": hashes, **context})
        headers, raw = self.call("/query_by_hash", body, deadline_ms=deadline_ms)
        return Answer(headers, json.loads(raw), self.tenant)

    def query_msgpack(self, tokens, deadline_ms, **context):
        """The C++ Conductor's form. Its numbers are another rule's: device, then host, then disk."""
        import msgpack

        octets = struct.pack(f"<{len(tokens)}i", *tokens)
        body = msgpack.packb({"token_ids": octets, **context})
        headers, raw = self.call("/query", body, "application/msgpack", deadline_ms)
        return Answer(headers, msgpack.unpackb(raw), self.tenant)


def show(what, ask):
    try:
        answer = ask()
    except Refused as refused:
        print(f"{what}: {refused}: route by load")
        return
    rows = " ".join(f"{instance}={n}" for instance, n in sorted(answer.usable().items()))
    degraded = ",".join(answer.degraded) or "-"
    print(f"{what}: {answer.state} lag_ms={answer.lag_ms} degraded={degraded} {rows}")


def main():
    env = os.environ.get
    instance = env("INSTANCE", "vllm-1")
    tokens = [int(t) for t in env("TOKENS", ",".join(map(str, range(1, 65)))).split(",")]
    hashes = [int(h) for h in env("HASHES", "").split(",") if h]
    context = {"model": env("MODEL", "m"), "block_size": int(env("BLOCK_SIZE", "16")), "instance_id": instance}
    index = KvIndex(env("KVINDEX", "http://127.0.0.1:13333"))
    try:
        registered = index.register(
            type="vLLM",
            instance_id=instance,
            modelname=context["model"],
            block_size=context["block_size"],
            endpoint=env("ENDPOINT", "tcp://127.0.0.1:5557"),
            replay_endpoint=env("REPLAY_ENDPOINT", "tcp://127.0.0.1:5558"),
        )
    except Refused as refused:
        raise SystemExit(f"register: {refused}") from refused
    print("register:", registered["status"])
    show("own write", lambda: index.query_own_write(tokens, instance, int(env("EVENT", "0")), **context))
    show("query", lambda: index.query(tokens, 2000, **context))
    show("octets", lambda: index.query_octets(tokens, 2000, **context))
    if hashes:
        show("hashes", lambda: index.query_by_hash(hashes, 2000, **context))
    try:
        show("msgpack", lambda: index.query_msgpack(tokens, 2000, **context))
    except ImportError:
        print("msgpack: not installed")
    show("late", lambda: index.query(tokens, 0, **context))  # nobody is that quick


if __name__ == "__main__":
    main()
