"""How files are read that no recipe describes yet: their encoding and their columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.encoding import find_encoding
from regard.data.source import WORLD, find_columns, find_format
from regard.recipe.data import DataSettings
from regard.tasks.suggest.survey import SEPARATOR
from regard.tasks.task import Task


class Reading(NamedTuple):
    """Settings that files are read with, and the reasons by dotted path."""

    data: DataSettings
    reasons: dict[str, str]
    columns: dict[str, str]
    """The column of each field, if files have columns."""


def find_reading(task: type[Task[Any]], files: Sequence[str], fields: Sequence[str]) -> Reading:
    """Find encoding and columns of files; columns that are not clear are refused."""
    data = DataSettings(train=tuple(files), fields=tuple(fields))
    if not task.reads_columns or any(file.startswith(WORLD) for file in files):
        return Reading(data, {}, {})
    reasons: dict[str, str] = {}
    first = Path(files[0]).expanduser()
    request = task.request(data)._replace(label_separator=SEPARATOR)
    format = find_format(files, request)
    encoding = find_encoding(first)
    request = request._replace(encoding=encoding)
    found: dict[str, object] = {}
    if encoding != "utf-8":
        found["encoding"] = encoding
        reasons["data.encoding"] = f"{first.name} is not UTF-8."
    choice = find_columns(files[0], request, format)
    if choice is None:
        return Reading(data.model_copy(update=found), reasons, {})
    found["fields"] = choice.fields
    names = [choice.columns[at].name for at in choice.chosen]
    columns = dict(zip(task.roles, names, strict=True))
    reasons["data.fields"] = f"{describe_columns(columns)}; change with --fields."
    return Reading(data.model_copy(update=found), reasons, columns)


def describe_columns(columns: dict[str, str]) -> str:
    """Say which column is which field."""
    return ", ".join(f"{role} = {name!r}" for role, name in columns.items())
