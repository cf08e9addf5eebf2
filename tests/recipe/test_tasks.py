"""Which settings have an effect on which task: one table, one validator, one way to be refused."""

from typing import get_args

import pytest

from regard.errors import RecipeError
from regard.recipe.decoding_overrides import override_decoding
from regard.recipe.load import load, make
from regard.recipe.recipe import Recipe
from regard.recipe.settings import lines
from regard.recipe.tasks import EFFECTS, TaskName, find_idle

TASKS = get_args(TaskName)
KNOWN = {line.path: line for line in lines(Recipe)}
VALUES = {  # something else than the default, that nothing else refuses
    "data.apart": True,
    "data.encoding": "latin-1",
    "data.labels": ["a", "b"],
    "data.scores": True,
    "data.score_range": [0.0, 1.0],
    "text.dropout": 0.1,
    "model.decoder_depth": 3,
    "model.soft_cap": 5.0,
    "model.head.bias": True,
    "model.copying": True,
    "model.bare": True,
    "model.head.norm": True,
    "model.head.dropout": 0.3,
    "model.head.hops.hops": 3,
    "model.start.freeze": True,
    "model.start.lexicon": True,
    "pretraining.mask": 0.3,
    "pretraining.causal_share": 0.3,
    "denoising.share": 0.2,
    "retrieval.hybrid": 0.3,
    "retrieval.hard_from": 7,
    "training.label_smoothing": 0.2,
    "training.softmax": "sampled",
    "training.adversarial": 0.1,
    "training.consistency": 0.7,
    "training.coverage": 0.3,
    "training.schedule.decay": 0.3,
    "decoding.baseline_weight": 0.3,
    "decoding.threshold": 0.3,
    "data.holdout_seed": 7,
    "decoding.lead": 2,
    "decoding.extra_length": 7,
    "decoding.max_length": 7,
    "decoding.temperature": 0.3,
    "decoding.beam": 3,
    "decoding.coverage": 0.3,
    "decoding.engine": "auto",
    "decoding.quantization": "int8",
}


def tables(task, *settings):
    made = {"task": task, "data": {"train": ["x"]}}
    for path, value in settings:
        *steps, name = path.split(".")
        table = made
        for step in steps:
            table = table.setdefault(step, {})
        table[name] = value
    return made


def test_the_table_names_settings_and_tasks_that_there_are():
    for effect in EFFECTS:
        for path in (*effect.settings, *([effect.given] if effect.given else ())):
            assert any(f"{known}.".startswith(f"{path}.") for known in KNOWN), path
        assert set(effect.tasks) <= set(TASKS)


def test_every_row_is_tried_here():
    tried = {
        (effect.settings, effect.tasks)
        for effect in EFFECTS
        for path in VALUES
        if any(f"{path}.".startswith(f"{setting}.") for setting in effect.settings)
    }
    rows = {(effect.settings, effect.tasks) for effect in EFFECTS}
    left = {settings for settings, _ in rows - tried}
    assert left == {  # these need another setting to have an effect
        ("data.labelled",),
        ("model.writes",),
        ("model.causal",),
        ("model.documents",),
        ("model.documents.gather", "model.documents.gated"),
        ("model.head.pooling",),
        ("model.embedding.ngram_min_count",),
        ("model.start.unfreeze_after",),
        ("pretraining.masked_as",),
        ("pretraining.generator_width",),
        ("pretraining.decoder_width", "pretraining.blind_masks"),
        ("denoising.span",),
    }


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("path", VALUES)
def test_a_setting_is_refused_where_no_row_lets_it_in(task, path):
    rows = [e for e in EFFECTS if any(f"{path}.".startswith(f"{s}.") for s in e.settings)]
    foreign = [row for row in rows if row.tasks and task not in row.tasks]
    if not foreign:
        return
    with pytest.raises(RecipeError) as caught:
        make(tables(task, (path, VALUES[path])))
    assert f'has no effect on task "{task}"' in caught.value.problem
    assert path in caught.value.problem and "out." in caught.value.remedy


@pytest.mark.parametrize(
    ("task", "given", "path", "value"),
    [
        ("translation", ("decoding.method", "greedy"), "decoding.beam", 3),
        ("translation", ("decoding.method", "beam"), "decoding.temperature", 0.5),
        ("translation", ("model.copying", False), "training.coverage", 0.5),
        ("translation", ("decoding.engine", "torch"), "decoding.quantization", "int8"),
        (
            "masked-pretraining",
            ("pretraining.objective", "masked"),
            "pretraining.causal_share",
            0.5,
        ),
        ("denoising", ("denoising.gaps", "sentences"), "denoising.span", 5.0),
        ("classification", ("model.documents.read", "whole"), "model.documents.words", 7),
        ("retrieval", ("retrieval.hard_negatives", 0), "retrieval.hard_from", 7),
        ("classification", ("training.schedule.kind", "cosine"), "training.schedule.decay", 0.3),
    ],
)
def test_a_setting_is_refused_if_another_makes_it_idle(task, given, path, value):
    with pytest.raises(RecipeError, match="has no effect while") as caught:
        make(tables(task, given, (path, value)))
    assert given[0] in caught.value.problem


def test_what_is_off_or_the_default_is_never_refused():
    off = (("training.label_smoothing", 0.0), ("model.head.bias", False), ("decoding.beam", 5))
    assert make(tables("retrieval", *off)).training.label_smoothing == 0.0


def test_a_run_may_hold_what_has_no_effect(tmp_path):
    file = tmp_path / "recipe.toml"
    file.write_text('task = "retrieval"\n[data]\ntrain = ["x"]\n[decoding]\nbeam = 3\n')
    with pytest.raises(RecipeError, match="beam"):
        load(file)
    recipe = load(tmp_path)
    assert [idle.path for idle in find_idle(recipe)] == ["decoding.beam"]
    assert override_decoding(recipe, {"device": "cpu"}).decoding.device == "cpu"


def test_a_run_is_not_asked_to_answer_by_what_has_no_effect():
    recipe = make(tables("classification"))
    with pytest.raises(RecipeError, match=r"decoding\.beam = 3 has no effect"):
        override_decoding(recipe, {"beam": 3})
