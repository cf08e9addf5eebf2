"""Files to records: one stream for every format, every fault with file and line.

    for fields, file, line in read(["train.de", "train.en"], expected=2): ...

Files are streamed: memory does not grow with the corpus.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from regard.data.compression import plain_name
from regard.data.formats.columns import ColumnChoice
from regard.data.formats.fasttext import PREFIX, read_fasttext
from regard.data.formats.folders import read_folders
from regard.data.formats.jsonl import read_jsonl, sample_objects
from regard.data.formats.parallel import read_parallel
from regard.data.formats.parquet import read_parquet, sample_parquet
from regard.data.formats.po import read_po
from regard.data.formats.table import read_csv, read_tsv, sample_csv, sample_tsv
from regard.data.formats.text import read_documents, read_lines, read_whole
from regard.data.formats.tmx import read_tmx
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, Found, Reader, Record, Request
from regard.errors import DataError, UsageError

__all__ = ["Fault", "Record", "RecordReader", "read", "scan"]

WORLD = "world:"
"""Prefix of the name of a built-in corpus."""

COLUMNS = ("parquet", "tsv", "csv", "jsonl")
"""Formats with named or numbered columns."""

PLAIN = ("text", "lines", "whole")
"""Formats of plain text."""

_READERS: dict[str, Reader] = {
    "text": read_documents,
    "lines": read_lines,
    "whole": read_whole,
    "parallel": read_parallel,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "fasttext": read_fasttext,
    "folders": read_folders,
    "po": read_po,
    "tmx": read_tmx,
}
_SAMPLERS: dict[str, Callable[[Path, Request], ColumnChoice | Fault]] = {
    "tsv": sample_tsv,
    "csv": sample_csv,
    "jsonl": sample_objects,
    "parquet": sample_parquet,
}
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_ENDINGS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".po": "po",
    ".tmx": "tmx",
    ".ft": "fasttext",
}


def read(
    files: Sequence[str | Path],
    *,
    format: str = "auto",
    fields: tuple[str, ...] = (),
    languages: tuple[str, ...] = (),
    on_bad_line: Literal["stop", "skip"] = "stop",
    expected: int | None = None,
    split: str = "train",
) -> "RecordReader":
    """Read records of ``expected`` fields; only built-in worlds use ``split``."""
    request = Request(expected, tuple(fields), tuple(languages))
    found = scan(files, request, format=format, split=split)
    return RecordReader(found, skip=on_bad_line == "skip")


class RecordReader(Iterator[Record]):
    """Iterates over records; ``skipped_kinds`` counts the bad lines skipped so far by kind.

    Args:
        found: Records and faults, from :func:`scan`.
        skip: Whether bad lines are skipped; otherwise the first one raises.

    """

    def __init__(self, found: Iterator[Found], *, skip: bool) -> None:
        self._found = found
        self._skip = skip
        self.skipped_kinds: Counter[str] = Counter()

    def __next__(self) -> Record:
        for found in self._found:
            if isinstance(found, Record):
                return found
            if found.severity == "fatal" or (found.severity == "bad" and not self._skip):
                raise make_error(found)
            if found.severity == "bad":
                self.skipped_kinds[found.kind] += 1
        raise StopIteration

    @property
    def skipped(self) -> int:
        """How many bad lines were skipped so far."""
        return self.skipped_kinds.total()


def scan(
    files: Sequence[str | Path], request: Request, *, format: str = "auto", split: str = "train"
) -> Iterator[Found]:
    """Yield records and faults in the order of the files; no fault raises."""
    if not files:
        raise UsageError("There are no files to read.", "Name at least one file in [data].")
    names = [str(file) for file in files]
    chosen = find_format(names, request, format)
    _check_group(chosen, request)
    if chosen == "world":
        return _open_worlds(names, split)
    _check_sides(chosen, names, request)
    return _READERS[chosen]([Path(name).expanduser() for name in names], request)


def find_format(files: Sequence[str], request: Request, format: str = "auto") -> str:
    """Return the format of files: as given, else by their names and what the task needs."""
    if format == "world" or any(name.startswith(WORLD) for name in files):
        return "world"
    paths = [Path(name).expanduser() for name in files]
    chosen = _detect_format(paths, request) if format == "auto" else format
    if chosen not in _READERS:
        known = ", ".join([*_READERS, "world"])
        raise UsageError(f"There is no format {chosen!r}.", f"Choose among {known}.")
    return chosen


def find_columns(file: str, request: Request, format: str) -> ColumnChoice | None:
    """Choose the columns of a table; None if the format has none."""
    if format not in COLUMNS:
        return None
    found = _SAMPLERS[format](Path(file).expanduser(), request)
    if isinstance(found, Fault):
        raise make_error(found)
    return found


def _open_worlds(names: list[str], split: str) -> Iterator[Found]:
    from regard.data.worlds import open_world

    for name in names:
        yield from open_world(name.removeprefix(WORLD), split)


def _detect_format(paths: list[Path], request: Request) -> str:
    """Detect the format from the file names, else from what the task needs."""
    formats = [_format_by_name(path) for path in paths]
    if len(set(formats)) > 1:
        both = zip(paths, formats, strict=True)
        found = ", ".join(f"{path.name} ({format or 'plain'})" for path, format in both)
        raise UsageError(
            f"All files of a split must have one format. Got {found}.",
            "Convert them to one format, or set data.format if the endings are misleading.",
        )
    if formats[0]:
        return formats[0]
    if request.expected == 1:
        return "text"
    if not _are_sides(paths):
        first = _read_first_line(paths[0])
        if first.startswith(PREFIX):
            return "fasttext"
        if request.expected and first.count("\t") + 1 >= request.expected:
            return "tsv"
        if (request.expected or 0) > len(paths) == 1:
            return "text"
    return "text" if request.expected is None and not _are_sides(paths) else "parallel"


def refuse_spreadsheet(path: Path) -> None:
    """Refuse a file of a spreadsheet program."""
    if path.suffix.lower() in _SPREADSHEETS:
        raise UsageError(
            f"{path.name} is a spreadsheet, which is not read.",
            "Save it as CSV (UTF-8) in the spreadsheet program, and name that file.",
        )


def _format_by_name(path: Path) -> str:
    refuse_spreadsheet(path)
    if path.is_dir():
        return "folders"
    return _ENDINGS.get(plain_name(path).suffix.lower(), "")


def _read_first_line(path: Path) -> str:
    return next(
        (line.text for line in islice(iterate_lines(path), 1) if isinstance(line, TextLine)), ""
    )


def _are_sides(paths: list[Path]) -> bool:
    """Whether files are the sides of parallel text: ``train.de``, ``train.en``."""
    plain = [plain_name(path) for path in paths]
    stems, endings = {path.stem for path in plain}, {path.suffix for path in plain}
    return len(stems) == 1 and len(endings) == len(plain) > 1


def _check_sides(format: str, names: list[str], request: Request) -> None:
    sides = request.expected or max(len(names), 2)
    if format == "parallel" and (len(names) % sides or len(names) < 2):
        raise UsageError(
            f"Parallel text has one file for each of its {sides} sides. Got {', '.join(names)}.",
            "Name one file per side, such as train.de and train.en, or set data.format.",
        )
    if format in PLAIN and (request.expected or 1) > 1:
        raise UsageError(
            f"The task needs {sides} fields; plain text has one. Got {', '.join(names)}.",
            "Use parallel files, tsv, csv or jsonl, or set data.format.",
        )


def _check_group(format: str, request: Request) -> None:
    if request.group and format not in COLUMNS:
        raise UsageError(
            f"data.group = {request.group!r} names a column, and the format {format!r} has none.",
            f"Use {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}, or remove data.group.",
        )


def make_error(fault: Fault) -> DataError | UsageError:
    """Make the exception of a fault."""
    kind = UsageError if fault.kind == "missing-file" else DataError
    return kind(f"{fault.place}: {fault.problem}", fault.remedy)
