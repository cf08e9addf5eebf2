"""Every task learns and answers on another device; a tensor that was forgotten on the CPU raises."""

import re
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn

from regard.device import device_of
from regard.errors import UsageError
from regard.explain.explain import ExplainOptions, explain
from regard.explain.heads.masks import measure_importance
from regard.recipe.load import load
from regard.run import Run, seal, write_recipe
from regard.tasks.kinds import KINDS
from regard.training.step_timing import build_training
from regard.training.synthetic_data import TextShape, make_synthetic_data
from regard.training.train import train
from regard.training.watcher import SilentWatcher

NEEDS = {"document-vectors": ["model.depth=0", "training.optimizer={kind='sgd'}"]}
"""What a task does not take from the small recipe of all."""
ASKED = {"sentence-pair": "{}\t{}", "masked-pretraining": "[MASK] {}", "denoising": "[MASK] {}"}
CASES = [
    *((task, "") for task in KINDS),
    ("translation", "model.copying=true training.coverage=0.1 decoding.coverage=0.2"),
    ("translation", "training.consistency=1.0 model.position={kind='relative',buckets=8}"),
    ("translation", "model.mixer={kind='recurrent'} decoding.method='sample' decoding.top_p=0.9"),
    ("translation", "model.mixer={kind='convolution'} decoding.min_length=2 decoding.no_repeat=2"),
    ("translation", "model.position={kind='alibi'} model.start.lexicon=true"),
    ("language-modelling", "training.softmax='sampled' data.apart=true text.tokenizer='words'"),
    ("language-modelling", "training.optimizer={kind='muon'} model.embedding.ngrams=3"),
    (
        "language-modelling",
        "model.position={kind='rotary'} model.mixer.window=5 model.soft_cap=9.0",
    ),
    ("language-modelling", "decoding.method='sample' model.position={kind='learned'}"),
    ("classification", "training.adversarial=0.02 model.embedding.ngrams=3"),
    (
        "classification",
        "model.embedding.ngrams=2 model.embedding.ngram_lazy=true text.overlong='windows'",
    ),
    ("classification", "model.head.pooling='hops' training.class_weights='balanced'"),
    (
        "classification",
        "model.documents={read='sentences',context='both',gated=true} model.head.pooling='attention'",
    ),
    (
        "classification",
        "model.mixer={kind='recurrent',cell='lstm'} model.causal=false training.ema=0.9",
    ),
    ("sentence-pair", "model.embedding.segments=4 model.head.pooling='mean-max'"),
    ("masked-pretraining", "pretraining.objective='replaced' pretraining.pairs='sentence-order'"),
    ("masked-pretraining", "pretraining.objective='autoencoder' pretraining.blind_masks=true"),
    ("masked-pretraining", "pretraining.objective='hybrid'"),
    ("retrieval", "retrieval.term_weights='learned'"),
]
"""Every task as it comes, and what else makes tensors of its own."""
SAME_BITS = "model.norm='layer'"
"""RMSNorm has another kernel on the CPU than elsewhere; all else is rounded alike here."""


@pytest.fixture
def recipe(tmp_path):
    """Make a small recipe of a task, with changes."""

    def made(task, sets):
        (tmp_path / "documents.txt").write_text("X a. X b.\n\nX c. X d.\n\n" * 20)
        file = tmp_path / "recipe.toml"
        file.write_text(
            f'task = "{task}"\ndata = {{ train = ["{tmp_path}/documents.txt"] }}\n'
            "[text]\nvocabulary = 293\nmax_length = 23\n"
            "[model]\nwidth = 24\ndepth = 2\nfeed_forward = 29\n"
            "[training]\nbatch_tokens = 97\n"
        )
        short = ["decoding.max_length=5", "decoding.beam=2"] if KINDS[task].task.writes else []
        short = short[:1] if "method='sample'" in sets else short
        return load(file, [*NEEDS.get(task, []), *short, *sets.split()])

    return made


@pytest.fixture
def stage(recipe, tmp_path):
    """Make a recipe's model on this machine's device, and what trains it."""

    def ready(task, sets=""):
        prepared = make_synthetic_data(recipe(task, sets), TextShape(293, 19), tmp_path)
        return prepared, *build_training(prepared.task.recipe, prepared)

    return ready


@pytest.mark.parametrize(("task", "sets"), CASES)
def test_a_task_learns_and_answers_there(task, sets, stage, other_device):
    prepared, stepper, state = stage(task, sets)
    for step in range(2):
        assert stepper.take(state, step).finite
    assert {w.device for w in (*state.parameters.values(), *state.ema.values())} == {other_device}
    task, model, examples = prepared.task, state.model, list(prepared.source())[:3]
    task.finish_model(model)
    task.load_baseline(task.fit_baseline(prepared.source))
    assert task.measure(model, examples, quick=False).metrics
    asked = [ASKED.get(task.recipe.task, "{}").format(*example) for example in examples]
    assert len(task.answer(model, asked, truncate=True)) == len(examples)
    assert device_of(model) == other_device


@pytest.mark.parametrize(
    ("task", "sets"),
    [
        ("translation", "model.copying=true"),
        ("language-modelling", ""),
        ("masked-pretraining", ""),
        ("sentence-pair", ""),
        ("classification", "model.head.pooling='hops'"),
        ("classification", "model.documents.read='sentences' model.head.pooling='attention'"),
    ],
)
def test_an_answer_is_explained_there(task, sets, stage, tmp_path, other_device):
    prepared, _, state = stage(task, f"model.zero_init=false {sets}")
    task, model = prepared.task, state.model
    run = object.__new__(Run)  # a folder would have to be trained first
    vars(run).update(recipe=task.recipe, tokenizer=task.tokenizer, task=task, model=model)
    asked = ASKED.get(task.recipe.task, "{}").format("Xaaaa Xbaaa", "Xcaaa Xaaaa")
    for name in ("weights", "integrated-gradients", "occlusion"):
        found = explain(run, asked, options=ExplainOptions(attribution=name))
        assert found.faithfulness is not None
    batch = task.batch(prepared.store, prepared.stream[0], (1,)).to(other_device)
    heads = measure_importance(model, (task.loss(model, batch).smoothed for _ in range(1)))
    assert sum(heads.values()) > 0


@pytest.mark.parametrize("task", ["translation", "masked-pretraining", "document-vectors"])
def test_a_seed_means_the_same_on_every_device(task, stage, other_machine):
    def losses():
        _, stepper, state = stage(task, f"model.dropout=0.3 {SAME_BITS}")
        return [stepper.take(state, step) for step in range(3)], device_of(state.model)

    (here, cpu), there = losses(), None
    with other_machine() as device:
        there, far = losses()
    assert (cpu.type, far) == ("cpu", device)
    assert there == here


class Killed(Exception):
    pass


class KillAt(SilentWatcher):
    """Ends a training after a step, as a power cut would."""

    def __init__(self, step):
        self.after = step

    def step(self, progress):
        if progress.step == self.after:
            raise Killed


@pytest.mark.parametrize("there_first", [False, True])
@pytest.mark.parametrize(
    "sets",
    [
        "training.ema=0.9",
        "training.optimizer={kind='muon'} training.keep='best'",
        "model.embedding.ngrams=3 model.embedding.ngram_lazy=true",
    ],
    ids=["ema", "muon and best", "rows alone"],
)
def test_a_run_stopped_on_one_device_continues_on_another(
    sets, there_first, recipe, tmp_path, monkeypatch, other_machine
):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    made = recipe(
        "language-modelling", f"training.budget='7steps' training.threads=1 {SAME_BITS} {sets}"
    )
    undisturbed = train(made, tmp_path / "undisturbed")
    first, second = (other_machine, nullcontext)[:: 1 if there_first else -1]
    with first(), pytest.raises(Killed):
        train(made, tmp_path / "run", watcher=KillAt(5))
    with second() as device:
        resumed = train(made, tmp_path / "run", resume=True)
        assert resumed.metrics["training"]["device"] == str(device or "cpu")
        assert device_of(resumed.model) == (device or torch.device("cpu"))
    found, wanted = resumed.parameters, undisturbed.parameters
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert device_of(Run(tmp_path / "run").model).type == "cpu"


def test_a_run_that_names_a_device_opens_where_there_is_none(recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    made = recipe("language-modelling", "training.budget='1steps'")
    train(made, tmp_path / "run")
    elsewhere = {
        name: getattr(made, name).model_copy(update={"device": "cuda"})
        for name in ("training", "decoding")
    }
    write_recipe(tmp_path / "run", made.model_copy(update=elsewhere))
    seal(tmp_path / "run")
    with pytest.raises(UsageError, match=r"decoding\.device=auto"):
        Run(tmp_path / "run").model  # noqa: B018
    run = Run(tmp_path / "run", decoding={"device": "cpu"})
    assert run.recipe.training.device == "cuda"
    assert device_of(run.model).type == "cpu"


# ── the yardstick itself ─────────────────────────────────────────────────────────────────────────


def test_what_a_real_device_allows_passes(other_device):
    far, near = torch.ones(3, device=other_device), torch.ones(3)
    layer = nn.Linear(3, 3).to(other_device)
    assert layer(far).device == far[:2].device == far.new_zeros(2).device == other_device
    assert (far * torch.tensor(2.0)).device == near.to(far).device == other_device
    assert far.cpu().device == near.device == torch.device("cpu")
    assert far.cpu().numpy().sum() == far.sum().item() == 3.0
    assert near.copy_(far).device == torch.device("cpu")


@pytest.mark.parametrize(
    "mistake",
    [
        lambda far: far + torch.zeros(3),
        lambda far: far[torch.arange(2)],
        lambda far: torch.ones(3)[far.long()],
        lambda far: torch.where(far > 0, far, torch.zeros(3)),
        lambda far: torch.cat([far, torch.zeros(3)]),
        lambda far: far.masked_fill_(torch.ones(3).bool(), 0.0),
        lambda far: nn.Linear(3, 3)(far),
        lambda far: nn.functional.embedding(torch.tensor([0]), far[:, None]),
        lambda far: far.numpy(),
        lambda far: np.asarray(far),
        lambda far: torch.rand(3, device=far.device),
        lambda far: nn.functional.dropout(far),
        lambda far: torch.empty_like(far).normal_(),
        lambda far: far.double(),
    ],
)
def test_the_yardstick_catches_a_mistake(mistake, other_device):
    with pytest.raises(RuntimeError, match=re.escape(str(other_device))):
        mistake(torch.ones(3, device=other_device))


@pytest.mark.parametrize(
    ("place", "planted"),
    [
        ("regard.data.batch.Batch.to", lambda batch, _: batch),
        (
            "regard.layers.visibility._offset",
            lambda q, k, _: torch.arange(k) - torch.arange(q)[:, None],
        ),
        ("regard.models.gpt.all_visible", lambda n, device: torch.ones(1, 1, 1, n).bool()),
        ("regard.layers.dropout._mask", lambda states, silent: torch.ones(states.shape).byte()),
    ],
)
def test_a_mistake_planted_in_the_house_is_caught(place, planted, stage, other_device, monkeypatch):
    _, stepper, state = stage("language-modelling", "model.mixer.window=5")
    monkeypatch.setattr(place, planted)
    with pytest.raises(RuntimeError, match=re.escape(str(other_device))):
        stepper.take(state, 0)
