"""Run the reliability programme and write its figures into docs/reliability.md.

    python tests/reliability/page.py [--fast]

A figure is what the tests counted in this run. A test that fails ends the run, and no page is
written: in every row, all that were tried survived.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

from regard import __version__

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
PROMISES = {
    "kill": (
        "Killed (SIGKILL) before any file operation of a training: `--resume` ends with the same bits",
        "Hugging Face Trainer: 1 of 43 operations of a save",
    ),
    "tear": (
        "Killed in the middle of any write: the same bits",
        "Hugging Face Trainer: 1 of 11 writes",
    ),
    "power": ("Power cut that keeps only what was synced: the same bits", "–"),
    "blank": ("Power cut that keeps names and loses bytes: the same bits", "–"),
    "enospc": (
        "Disk full from any operation on: exit 74 or done, `--resume` ends with the same bits",
        "Hugging Face Trainer: 1 of 11 writes",
    ),
    "eio": ("One I/O error at any operation: exit 74 or done, then the same bits", "–"),
    "broken": ("I/O errors from any operation on: exit 74, then the same bits", "–"),
    "index": (
        "Any of these faults at an operation of `regard index`: no index, or a whole one",
        "-",
    ),
    "corruption": (
        "A flipped bit in a run or an index: found, or nothing read of it changes",
        "silently wrong of 120: safetensors 117, torch.save 98, distributed checkpoint 70",
    ),
    "runs": ("A damaged run folder: refused in two lines, or the same answers", "–"),
    "forged": ("The same with a seal written anew by a forger: never a traceback", "–"),
    "data": ("A damaged data file: read or refused with file and line", "–"),
    "recipes": ("A damaged recipe: read or refused", "–"),
}
HEAD = """# Reliability

What is promised of files and disks, and how often each promise was put to the test. Written by
`make reliability`; do not edit.

{what}, version {version}, {date}, Python {python}.
Every row counts faults that were injected and survived; if one is not, its test fails and this page is
not written. The peers' figures are of an earlier measurement with such faults, on tiny models with default
settings (torch 2.13 CPU, transformers 5.22, safetensors 0.8).

| promise | survived | test | peers |
|---|---|---|---|
"""
TAIL = """
A fault is injected by [tests/reliability/faults.py](../tests/reliability/faults.py): it counts the file
operations below a folder and lets the Nth go wrong. The training is a classifier of four steps with two
checkpoints, from the first operation to the seal, the store of ids included.

Not promised: README.md and report.html of a run are for people, who may edit them; they are synced and
hashed, but no command compares them. A seal is not a signature: who can write a run folder can write its
seal, which is why every file is also read as untrusted. Scores of a translation may differ from those
of the same text in a larger batch by up to 3e-5 in float32 (measured once, on 1,500 texts); the texts are
the same.
"""


def main() -> int:
    """Run the tests; write the page if none fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="only what `make test` runs")
    fast = parser.parse_args().fast
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/reliability",
        ]
        command += ["-m", "not slow"] if fast else []
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "REGARD_FIGURES": str(figures)})
        if done.returncode:
            return done.returncode
        lines = [json.loads(line) for line in figures.read_text().splitlines()]
    PAGE.write_text(render(lines, fast=fast), encoding="utf-8")
    return 0


def render(lines: list[dict[str, object]], *, fast: bool) -> str:
    """Make the page of the figures that were recorded."""
    counts: Counter[str] = Counter()
    tests: dict[str, str] = {}
    for line in lines:
        counts[line["promise"]] += line["count"]
        tests[line["promise"]] = "`{}`".format(line["test"].rpartition("::")[2])
    what = "The fast subset that `make test` runs" if fast else "The whole programme"
    head = HEAD.format(
        what=what, version=__version__, date=date.today(), python=platform.python_version()
    )
    rows = (
        f"| {promise} | {counts[key]:,} of {counts[key]:,} | {tests[key]} | {peers} |\n"
        for key, (promise, peers) in PROMISES.items()
        if counts[key]
    )
    return head + "".join(rows) + TAIL


if __name__ == "__main__":
    sys.exit(main())
