"""Export a run: write to a temporary folder, compare with the target's own implementation, rename.

    .DIR.unfinished    written, opened, compared    ->    DIR with equality.json

Where the two differ nothing is left, and the error says by how much.
"""

import json
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from regard import __version__
from regard.errors import RunError, UsageError
from regard.files import hash_file, sync, write_whole
from regard.interop.exports.compare import as_json, compare
from regard.interop.exports.samples import draw_samples
from regard.interop.exports.target import Equality, Fit, Target
from regard.interop.targets import TARGETS
from regard.run import Run
from regard.run_files import MODEL
from regard.tasks.foreign import Obstacle

EQUALITY = "equality.json"


class Offer(NamedTuple):
    """Whether a run fits a target, and if not, why."""

    target: Target
    fit: Fit | None
    obstacles: list[Obstacle]

    def as_json(self) -> dict[str, Any]:
        """Return it under the names that scripts rely on."""
        fit = self.fit
        return {
            "target": self.target.name,
            "fits": fit is not None,
            "architecture": fit.architecture if fit else None,
            "notes": list(fit.notes) if fit else [],
            "obstacles": [one._asdict() for one in self.obstacles],
        }


class Exported(NamedTuple):
    """A folder that was written, and its proof."""

    folder: Path
    fit: Fit
    equality: Equality
    record: dict[str, Any]
    """What stands in ``equality.json``."""


def list_offers(run: Run) -> list[Offer]:
    """Say of every target whether the run fits it."""
    return [offer(run, target) for target in TARGETS.values()]


def offer(run: Run, target: Target) -> Offer:
    """Say whether a run fits a target."""
    if obstacles := list(target.shape(run).obstacles):
        return Offer(target, None, obstacles)
    found = target.fits(run)
    return Offer(target, found, []) if isinstance(found, Fit) else Offer(target, None, found)


def find_target(name: str) -> Target:
    """Return a target by its name."""
    if name not in TARGETS:
        raise UsageError(
            f"a run is exported to {', '.join(TARGETS)}. Got {name!r}.",
            "`regard export RUN` lists which of them a run fits.",
        )
    return TARGETS[name]


def export_run(run: Run, target: Target, folder: Path) -> Exported:
    """Write and verify an export; leave nothing if it cannot be made or is not equal."""
    if folder.exists():
        raise UsageError(f"an export folder must be new. {folder} exists.", "Name another folder.")
    found = offer(run, target)
    if found.fit is None:
        raise _refuse(run, found)
    require_packages(target)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        target.write(run, found.fit, unfinished)
        side = target.open(run, found.fit, unfinished)
        equality = compare(run, target, found.fit, side, draw_samples(run, target.shape(run)))
        if not equality.equal:
            raise _report_difference(target, equality)
        record = describe(run, target, found.fit, equality)
        write_whole(unfinished / EQUALITY, json.dumps(record, indent=1))
        for file in unfinished.rglob("*"):
            sync(file)
        unfinished.rename(folder)
        sync(folder.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return Exported(folder, found.fit, equality, record)


def describe(run: Run, target: Target, fit: Fit, equality: Equality) -> dict[str, Any]:
    """Return the record of an equality: what, how, with which versions, and how to repeat it."""
    packages = ("torch", "tokenizers", "safetensors", "numpy", *target.needs)
    return {
        "target": target.name,
        "architecture": fit.architecture,
        **as_json(equality),
        "precision": target.precision,
        "weights": hash_file(run.folder / MODEL),
        "versions": {"regard": __version__, **{name: _version_of(name) for name in packages}},
        "command": f"regard export {run.folder.name} --to {target.name} DIR",
    }


def require_packages(target: Target) -> None:
    """Refuse where a package is missing that verifies the export."""
    missing = [name for name in target.needs if find_spec(name.replace("-", "_")) is None]
    if missing:
        raise UsageError(
            f"an export to {target.name} is verified with {' and '.join(missing)}, which is not "
            "installed.",
            f"Install it: pip install {' '.join(missing)}",
        )


def _refuse(run: Run, found: Offer) -> UsageError:
    first, *more = found.obstacles
    others = f" Further: {', '.join(one.setting for one in more)}." if more else ""
    return UsageError(
        f"{run.folder} does not fit the target {found.target.name}: {first.setting} = "
        f"{first.value!r}, but {first.reason}.{others}",
        f"{first.remedy} Then train again; `regard export {run.folder}` lists everything.",
    )


def _report_difference(target: Target, equality: Equality) -> RunError:
    return RunError(
        f"the export to {target.name} is not equal to the run, so nothing was kept: tokens of "
        f"{equality.same_tokens} of {equality.texts} texts, {equality.same_answers} of "
        f"{equality.answers} answers, largest difference "
        f"{', '.join(f'{name} {value:.2g}' for name, value in equality.differences.items())} "
        f"(at most {equality.tolerance:g}).",
        "Please report it with the run's recipe.toml and the versions that `regard doctor` prints.",
    )


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
