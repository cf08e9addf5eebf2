"""Runs with random weights, written without training; sizes are primes where they may be."""

import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
import torch

from regard import run as folders
from regard import run_files
from regard.models.parameters import collect_parameters
from regard.recipe.load import make, set_value
from regard.run import Run
from regard.tasks.kinds import make_task
from regard.text.train import train_tokenizer

WORDS = [
    "the",
    "a",
    "ship",
    "sails",
    "on",
    "sea",
    "cat",
    "café",
    "漢字",
    "green",
    "house",
    "don't",
    "over",
    "walks",
    "night",
    "and",
    "rain",
]
TEXTS = [
    " ".join(WORDS[(3 * n + k) % len(WORDS)] for k in range(3 + n % 9)) + "." for n in range(60)
]
LABELLED = ("classification", "sentence-pair", "tagging")


def tables_of(task, sets, vocabulary=557):
    tables = {
        "task": task,
        "data": {"train": ["nowhere.txt"]},
        "text": {"vocabulary": vocabulary, "max_length": 61},
        "model": {
            "width": 30,
            "depth": 2,
            "feed_forward": 37,
            "mixer": {"kind": "attention", "heads": 3},
        },
    }
    if task == "tagging":
        tables["data"]["labels"] = ["O", "B-x", "I-x", "B-y", "I-y"]
    elif task in LABELLED:
        tables["data"]["labels"] = ["no", "perhaps", "yes"]
    for change in sets:
        tables = set_value(tables, change)
    return tables


def write_run(folder, task, *sets, unwritten=0, double=True):
    """Write a sealed run with random weights; ``unwritten`` last tokens cannot be generated."""
    recipe = make(tables_of(task, sets))
    settings = recipe.text
    tokenizer = train_tokenizer(
        TEXTS * 3,
        kind=settings.tokenizer,
        vocabulary=settings.vocabulary,
        lowercase=settings.lowercase,
    )
    torch.manual_seed(5)
    model = make_task(recipe, tokenizer).build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() > 1 else 0.2))
    if unwritten:
        model.head.restrict_vocabulary(torch.arange(tokenizer.size - unwritten))
    folders.create(folder)
    folders.write_recipe(folder, recipe)
    tokenizer.save(folder / run_files.TOKENIZER)
    folders.write_model(folder, model, tokenizer)
    (folder / run_files.METRICS).write_text(json.dumps({"training": {}, "valid": {}}))
    folders.seal(folder)
    run = Run(folder)
    if double:
        run.model.double()
    assert collect_parameters(run.model)
    return run


@pytest.fixture
def random_run(tmp_path):
    """Return a function that writes a run with random weights, in float64."""

    def make_run(task, *sets, **options):
        return write_run(tmp_path / "run", task, *sets, **options)

    return make_run


@pytest.fixture
def exact_transformers(monkeypatch):
    """Let transformers compute RMS norms and angles, which it always does in float32, in float64."""
    transformers = pytest.importorskip("transformers")

    def norm(self, states):
        epsilon = getattr(self, "variance_epsilon", None) or self.eps
        size = states.pow(2).mean(-1, keepdim=True) + epsilon
        return self.weight * states * size.rsqrt()

    def rotary(self, x, position_ids):
        base = self.config.rope_parameters["rope_theta"]
        features = self.config.head_dim
        rates = base ** (-torch.arange(0, features, 2, dtype=torch.float64) / features)
        angles = position_ids[..., None].double() * rates
        whole = torch.cat([angles, angles], dim=-1)
        return whole.cos(), whole.sin()

    models = transformers.models
    for module, name in (
        (models.t5.modeling_t5, "T5LayerNorm"),
        (models.arcee.modeling_arcee, "ArceeRMSNorm"),
        (models.llama.modeling_llama, "LlamaRMSNorm"),
        (models.qwen3.modeling_qwen3, "Qwen3RMSNorm"),
    ):
        monkeypatch.setattr(getattr(module, name), "forward", norm)
    for module, name in (
        (models.arcee.modeling_arcee, "ArceeRotaryEmbedding"),
        (models.llama.modeling_llama, "LlamaRotaryEmbedding"),
        (models.qwen3.modeling_qwen3, "Qwen3RotaryEmbedding"),
    ):
        monkeypatch.setattr(getattr(module, name), "forward", rotary)
