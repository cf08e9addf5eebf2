import pytest

from regard.errors import RecipeError, UsageError
from regard.recipe.load import load, make, override, set_value
from regard.recipe.model import AttentionSettings, RecurrentSettings
from regard.recipe.shipped import find_folder

LEAST = 'task = "translation"\n[data]\ntrain = ["train.de", "train.en"]\n'


@pytest.fixture
def write(tmp_path):
    def written(text):
        file = tmp_path / "recipe.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return written


def test_what_a_recipe_leaves_out_has_its_default(write):
    recipe = load(write(LEAST))
    assert isinstance(recipe.model.mixer, AttentionSettings)
    assert recipe.model.mixer.heads == 4


def test_a_mixer_is_swapped_by_naming_its_kind(write):
    recipe = load(write(f'{LEAST}[model.mixer]\nkind = "recurrent"\n'))
    assert isinstance(recipe.model.mixer, RecurrentSettings)


def test_a_table_may_leave_out_its_kind_when_it_means_the_default(write):
    assert load(write(f"{LEAST}[model.mixer]\nheads = 3\n")).model.mixer.heads == 3


def test_a_single_file_needs_no_brackets(write):
    recipe = load(write('task = "translation"\n[data]\ntrain = "world:scenes"\n'))
    assert recipe.data.train == ("world:scenes",)


def test_a_run_folder_stands_for_the_recipe_in_it(write):
    file = write(LEAST)
    assert load(file.parent) == load(file)


def test_a_shipped_recipe_goes_by_its_name_or_its_file():
    assert load("scenes") == load(find_folder() / "scenes.toml")


def test_paths_are_relative_to_the_recipe(write, tmp_path, monkeypatch):
    file = write(LEAST)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    train = (str(tmp_path / "train.de"), str(tmp_path / "train.en"))
    assert load(file).data.train == train
    assert load("../recipe.toml").data.train == train


def test_files_of_a_shipped_recipe_are_sought_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("multi30k").data.train[0].startswith(str(tmp_path))


def test_an_absolute_file_a_home_and_a_world_stay_what_they_are(write, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    recipe = load(
        write(LEAST), ["data.train=['/a/b', '~/c', '~nobody-here/d']", "data.valid=world:x"]
    )
    here = str(tmp_path / "~nobody-here" / "d")
    assert recipe.data.train == ("/a/b", str(tmp_path / "me" / "c"), here)
    assert recipe.data.valid == ("world:x",)


def test_the_start_of_a_transfer_is_relative_to_the_recipe_too(write, tmp_path):
    recipe = load(write(f'{LEAST}[model.start]\nrun = "runs/first"\n'))
    assert recipe.model.start.run == str(tmp_path / "runs" / "first")


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("model.depth=6", 6),
        ("model.depth = 6", 6),
        ("model.tied=false", False),
        ("training.budget=15min", "15min"),
        ("training.budget='15min'", "15min"),
        ("training.budget=a=b", "a=b"),
        ("data.train=['a', 'b']", ["a", "b"]),
        ("data.train=1\nseed = 3", "1\nseed = 3"),
    ],
)
def test_an_override_is_toml_and_a_bare_word_is_text(override, value):
    table, field = override.partition("=")[0].strip().split(".")
    assert set_value({}, override)[table][field] == value


def test_an_override_changes_nothing_else():
    before = {"seed": 5, "model": {"width": 7, "mixer": {"heads": 3}}}
    after = set_value(before, "model.mixer.heads=7")
    assert after == {"seed": 5, "model": {"width": 7, "mixer": {"heads": 7}}}
    assert before["model"]["mixer"]["heads"] == 3


def test_the_last_override_wins(write):
    assert load(write(LEAST), ["seed=3", "seed=5"]).seed == 5


@pytest.mark.parametrize("override", ["model.depth", "=3", "model..depth=3", ""])
def test_an_override_without_setting_or_value_is_refused(override):
    with pytest.raises(UsageError, match=r"--set model\.depth=6"):
        set_value({}, override)


def test_another_kind_drops_settings_that_it_does_not_have():
    before = {"model": {"position": {"kind": "rotary", "base": 7.0}, "width": 3}}
    after = set_value(before, "model.position.kind=alibi")
    assert after == {"model": {"position": {"kind": "alibi"}, "width": 3}}
    assert set_value(before, "model.position.kind=rotary") == before
    assert set_value(before, "model.position.kind=sideways")["model"]["position"]["base"] == 7.0


def test_settings_of_a_recipe_are_overridden_by_path():
    made = load("scenes")
    other = override(
        made, {"seed": 7, "model.position.kind": "alibi", "training.budget": "3 steps"}
    )
    assert (other.seed, other.model.position.kind, other.training.budget) == (7, "alibi", "3 steps")
    assert override(other, {"seed": made.seed}).model.width == made.model.width
    with pytest.raises(RecipeError, match=r"modle"):
        override(made, {"modle.width": 3})


def test_a_missing_recipe_is_refused_with_the_shipped_ones(tmp_path):
    with pytest.raises(RecipeError, match="did you mean scenes"):
        load("scens")
    with pytest.raises(RecipeError, match="multi30k, "):
        load(tmp_path / "absent.toml")


def test_a_recipe_that_is_not_text_is_refused_with_its_line(tmp_path):
    file = tmp_path / "recipe.toml"
    file.write_bytes(b"seed = 1\n# \xff\n")
    with pytest.raises(RecipeError, match=r"recipe.toml:2: a recipe is UTF-8"):
        load(file)


def test_a_huge_file_is_no_recipe(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(RecipeError, match="1,000,001 bytes"):
        load(file)


def test_a_byte_order_mark_is_let_pass(tmp_path):
    file = tmp_path / "recipe.toml"
    file.write_bytes(b"\xef\xbb\xbf" + LEAST.encode())
    assert load(file).task == "translation"


def test_plain_tables_become_a_recipe():
    assert make({"task": "translation", "data": {"train": "world:scenes"}}).seed == 1
