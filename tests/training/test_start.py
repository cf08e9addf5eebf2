"""A run begun from another: what is carried, frozen, thawed and slowed; and what is refused."""

import json
import shutil
from hashlib import sha256

import pytest
import torch

from regard.errors import RecipeError, RunError
from regard.models.build.writing import language_model
from regard.recipe.load import make
from regard.recipe.model import ModelSettings
from regard.recipe.start import StartSettings
from regard.recipe.training import AdamWSettings, MuonSettings
from regard.run import Run
from regard.run_files import read_journal
from regard.training.optimizer import make_optimizers
from regard.training.start import is_frozen, layer_rate_factors
from regard.training.train import train
from regard.training.watcher import SilentWatcher

LINES = [f"{a} {b} {c}" for a in "abcdef" for b in "ghij" for c in "klm"]
SHAPE = {
    "width": 12,
    "depth": 2,
    "feed_forward": 17,
    "mixer": {"kind": "attention", "heads": 2},
    "position": {"kind": "rotary"},
}
TRAINING = {
    "budget": "6 steps",
    "batch_tokens": 150,
    "evaluations": 1,
    "checkpoints": 6,
    "threads": 1,
}
FROZEN = {"freeze": True}


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    """Return the folder of a language model, trained once."""
    folder = tmp_path_factory.mktemp("pretrained")
    (folder / "text").write_text("\n\n".join(LINES) + "\n")
    recipe = {
        "task": "language-modelling",
        "data": {"train": [str(folder / "text")], "holdout": 0.2},
        "text": {"vocabulary": 280, "max_length": 9},
        "model": {**SHAPE, "dropout": 0.2},
        "training": TRAINING,
        "decoding": {"max_length": 3},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(folder / "cache"))
        train(make(recipe), folder / "run")
    return folder / "run"


@pytest.fixture
def begun(pretrained, tmp_path):
    """Return a function that makes a recipe begun from it, with its shape left out."""
    (tmp_path / "text").write_text("\n\n".join(line[::-1] for line in LINES) + "\n")
    pairs = [f"{line}\t{line[::-1]}" for line in LINES]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs) + "\n")

    def recipe(task="language-modelling", *, start=None, model=None, **changes):
        file = "pairs.tsv" if task == "translation" else "text"
        start = {"run": str(pretrained), **(start or {})}
        tables = {
            "task": task,
            "data": {"train": [str(tmp_path / file)], "holdout": 0.2},
            "model": {"tied": False, **(model or {}), "start": start},
            "training": {**TRAINING, **changes.pop("training", {})},
            "decoding": {"max_length": 3},
            **changes,
        }
        return make(tables)

    return recipe


class KillAt(SilentWatcher):
    """Ends a training after a step, without a word."""

    def __init__(self, step):
        self.at = step

    def step(self, progress):
        if progress.step == self.at:
            raise KeyboardInterrupt


def parameters(folder):
    return Run(folder).parameters


def bits(run):
    return sha256((run.folder / "model.safetensors").read_bytes()).hexdigest()


def steps_per_epoch(run):
    last = [line for line in run.journal if line["event"] == "step"][-1]
    return last["step"] // max(1, last["epoch"])


def test_what_is_left_out_is_taken_from_the_run_and_written_down(begun, pretrained, tmp_path):
    run, first = train(begun(), tmp_path / "run"), Run(pretrained)
    assert run.recipe.model.width == 12 and run.recipe.model.position.kind == "rotary"
    assert run.recipe.text.vocabulary == 280 and run.recipe.text.max_length == 9
    assert run.tokenizer.fingerprint == first.tokenizer.fingerprint
    assert run.recipe.model.dropout == 0.1  # how the new run trains is its own
    assert Run(tmp_path / "run").model is not None


def test_frozen_parameters_stay_to_the_bit_and_the_head_learns(begun, pretrained, tmp_path):
    for name, training in (
        ("adamw", {"ema": 0.5}),
        ("muon", {"optimizer": {"kind": "muon"}, "keep": "best"}),
    ):
        run = train(begun(start=FROZEN, training=training), tmp_path / name)
        before, after = parameters(pretrained), run.parameters
        body = [n for n in before if n.startswith("body.")]
        assert body and all(torch.equal(before[n], after[n]) for n in body)
        model = run.task.build()
        assert set(after) - set(body) == {"head.to_logits.weight", "head.written"}
        assert not torch.equal(after["head.to_logits.weight"], model.head.to_logits.weight)


def test_unfrozen_parameters_begin_where_the_run_ended(begun, pretrained, tmp_path):
    slow = {"budget": "1 steps", "optimizer": {"rate": 1e-9}}
    after = train(begun(training=slow), tmp_path / "run").parameters
    for name, tensor in parameters(pretrained).items():
        if name.startswith("body."):
            torch.testing.assert_close(after[name], tensor, rtol=0, atol=1e-7)


def test_thawed_parameters_learn_from_that_epoch_on(begun, pretrained, tmp_path):
    start = {"freeze": True, "unfreeze_after": 1}
    runs = {
        budget: train(begun(start=start, training={"budget": budget}), tmp_path / budget[0])
        for budget in ("1 epochs", "2 epochs")
    }
    table = parameters(pretrained)["body.reading.table"]
    assert torch.equal(runs["1 epochs"].parameters["body.reading.table"], table)
    assert not torch.equal(runs["2 epochs"].parameters["body.reading.table"], table)


def test_the_step_alone_says_what_is_frozen():
    never, later = (
        StartSettings(run="x", freeze=True),
        StartSettings(run="x", freeze=True, unfreeze_after=1.5),
    )
    assert all(is_frozen(never, step, steps_per_epoch=7) for step in (0, 6, 700))
    thawed = [step for step in range(20) if not is_frozen(later, step, steps_per_epoch=7)]
    assert thawed == list(range(11, 20))
    assert not is_frozen(StartSettings(run="x"), 0, steps_per_epoch=7)


@pytest.mark.parametrize("killed_after", [2, 5])
@pytest.mark.parametrize("training", [{}, {"optimizer": {"kind": "muon"}, "ema": 0.5}])
def test_a_killed_run_continues_to_the_same_bits_without_the_run_it_began_from(
    begun, pretrained, tmp_path, killed_after, training
):
    gone = tmp_path / "gone"
    shutil.copytree(pretrained, gone)
    start = {"run": str(gone), "freeze": True, "unfreeze_after": 3, "layer_decay": 0.5}
    recipe = begun(start=start, training=training)
    peace = train(recipe, tmp_path / "peace")
    thaw = 3 * steps_per_epoch(peace)
    assert 2 < thaw <= 5, "one kill must come before the thaw, one after"
    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "killed", watcher=KillAt(killed_after))
    shutil.rmtree(gone)
    resumed = train(recipe, tmp_path / "killed", resume=True)
    assert bits(resumed) == bits(peace)
    assert resumed.metrics["training"]["began"] == peace.metrics["training"]["began"]
    assert resumed.model is not None


def test_a_run_killed_before_its_first_save_begins_again(begun, tmp_path):
    recipe = begun(training={"checkpoints": 1})
    with pytest.raises(KeyboardInterrupt):
        train(recipe, tmp_path / "killed", watcher=KillAt(3))
    resumed = train(recipe, tmp_path / "killed", resume=True)
    assert bits(resumed) == bits(train(recipe, tmp_path / "peace"))
    starts = [line for line in resumed.journal if line["event"] == "start"]
    assert len(starts) == 1


def test_a_language_model_becomes_a_translators_decoder(begun, pretrained, tmp_path):
    slow = {"budget": "1 steps", "optimizer": {"rate": 1e-9}}
    recipe = begun("translation", training=slow, model={"depth": 1, "tied": True})
    run = train(recipe, tmp_path / "run")
    assert run.recipe.model.decoder_depth == 2 and run.recipe.model.depth == 1
    before, after = parameters(pretrained), run.parameters
    for name in (
        "blocks.1.mixer.part.to_key.weight",
        "blocks.0.feed_forward.part.to_output.weight",
    ):
        torch.testing.assert_close(
            after[f"decoder.{name}"], before[f"body.stack.{name}"], rtol=0, atol=1e-7
        )
    table = after["reading.table"], before["body.reading.table"]
    torch.testing.assert_close(*table, rtol=0, atol=1e-7)
    began = run.metrics["training"]["began"]
    assert set(began["carried"]) == {"reading", "decoder"}
    assert set(began["new"]) == {"encoder", "decoder (cross-attention)"}
    first = next(line for line in run.journal if line["event"] == "step")
    plain = recipe.model_copy(
        update={"model": run.recipe.model.model_copy(update={"start": StartSettings()})}
    )
    random = train(plain.model_copy(update={"text": run.recipe.text}), tmp_path / "random")
    other = next(line for line in random.journal if line["event"] == "step")
    assert abs(first["loss"] - other["loss"]) > 1e-3


def test_the_run_says_what_was_carried_and_from_where(begun, pretrained, tmp_path):
    run = train(begun(), tmp_path / "run")
    began = run.metrics["training"]["began"]
    assert began["run"] == "run"
    assert began["model"] == Run(pretrained).facts["files"]["model.safetensors"]
    sizes = {n: p.numel() for n, p in run.model.named_parameters()}
    assert sum(began["carried"].values()) == sum(s for n, s in sizes.items() if "body" in n)
    assert began["new"] == {"head": sizes["head.to_logits.weight"]}
    start = read_journal(run.folder / "journal.jsonl")[0]
    assert start["event"] == "start" and start["began"]["carried"] == began["carried"]
    card = (run.folder / "README.md").read_text()
    assert f"{sum(began['carried'].values()):,}" in card and began["model"][:12] in card


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": {"vocabulary": 281}}, ["text.vocabulary is 281 here and 280 in", "tokenizer"]),
        ({"text": {"tokenizer": "words"}}, ['text.tokenizer is "words" here and "bpe"']),
        ({"model": {"width": 28}}, ["model.width is 28 here and 12 in", "a body must fit"]),
        ({"model": {"activation": "gelu"}}, ['model.activation is "gelu" here and "relu2"']),
        ({"model": {"mixer": {"heads": 1}}}, ["model.mixer.heads is 1 here and 2 in"]),
        (
            {"model": {"position": {"kind": "alibi"}}},
            ['position.kind is "alibi" here and "rotary"'],
        ),
        (
            {"task": "translation", "model": {"decoder_depth": 3}},
            ["model.decoder_depth is 3 here and model.depth 2 in"],
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_both_values(begun, tmp_path, changes, words):
    with pytest.raises(RunError) as refused:
        train(begun(**changes), tmp_path / "run")
    assert all(word in refused.value.problem for word in words), refused.value.problem
    assert not (tmp_path / "run").exists()


def test_the_same_settings_stated_again_are_welcome(begun, pretrained, tmp_path):
    stated = json.loads(Run(pretrained).recipe.model.model_dump_json())
    model = {name: stated[name] for name in ("width", "depth", "mixer", "position")}
    run = train(begun(model=model, text={"vocabulary": 280}), tmp_path / "run")
    assert run.recipe.model.width == 12


def test_dropout_and_windows_may_differ(begun, tmp_path):
    mixer = {"kind": "attention", "dropout": 0.1, "window": 4}
    run = train(begun(model={"mixer": mixer}, text={"max_length": 7}), tmp_path / "run")
    assert run.recipe.model.mixer.heads == 2 and run.recipe.model.mixer.window == 4
    assert run.recipe.text.max_length == 7


def test_the_embedding_alone_leaves_the_shape_free(begun, pretrained, tmp_path):
    start = {"carry": "embedding", **FROZEN}
    run = train(begun(start=start, model={"depth": 1, "mixer": {"heads": 1}}), tmp_path / "run")
    assert run.recipe.model.width == 12 and run.recipe.model.depth == 1
    table = parameters(pretrained)["body.reading.table"]
    assert torch.equal(run.parameters["body.reading.table"], table)
    assert set(run.metrics["training"]["began"]["carried"]) == {"body.reading"}


def test_a_model_of_which_everything_is_frozen_is_refused(begun, tmp_path):
    with pytest.raises(RecipeError, match="must be trained"):
        train(begun(start=FROZEN, model={"tied": True}), tmp_path / "run")


def test_a_missing_run_is_reported(begun, tmp_path):
    with pytest.raises(Exception, match="is not a run folder"):
        train(begun(start={"run": str(tmp_path / "nowhere")}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("settings", [AdamWSettings(weight_decay=0.0), MuonSettings(kind="muon")])
def test_layers_learn_at_rates_that_fall_towards_the_embedding(settings):
    torch.manual_seed(1)
    shape = {**SHAPE, "depth": 3, "tied": False, "biases": True}
    model = language_model(ModelSettings.model_validate(shape), 23)
    carried = [name for name, _ in model.named_parameters() if name.startswith("body.")]
    shares = layer_rate_factors(carried, 0.5)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    for optimizer in make_optimizers(model, settings, factors=shares):
        for group in optimizer.param_groups:
            group["lr"] = group["rate"]
            group["weight_decay"] = 0.0
        optimizer.step()
    moved = {n: (p.detach() - before[n]).abs().mean() for n, p in model.named_parameters()}

    def ratio(name, other):
        return float(moved[name] / moved[other])

    to_query = "body.stack.blocks.{}.mixer.part.to_query.weight"
    assert ratio(to_query.format(0), to_query.format(2)) == pytest.approx(0.25, rel=0.25)
    assert ratio(to_query.format(1), to_query.format(2)) == pytest.approx(0.5, rel=0.25)
    norms = "body.stack.blocks.{}.mixer.norm.weight"
    assert ratio(norms.format(0), norms.format(2)) == pytest.approx(0.25, rel=1e-2)
    assert ratio("body.reading.table", "head.to_logits.weight") == pytest.approx(0.125, rel=1e-2)
    assert shares["body.reading.table"] == 0.125 and "body.stack.norm.weight" not in shares


def test_every_stack_has_layers_of_its_own():
    names = [f"{s}.blocks.{n}.x" for s, d in (("encoder", 3), ("decoder", 2)) for n in range(d)]
    shares = layer_rate_factors([*names, "reading.table", "encoder.norm.weight"], 0.5)
    assert [shares[name] for name in names] == [0.25, 0.5, 1.0, 0.5, 1.0]
    assert shares["reading.table"] == 0.125
    assert layer_rate_factors(names, 1.0) == {}
