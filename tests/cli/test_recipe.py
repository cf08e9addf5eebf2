import json
import tomllib

from regard.cli.main import main
from regard.recipe.load import load, make
from regard.recipe.shipped import list_shipped


def test_the_shipped_recipes_are_listed_with_what_they_are_for(capsys):
    assert main(["recipe", "list"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in list_shipped() if name not in shown] == []


def test_a_recipe_is_shown_with_every_default(capsys):
    assert main(["recipe", "show", "scenes", "--set", "model.depth=5"]) == 0
    shown = make(tomllib.loads(capsys.readouterr().out))
    assert shown == load("scenes", ["model.depth=5"])


def test_json_is_one_object_and_nothing_else(capsys):
    for words in (["list"], ["show", "scenes"], ["explain", "model"]):
        assert main(["recipe", *words, "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_a_setting_is_explained_by_its_own_sentence(capsys):
    assert main(["recipe", "explain", "model.norm"]) == 0
    assert capsys.readouterr().out == (
        'model.norm = "rms"\n    Layer normalisation or RMS normalisation (RMSNorm).\n    "layer", "rms"\n'
    )


def test_the_schema_is_json(capsys):
    assert main(["recipe", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Recipe"


def test_the_reference_is_written_where_it_is_wanted(tmp_path, capsys):
    assert main(["recipe", "document", "--output", str(tmp_path / "recipe.md")]) == 0
    assert main(["recipe", "document"]) == 0
    assert (tmp_path / "recipe.md").read_text(encoding="utf-8") == capsys.readouterr().out


def test_an_unknown_setting_is_a_wrong_call_and_stdout_stays_empty(capsys):
    assert main(["recipe", "show", "scenes", "--set", "model.detph=3", "--json"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "error: --set model.detph is unknown\nDid you mean model.depth?\n"
