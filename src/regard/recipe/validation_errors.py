"""Turn validation errors into messages: file and line, the rule, the closest valid setting."""

import re
import tomllib
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from regard.errors import RecipeError
from regard.recipe.renamed import REMOVED, RENAMED, VALUES
from regard.recipe.settings import REQUIRED, Refused, SettingLine, Settings, lines

_SHOWN = 3
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"\s*([\w\-.\"' ]+?)\s*=")


class Mistake(NamedTuple):
    """One invalid setting."""

    path: str
    problem: str
    remedy: str


class Origin(NamedTuple):
    """The source of settings, to name the line of a mistake."""

    file: str = "recipe"
    text: str = ""
    """Content of the file."""
    overrides: tuple[str, ...] = ()
    """The dotted paths of ``--set``."""


NOWHERE = Origin()


def explain_error(
    error: ValidationError, table: type[Settings], origin: Origin = NOWHERE
) -> RecipeError:
    """Turn a pydantic error into ours."""
    known = list(lines(table))
    by_path = {m.path + m.problem[:9]: m for m in (_mistake(p, known) for p in error.errors())}
    mistakes = list(by_path.values())
    problems = [_locate(mistake, origin) for mistake in mistakes[:_SHOWN]]
    if len(mistakes) > _SHOWN:
        problems.append(f"and {len(mistakes) - _SHOWN} more")
    remedies = dict.fromkeys(mistake.remedy for mistake in mistakes[:_SHOWN])
    return RecipeError("; ".join(problems), " ".join(remedies))


def explain_syntax_error(error: Exception, text: str, source: str) -> RecipeError:
    """Turn a TOML syntax error into ours, with file, line number and the line itself."""
    if not isinstance(error, tomllib.TOMLDecodeError):
        return RecipeError(f"{source} is nested too deeply", "Write plain tables.")
    message = str(error)
    found = re.search(r"\(at (?:line (\d+), column \d+|end of document)\)", message)
    rows = text.splitlines()
    number = int(found[1]) if found and found[1] else len(rows)
    row = rows[number - 1].strip() if 0 < number <= len(rows) else ""
    rule = re.sub(r"\s*\(at .*?\)", "", message)
    return RecipeError(
        f"{source}:{number}: this is not TOML: {rule}: {row[:80]}",
        'Correct the line; text is quoted (task = "translation"), tables are in [brackets].',
    )


def line_of(text: str, path: str) -> int | None:
    """Return the line on which a dotted path is written, or its table begins."""
    table, header = "", None
    for number, row in enumerate(text.splitlines(), start=1):
        if found := _HEADER.match(row):
            table = found[1].replace(" ", "").replace('"', "")
            header = number if table == path else header
        elif found := _KEY.match(row):
            key = found[1].replace(" ", "").strip("\"'")
            if path == (f"{table}.{key}" if table else key):
                return number
    return header


def _locate(mistake: Mistake, origin: Origin) -> str:
    """Prefix the problem with file and line, or with the override, where known."""
    paths = [*re.findall(r"[a-z_]+(?:\.[a-z_]+)+", mistake.problem), mistake.path]
    for path in paths:
        if any(f"{override}.".startswith(f"{path}.") for override in origin.overrides):
            return f"--set {path}: {mistake.problem}".replace(f"{path}: {path}", path)
    for path in paths:
        if number := line_of(origin.text, path):
            return f"{origin.file}:{number}: {mistake.problem}"
    return f"{origin.file}: {mistake.problem}"


def _mistake(problem: ErrorDetails, known: list[SettingLine]) -> Mistake:
    path = _path(problem, known)
    match problem["type"]:
        case "extra_forbidden":
            return Mistake(path, *_unknown(path, known))
        case "missing":
            return Mistake(path, *_missing(path, known))
        case "union_tag_invalid" | "literal_error":
            return Mistake(path, *_no_such_choice(path, problem, known))
        case "value_error":
            return Mistake(path, *_describe_refusal(path, problem["ctx"]["error"]))
        case "model_type" | "model_attributes_type" | "dict_type":
            got = _format(problem["input"])
            return Mistake(
                path, f"{path} is a table; got {got}", f"Write [{path}] above its settings."
            )
        case _:
            return Mistake(path, *_wrong_value(path, problem, known))


def _path(problem: ErrorDetails, known: list[SettingLine]) -> str:
    """Return the dotted path as in a recipe, without the kind that pydantic inserts."""
    kinds = {line.kind for line in known if line.kind}
    tables = {line.path.rpartition(".")[0] for line in known if line.kind}
    steps: list[str] = []
    for step in problem["loc"]:
        if not (step in kinds and ".".join(steps) in tables):
            steps.append(str(step))
    path = ".".join(step for step in steps if not step.isdigit())
    return f"{path}.kind" if problem["type"].startswith("union_tag") else path


def _missing(path: str, known: list[SettingLine]) -> tuple[str, str]:
    """Name the missing field, or the first required one of a missing table."""
    inside = (line for line in known if line.default is REQUIRED)
    line = next((line for line in inside if f"{line.path}.".startswith(f"{path}.")), None)
    if line is None:
        return f"{path} is missing", _means(path, known)
    return f"{line.path} is missing", f"Add {line.path}, {line.allowed}: {_plain(line.means)}"


def _unknown(path: str, known: list[SettingLine]) -> tuple[str, str]:
    elsewhere = {line.kind for line in known if line.path == path}
    if elsewhere:
        table = path.rpartition(".")[0]
        owners = " or ".join(f'"{kind}"' for kind in sorted(elsewhere))
        return (
            f"{path} belongs to {table}.kind {owners}, but another kind is chosen",
            f"Take {path} out, or choose its kind.",
        )
    if path in RENAMED:
        return f"{path} is now called {RENAMED[path]}", f"Write {RENAMED[path]} instead."
    if path in REMOVED:
        return f"{path} was removed: {REMOVED[path]}", f"Take {path} out."
    return f"{path} is unknown", _offer(path, known)


def _offer(path: str, known: list[SettingLine]) -> str:
    tables = {".".join(line.path.split(".")[:n]) for line in known for n in range(1, 5)}
    paths = sorted({line.path for line in known} | tables)
    meant = get_close_matches(path, paths, n=1, cutoff=0.7)
    leaf = path.rpartition(".")[2]
    meant = meant or [line.path for line in known if line.path.rpartition(".")[2] == leaf][:1]
    if meant:
        return f"Did you mean {meant[0]}?"
    return "`regard recipe explain` lists every setting."


def _no_such_choice(path: str, problem: ErrorDetails, known: list[SettingLine]) -> tuple[str, str]:
    context = problem.get("ctx", {})
    if new := VALUES.get(path, {}).get(str(problem["input"])):
        was = _format(problem["input"])
        return f'{path} = {was} is now called "{new}"', f'Write {path} = "{new}".'
    got = context.get("tag", problem["input"])
    choices = re.findall(r"'([^']*)'", context.get("expected_tags") or context["expected"])
    meant = get_close_matches(str(got), choices, n=1)
    offer = f'Did you mean "{meant[0]}"?' if meant else _means(path, known)
    listed = ", ".join(f'"{choice}"' for choice in choices)
    return f"{path} must be one of {listed}; got {_format(got)}", offer


def _describe_refusal(path: str, error: Exception) -> tuple[str, str]:
    """Name the setting, unless the validator has named it already."""
    problem = error.problem if isinstance(error, Refused) else str(error)
    remedy = error.remedy if isinstance(error, Refused) else "Change one of them"
    return problem if path in problem else f"{path}: {problem}", f"{remedy}."


def _wrong_value(path: str, problem: ErrorDetails, known: list[SettingLine]) -> tuple[str, str]:
    expected = " or ".join(dict.fromkeys(line.allowed for line in known if line.path == path))
    rule = f"must be {expected}" if expected else problem["msg"]
    return f"{path} {rule}; got {_format(problem['input'])}", _means(path, known)


def _means(path: str, known: list[SettingLine]) -> str:
    sentences = (line.means for line in known if line.path == path and line.means)
    return f"{path}: {_plain(next(sentences, f'see `regard recipe explain {path}`.'))}"


def _plain(sentence: str) -> str:
    return sentence.replace("``", "`")


def _format(value: Any) -> str:  # noqa: ANN401 - anything in the file
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
