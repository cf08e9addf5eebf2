"""JSON lines: an object per line; ``a.b`` reaches into an object within."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.formats.column_names import by_habit
from regard.data.lines import Line, lines
from regard.data.record import Fault, Found, Request, bad, blank, examined


def read_jsonl(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read one object per line; numbers become their digits, so that labels may be numbers."""
    for path in files:
        wanted = request
        for line in lines(path):
            if isinstance(line, Fault):
                yield line
            elif not line.text.strip():
                yield blank(path, line.number)
            else:
                value = parsed(path, line)
                if isinstance(value, dict) and not wanted.fields:
                    wanted = request._replace(fields=by_habit(_reachable(value), request))
                found = value if isinstance(value, Fault) else _record(path, line, value, wanted)
                yield found
                if isinstance(found, Fault) and found.severity == "fatal":
                    return


def parsed(path: Path, line: Line) -> dict[str, object] | Fault:
    """Read the object of one line."""
    try:
        value = json.loads(line.text)
    except json.JSONDecodeError as error:
        return bad("json", path, line.number, f"Not JSON at column {error.colno}: {error.msg}.")
    except (RecursionError, ValueError):
        return bad("json", path, line.number, "The JSON cannot be read: too deep, or too large.")
    if not isinstance(value, dict):
        what = type(value).__name__
        return bad("json", path, line.number, f"Every line must be an object; this is a {what}.")
    return value


def _record(path: Path, line: Line, value: dict[str, object], wanted: Request) -> Found:
    if not wanted.fields:
        has = ", ".join(map(str, value)) or "nothing"
        problem = f"Which fields to read is not plain from the names: {has}."
        remedy = "Name them, in the task's order, in data.fields."
        return Fault("missing-field", "fatal", str(path), line.number, problem, remedy)
    fields = []
    for name in wanted.fields:
        field = _reach(value, name)
        if field is None:
            return bad("missing-field", path, line.number, f"There is no field {name!r}.")
        text = _text(field, wanted.label_separator)
        if text is None:
            what = type(field).__name__
            return bad("json", path, line.number, f"The field {name!r} is a {what}, not a text.")
        fields.append(text)
    group = _text(_reach(value, wanted.group), "") if wanted.group else None
    return examined(tuple(fields), path, line.number, group=group or "")


def _text(field: object, separator: str) -> str | None:
    """Turn a field into text: numbers as they are written, a list of labels joined if asked for."""
    if isinstance(field, list) and separator:
        parts = [_text(part, "") for part in field]
        return None if None in parts else separator.join(part for part in parts if part)
    if isinstance(field, bool):
        return str(field).lower()
    return str(field) if isinstance(field, str | int | float) else None


def _reachable(value: dict[str, object]) -> set[str]:
    inner = {
        f"{name}.{key}" for name, part in value.items() if isinstance(part, dict) for key in part
    }
    return {*value, *inner}


def _reach(value: dict[str, object], name: str) -> object:
    if name in value:
        return value[name]
    found: object = value
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found
