"""A folder per class: ``data/positive/17.txt`` is a text whose label is ``positive``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.lines import read_document
from regard.data.record import Fault, Found, Request, make_record


def read_folders(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read (text, label), class by class, file by file, in the order of their names."""
    for folder in files:
        classes = _list_visible(folder, folders=True)
        if not classes:
            yield _make_fatal_fault(folder)
        for named in classes:
            if (named / "recipe.toml").is_file() and (named / "journal.jsonl").is_file():
                yield _make_run_fault(named)
                return
            for path in _list_visible(named, folders=False):
                text = read_document(path, request.encoding)
                if isinstance(text, Fault):
                    # One bad file among many may be skipped, as a bad line may.
                    yield text._replace(severity="bad")
                else:
                    yield make_record((text[0].removesuffix("\n"), named.name), path, text[1])


def _list_visible(folder: Path, *, folders: bool) -> list[Path]:
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(path for path in found if path.is_dir() == folders)


def _make_run_fault(folder: Path) -> Fault:
    problem = "This is a run of regard, whose files would be read as texts of a class."
    return Fault("label", "fatal", str(folder), 0, problem, "Move the run out of the data folder.")


def _make_fatal_fault(folder: Path) -> Fault:
    problem = "The folder must have one folder per class; it has none."
    if not folder.exists():
        problem = "There is no such folder."
    remedy = "Put the texts of each class into a folder with its name."
    kind = "missing-file" if not folder.exists() else "missing-label"
    return Fault(kind, "fatal", str(folder), 0, problem, remedy)
