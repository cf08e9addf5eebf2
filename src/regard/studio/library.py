"""The library: every run and index below one folder, by its path from there.

A name that a browser sends is looked up here and nowhere joined to a path. Links are not followed.
Rows are read again only when a file of their run has changed.
"""

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from regard.inference.search.folder import MANIFEST
from regard.recipe.differences import format_setting, list_differing
from regard.run_files import JOURNAL, RECIPE, SEAL
from regard.serve.refusal import Refusal
from regard.studio.follow import Follower
from regard.studio.summary import Summary, find_state, read_locks, read_stamp, summarise

DEEPEST = 4  # folders between the root and a run
PAUSE = 0.2  # seconds between two searches for a name that is not there
MOST_COLUMNS = 40  # settings in which runs differ that are offered for grouping


class _Known(NamedTuple):
    """A row, and what it was made of."""

    stamp: tuple[object, ...]
    summary: Summary
    changed: int


class Library:
    """Runs and indexes below a folder.

    Args:
        root: The folder.

    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.version = 0
        self._folders: dict[str, Path] = {}
        self._known: dict[str, _Known] = {}
        self._followers: dict[str, Follower] = {}
        self._columns: list[str] = []
        self._settings_changed = 0
        self._refreshed = 0.0
        self._lock = threading.Lock()

    def find(self, name: str) -> Path:
        """Return the folder of a run or an index; refuse any other name."""
        if name not in self._folders and time.monotonic() - self._refreshed > PAUSE:
            self.refresh()
        if name not in self._folders:
            message = f"there is no run of that name below {self.root.name}."
            raise Refusal(404, "not_found", message, param="run")
        return self._folders[name]

    def follow(self, name: str) -> Follower:
        """Return the journal of a run, read up to now."""
        folder = self.find(name)
        with self._lock:
            follower = self._follower(name, folder)
            follower.update()
            return follower

    def refresh(self) -> None:
        """Find what is new, changed or gone."""
        with self._lock:
            self._refreshed = time.monotonic()
            found = dict(_walk(self.root, "", 0))
            locks = read_locks()
            changed = set(self._folders) - set(found)
            for name in changed:
                self._known.pop(name, None)
                self._followers.pop(name, None)
            self._folders = found
            for name, folder in found.items():
                if self._update(name, folder, locks):
                    changed.add(name)
            if changed:
                self.version += 1
                self._choose_columns()

    def listing(self, since: int = 0) -> dict[str, Any]:
        """Return the rows that changed after a version; all of them if columns did."""
        self.refresh()
        whole = since < self._settings_changed or since > self.version
        rows = [
            {**known.summary.row, "settings": self._written(known.summary)}
            for known in self._known.values()
            if whole or known.changed > since
        ]
        return {
            "root": self.root.name,
            "version": self.version,
            "whole": whole,
            "columns": self._columns,
            "names": sorted(self._known),
            "rows": rows,
        }

    def differences(self, names: list[str]) -> list[dict[str, Any]]:
        """Return the settings in which runs differ, each with a value per run."""
        for name in names:
            self.find(name)
        if not set(names) <= set(self._known):
            self.refresh()
        settings = [self._known[name].summary.settings for name in names]
        return [
            {"setting": path, "values": [format_setting(each.get(path)) for each in settings]}
            for path in list_differing(settings)
        ]

    def _follower(self, name: str, folder: Path) -> Follower:
        return self._followers.setdefault(name, Follower(folder / JOURNAL))

    def _update(self, name: str, folder: Path, locks: frozenset[int] | None) -> bool:
        """Read a row again if its files changed."""
        if (folder / MANIFEST).is_file():
            stamp: tuple[object, ...] = ("index",)
        else:
            state = find_state(folder, locks)
            stamp = (state, *read_stamp(folder))
        known = self._known.get(name)
        if known is not None and known.stamp == stamp:
            return False
        if stamp == ("index",):
            row = {"name": name, "kind": "index", "state": "finished", "task": "search"}
            summary = Summary(row, {})
        else:
            summary = summarise(name, folder, state, self._follower(name, folder))
            summary.row["group"] = _digest(summary.settings)
        if known is None or known.summary != summary:
            self._known[name] = _Known(stamp, summary, self.version + 1)
            return True
        self._known[name] = known._replace(stamp=stamp)
        return False

    def _choose_columns(self) -> None:
        """Offer the settings in which the runs differ."""
        settings = [known.summary.settings for known in self._known.values()]
        columns = list_differing([each for each in settings if each])[:MOST_COLUMNS]
        if columns != self._columns:
            self._columns, self._settings_changed = columns, self.version

    def _written(self, summary: Summary) -> dict[str, str]:
        if not summary.settings:
            return {}
        return {path: format_setting(summary.settings.get(path)) for path in self._columns}


def _walk(folder: Path, name: str, depth: int) -> Iterator[tuple[str, Path]]:
    """Yield every run and index; a folder inside of one is part of it."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    files = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
    if MANIFEST in files or (RECIPE in files and files & {JOURNAL, SEAL}):
        yield name or folder.name, folder
        return
    for entry in entries:
        inside = entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        if inside and depth < DEEPEST:
            yield from _walk(Path(entry.path), f"{name}/{entry.name}".lstrip("/"), depth + 1)


def _digest(settings: dict[str, Any]) -> str:
    """Name a group of runs that differ in nothing but the seed."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]
