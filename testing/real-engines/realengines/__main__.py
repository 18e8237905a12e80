# SPDX-License-Identifier: Apache-2.0
"""One scenario, in a process of its own: an engine leaves a process in no state for the next. Started by run.py."""

import argparse
import os
import sys
import traceback
from pathlib import Path

from .client import KvIndex
from .compare import Comparison
from .lab import Lab
from .scenarios import SCENARIOS


def main() -> int:
    parser = argparse.ArgumentParser(prog="realengines")
    parser.add_argument("scenario", choices=[scenario.name for scenario in SCENARIOS])
    parser.add_argument("--kvindex", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--rounds", required=True, type=int)
    chosen = parser.parse_args()
    comparison = Comparison(chosen.scenario, chosen.work / "out")
    lab = Lab(chosen.scenario, KvIndex(chosen.kvindex), comparison, chosen.seed, chosen.rounds, chosen.work)
    next(scenario for scenario in SCENARIOS if scenario.name == chosen.scenario).run(lab)
    comparison.close()
    return 0


if __name__ == "__main__":
    try:
        code = main()
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # engines leave threads behind that a process would wait for
