"""Checkpoints: a save is whole or it is not there.

A checkpoint is a folder ``step-00001234``. It is written under another name in the same parent,
each file and the manifest (size and SHA-256 of every file) are synced to disk, then it is renamed
and the parent synced. Nothing is ever overwritten in place. Loading takes the newest one whose
manifest verifies; one that does not is renamed ``bad-…`` and reported, never deleted. Old ones go
only after the new one has verified.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file
from torch import Tensor

from regard.errors import RunError, make_disk_error
from regard.files import hash_file, sync, write_tensors

FORMAT = 1
MANIFEST = "manifest.json"


class Checkpoint(NamedTuple):
    """Everything a run needs to go on as if it had never stopped."""

    tensors: dict[str, dict[str, Tensor]]
    """By file: ``model``, ``optimizer``, and ``ema`` or ``best`` if the recipe keeps them."""
    state: dict[str, Any]
    """Step, best score, patience, seconds; and what the run was made of."""


def save(parent: Path, checkpoint: Checkpoint, *, keep: int) -> Path:
    """Write a checkpoint below ``parent`` and return its folder; keep the newest ``keep``."""
    step = checkpoint.state["step"]
    folder, unfinished = parent / _name_step(step), parent / f".{_name_step(step)}.unfinished"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        for name, tensors in checkpoint.tensors.items():
            write_tensors(unfinished / name_of(name), tensors)
        _write_json(unfinished / "state.json", checkpoint.state)
        _write_json(unfinished / MANIFEST, _manifest(unfinished))
        for file in [*sorted(unfinished.iterdir()), unfinished]:
            sync(file)
        if folder.exists():
            _set_aside(folder)
        unfinished.rename(folder)
        sync(parent)
        verify(folder)
    except OSError as error:
        raise make_disk_error(error, f"a checkpoint in {parent}") from error
    for old in checkpoints(parent)[keep:]:
        shutil.rmtree(old)
    return folder


def newest(parent: Path, warn: Callable[[str], None]) -> Path | None:
    """Return the newest checkpoint that verifies; rename and report those that do not."""
    for folder in checkpoints(parent):
        try:
            verify(folder)
        except (RunError, OSError) as error:
            aside = _set_aside(folder)
            why = getattr(error, "problem", error)
            warn(f"{why} It was renamed {aside.name}; the one before it is used.")
        else:
            return folder
    return None


def load(folder: Path) -> Checkpoint:
    """Read a verified checkpoint."""
    tensors = {
        file.name.removesuffix(".safetensors"): load_file(file)
        for file in sorted(folder.glob("*.safetensors"))
    }
    return Checkpoint(tensors, json.loads((folder / "state.json").read_text(encoding="utf-8")))


def checkpoints(parent: Path) -> list[Path]:
    """Every finished checkpoint below ``parent``, newest first, by its step and nothing else."""
    return sorted(parent.glob("step-*"), reverse=True) if parent.is_dir() else []


def verify(folder: Path) -> None:
    """Compare every file with the manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        wanted = {name: (fact["size"], fact["sha256"]) for name, fact in manifest["files"].items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(folder, f"its manifest cannot be read ({error})") from error
    found = {file.name for file in folder.iterdir()} - {MANIFEST}
    if found != wanted.keys():
        raise _broken(folder, f"files missing or added: {sorted(found ^ wanted.keys())}")
    for name, (size, digest) in wanted.items():
        if (folder / name).stat().st_size != size or hash_file(folder / name) != digest:
            raise _broken(folder, f"{name} is not what was written")
    step = json.loads((folder / "state.json").read_text(encoding="utf-8"))["step"]
    if folder.name != _name_step(step):
        raise _broken(folder, f"it was saved after step {step}")


def name_of(part: str) -> str:
    """File of one part of a checkpoint."""
    return f"{part}.safetensors"


def _name_step(step: int) -> str:
    return f"step-{step:08d}"


def _manifest(folder: Path) -> dict[str, object]:
    files = {
        file.name: {"size": file.stat().st_size, "sha256": hash_file(file)}
        for file in sorted(folder.iterdir())
    }
    return {"format": FORMAT, "files": files}


def _set_aside(folder: Path) -> Path:
    number = 0
    while (aside := folder.with_name(f"bad-{number}-{folder.name}")).exists():
        number += 1
    return folder.rename(aside)


def _write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1), encoding="utf-8")


def _broken(folder: Path, why: str) -> RunError:
    return RunError(
        f"the checkpoint {folder.name} does not verify: {why}.",
        "Resume from an earlier one, or begin again.",
    )
