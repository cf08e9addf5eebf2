"""Measuring: one claim after another, slow ones cached.

A slow claim is cached by a fingerprint of its own code, of the code that trains, and of torch's
version; what it trained along the way is kept as well (:mod:`regard.claims.trials`), so that an
interrupted measurement goes on where it stopped.
"""

import inspect
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard import __version__
from regard.claims import trials
from regard.claims.claim import (
    Claim,
    Curves,
    Drawing,
    Figure,
    Kind,
    Measurement,
    judge,
    state_verdict,
)
from regard.draw.bars import Bars
from regard.draw.chart import Curve
from regard.draw.picture import Picture
from regard.errors import RegardError
from regard.files import write_whole

IMPORTED = re.compile(r"^from (regard\.claims\.[\w.]+) import", re.MULTILINE)


class Outcome(NamedTuple):
    """A claim with its measurement, or the reason why there is none."""

    claim: Claim
    measurement: Measurement | None
    seconds: float
    problem: str = ""
    """Why it could not be measured."""

    @property
    def kind(self) -> Kind:
        """The verdict without its condition."""
        return "not measured" if self.measurement is None else judge(self.measurement)

    @property
    def verdict(self) -> str:
        """The verdict, computed from the figures."""
        if self.measurement is None:
            return f"not measured: {self.problem}" if self.problem else "not measured"
        return state_verdict(self.claim, self.measurement)

    def as_json(self) -> dict[str, Any]:
        """Plain data for programs."""
        figures = self.measurement.figures if self.measurement else ()
        return {
            "name": self.claim.name,
            "numbers": list(self.claim.numbers),
            "family": self.claim.family,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "figure": self.measurement.summary if self.measurement else None,
            "figures": {figure.name: figure.value for figure in figures},
            "verdict": self.verdict,
            "right": self.claim.correction,
            "slow": self.claim.slow,
            "seconds": round(self.seconds, 3),
        }


def measure(claim: Claim) -> Outcome:
    """Measure one claim; an error becomes part of the outcome."""
    start = time.perf_counter()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            measurement = claim.measure()
            judge(measurement)
    except RegardError as error:
        return Outcome(claim, None, time.perf_counter() - start, error.problem)
    except Exception as error:  # a broken layer is a result
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        return Outcome(claim, None, time.perf_counter() - start, problem)
    return Outcome(claim, measurement, time.perf_counter() - start)


def measure_all(
    claims: Iterable[Claim], *, slow: bool, before: Callable[[Claim], None] = lambda _: None
) -> Iterator[Outcome]:
    """Measure the fast claims, and the slow ones if ``slow``; else load these from the cache.

    ``before`` is called with each claim before it is measured.
    """
    for claim in claims:
        before(claim)
        if not claim.slow:
            yield measure(claim)
            continue
        known = load_cached(claim)
        if known is not None or not slow:
            yield known or Outcome(claim, None, 0.0)
            continue
        outcome = measure(claim)
        if outcome.measurement is not None:
            _cache(outcome)
        yield outcome


def load_cached(claim: Claim) -> Outcome | None:
    """Load what the same code measured of a slow claim, or None."""
    try:
        kept = json.loads(_cache_file(claim).read_text(encoding="utf-8"))
        return Outcome(claim, from_json(kept["measurement"]), float(kept["seconds"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fingerprint(claim: Claim) -> str:
    """Hash what a claim's figures depend on: its code, the code that trains, torch's version."""
    modules = sorted(claims_modules(claim.measure.__module__))
    code = (inspect.getsource(sys.modules[name]) for name in modules)
    known = "\n".join([claim.name, *code, trials.source_hash(), __version__, torch.__version__])
    return sha256(known.encode()).hexdigest()[:16]


def claims_modules(name: str) -> set[str]:
    """Name a claim's module and those of this room that it imports, at any depth."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        found.add(module := waiting.pop())
        imported = IMPORTED.findall(inspect.getsource(sys.modules[module]))
        waiting += [other for other in imported if other not in found]
    return found


def _cache(outcome: Outcome) -> None:
    file = _cache_file(outcome.claim)
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = {"measurement": to_json(outcome.measurement), "seconds": outcome.seconds}
    write_whole(file, json.dumps(kept))


def _cache_file(claim: Claim) -> Path:
    return trials.cache_folder() / f"{claim.name}-{fingerprint(claim)}.json"


def to_json(measurement: Measurement | None) -> dict[str, Any]:
    """Convert a measurement to plain data."""
    assert measurement is not None
    drawing = measurement.drawing
    drawn = None if drawing is None else {"kind": type(drawing).__name__, **asdict(drawing)}
    return {
        "summary": measurement.summary,
        "figures": [asdict(figure) for figure in measurement.figures],
        "drawing": json.loads(json.dumps(drawn, default=list)),
    }


def from_json(kept: dict[str, Any]) -> Measurement:
    """Restore a measurement from plain data."""
    figures = tuple(Figure(**figure) for figure in kept["figures"])
    return Measurement(kept["summary"], figures, _restore_drawing(kept["drawing"]))


def _restore_drawing(kept: dict[str, Any] | None) -> Drawing | None:
    if kept is None:
        return None
    kind = kept.pop("kind")
    if kind == "Curves":
        lines = tuple(Curve(**line) for line in kept.pop("lines"))
        return Curves(**kept, lines=lines)
    if kind == "Bars":
        return Bars(kept["title"], tuple((name, value) for name, value in kept["rows"]))
    return Picture(**kept)
