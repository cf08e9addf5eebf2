"""Cores and memory available to this process, within its container's limits."""

import os
from pathlib import Path


def cores() -> int:
    """Count the usable cores, by CPU affinity and container quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = _words("/sys/fs/cgroup/cpu.max")
    if len(quota) == 2 and quota[0].isdigit():
        return max(1, min(allowed or 1, round(int(quota[0]) / int(quota[1]))))
    return allowed or 1


def memory_total() -> int | None:
    """Return the bytes of memory within the container's limit, or None if unknown."""
    limit = _words("/sys/fs/cgroup/memory.max")
    sizes = [int(limit[0])] if limit and limit[0].isdigit() else []
    sizes += [size] if (size := _meminfo("MemTotal")) else []
    if not sizes and "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes, default=None)


def memory_free() -> int | None:
    """Return the bytes of free memory, or None if unknown."""
    free, total, used = (
        _meminfo("MemAvailable"),
        memory_total(),
        _words("/sys/fs/cgroup/memory.current"),
    )
    if free is not None and total is not None and used and used[0].isdigit():
        return max(0, min(free, total - int(used[0])))
    return free


def _meminfo(name: str) -> int | None:
    words = _words("/proc/meminfo")
    return int(words[words.index(f"{name}:") + 1]) * 1024 if f"{name}:" in words else None


def _words(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        return []
