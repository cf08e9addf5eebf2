"""A folder per class: ``data/positive/17.txt`` is a text whose label is ``positive``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import document
from regard.data.record import Fault, Found, Request, examined


def read_folders(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read (text, label), class by class, file by file, in the order of their names."""
    for folder in files:
        classes = _visible(folder, folders=True)
        if not classes:
            yield _fatal(folder)
        for named in classes:
            for path in _visible(named, folders=False):
                text = document(path)
                if isinstance(text, Fault):
                    # One bad file among many is like one bad line: it may be skipped.
                    yield text._replace(severity="bad")
                else:
                    yield examined((text[0].removesuffix("\n"), named.name), path, text[1])


def _visible(folder: Path, *, folders: bool) -> list[Path]:
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(path for path in found if path.is_dir() == folders)


def _fatal(folder: Path) -> Fault:
    problem = "There must be a folder for every class, and there is none."
    if not folder.exists():
        problem = "There is no such folder."
    remedy = "Put the texts of each class into a folder named after it."
    kind = "missing-file" if not folder.exists() else "missing-label"
    return Fault(kind, "fatal", str(folder), 0, problem, remedy)
