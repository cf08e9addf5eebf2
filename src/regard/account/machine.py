"""The machine: cores, memory, disk, measured speed, and advice.

Cores and memory respect a container's limits. The speed is measured in about half a second: a
product of two n x n matrices takes 2n³ operations.
"""

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.account.limits import cores, memory_free, memory_total
from regard.device import accelerators

_SIDE = 512
_OPTIONAL = ("resvg_py", "usearch")  # the extras: PNG pictures, approximate search


class Machine(NamedTuple):
    """What the machine has; memory and disk in bytes, speed in operations per second."""

    python: str
    torch: str
    platform: str
    cores: int
    threads: int
    instructions: str
    memory_total: int | None
    memory_free: int | None
    disk_free: int
    flops_float32: float
    flops_bfloat16: float
    accelerators: list[str]
    encoding: str
    optional: dict[str, bool]
    advice: list[str]


def inspect_machine(folder: Path, *, seconds: float = 0.25) -> Machine:
    """Inspect the machine; ``folder`` is where runs would be written."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": platform.platform(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "memory_total": memory_total(),
        "memory_free": memory_free(),
        "disk_free": shutil.disk_usage(folder).free,
        "flops_float32": flops(torch.float32, seconds),
        "flops_bfloat16": flops(torch.bfloat16, seconds),
        "accelerators": accelerators(),
        "encoding": (getattr(sys.stdout, "encoding", "") or "none").lower(),
        "optional": {name: find_spec(name) is not None for name in _OPTIONAL},
    }
    bare = Machine(**found, advice=[])
    return bare._replace(advice=list(_advice(bare)))


def flops(dtype: torch.dtype, seconds: float) -> float:
    """Measure the operations per second of a matrix product, the best of several."""
    left = torch.ones(_SIDE, _SIDE, dtype=dtype)
    best, until = float("inf"), time.perf_counter() + seconds
    while best == float("inf") or time.perf_counter() < until:
        start = time.perf_counter()
        left @ left
        best = min(best, time.perf_counter() - start)
    return 2.0 * _SIDE**3 / best


def _advice(machine: Machine) -> Iterator[str]:
    if machine.threads > machine.cores:
        yield f"Set OMP_NUM_THREADS={machine.cores}: more threads than cores slow each other down."
    if machine.cores > 1 and machine.threads < machine.cores and "OMP_NUM_THREADS" in os.environ:
        yield f"OMP_NUM_THREADS keeps {machine.threads} of {machine.cores} cores busy."
    if machine.memory_free is not None and machine.memory_free < 2 * 2**30:
        yield "Less than 2 GiB of memory are free: keep training.batch_tokens small."
    if machine.disk_free < 2 * 2**30:
        yield "Less than 2 GiB of disk are free: keep training.checkpoints few."
    if machine.encoding not in ("utf-8", "utf8"):
        yield "Set PYTHONUTF8=1: this terminal's encoding cannot show every text."
