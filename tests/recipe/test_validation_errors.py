import pytest

from regard.errors import RecipeError
from regard.recipe.load import load
from regard.recipe.validation_errors import line_of

LEAST = 'task = "translation"\n[data]\ntrain = "world:scenes"\n'


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Return problem and remedy of a recipe that must be refused."""

    def of(text, *overrides):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
        with pytest.raises(RecipeError) as caught:
            load("recipe.toml", overrides)
        assert caught.value.exit_code == 2
        assert "\n" not in caught.value.problem + caught.value.remedy
        return caught.value.problem, caught.value.remedy

    return of


def test_a_misspelt_setting_is_named_with_file_line_and_nearest_spelling(refused):
    assert refused(f"{LEAST}[model]\nwidth = 64\ndetph = 6\n") == (
        "recipe.toml:6: model.detph is unknown",
        "Did you mean model.depth?",
    )


def test_a_misspelt_table_is_named_with_its_line(refused):
    problem, remedy = refused(f"{LEAST}[trainig]\nclip = 2.0\n")
    assert problem == "recipe.toml:4: trainig is unknown"
    assert remedy == "Did you mean training?"


def test_a_setting_in_the_wrong_table_is_shown_home(refused):
    assert refused(f"depth = 3\n{LEAST}")[1] == "Did you mean model.depth?"


def test_a_misspelt_override_is_called_an_override(refused):
    assert refused(LEAST, "model.detph=6")[0] == "--set model.detph is unknown"


def test_the_chosen_kind_stays_out_of_the_path(refused):
    problem, remedy = refused(f"{LEAST}[model.mixer]\nhedas = 2\n")
    assert problem == "recipe.toml:5: model.mixer.hedas is unknown"
    assert remedy == "Did you mean model.mixer.heads?"


def test_a_setting_of_another_kind_is_distinguished_from_a_misspelling(refused):
    problem, _ = refused(f'{LEAST}[model.mixer]\nkind = "recurrent"\nheads = 2\n')
    assert 'model.mixer.heads belongs to model.mixer.kind "attention"' in problem


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do(refused):
    problem, remedy = refused(f'{LEAST}[model.mixer]\nkind = "recurent"\n')
    assert problem == (
        'recipe.toml:5: model.mixer.kind must be one of "attention", "recurrent", "convolution"; '
        'got "recurent"'
    )
    assert remedy == 'Did you mean "recurrent"?'


def test_a_word_that_does_not_exist_is_refused_with_those_that_do(refused):
    problem, remedy = refused(f'{LEAST}[model]\nnorm = "batch"\n')
    assert problem == 'recipe.toml:5: model.norm must be one of "layer", "rms"; got "batch"'
    assert remedy == "model.norm: Layer normalisation or RMS normalisation (RMSNorm)."


def test_what_is_missing_is_named_down_to_the_field(refused):
    problem, remedy = refused("")
    assert problem == "recipe.toml: task is missing; recipe.toml: data.train is missing"
    assert "translation" in remedy


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("model.width=0", "model.width must be a whole number from 1 to 5000000; got 0"),
        ("model.width=1.5", "model.width must be a whole number from 1 to 5000000; got 1.5"),
        ("model.width=true", "model.width must be a whole number from 1 to 5000000; got true"),
        ("model.width='6'", 'model.width must be a whole number from 1 to 5000000; got "6"'),
        ("model.tied=1", "model.tied must be true or false; got 1"),
        ("training.clip=nan", "training.clip must be a number of at least 0; got nan"),
        ("data.train=[3]", "data.train must be a list of text; got 3"),
        ("model=3", "model is a table; got 3"),
        ("model.mixer=recurrent", 'model.mixer is a table; got "recurrent"'),
        ("training.budget=soon", 'training.budget: "soon" is not a training budget'),
        ("training.budget=5", "training.budget must be text; got 5"),
        ("training.shards=3", "training.shards must be a power of two; 3 is not"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(refused, setting, problem):
    assert refused(LEAST, setting)[0] == f"--set {problem}"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (["model.width=10"], ["model.mixer.heads", "model.width", "4 does not divide 10"]),
        (
            ["model.position.kind=rotary", "model.width=12"],
            ["model.position.kind", "model.width", "12 / 4 is 3"],
        ),
        (
            ["model.position.kind=alibi", "model.mixer.kind=recurrent"],
            ["model.position.kind", "model.mixer.kind", "alibi", "recurrent"],
        ),
        (["training.ema=0.9", "training.average=3"], ["training.ema", "training.average"]),
        (["training.keep=best", "training.average=3"], ["training.keep", "training.average"]),
        (["training.schedule.decay=0.3"], ["training.schedule.decay", "training.schedule.kind"]),
        (
            ["training.schedule.kind=stable-decay", "training.schedule.warmup=0.6"],
            ["training.schedule.warmup", "training.schedule.decay"],
        ),
        (["decoding.top_k=5"], ["decoding.top_k", "decoding.method"]),
        (["text.dropout=0.1", "text.tokenizer=words"], ["text.dropout", "text.tokenizer"]),
        (["data.format=parallel", "data.train=a"], ["data.format", "data.train"]),
        (["data.format=tsv"], ["data.format", "data.train", "world:scenes"]),
        (["data.train=['world:scenes', 'b']"], ["data.train", "world:scenes"]),
        (
            ["model.position.kind=learned", "text.max_length=513"],
            ["text.max_length", "model.position.positions", "513", "512"],
        ),
        (
            ["model.position.kind=relative", "text.max_length=513"],
            ["text.max_length", "model.position.positions"],
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused_together(refused, settings, named):
    problem, remedy = refused(LEAST, *settings)
    assert [name for name in named if name not in problem] == []
    assert remedy


def test_buckets_have_no_longest_text(tmp_path):
    (tmp_path / "r.toml").write_text(LEAST)
    sets = ["model.position.kind=relative", "model.position.buckets=31", "text.max_length=513"]
    assert load(tmp_path / "r.toml", sets).text.max_length == 513


def test_heads_that_do_not_divide_are_refused_with_file_line_and_the_next_width(refused):
    assert refused(f"{LEAST}[model]\nwidth = 10\n[model.mixer]\nheads = 3\n") == (
        "recipe.toml:7: model.mixer.heads must divide model.width; 3 does not divide 10",
        "The next width that fits is 12.",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seed = 1\ntask = translation\n", "recipe.toml:2: this is not TOML: Invalid value"),
        ("[data\n", "recipe.toml:1: this is not TOML"),
        ("seed = 1\nseed = 2\n", "recipe.toml:2: this is not TOML: Cannot overwrite a value"),
        ("seed = [1,\n", "recipe.toml:1: this is not TOML"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(refused, text, problem):
    assert refused(text)[0].startswith(problem)


def test_brackets_without_end_are_refused_too(refused):
    assert "recipe.toml" in refused("a = " + "[" * 100_000)[0]


def test_many_mistakes_are_reported_together_up_to_a_limit(refused):
    problem, _ = refused(LEAST, "a=1", "b=1", "c=1", "d=1", "e=1")
    assert problem.count("is unknown") == 3
    assert problem.endswith("and 2 more")


@pytest.mark.parametrize(
    ("path", "line"),
    [("seed", 1), ("model", 2), ("model.width", 3), ("model.mixer.heads", 5), ("text", None)],
)
def test_the_line_of_a_setting_is_found(path, line):
    assert line_of("seed = 1\n[model]\nwidth = 2\n[ model.mixer ]\nheads=3", path) == line
