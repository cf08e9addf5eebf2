"""Parquet files, read batch by batch with pyarrow, which the extra ``parquet`` installs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.data.compression import check_is_file
from regard.data.formats.columns import ColumnChoice
from regard.data.formats.jsonl import Entries, JsonEntry, read_records, sample_entries
from regard.data.lines import make_unreadable_fault
from regard.data.record import Fault, Found, Request
from regard.errors import UsageError

_ROWS = 1024


def read_parquet(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read rows by the names of their columns; a line number is that of the row, from 1."""
    for path in files:
        yield from read_records(path, _read_entries(path), request)


def sample_parquet(path: Path, request: Request) -> ColumnChoice | Fault:
    """Choose columns by the first rows of a file."""
    return sample_entries(path, _read_entries(path), request)


def _read_entries(path: Path) -> Entries:
    parquet = _import_parquet()
    try:
        check_is_file(path)
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(_ROWS) for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                yield JsonEntry(number, row)
    except OSError as error:
        yield make_unreadable_fault(path, error)
    except ValueError as error:  # pyarrow's exceptions for damaged files are of this kind
        problem = f"The file is not Parquet: {' '.join(str(error).split())[:120]}."
        yield Fault("parquet", "fatal", str(path), 0, problem, "Write the file again.")


def _import_parquet() -> Any:  # noqa: ANN401 - a module
    try:
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "Parquet files are read with pyarrow, which is not installed.",
            'Install it: pip install "regard[parquet]". Or save the table as csv or jsonl.',
        ) from None
    return parquet
