"""JSON lines: one object per line; ``a.b`` names a field of a nested object."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.formats.column_names import find_usual_names
from regard.data.lines import TextLine, iterate_lines
from regard.data.record import Fault, Found, Request, make_blank_note, make_fault, make_record


def read_jsonl(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read one object per line; numbers become text, so that labels may be numbers."""
    for path in files:
        wanted = request
        for line in iterate_lines(path):
            if isinstance(line, Fault):
                yield line
            elif not line.text.strip():
                yield make_blank_note(path, line.number)
            else:
                value = parse_object(path, line)
                if isinstance(value, dict) and not wanted.fields:
                    wanted = request._replace(fields=find_usual_names(_list_paths(value), request))
                found = (
                    value if isinstance(value, Fault) else _make_record(path, line, value, wanted)
                )
                yield found
                if isinstance(found, Fault) and found.severity == "fatal":
                    return


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


def _make_record(path: Path, line: TextLine, value: dict[str, object], wanted: Request) -> Found:
    if not wanted.fields:
        has = ", ".join(map(str, value)) or "nothing"
        problem = f"No usual field names among: {has}."
        remedy = "Name the fields to read, in the task's order, in data.fields."
        return Fault("missing-field", "fatal", str(path), line.number, problem, remedy)
    fields = []
    for name in wanted.fields:
        field = _get_value(value, name)
        if field is None:
            return make_fault("missing-field", path, line.number, f"There is no field {name!r}.")
        text = _to_text(field, wanted.label_separator)
        if text is None:
            what = type(field).__name__
            return make_fault(
                "json", path, line.number, f"The field {name!r} is a {what}, not a text."
            )
        fields.append(text)
    group = _to_text(_get_value(value, wanted.group), "") if wanted.group else None
    return make_record(tuple(fields), path, line.number, group=group or "")


def _to_text(field: object, separator: str) -> str | None:
    """Convert a field to text: numbers as written, lists joined by a separator."""
    if isinstance(field, list) and separator:
        parts = [_to_text(part, "") for part in field]
        return None if None in parts else separator.join(part for part in parts if part)
    if isinstance(field, bool):
        return str(field).lower()
    return str(field) if isinstance(field, str | int | float) else None


def _list_paths(value: dict[str, object]) -> set[str]:
    inner = {
        f"{name}.{key}" for name, part in value.items() if isinstance(part, dict) for key in part
    }
    return {*value, *inner}


def _get_value(value: dict[str, object], name: str) -> object:
    if name in value:
        return value[name]
    found: object = value
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found
