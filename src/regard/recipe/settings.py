"""Base class of all settings: typed, frozen, documented once, strict about spelling.

The sentence under a field is its only documentation: editors, ``regard recipe explain``, the JSON
schema and ``docs/recipe.md`` show it.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

Hundreds = Annotated[int, Field(ge=1, le=1_000)]
Millions = Annotated[int, Field(ge=1, le=5_000_000)]
Billions = Annotated[int, Field(ge=1, le=100_000_000_000)]
"""Counts, bounded where larger ones are slips: they would end in no memory, or never."""
NoneToHundreds = Annotated[int, Field(ge=0, le=1_000)]
NoneToMillions = Annotated[int, Field(ge=0, le=5_000_000)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]


class Settings(BaseModel):
    """One table of a recipe."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class Refused(ValueError):
    """Raised by a validator: settings that exclude each other, or a value out of range.

    Args:
        problem: The rule and the values that break it; settings are named by their dotted path.
        remedy: What to write instead.

    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem, self.remedy = problem, remedy


class SettingLine(NamedTuple):
    """Documentation of one field."""

    path: str
    default: Any
    """The default, or ``REQUIRED``."""
    means: str
    allowed: str
    """The allowed values, in words."""
    kind: str = ""
    """The ``kind`` of its table, if there is a choice of tables."""


REQUIRED = PydanticUndefined


def lines(table: type[Settings], prefix: str = "", kind: str = "") -> Iterator[SettingLine]:
    """Yield every field of ``table`` and of the tables inside it, by its dotted path."""
    for name, field in table.model_fields.items():
        inner = tables_in(field.annotation)
        if not inner:
            default = field.get_default(call_default_factory=False)
            means = " ".join((field.description or "").split())
            yield SettingLine(f"{prefix}{name}", default, means, allowed(field), kind)
        for choice in inner:
            yield from lines(choice, prefix=f"{prefix}{name}.", kind=kind_of(choice))


def tables_in(annotation: Any) -> list[type[Settings]]:  # noqa: ANN401 - can be anything
    """Return the tables a field may hold: none, one, or a choice of several."""
    return [part for part in (annotation, *get_args(annotation)) if _is_table(part)]


def kind_of(table: type[Settings]) -> str:
    """Return the ``kind`` of a table, or nothing if there is no choice."""
    field = table.model_fields.get("kind")
    names = get_args(field.annotation) if field else ()
    return str(names[0]) if len(names) == 1 else ""


def allowed(field: FieldInfo) -> str:
    """Describe the allowed values of a field in words."""
    if field.examples:
        return ", ".join(map(shown, field.examples))
    return " ".join([_words(field.annotation), _describe_bounds(field.metadata)]).strip()


def shown(value: Any) -> str:  # noqa: ANN401 - a default can be anything
    """Return a value as it is written in a recipe."""
    match value:
        case None:
            return "left out"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple() | list():
            return f"[{', '.join(shown(part) for part in value)}]"
        case _:
            return "required" if value is REQUIRED else str(value)


def _is_table(annotation: Any) -> bool:  # noqa: ANN401 - an annotation can be anything
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def _words(annotation: Any) -> str:  # noqa: ANN401 - an annotation can be anything
    """Return a type in words: ``int | None`` is "a whole number, or left out"."""
    plain = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    if annotation in plain:
        return plain[annotation]
    if annotation is type(None):
        return "left out"
    if get_origin(annotation) is Literal:
        return ", ".join(f'"{name}"' for name in get_args(annotation))
    if get_origin(annotation) is tuple:
        parts = get_args(annotation)
        many = len(parts) == 2 and parts[1] is Ellipsis
        return f"a list of {_words(parts[0])}" if many else f"a list of {len(parts)} numbers"
    if hasattr(annotation, "__metadata__"):
        bounds = _describe_bounds(list(_rules(annotation.__metadata__)))
        return " ".join([_words(annotation.__origin__), bounds]).strip()
    return ", or ".join(_words(part) for part in get_args(annotation))


def _rules(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for rule in metadata:
        yield from rule.metadata if isinstance(rule, FieldInfo) else (rule,)


def _describe_bounds(rules: Sequence[Any]) -> str:
    match [rule for rule in rules if isinstance(rule, Ge | Le)]:
        case [Ge(ge=least), Le(le=most)]:
            return f"from {least} to {most}"
    return " and ".join(word for rule in rules if (word := _bound(rule)))


def _bound(rule: Any) -> str:  # noqa: ANN401 - a rule can be anything
    match rule:
        case Gt(gt=limit):
            return f"above {limit}"
        case Ge(ge=limit):
            return f"of at least {limit}"
        case Lt(lt=limit):
            return f"below {limit}"
        case Le(le=limit):
            return f"of at most {limit}"
        case _:
            return ""
