"""What CTranslate2 computes from a folder that was written is what our network computes.

Log-probabilities of given tokens, states and greedy answers, for every part of a network that both
can express; a setting that CTranslate2 cannot express is refused by its name.
"""

import numpy as np
import pytest
import torch

from regard.errors import RunError, UsageError
from regard.interop.export import export_run, find_target
from regard.interop.exports.ctranslate2 import spec
from regard.interop.exports.ctranslate2.fit import find_obstacles
from regard.interop.exports.ctranslate2.spec import write_ctranslate2
from regard.recipe.load import make
from regard.tasks.kinds import make_task, make_tokenizer
from regard.text.special import BEGIN, END

ctranslate2 = pytest.importorskip("ctranslate2")

TEXTS = ["a dog runs", "two dogs run in the snow", "the small cat sees a mouse", "snow", "a cat"]
ROTARY = {"kind": "rotary", "base": 50.0, "cross_attention": False}
FITTING = {
    "the shipped translator": {"position": ROTARY, "norm": "layer"},
    "the defaults": {},
    "post-norm, relu, biases, sinusoids": {
        "norm": "layer", "norm_order": "post", "activation": "relu", "biases": True,
    },
    "gelu and learned positions": {
        "activation": "gelu", "position": {"kind": "learned", "positions": 40},
    },
    "swiglu without a last norm": {"activation": "swiglu", "last_norm": False, "position": ROTARY},
    "unscaled dot product, biases": {"mixer": {"heads": 2, "score": "dot", "biases": True}},
    "T5's buckets": {"position": {"kind": "relative", "buckets": 6, "positions": 7}},
    "without positions": {"position": {"kind": "none"}},
    "untied, unscaled, a norm on the embeddings": {
        "tied": False, "scaled_embedding": False, "embedding": {"norm": True},
    },
    "a bias per token": {"head": {"bias": True}},
    "a soft cap": {"soft_cap": 4.0, "writes": "all"},
    "an epsilon": {"norm_epsilon": 0.1, "norm": "layer"},
}  # fmt: skip


def build(task, *, noise=0.3, **settings):
    """Build a task and a model with random parameters, every one of them."""
    own = {"width": 12, "depth": 2, "decoder_depth": 2, "feed_forward": 20, "zero_init": False}
    if task in ("retrieval", "masked-pretraining", "language-modelling"):
        own.pop("decoder_depth")
    recipe = make(
        {
            "task": task,
            "data": {"train": ["none.txt"]},
            "text": {"vocabulary": 280, "max_length": 40},
            "model": {**own, "mixer": {"heads": 2}, **settings},
        }
    )
    tokenizer = make_tokenizer(recipe, lambda: iter([(text, text) for text in TEXTS]))
    made = make_task(recipe, tokenizer)
    torch.manual_seed(3)
    model = made.build().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    return made, model


def write(task, model, folder, **options):
    folder.mkdir()
    write_ctranslate2(task.recipe, model, task.tokenizer, folder, **options)
    return str(folder)


def restrict(task, model):
    """Let only some tokens be written, as after training on few texts."""
    rows = task.tokenizer.encode_batch(TEXTS)
    model.head.restrict_vocabulary(torch.tensor(sorted({END, *(id for row in rows for id in row)})))


def score(model, source, target):
    """Return the log-probabilities of the tokens of a target and of its end."""
    ids = torch.tensor([[BEGIN, *target]])
    states = model(
        torch.tensor([[*source, END]]),
        ids,
        source_lengths=torch.tensor([len(source) + 1]),
        target_lengths=torch.tensor([ids.shape[1]]),
    )
    wanted = torch.tensor([*target, END])
    return model.head(states).log_softmax(dim=-1)[0].gather(1, wanted[:, None])[:, 0]


@pytest.mark.parametrize("settings", FITTING.values(), ids=FITTING)
def test_a_translator_gives_the_same_probabilities(settings, tmp_path):
    task, model = build("translation", **settings)
    if settings.get("writes") != "all":
        restrict(task, model)
    theirs = ctranslate2.Translator(write(task, model, tmp_path / "ct2"), intra_threads=1)
    rows = task.tokenizer.encode_batch(TEXTS)
    names = task.tokenizer.spelled
    spelled = [[names[id] for id in row] for row in rows]
    sources = [[*row, names[END]] for row in spelled]
    found = theirs.score_batch(sources, [*spelled[1:], spelled[0]])
    for source, target, scored in zip(rows, [*rows[1:], rows[0]], found, strict=True):
        ours = score(model, source, target)
        assert ours.std() > 0.1  # probabilities that differ, or nothing is compared
        torch.testing.assert_close(torch.tensor(scored.log_probs), ours, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["the shipped translator", "T5's buckets"])
def test_a_translator_answers_alike_step_by_step(name, tmp_path):
    task, model = build("translation", **FITTING[name])
    restrict(task, model)
    theirs = ctranslate2.Translator(write(task, model, tmp_path / "ct2"), intra_threads=1)
    rows, names = task.tokenizer.encode_batch(TEXTS), task.tokenizer.spelled
    ours = task.hypotheses(model, TEXTS, quick=True)
    found = theirs.translate_batch(
        [[names[id] for id in (*row, END)] for row in rows],
        beam_size=1,
        min_decoding_length=0,
        max_decoding_length=30,
    )
    for ranked, result in zip(ours, found, strict=True):
        ids = [names.index(token) for token in result.hypotheses[0]]
        assert ids == list(ranked[0].ids)[: len(ids)]
        assert len(ids) == min(len(ranked[0].ids), 30)


CAUSAL = {
    **{name: FITTING[name] for name in ("the defaults", "T5's buckets")},
    "QK-norm": {"mixer": {"heads": 2, "normed": True}, "position": {"kind": "rotary"}},
    "GPT-2": {
        "norm": "layer", "biases": True, "activation": "gelu",
        "position": {"kind": "learned", "positions": 41},
    },
    "Llama": {"activation": "swiglu", "position": {"kind": "rotary"}},
    "a soft cap": FITTING["a soft cap"],
    "ALiBi": {"position": {"kind": "alibi"}},
}  # fmt: skip


@pytest.mark.parametrize("settings", CAUSAL.values(), ids=CAUSAL)
def test_a_language_model_gives_the_same_probabilities(settings, tmp_path):
    task, model = build("language-modelling", **settings)
    theirs = ctranslate2.Generator(write(task, model, tmp_path / "ct2"), intra_threads=1)
    ids = [END, *task.tokenizer.encode(" ".join(TEXTS))][:30]
    found = theirs.forward_batch([ids], return_log_probs=True)
    ours = model.head(model(torch.tensor([ids]))).log_softmax(dim=-1)
    torch.testing.assert_close(torch.from_numpy(np.array(found)), ours, rtol=1e-5, atol=2e-5)


ENCODERS = {
    "BERT": {
        "norm": "layer", "norm_order": "post", "biases": True, "activation": "gelu",
        "position": {"kind": "learned", "positions": 40},
        "embedding": {"segments": 2, "norm": True},
        "mixer": {"heads": 2, "biases": True}, "scaled_embedding": False,
    },
    "rotary": {"position": {"kind": "rotary"}},
    "scaled with segments": {"embedding": {"segments": 2}},
}  # fmt: skip


@pytest.mark.parametrize("settings", ENCODERS.values(), ids=ENCODERS)
def test_an_encoder_gives_the_same_states(settings, tmp_path):
    task, model = build("masked-pretraining", **settings)
    theirs = ctranslate2.Encoder(write(task, model, tmp_path / "ct2"), intra_threads=1)
    ids, kinds = task.tokenizer.encode(TEXTS[1]), None
    if "embedding" in settings:
        kinds = [0] * 3 + [1] * (len(ids) - 3)
    found = theirs.forward_batch([ids], token_type_ids=None if kinds is None else [kinds])
    ours = model.body(
        torch.tensor([ids]),
        visible=torch.ones(1, 1, 1, len(ids), dtype=torch.bool),
        segments=None if kinds is None else torch.tensor([kinds]),
    )
    torch.testing.assert_close(
        torch.from_numpy(np.array(found.last_hidden_state)), ours, rtol=1e-5, atol=2e-5
    )


def test_int8_is_smaller_and_near(tmp_path):
    task, model = build("translation", **FITTING["the shipped translator"], width=96, noise=0.05)
    sizes, scores = [], []
    source, target = task.tokenizer.encode_batch(TEXTS[:2])
    names = task.tokenizer.spelled
    for quantization in ("float32", "int8"):
        folder = write(task, model, tmp_path / quantization, quantization=quantization)
        sizes.append((tmp_path / quantization / "model.bin").stat().st_size)
        theirs = ctranslate2.Translator(folder, intra_threads=1, compute_type=quantization)
        spelled = [[names[id] for id in row] for row in ((*source, END), target)]
        scores.append(torch.tensor(theirs.score_batch(spelled[:1], spelled[1:])[0].log_probs))
    assert sizes[1] < 0.35 * sizes[0]
    assert 0 < (scores[0] - scores[1]).abs().max() < 0.3


REFUSED = {
    "model.position.cross_attention": (
        "translation",
        {"width": 16, "position": {"kind": "rotary"}},
    ),
    "model.copying": ("translation", {"copying": True}),
    "model.position.kind": ("translation", {"position": {"kind": "alibi"}}),
    "model.position.buckets": ("language-modelling", {"position": {"kind": "relative"}}),
    "model.position.joined": (
        "language-modelling",
        {"position": {"kind": "sinusoidal", "joined": "concatenated"}, "tied": False},
    ),
    "model.embedding.ngrams": ("language-modelling", {"embedding": {"ngrams": 2}}),
    "model.mixer.kind": ("language-modelling", {"mixer": {"kind": "recurrent"}}),
    "model.mixer.window": ("translation", {"mixer": {"window": 3}}),
    "model.mixer.score": ("translation", {"mixer": {"score": "additive"}}),
    "model.mixer.select": ("translation", {"mixer": {"select": "log-length"}}),
    "model.soft_cap": ("language-modelling", {"soft_cap": 15.0}),
    "model.head.transform": ("language-modelling", {"head": {"transform": True}}),
    "model.mixer.normed": ("translation", {"mixer": {"normed": True}}),
    "model.norm_epsilon": (
        "language-modelling",
        {"mixer": {"normed": True}, "norm_epsilon": 1e-5},
    ),
    "model.depth": ("retrieval", {"depth": 0}),
    "model.causal": ("retrieval", {"causal": True}),
    "task": ("tagging", {}),
}


@pytest.mark.parametrize("setting", REFUSED)
def test_what_does_not_fit_is_refused_by_its_setting(setting, tmp_path):
    task, settings = REFUSED[setting]
    recipe = make(
        {
            "task": task,
            "data": {
                "train": ["none.txt"],
                **({"labels": ["a", "b"]} if task == "tagging" else {}),
            },
            "model": {"width": 12, **settings},
        }
    )
    assert [found.setting for found in find_obstacles(recipe)] == [setting]
    fitting, model = build("translation")
    with pytest.raises(UsageError, match=f"^{setting} = .* does not fit"):
        write_ctranslate2(recipe, model, fitting.tokenizer, tmp_path)
    assert not list(tmp_path.iterdir())


EXPORTED = {
    "translation": ("model.position={kind='rotary', cross_attention=false}", "model.norm='layer'"),
    "language-modelling": ("model.position={kind='rotary'}",),
    "retrieval": ("model.head.pooling='cls'", "model.norm='layer'"),
    "masked-pretraining": ("model.embedding.segments=2",),
}


@pytest.mark.parametrize("task", EXPORTED)
def test_an_exported_folder_is_equal(task, random_run, tmp_path):
    run = random_run(task, *EXPORTED[task], double=False)
    made = export_run(run, find_target("ctranslate2"), tmp_path / "out")
    equality = made.equality
    assert equality.same_tokens == equality.texts > 10
    assert 0 < equality.largest < 1e-5
    assert (equality.answers > 0) == (task == "translation")
    assert (tmp_path / "out" / "model.bin").is_file()


def test_an_unequal_folder_is_not_left(random_run, tmp_path, monkeypatch):
    run = random_run("translation", *EXPORTED["translation"], double=False)
    monkeypatch.setattr(spec._Writer, "_norm", _forget_gains)
    with pytest.raises(RunError, match="not equal"):
        export_run(run, find_target("ctranslate2"), tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def _forget_gains(self, norms, norm):
    norms.gamma = np.ones(len(norm.weight), np.float32)
    if isinstance(norm, torch.nn.LayerNorm):
        norms.beta = np.zeros(len(norm.weight), np.float32)
