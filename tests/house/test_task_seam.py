"""Only the tasks' own room and the recipe's table name a task; all other code asks the task."""

import ast
from pathlib import Path
from typing import get_args

import pytest

from regard.recipe.tasks import TaskName

SOURCE = Path(__file__).parents[2] / "src" / "regard"
TASKS = frozenset(get_args(TaskName))
MODELS = {"BiEncoder", "Classifier", "DocumentVectors", "Han", "Tagger", "Transformer"}
THEIR_HOMES = {"tasks", "recipe", "claims"}
FOR_ONE_TASK = {"serve", "interop", "studio"}
"""Rooms that speak protocols and formats of others, each of which exists for one task."""


def tasks_named(source: str) -> list[str]:
    """Find tasks named by a string, and models asked for by class."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(word)) if word in TASKS:
                found.append(word)
            case ast.ImportFrom(module=str(home)) if home.startswith("regard.models."):
                found += [n.name for n in node.names if n.name in MODELS]
    return found


FILES = [
    file
    for file in sorted(SOURCE.rglob("*.py"))
    if file.relative_to(SOURCE).parts[0] not in THEIR_HOMES | FOR_ONE_TASK | {"models"}
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_other_room_names_a_task_or_the_class_of_its_model(file):
    assert tasks_named(file.read_text(encoding="utf-8")) == []


def test_the_recipes_table_itself_names_every_task():
    named = tasks_named((SOURCE / "recipe" / "tasks.py").read_text(encoding="utf-8"))
    assert set(named) == TASKS


@pytest.mark.parametrize(
    "line",
    ['if recipe.task == "tagging":\n    pass', "from regard.models.han import Han"],
)
def test_the_yardstick_catches_a_name(line):
    assert tasks_named(line)
