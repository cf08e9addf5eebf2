"""The plan of the house: which room may import which. A room may always import its own files."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "regard"

MAY_IMPORT = {
    "recipe": set(),
    "layers": set(),
    "decoding": set(),
    "text": set(),
    "data": {"text"},
    "models": {"layers"},
    "ledger": {"recipe"},
    "tasks": {"data", "text", "models", "decoding", "recipe", "ledger"},
    "run": {"recipe", "text", "models", "tasks"},
    "training": {  # docs/decisions
        *("run", "tasks", "data", "recipe", "ledger", "account", "layers.dropout", "report.card"),
    },
    "tune": {
        *("run", "tasks", "data.split", "recipe", "ledger", "account", "training"),
        "inference.comparison",
    },
    "inference": {"run", "tasks", "data", "decoding", "recipe", "text", "models", "interop"},
    "draw": set(),
    "explain": {  # of the tasks only what they say about their answers
        *("draw", "inference", "run", "layers", "data.batch", "text.tokenizer", "tasks.question"),
    },
    "report": {
        *("draw", "explain", "inference", "account", "ledger", "run", "tasks", "models", "recipe"),
    },
    "account": {"recipe", "models", "layers", "ledger", "tasks"},
    "claims": {  # anything below it but training's insides; train and its schedule as users call them
        *("recipe", "text", "data", "layers", "decoding", "models", "tasks", "run", "inference"),
        *(
            "draw",
            "explain",
            "report",
            "account",
            "training.train",
            "training.watcher",
            "training.schedule",
            "mechanisms.masks",
        ),
    },
    "interop": {
        *("run", "recipe", "layers", "models", "text", "tasks", "data.batch"),
        "report.imported_card",
    },
    "serve": {
        *("inference", "explain", "run", "tasks", "recipe", "account", "draw"),
        *("text.tokenizer", "text.special", "text.stream", "text.sentences"),
    },
    "mechanisms": {  # what can be computed without a run
        *("layers", "recipe", "account", "data.corruption", "text.special"),
    },
    "studio": {
        *("serve", "explain", "account", "run", "recipe", "report", "draw", "inference"),
        *("tasks.scores", "mechanisms", "claims"),
    },
}
OPEN_TO_ALL = {"errors", "files", "device", "randomness", "run_files", "__version__"}
FACES_THAT_MAY_IMPORT_ANYTHING = {"cli", "__init__", "__main__"}
AT_THE_DOOR = {"text": {"recipe"}, "data": {"recipe"}, "models": {"recipe", "text.special"}}
"""What only ``from_recipe.py`` and ``build/`` of a room may import too."""
WEB_FACES = {"serve", "studio"}

FILES = sorted(SOURCE.rglob("*.py"))


def name(file):
    return str(file.relative_to(SOURCE))


def room_of(file):
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def modules_imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: import by the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_modules(tree):
    return {m.removeprefix("regard.") for m in modules_imported(tree) if m.startswith("regard.")}


def allowed_to(file):
    room = room_of(file)
    doors = MAY_IMPORT[room] | OPEN_TO_ALL | {room}
    at_the_door = file.name == "from_recipe.py" or file.parent.name == "build"
    return doors | AT_THE_DOOR.get(room, set()) if at_the_door else doors


def forbidden(modules, doors):
    return {m for m in modules if not any(f"{m}.".startswith(f"{door}.") for door in doors)}


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_room_imports_only_what_the_plan_allows(file):
    if room_of(file) in FACES_THAT_MAY_IMPORT_ANYTHING | OPEN_TO_ALL:
        return
    modules = own_modules(ast.parse(file.read_text(encoding="utf-8")))
    assert not forbidden(modules, allowed_to(file))


@pytest.mark.parametrize("open_file", sorted(OPEN_TO_ALL - {"__version__"}))
def test_what_is_open_to_all_needs_nothing_of_ours_but_errors(open_file):
    tree = ast.parse((SOURCE / f"{open_file}.py").read_text(encoding="utf-8"))
    assert not forbidden(own_modules(tree), {"errors"})


def test_every_room_is_in_the_plan():
    rooms = {room_of(file) for file in FILES}
    assert rooms <= set(MAY_IMPORT) | FACES_THAT_MAY_IMPORT_ANYTHING | OPEN_TO_ALL


@pytest.mark.parametrize("file", sorted(SOURCE.glob("cli/*.py")), ids=name)
def test_the_terminal_opens_web_faces_only_when_they_are_started(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    at_import = ast.Module([n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], [])
    assert not {m.split(".")[0] for m in own_modules(at_import)} & WEB_FACES


@pytest.mark.parametrize(
    ("room", "line", "caught"),
    [
        ("layers", "from regard.recipe.model import ModelSettings", True),
        ("layers", "from regard.errors import RegardError", False),
        ("layers", "from regard.layers import tap", False),
        ("models", "import regard.data.source", True),
        ("models", "from regard.text.special import CLS", True),
        ("explain", "from regard import training", True),
        ("claims", "from regard.training.train import train", False),
        ("claims", "from regard.training.loop import Loop", True),
        ("layers", "def later():\n    from regard.models import stack", True),
    ],
)
def test_the_yardstick_itself_catches_a_wrong_door(room, line, caught):
    file = SOURCE / room / "imagined.py"
    assert bool(forbidden(own_modules(ast.parse(line)), allowed_to(file))) == caught


def test_a_recipe_is_seen_only_at_the_door():
    inside, door = SOURCE / "text" / "tokenizer.py", SOURCE / "text" / "from_recipe.py"
    assert forbidden({"recipe.text"}, allowed_to(inside))
    assert not forbidden({"recipe.text"}, allowed_to(door))


def test_the_architecture_page_lists_every_door():
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page.partition("| room |")[2], re.MULTILINE)
    rooms = {room_of(file) for file in FILES} & set(MAY_IMPORT)
    assert {room: set(re.findall(r"`([\w.]+)`", doors)) for room, doors in rows} == {
        room: MAY_IMPORT[room] for room in rooms
    }
