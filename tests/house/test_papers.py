"""The papers agree with the house: generated docs are fresh, the map is true."""

import re
import tomllib
from pathlib import Path

import pytest

import regard
from regard.cli.verbs import VERBS, name_of
from regard.recipe.document import reference
from regard.recipe.load import load
from regard.recipe.shipped import list_shipped, read_summary

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "regard"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_recipe_reference_is_fresh():
    assert text_of("docs/recipe.md") == reference(), "write `make docs`"


def test_the_map_of_the_house_shows_every_room_and_no_other():
    found = re.search(r"## The map of the house\n(.*?)(\n## |\Z)", text_of("README.md"), re.DOTALL)
    assert found, "README.md has no heading '## The map of the house'"
    drawn = set(re.findall(r"^[├└]── (\w+/?)(?:\.py)?\s", found[1], re.MULTILINE))
    rooms = {f"{p.parent.name}/" for p in SOURCE.glob("*/__init__.py")}
    files = {p.stem for p in SOURCE.glob("*.py") if p.stem != "__main__"}
    assert drawn == rooms | files


@pytest.mark.parametrize(
    "word",
    [
        "width",
        "depth",
        "heads",
        "features",
        "ids",
        "states",
        "scores",
        "weights",
        "visible",
        "context",
        "memory",
        "body",
        "recipe",
        "run",
        "trace",
    ],
)
def test_the_glossary_gives_every_word_of_the_house_one_meaning(word):
    assert len(re.findall(rf"^\| \*?\*?{word}\*?\*? \|", text_of("docs/glossary.md"), re.M)) == 1


@pytest.mark.parametrize("name", list_shipped())
def test_a_shipped_recipe_loads_and_says_what_it_is_for(name):
    assert load(name).task
    assert len(read_summary(list_shipped()[name])) > 20


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_its_file(verb):
    assert (SOURCE / "cli" / f"{name_of(verb)}.py").is_file()


def test_the_descriptions_promise_only_what_exists():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    promised = f"{project['description']} {regard.__doc__}".lower()
    verbs = {"serve": SOURCE / "serve", "explain": SOURCE / "explain", "train": SOURCE / "training"}
    assert [verb for verb, room in verbs.items() if verb in promised and not room.is_dir()] == []
    used = "".join(file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    unused = [
        package
        for extra, packages in project["optional-dependencies"].items()
        for package in (re.split(r"[<>=]", entry)[0].replace("-", "_") for entry in packages)
        if not extra.startswith("dev")
        and not re.search(rf"(import|from)[^\n]*\b{package.removesuffix('_py')}", used)
    ]
    assert unused == []


def test_the_same_tests_run_here_and_on_the_machine():
    assert text_of(".ci/run").rstrip().endswith("exec make test")
