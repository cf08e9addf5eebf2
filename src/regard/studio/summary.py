"""A run in one row: what its files say without torch, whether it is finished or still training."""

import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from regard.errors import RegardError
from regard.recipe.differences import comparable_settings
from regard.recipe.load import load
from regard.run_files import JOURNAL, LOCK, METRICS, RECIPE, SEAL
from regard.studio.follow import Follower
from regard.tasks.scores import LOWER_IS_BETTER, format_score

State = Literal["finished", "training", "stopped"]
LARGEST = 64 << 20  # bytes of a file of scores that is read
LOCKS = Path("/proc/locks")


class Summary(NamedTuple):
    """A run in one row, and the settings by which it is grouped."""

    row: dict[str, Any]
    settings: dict[str, Any]


def read_stamp(folder: Path) -> tuple[object, ...]:
    """Return what changes whenever a run's row may change."""
    return (*(_stamp(folder / name) for name in (RECIPE, METRICS, SEAL, JOURNAL)),)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def read_locks() -> frozenset[int] | None:
    """Return the inodes of files that some process has locked; None if the system does not say."""
    try:
        lines = LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return frozenset(int(line.split()[-3].split(":")[-1]) for line in lines if "FLOCK" in line)


def find_state(folder: Path, locks: frozenset[int] | None) -> State:
    """Say whether a run is finished, being trained by a process, or stopped."""
    if (folder / SEAL).is_file():
        return "finished"
    try:
        inode = (folder / LOCK).stat(follow_symlinks=False).st_ino
    except OSError:
        return "stopped"
    return "training" if locks is None or inode in locks else "stopped"


def summarise(name: str, folder: Path, state: State, follower: Follower) -> Summary:
    """Read the row of a run."""
    row: dict[str, Any] = {"name": name, "kind": "run", "state": state}
    try:
        recipe = load(folder)
        found = _read_finished(folder) if state == "finished" else _read_unfinished(follower)
    except RegardError as error:
        return Summary({**row, "task": "", "problem": error.problem}, {})
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        problem = f"its files cannot be read: {type(error).__name__}"
        return Summary({**row, "task": "", "problem": problem}, {})
    made = (folder / RECIPE).stat().st_mtime
    known = {"task": recipe.task, "seed": recipe.seed, "made": made}
    return Summary({**row, **known, **found}, comparable_settings(recipe))


def read_json(file: Path) -> Any:  # noqa: ANN401 - whatever JSON has
    """Read a file of JSON of a bounded size, which must not be a link."""
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as opened:
        raw = opened.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    return json.loads(raw)


def _read_finished(folder: Path) -> dict[str, Any]:
    metrics = read_json(folder / METRICS)
    if "imported" in metrics:
        return {"imported": True}
    training = metrics["training"]
    split = "test" if "test" in metrics else "valid"
    scores = metrics[split]["metrics"]
    facts = {name: training.get(name) for name in ("steps", "seconds", "tokens", "parameters")}
    return {**facts, "score": _score(scores, split)}


def _read_unfinished(follower: Follower) -> dict[str, Any]:
    follower.update()
    began, step, measured = (follower.last(kind) for kind in ("start", "step", "evaluation"))
    latest = max((step, measured), key=lambda event: event.get("step", -1))
    facts = {name: latest.get(name) for name in ("seconds", "tokens")}
    score = _score(measured["metrics"], "valid") if measured else None
    wanted = follower.last("resumed").get("steps") or began.get("steps")
    return {**facts, "steps": latest.get("step", 0), "of": wanted, "score": score}


def _score(scores: dict[str, Any], split: str) -> dict[str, Any]:
    """Return the task's own score, which is the first, with that of the baseline."""
    if not scores:
        raise ValueError("no scores")
    metric = next(iter(scores))
    value, baseline = float(scores[metric]), scores.get("baseline", {}).get(metric)
    return {
        "metric": metric,
        "split": split,
        "value": value,
        "written": format_score(metric, value),
        "baseline": None if baseline is None else format_score(metric, float(baseline)),
        "lower": metric in LOWER_IS_BETTER,
    }
