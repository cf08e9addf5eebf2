"""``regard doctor``: what this machine offers."""

from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.options import AsJson
from regard.cli.screen import print_json, print_rows, print_text

if TYPE_CHECKING:
    from regard.account.machine import Machine


def doctor(as_json: AsJson = False) -> None:
    """Say what this machine offers, and what would make it faster.

    Examples:
        regard doctor
        regard doctor --json

    """
    from regard.account.machine import inspect_machine

    machine = inspect_machine(Path.cwd())
    if as_json:
        print_json(machine._asdict())
        return
    print_rows(_rows(machine))
    for line in machine.advice:
        print_text(f"- {line}")


def _rows(machine: "Machine") -> list[tuple[str, str]]:
    there = [name for name, present in machine.optional.items() if present]
    absent = [name for name, present in machine.optional.items() if not present]
    slower = machine.flops_bfloat16 < machine.flops_float32
    return [
        ("python", f"{machine.python} on {machine.platform}"),
        ("torch", machine.torch),
        ("cores", f"{machine.cores}, {machine.threads} threads, {machine.instructions}"),
        ("memory", f"{_gib(machine.memory_free)} free of {_gib(machine.memory_total)}"),
        ("disk", f"{_gib(machine.disk_free)} free here"),
        ("float32", f"{machine.flops_float32 / 1e9:.0f} GFLOP/s"),
        ("bfloat16", f"{machine.flops_bfloat16 / 1e9:.0f} GFLOP/s{', slower' * slower}"),
        ("accelerators", ", ".join(machine.accelerators) or "none"),
        ("encoding", machine.encoding),
        ("extras", f"{', '.join(there) or 'none'} (absent: {', '.join(absent) or 'none'})"),
    ]


def _gib(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 2**30:.1f} GiB"
