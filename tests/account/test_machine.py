import os
from pathlib import Path

import pytest
import torch

from regard.account import limits, machine
from regard.account.machine import inspect_machine


@pytest.fixture
def files(monkeypatch):
    """Let the machine read what the test says its files hold."""

    def hold(**words):
        monkeypatch.setattr(
            limits, "_words", lambda file: words.get(Path(file).name.replace(".", "_"), [])
        )

    return hold


def test_a_quota_counts_where_it_is_below_the_cores(files, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(13), raising=False)
    files()
    assert limits.cores() == 13
    files(cpu_max=["200000", "100000"])
    assert limits.cores() == 2
    files(cpu_max=["max", "100000"])
    assert limits.cores() == 13
    files(cpu_max=["20000", "100000"])
    assert limits.cores() == 1


def test_a_containers_limit_counts_where_it_is_below_the_memory(files):
    info = ["MemTotal:", "7", "kB", "MemFree:", "1", "kB", "MemAvailable:", "5", "kB"]
    files(meminfo=info)
    assert (limits.memory_total(), limits.memory_free()) == (7 * 1024, 5 * 1024)
    files(meminfo=info, memory_max=["3072"], memory_current=["1024"])
    assert (limits.memory_total(), limits.memory_free()) == (3072, 2048)
    files(meminfo=info, memory_max=["max"], memory_current=["1024"])
    assert (limits.memory_total(), limits.memory_free()) == (7 * 1024, 5 * 1024)


def test_a_machine_that_does_not_say_is_not_guessed_at(files):
    files()
    assert limits.memory_free() is None


def test_the_speed_is_counted_in_operations(monkeypatch):
    ticks = iter([0.0, 1.0, 3.0, 9.0])
    monkeypatch.setattr(machine.time, "perf_counter", lambda: next(ticks))
    assert machine.flops(torch.float32, 0.5) == 2.0 * 512**3 / 2.0


def test_advice_follows_from_what_was_found(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = inspect_machine(tmp_path, seconds=0.0)
    calm = found._replace(
        cores=3, threads=3, memory_free=2**40, disk_free=2**40, encoding="utf-8", advice=[]
    )
    assert list(machine._advice(calm)) == []
    assert "OMP_NUM_THREADS=3" in next(iter(machine._advice(calm._replace(threads=5))))
    assert "memory" in next(iter(machine._advice(calm._replace(memory_free=1))))
    assert "disk" in next(iter(machine._advice(calm._replace(disk_free=1))))
    assert "PYTHONUTF8" in next(iter(machine._advice(calm._replace(encoding="ascii"))))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert "keeps 1 of 3" in next(iter(machine._advice(calm._replace(threads=1))))
