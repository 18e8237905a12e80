# SPDX-License-Identifier: Apache-2.0
"""Verdicts: what kvindex answered against what the engine holds, counted by reason, each disagreement with all that explains it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from .client import Answer
from .prompts import Held, Prompt

SHOWN = 5


class Fault(Enum):
    """Ways to be wrong. GHOST is the worst: a router sends a request to where its prefix is not."""

    GHOST = "promised more than the engine holds"
    MISS = "promised less than the engine holds"
    TIER = "right length, wrong tokens on a tier"
    REFUSED = "no answer, or not in time"
    UNSAID = "not named in X-KvIndex-Degraded when it had to be, or still named"
    TABLE = "the table's blocks are not those of the engine's cache"


class Comparison:
    """The verdicts of one scenario; disagreements go to `<directory>/<scenario>.jsonl` as they are found."""

    def __init__(self, scenario: str, directory: Path):
        self.right: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.explained: Counter[str] = Counter()
        self._scenario = scenario
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._log = (directory / f"{scenario}.jsonl").open("w")

    def answer(
        self,
        phase: str,
        prompt: Prompt,
        answer: Answer,
        truth: Held,
        *,
        mirror: Held | None = None,
        tiers: bool = True,
        excuses: Mapping[Fault, str] = {},
    ) -> None:
        """One answer against the truth.

        mirror: what the events alone say, to see on which side a disagreement arises
        tiers: whether `truth` tells the tiers, too
        excuses: faults that are known and documented for this case, with the reason they are counted under
        """
        fault = _fault(answer, truth, tiers)
        details = lambda: {  # noqa: E731
            "prompt": prompt.tokens,
            "adapter": prompt.adapter,
            "salt": prompt.salt,
            "answer": answer,
            "engine": truth,
            "mirror": mirror,
        }
        if fault in (Fault.GHOST, Fault.MISS) and answer.named_degraded:
            excuses = {fault: "the answer names the instance in X-KvIndex-Degraded"}
        self._judge(f"{phase}, {prompt.context}", fault, excuses, details)

    def table(self, phase: str, found: Counter[int], truth: Counter[int]) -> None:
        """All blocks of an instance, each with its number of copies."""
        missing, extra = truth - found, found - truth
        self._judge(
            f"{phase}, whole table",
            Fault.TABLE if missing or extra else None,
            {},
            lambda: {"blocks": truth.total(), "missing": list(missing.items())[:20], "extra": list(extra.items())[:20]},
        )

    def statement(self, phase: str, holds: bool, fault: Fault, **details: Any) -> None:
        """Anything else that has to be true."""
        self._judge(phase, None if holds else fault, {}, lambda: details)

    def _judge(self, phase: str, fault: Fault | None, excuses: Mapping[Fault, str], details: Callable[[], Any]) -> None:
        if fault is None:
            self.right[phase] += 1
            return
        if fault in excuses:
            self.explained[f"{fault.name}: {excuses[fault]}"] += 1
        else:
            self.wrong[fault.name] += 1
            if self.wrong.total() <= SHOWN:
                print(f"  WRONG {fault.name} ({fault.value}) in: {phase}", flush=True)
        row = {"phase": phase, "fault": fault.name, "excuse": excuses.get(fault), **details()}
        self._log.write(json.dumps(row, default=vars) + "\n")
        self._log.flush()

    def note(self, text: str) -> None:
        print(f"  note: {text}", flush=True)

    def close(self) -> None:
        result = {"right": self.right, "wrong": self.wrong, "explained": self.explained}
        (self._directory / f"{self._scenario}.json").write_text(json.dumps(result, indent=1))
        self._log.close()


def _fault(answer: Answer, truth: Held, tiers: bool) -> Fault | None:
    if answer.error is not None:
        return Fault.REFUSED
    if answer.held.total > truth.total:
        return Fault.GHOST
    if answer.held.total < truth.total:
        return Fault.MISS
    # Tiers without tokens are not in the engine's word, and 0 in the answer.
    return Fault.TIER if tiers and +answer.held.tiers != +truth.tiers else None
