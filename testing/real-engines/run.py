#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kvindex beside real engines and compares every answer with what the engine itself holds.

Each scenario is a process of its own; kvindex is built from this checkout and started with a fresh data directory on a free port.
At the end a table: what was right, what differs for a known and documented reason, and what is WRONG, by reason:

  GHOST    promised more than the engine holds: a router would send a request where its prefix is not
  MISS     promised less than the engine holds
  TIER     the right length, wrong tokens on a tier
  REFUSED  no answer, or an event that is not visible in time
  UNSAID   an instance that had to be named in X-KvIndex-Degraded was not, or still is
  TABLE    the blocks of the whole table are not those of the engine's cache

Every disagreement is a line of .work/out/SCENARIO.jsonl with its prompt, the answer, the engine's truth, and what an independent
mirror of the events says: where the mirror agrees with the engine, kvindex is wrong; where it agrees with kvindex, the engine's
events do not tell. Exit code 0: nothing WRONG; 1: something is; 2: a scenario could not run (see .work/out/SCENARIO.log).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from realengines.scenarios import SCENARIOS, Scenario

HERE = Path(__file__).resolve().parent
PYTHON = HERE / ".work" / "env" / "bin" / "python"
SCENARIO_SECONDS = 1_800

Result = dict[str, dict[str, int]]


def arguments() -> argparse.Namespace:
    names = [scenario.name for scenario in SCENARIOS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog="./setup installs the engines first."
    )
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument(
        "--only", nargs="+", metavar="SCENARIO", choices=names, default=names, help="these scenarios, in the order of the list"
    )
    parser.add_argument("--seed", type=int, default=1, help="of prompts and traffic; the same seed asks the same (default 1)")
    parser.add_argument("--rounds", type=int, default=14, help="how long each scenario goes on; 14 is a minute or two (default)")
    parser.add_argument("--kvindex", metavar="URL", help="a running kvindex in place of one that is started, as http://127.0.0.1:13333")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    if chosen.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name:26}{scenario.about}")
        return 0
    if not (HERE / ".work" / "env" / "installed").exists():
        sys.exit("the engines are not installed: run ./setup")
    if Path(sys.executable).parent != PYTHON.parent:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])  # the client of the event streams needs the environment's packages

    from realengines import client

    if not chosen.kvindex:
        client.build()
    server = None if chosen.kvindex else client.KvIndexServer(HERE / ".work" / "kvindex")
    url = server.url if server else chosen.kvindex
    results: dict[str, Result | None] = {}
    try:
        for scenario in SCENARIOS:
            if scenario.name in chosen.only:
                results[scenario.name] = run(scenario, url, chosen.seed, chosen.rounds)
    finally:
        if server:
            server.end()
    return report(results)


def run(scenario: Scenario, url: str, seed: int, rounds: int) -> Result | None:
    """The scenario's result, or None where it did not come to its end."""
    out = HERE / ".work" / "out"
    out.mkdir(parents=True, exist_ok=True)
    result, log = out / f"{scenario.name}.json", out / f"{scenario.name}.log"
    result.unlink(missing_ok=True)
    print(f"{scenario.name}: {scenario.about}", flush=True)
    command = [str(PYTHON), "-m", "realengines", scenario.name, "--kvindex", url, "--work", str(HERE / ".work")]
    command += ["--seed", str(seed), "--rounds", str(rounds)]
    started = time.monotonic()
    with log.open("w") as output:
        try:
            subprocess.run(command, cwd=HERE, stdout=output, stderr=subprocess.STDOUT, timeout=SCENARIO_SECONDS)
        except subprocess.TimeoutExpired:
            output.write(f"not done after {SCENARIO_SECONDS} s\n")
    print("".join(line for line in log.open() if line.startswith(("  WRONG", "  note:"))), end="")
    print(f"  {time.monotonic() - started:.0f} s", flush=True)
    if not result.exists():
        return None
    found: Result = json.loads(result.read_text())
    return found


def report(results: dict[str, Result | None]) -> int:
    print(f"\n{'scenario':26}{'right':>8}{'explained':>11}{'WRONG':>8}")
    for name, result in results.items():
        if result is None:
            print(f"{name:26}did not end: see .work/out/{name}.log")
            continue
        sums = (sum(result[kind].values()) for kind in ("right", "explained", "wrong"))
        reasons = [f"{count} x {reason}" for kind in ("wrong", "explained") for reason, count in result[kind].items()]
        print("{:26}{:>8}{:>11}{:>8}  {}".format(name, *sums, "; ".join(reasons)))
    if any(result and result["wrong"] for result in results.values()):
        return 1
    return 2 if None in results.values() else 0


if __name__ == "__main__":
    sys.exit(main())
