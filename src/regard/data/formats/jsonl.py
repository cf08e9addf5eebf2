"""JSON lines: one object per line; ``a.b`` names a field of a nested object.

Fields that are not named are chosen as the columns of a table are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.formats.column_names import find_usual_names
from regard.data.formats.columns import (
    ColumnChoice,
    choose_by_content,
    describe_columns,
    take_sample,
)
from regard.data.formats.table import make_columns_fault
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import (
    LABEL,
    Fault,
    Found,
    Request,
    make_blank_note,
    make_fault,
    make_record,
)


class JsonEntry(NamedTuple):
    """An object and its line."""

    number: int
    value: Mapping[str, Any]


Entries = Iterator[JsonEntry | Fault]


def read_jsonl(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read one object per line; numbers become text, so that labels may be numbers."""
    for path in files:
        yield from read_records(path, read_entries(path, request), request)


def read_entries(path: Path, request: Request) -> Entries:
    """Read the objects of a file."""
    for line in iterate_lines(path, request.encoding):
        if isinstance(line, Fault):
            yield line
        elif not line.text.strip():
            yield make_blank_note(path, line.number)
        else:
            value = parse_object(path, line)
            yield value if isinstance(value, Fault) else JsonEntry(line.number, value)


def read_records(path: Path, entries: Entries, request: Request) -> Iterator[Found]:
    """Read the fields that are asked for, or else chosen by the first objects."""
    first = take_sample(entries, request)
    wanted = request
    sample = [entry for entry in first if isinstance(entry, JsonEntry)]
    for entry in chain(first, entries):
        if isinstance(entry, JsonEntry) and not wanted.fields:
            choice = choose_fields([one.value for one in sample], request)
            if choice.doubt or choice.guessed:
                yield make_columns_fault(path, entry.number, choice, request)
                return
            wanted = request._replace(fields=choice.fields)
        yield entry if isinstance(entry, Fault) else _make_record(path, entry, wanted)


def sample_objects(path: Path, request: Request) -> ColumnChoice | Fault:
    """Choose fields by the first objects of a file."""
    return sample_entries(path, read_entries(path, request), request)


def sample_entries(path: Path, entries: Entries, request: Request) -> ColumnChoice | Fault:
    """Choose fields by the first of some objects."""
    first = take_sample(entries, request)
    values = [entry.value for entry in first if isinstance(entry, JsonEntry)]
    if not values:
        faults = (entry for entry in first if isinstance(entry, Fault))
        return next(faults, make_fault("blank", path, 0, "The file has no objects."))
    choice = choose_fields(values, request)
    return make_columns_fault(path, 1, choice, request) if choice.doubt else choice


def choose_fields(values: Sequence[Mapping[str, Any]], request: Request) -> ColumnChoice:
    """Choose fields by their names, else by what the objects hold in them."""
    names = list(dict.fromkeys(chain.from_iterable(map(list_paths, values))))
    rows = [
        [get_text(value, name, request.label_separator) or "" for name in names] for value in values
    ]
    columns = describe_columns(names, rows)
    if usual := find_usual_names(names, request):
        return ColumnChoice([names.index(name) for name in usual], columns, True)
    if not request.roles:
        return ColumnChoice([], columns, True, f"no usual names among {', '.join(names)}.")
    return choose_by_content(columns, request, header=True)


def parse_object(path: Path, line: TextLine) -> dict[str, object] | Fault:
    """Read the object of one line."""
    try:
        value = json.loads(line.text)
    except json.JSONDecodeError as error:
        return make_fault(
            "json", path, line.number, f"Not JSON at column {error.colno}: {error.msg}."
        )
    except (RecursionError, ValueError):
        return make_fault(
            "json", path, line.number, "The JSON is nested too deeply, or a number is too long."
        )
    if not isinstance(value, dict):
        what = type(value).__name__
        return make_fault(
            "json", path, line.number, f"Every line must be an object; this is a {what}."
        )
    return value


def list_paths(value: Mapping[str, Any]) -> Iterable[str]:
    """Return the names of an object's fields, nested ones last."""
    inner = (
        f"{name}.{key}" for name, part in value.items() if isinstance(part, dict) for key in part
    )
    return [*value, *inner]


def get_text(value: Mapping[str, Any], name: str, separator: str) -> str | None:
    """Return a field as text; None if there is none, or it is no text."""
    return _to_text(_get_value(value, name), separator)


def _make_record(path: Path, entry: JsonEntry, wanted: Request) -> Found:
    fields = []
    labelled = wanted.roles[-1:] == (LABEL,)
    for name in wanted.fields:
        field = _get_value(entry.value, name)
        if field is None:
            problem = f"There is no field {name!r}; the object has {', '.join(entry.value)}."
            return make_fault("missing-field", path, entry.number, problem)
        if labelled and name == wanted.fields[-1] and isinstance(field, list) and len(field) == 1:
            field = field[0]
        text = _to_text(field, wanted.label_separator)
        if text is None:
            return _refuse_field(path, entry.number, name, field)
        fields.append(text)
    group = get_text(entry.value, wanted.group, "") if wanted.group else None
    return make_record(
        tuple(fields),
        path,
        entry.number,
        group=group or "",
        roles=wanted.roles,
        no_label=labelled and field == [],
    )


def _refuse_field(path: Path, line: int, name: str, field: object) -> Fault:
    """Make the fault of a field that is no text."""
    if not isinstance(field, list):
        what = type(field).__name__
        return make_fault("json", path, line, f"The field {name!r} is a {what}, not a text.")
    fault = make_fault("json", path, line, f"The field {name!r} is a list of {len(field)}.")
    return fault._replace(
        remedy='If texts have several labels, set data.label_separator = "|"; else write one text.'
    )


def _to_text(field: object, separator: str) -> str | None:
    """Convert a field to text: numbers as written, lists joined by a separator."""
    if isinstance(field, list) and separator:
        parts = [_to_text(part, "") for part in field]
        return None if None in parts else separator.join(part for part in parts if part)
    if isinstance(field, bool):
        return str(field).lower()
    return str(field) if isinstance(field, str | int | float) else None


def _get_value(value: Mapping[str, Any], name: str) -> object:
    if name in value:
        return value[name]
    found: object = value
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found
