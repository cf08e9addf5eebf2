"""Masked pretraining: what is hidden, what is lost, what is measured, and what is refused."""

import math
import random
from collections import Counter

import numpy as np
import pytest
import torch

from regard.data.store import Store
from regard.errors import UsageError
from regard.recipe.load import make
from regard.tasks.kinds import make_task
from regard.tasks.pretraining.fill_masks import encode_with_masks
from regard.tasks.pretraining.objectives import REPLACED_WEIGHT
from regard.tasks.pretraining.rows import rows_of
from regard.text import special
from regard.text.train import train_tokenizer

ANIMALS = ["dog", "cat", "child", "man", "woman", "bird", "horse", "fish", "wolf", "goat"]
PLACES = ["garden", "house", "river", "street", "meadow"]


def documents(count=90, seed=3):
    rng = random.Random(seed)
    for _ in range(count):
        a, b = rng.sample(ANIMALS, 2)
        place = rng.choice(PLACES)
        verbs = rng.choices(["sees", "seeks", "likes", "calls"], k=rng.randint(2, 6))
        yield (" ".join(f"The {a} {verb} the {b} in the {place}." for verb in verbs),)


@pytest.fixture(scope="module", params=["bpe", "wordpiece"])
def tokenizer(request):
    texts = [text for (text,) in documents()]
    size = 560 if request.param == "wordpiece" else 320
    return train_tokenizer(texts, kind=request.param, vocabulary=size)


def recipe_of(**changes):
    tables = {
        "task": "masked-pretraining",
        "data": {"train": ["text.txt"]},
        "text": {"max_length": 32},
        "model": {
            "width": 12,
            "depth": 1,
            "decoder_depth": 1,
            "feed_forward": 17,
            "mixer": {"kind": "attention", "heads": 3},
            "dropout": 0.0,
        },
    }
    for table, values in changes.items():
        tables[table] = {**tables.get(table, {}), **values}
    return make(tables)


def made(tokenizer, **changes):
    torch.manual_seed(5)
    task = make_task(recipe_of(**changes), tokenizer)
    return task, task.build().double()


def batch_of(task, tmp_path, key=(1, 2), progress=0.0):
    store = Store.open_or_write(
        tmp_path, documents, task.encode, key=("t", *task.encoding_key), longest=task.longest
    )
    return task.batch(store, task.stream(store)[0], key, progress=progress)


OBJECTIVES = [
    {"objective": "masked"},
    {"objective": "masked", "whole_words": True},
    {"objective": "masked", "pairs": "next-sentence"},
    {"objective": "replaced", "pairs": "sentence-order"},
    {"objective": "replaced"},
    {"objective": "autoencoder"},
    {"objective": "hybrid", "causal_share": 0.5},
]


@pytest.mark.parametrize("pretraining", OBJECTIVES, ids=str)
def test_every_objective_learns_in_every_parameter_of_its_body(tokenizer, pretraining, tmp_path):
    task, model = made(tokenizer, pretraining=pretraining, model={"zero_init": False})
    batch = batch_of(task, tmp_path)
    lost = task.loss(model, batch)
    assert lost.tokens == rows_of(batch).tokens
    assert math.isfinite(lost.plain)
    lost.smoothed.backward()
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not still


@pytest.mark.parametrize("pretraining", OBJECTIVES, ids=str)
def test_a_batch_is_a_pure_function_of_its_key(tokenizer, pretraining, tmp_path):
    task, model = made(tokenizer, pretraining=pretraining)
    one, same, other = (batch_of(task, tmp_path, key) for key in ((1, 2), (1, 2), (1, 3)))
    assert all(torch.equal(a.ids, b.ids) for a, b in zip(one.fields, same.fields, strict=True))
    assert not torch.equal(one.fields[1].ids, other.fields[1].ids)
    assert task.loss(model, one).plain == task.loss(model, same).plain


def test_targets_are_what_was_written_and_never_special(tokenizer, tmp_path):
    task, _ = made(tokenizer)
    store = Store.open_or_write(tmp_path, documents, task.encode, key=("t",), longest=None)
    begins = task.stream(store)[0]
    rows = rows_of(task.batch(store, begins, (3,)))
    flat = store.flat(0).astype(np.int64)
    for row, begin in zip(rows.original.tolist(), begins, strict=True):
        assert row == [special.CLS, *flat[begin : begin + 30].tolist(), special.SEP]
    assert int(rows.targets[rows.has_target].min()) >= len(special.SPECIAL)
    assert rows.has_target.any(dim=1).all()


def test_the_share_of_masks_moves_along_a_line(tokenizer, tmp_path):
    task, _ = made(
        tokenizer,
        pretraining={"mask": 0.6, "mask_at_end": 0.2},
        training={"batch_tokens": 100_000},
    )
    for progress, share in ((0.0, 0.6), (0.5, 0.4), (1.0, 0.2)):
        rows = rows_of(batch_of(task, tmp_path, progress=progress))
        free = rows.original >= len(special.SPECIAL)
        assert abs(float(rows.has_target.sum() / free.sum()) - share) < 0.01


def test_the_masked_loss_is_the_mean_over_masked_places_and_logits_are_made_there_only(
    tokenizer, tmp_path
):
    task, model = made(tokenizer, model={"head": {"transform": True, "bias": True}})
    batch = batch_of(task, tmp_path)
    rows = rows_of(batch)
    asked = []
    model.head.transform.register_forward_pre_hook(lambda _, inputs: asked.append(len(inputs[0])))
    lost = task.loss(model, batch)
    assert asked == [int(rows.has_target.sum())]
    logits = model.head(task.states(model, batch))
    mean = torch.nn.functional.cross_entropy(logits[rows.has_target], rows.targets[rows.has_target])
    expected = pytest.approx(float(mean.detach()))
    assert lost.plain / lost.tokens == expected
    assert float(lost.smoothed.detach()) / lost.tokens == expected


def test_the_replaced_loss_weighs_every_token_fifty_times_the_generators(tokenizer, tmp_path):
    task, model = made(tokenizer, pretraining={"objective": "replaced"})
    batch = batch_of(task, tmp_path)
    rows = rows_of(batch)
    visible = torch.ones(1, 1, 1, rows.ids.shape[1], dtype=torch.bool)
    proposing = model.generator(rows.ids, visible=visible)[rows.has_target]
    generator = torch.nn.functional.cross_entropy(
        model.generator.head(proposing), rows.targets[rows.has_target]
    )
    proposed = rows.original.masked_scatter(
        rows.has_target, model.propose(proposing, torch.Generator().manual_seed(rows.seed))
    )
    logits = model.head(model(proposed, visible=visible))
    replaced = (proposed != rows.original).double()
    assert 0 < replaced.sum() <= rows.has_target.sum()
    result = torch.nn.functional.binary_cross_entropy_with_logits(logits, replaced)
    expected = float((generator + REPLACED_WEIGHT * result).detach())
    lost = task.loss(model, batch)
    assert lost.plain / lost.tokens == pytest.approx(expected)
    assert REPLACED_WEIGHT == 50


def test_rows_of_the_hybrid_are_masked_or_read_forward_and_asked_for_what_follows(
    tokenizer, tmp_path
):
    task, _ = made(
        tokenizer,
        pretraining={"objective": "hybrid", "causal_share": 0.25},
        training={"batch_tokens": 32 * 48},
    )
    rows = rows_of(batch_of(task, tmp_path))
    assert int(rows.forward_only.sum()) == 12
    forward = rows.forward_only
    assert torch.equal(rows.targets[forward, :-1], rows.ids[forward, 1:])
    assert (rows.targets[forward, -1] == -1).all()
    assert not (rows.ids[forward] == special.MASK).any()
    assert (rows.ids[~forward] == special.MASK).any(dim=1).all()


@pytest.mark.parametrize("pretraining", OBJECTIVES, ids=str)
def test_measuring_twice_gives_the_same_and_includes_a_baseline(tokenizer, pretraining):
    task, model = made(tokenizer, pretraining=pretraining)
    task.load_baseline(task.fit_baseline(documents))
    held = list(documents(seed=8))
    one, same = (task.measure(model, held, quick=False) for _ in range(2))
    assert one.metrics == same.metrics
    assert next(iter(one.metrics)) == task.metric
    assert one.baseline.keys() <= one.metrics.keys()
    assert one.samples[0].asked != one.samples[0].expected
    assert one.metrics["perplexity"] == pytest.approx(math.exp(one.metrics["loss"]))
    assert ("pair_accuracy" in one.baseline) == ("pairs" in pretraining)


def test_the_baseline_guesses_the_most_frequent_token(tokenizer):
    task, _ = made(tokenizer)
    learned = task.fit_baseline(documents)["frequencies"]
    counts = Counter(id for (ids,) in task.encode(list(documents())) for id in ids)
    assert int(learned.argmax()) == counts.most_common(1)[0][0]
    total = counts.total() + tokenizer.size
    assert float(learned[special.CLS]) == pytest.approx(1 / total)


@pytest.mark.parametrize(
    ("pairs", "low", "high"), [("next-sentence", 0.8, 1.0), ("sentence-order", 0.35, 0.65)]
)
def test_the_shortcut_tells_topics_but_not_order(tokenizer, pairs, low, high):
    task, model = made(tokenizer, pretraining={"pairs": pairs})
    task.load_baseline(task.fit_baseline(lambda: documents(400)))
    measured = task.measure(model, list(documents(200, seed=9)), quick=False)
    assert low < measured.baseline["pair_accuracy"] < high


# ── filling in ───────────────────────────────────────────────────────────────────────────────────


def test_a_mask_stands_where_a_word_stood(tokenizer):
    whole = "The dog sees the cat in the river."
    ids = tokenizer.encode(whole)
    for word in (" sees", " dog", " river"):
        piece = tokenizer.encode(word.strip())
        at = next(n for n in range(len(ids)) if ids[n : n + len(piece)] == piece)
        masked = encode_with_masks(tokenizer, whole.replace(word, " [MASK]"))
        assert masked == [*ids[:at], special.MASK, *ids[at + len(piece) :]]


def test_every_mask_is_filled_with_the_likeliest_token(tokenizer):
    task, model = made(tokenizer)
    one, two, blank = task.answer(
        model, ["The dog [MASK] the cat.", "The [MASK] sees the [MASK].", "  "]
    )
    assert "[MASK]" not in one.text
    assert one.text.startswith("The dog")
    assert one.text.endswith(" the cat.")
    assert len(one.probabilities) <= 5
    assert max(one.probabilities.values()) == pytest.approx(math.exp(one.log_probability))
    assert {name[:2] for name in two.probabilities} == {"1:", "2:"}
    assert blank.text == ""


def test_a_text_without_a_mask_or_too_long_is_refused_unless_it_may_be_cut(tokenizer):
    task, model = made(tokenizer)
    with pytest.raises(UsageError, match="at least one"):
        task.answer(model, ["The dog."])
    long = "The [MASK] sees" + " the dog" * 40
    with pytest.raises(UsageError, match="fit the model's input"):
        task.answer(model, [long])
    assert task.answer(model, [long], truncate=True)[0].truncated > 0
    with pytest.raises(UsageError, match="fit"):
        task.answer(model, ["the dog " * 40 + "[MASK]"], truncate=True)


# ── words, and what a recipe may not ask for ─────────────────────────────────────────────────────


def test_a_token_that_begins_a_word_is_known_by_itself(tokenizer):
    ids = tokenizer.encode("The wolfhounds, seen in Rome.")
    begins = tokenizer.begins_word
    found = "".join(
        ("|" if begins[id] else "") + token.replace("▁", "")
        for id, token in zip(ids, tokenizer.tokens(ids), strict=True)
    )
    assert found == "|The|wolfhounds|,|seen|in|Rome|."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {
                "pretraining": {"objective": "autoencoder"},
                "model": {"position": {"kind": "rotary"}},
            },
            "added to the states",
        ),
        (
            {"pretraining": {"objective": "hybrid"}, "model": {"mixer": {"kind": "recurrent"}}},
            "only attention has",
        ),
        (
            {
                "pretraining": {"pairs": "next-sentence"},
                "model": {"embedding": {"segments": 1}},
            },
            "need two segments",
        ),
        ({"model": {"causal": True}}, "is bidirectional"),
        ({"pretraining": {"objective": "replaced", "generator_width": 5}}, "even"),
        (
            {"pretraining": {"objective": "autoencoder", "masked_as": [1.0, 0.0, 0.0]}},
            "no effect",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_learned_is_refused(changes, words):
    with pytest.raises(UsageError, match=words):
        recipe_of(**changes)


def test_pretraining_of_another_task_is_refused():
    with pytest.raises(UsageError, match="no effect"):
        make(
            {
                "task": "language-modelling",
                "data": {"train": ["text.txt"]},
                "pretraining": {"mask": 0.3},
            }
        )
