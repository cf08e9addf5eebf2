"""Classification: rows, windows, weights, and answers that do not depend on how they are asked."""

import re

import numpy as np
import pytest
import torch

from regard.data.store import Store
from regard.errors import DataError, UsageError
from regard.layers.dropout import keyed
from regard.models.adversarial import compute_perturbations, perturb_embeddings, record_embeddings
from regard.recipe.load import make
from regard.tasks.kinds import make_task, make_tokenizer
from regard.text import special

TEXTS = [("a good film", "good"), ("a bad film", "bad"), ("so very bad", "bad")] * 7
WORDS = [chr(ord("b") + n) * 2 for n in range(23)]
LONG = " ".join(WORDS)


def task_for(examples=TEXTS, **tables):
    settings = {
        "task": "classification",
        "data": {"train": ["x.jsonl"], **tables.pop("data", {})},
        "text": {
            "tokenizer": "words",
            "vocabulary": 700,
            "max_length": 11,
            **tables.pop("text", {}),
        },
        "model": {
            "width": 12,
            "depth": 1,
            "feed_forward": 13,
            "mixer": {"kind": "attention", "heads": 2},
            **tables.pop("model", {}),
        },
        "training": {"label_smoothing": 0.0, "batch_tokens": 77, **tables.pop("training", {})},
        **tables,
    }
    recipe = make(settings)
    from regard.tasks.kinds import KINDS

    recipe = KINDS["classification"].task.complete(recipe, lambda: iter(examples))
    return make_task(recipe, make_tokenizer(recipe, lambda: iter([*examples, (LONG, "good")])))


def model_of(task):
    torch.manual_seed(0)
    model = task.build()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval().requires_grad_(False)


def store_of(task, folder, examples):
    return Store.open_or_write(
        folder, lambda: iter(examples), task.encode, key=task.encoding_key, longest=task.longest
    )


def test_labels_are_written_into_the_recipe_sorted():
    assert task_for().recipe.data.labels == ("bad", "good")
    given = task_for(data={"labels": ["good", "bad"]})
    assert given.recipe.data.labels == ("good", "bad")
    assert given.encode([("a film", "good")])[0][0] == [0]


def test_a_row_begins_with_cls_and_ends_with_sep():
    task = task_for()
    ((label, row),) = task.encode([("a good film", "good")])
    assert row[0] == special.CLS and row[-1] == special.SEP and label == [1]
    assert task.tokenizer.decode(row) == "a good film"


@pytest.mark.parametrize(
    ("overlong", "kept"),
    [("head", range(9)), ("head-tail", [0, 1, *range(16, 23)]), ("leave-out", range(23))],
)
def test_long_texts_lose_their_end_or_middle(overlong, kept):
    task = task_for(text={"overlong": overlong})
    ((_, row),) = task.encode([(LONG, "good")])
    assert task.tokenizer.decode(row) == " ".join(WORDS[n] for n in kept)
    assert task.longest == 11
    assert all(len(row) <= 11 for row in task.rows(task._tokens([(LONG,)])[0]))


def test_windows_are_drawn_in_training_and_averaged_in_answers(tmp_path):
    task = task_for(text={"overlong": "windows"})
    store = store_of(task, tmp_path, [(LONG, "good"), ("a bad film", "bad")])
    drawn = set()
    for step in range(60):
        labels, texts = task.batch(store, np.array([0, 1]), (1, step)).fields
        assert texts.ids.shape == (2, 11) and texts.lengths.tolist() == [11, 5]
        assert labels.ids.flatten().tolist() == [1, 0]
        assert texts.ids[0, 0] == special.CLS and texts.ids[0, -1] == special.SEP
        drawn.add(task.tokenizer.decode(texts.ids[0].tolist()).split()[0])
    assert drawn == set(WORDS[:15])
    again = task.batch(store, np.array([0, 1]), (1, 59)).fields[1].ids
    assert torch.equal(texts.ids, again)
    model = model_of(task)
    rows = task.rows(task._tokens([(LONG,)])[0])
    assert len(rows) == 3
    each = torch.cat([task._logits(model, [[row]]) for row in rows])
    torch.testing.assert_close(task._logits(model, [rows])[0], each.mean(dim=0))


def test_a_stream_counts_windows_not_whole_texts(tmp_path):
    task = task_for(text={"overlong": "windows"})
    store = store_of(task, tmp_path, [(LONG, "good")] * 21 + [("bad", "bad")])
    stream = task.stream(store)
    assert max(len(stream[step]) for step in range(stream.steps_per_epoch)) == 7


@pytest.mark.parametrize("separator", ["", "|"])
def test_the_loss_is_the_sum_of_each_examples_own(tmp_path, separator):
    examples = [("a good film", "good"), ("bad", "bad"), ("so very bad", "good|bad"[5:])]
    task = task_for(data={"label_separator": separator})
    model = model_of(task)
    every = task.loss(model, task.pad(task.encode(examples)))
    alone = [task.loss(model, task.pad(task.encode([one]))) for one in examples]
    assert every.tokens == 3
    assert float(every.smoothed) == pytest.approx(
        sum(float(one.smoothed) for one in alone), rel=1e-5
    )
    assert every.plain == pytest.approx(float(every.smoothed), rel=1e-6)


def test_balanced_labels_weigh_the_rare_ones_up(tmp_path):
    examples = [("good", "good")] * 3 + [("bad", "bad")] * 9
    task = task_for(training={"class_weights": "balanced"})
    model = model_of(task)
    plain = [float(task.loss(model, task.pad(task.encode([one]))).smoothed) for one in TEXTS[:2]]
    task.prepare_model(model, store_of(task, tmp_path, examples))
    weighed = [float(task.loss(model, task.pad(task.encode([one]))).smoothed) for one in TEXTS[:2]]
    assert [w / p for w, p in zip(weighed, plain, strict=True)] == pytest.approx(
        [2, 2 / 3], rel=1e-5
    )


def test_two_passes_are_drawn_together_only_while_training():
    task = task_for(training={"consistency": 3.0}, model={"dropout": 0.5, "head": {"dropout": 0.5}})
    alone = task_for(model={"dropout": 0.5, "head": {"dropout": 0.5}})
    model, batch = model_of(task), task.pad(task.encode(TEXTS[:5]))
    assert float(task.loss(model, batch).smoothed) == float(alone.loss(model, batch).smoothed)
    model.train()
    with keyed(1, 2):
        first, second = task.states(model, batch), task.states(model, batch)
    with keyed(1, 2):
        lost = task.loss(model, batch)
    targets = task.labels.targets([task.labels.numbers(one[1]) for one in TEXTS[:5]])
    each = [task.labels.lost(z, targets, smoothing=0.0).sum() for z in (first, second)]
    apart = 3.0 * task.labels.divergence(first, second)
    assert float(apart) > 0.01
    torch.testing.assert_close(lost.smoothed, (each[0] + each[1]) / 2 + apart)


def test_an_adversarial_pass_counts_half_and_only_in_training():
    sure = {"dropout": 0.0, "head": {"dropout": 0.0}}
    task, alone = task_for(training={"adversarial": 0.2}, model=sure), task_for(model=sure)
    model, batch = model_of(task).requires_grad_(), task.pad(task.encode(TEXTS[:5]))
    plain = alone.loss(model, batch)
    assert torch.equal(task.loss(model, batch).smoothed, plain.smoothed)
    model.train()
    with record_embeddings(model) as entered:
        before = alone.loss(model, batch).smoothed
    with perturb_embeddings(model, compute_perturbations(before, entered, share=0.2)):
        after = alone.loss(model, batch).smoothed
    assert after > before * 1.01
    lost = task.loss(model, batch)
    torch.testing.assert_close(lost.smoothed, (before + after) / 2)
    assert lost.plain == pytest.approx(plain.plain)
    lost.smoothed.backward()
    assert model.body.reading.table.grad.abs().sum() > 0


def test_words_are_cut_anew_between_the_marks(tmp_path):
    text = {"tokenizer": "bpe", "vocabulary": 300, "dropout": 0.5, "max_length": 31}
    task = task_for(text=text)
    store = store_of(task, tmp_path, TEXTS[:3])
    usual, seen = task.encode(TEXTS[:1])[0][1], set()
    for step in range(9):
        ids, lengths = task.batch(store, np.arange(3), (step,)).fields[1]
        row = tuple(ids[0, : lengths[0]].tolist())
        seen.add(row)
        assert (row[0], row[-1]) == (special.CLS, special.SEP)
        assert task.tokenizer.decode(list(row)) == task.tokenizer.decode(usual)
    assert len(seen) > 1


def test_answers_do_not_depend_on_their_neighbours_and_blanks_stay_blank():
    task = task_for()
    model = model_of(task)
    texts = ["a good film", "  ", "so very bad", "film"]
    together = task.answer(model, texts)
    for text, found in zip(texts, together, strict=True):
        alone = task.answer(model, [text])[0]
        assert (alone.text, alone.truncated) == (found.text, found.truncated)
        assert alone.log_probability == pytest.approx(found.log_probability, abs=1e-5)
    assert (together[1].text, together[1].probabilities) == ("", {})
    assert set(together[0].probabilities) == {"bad", "good"}
    assert task.answer(model, [""])[0].text == ""


def test_a_text_too_long_is_refused_unless_the_recipe_or_the_user_cuts_it():
    task = task_for()
    model = model_of(task)
    with pytest.raises(UsageError, match=r"25 tokens.*at most 11"):
        task.answer(model, [LONG])
    assert task.answer(model, [LONG], truncate=True)[0].truncated == 14
    for overlong, lost in (("head", 14), ("head-tail", 14), ("windows", 0)):
        other = task_for(text={"overlong": overlong})
        assert other.answer(model_of(other), [LONG])[0].truncated == lost


def test_the_baseline_is_scored_with_the_model_and_can_join_it():
    task = task_for()
    model = model_of(task)
    assert task.measure(model, TEXTS, quick=True).baseline == {}
    task.load_baseline(task.fit_baseline(lambda: iter(TEXTS)))
    measured = task.measure(model, TEXTS, quick=False)
    assert measured.baseline["accuracy"] == 1.0
    assert (
        set(measured.together) == set(measured.metrics) == {"accuracy", "macro_f1", "ece", "loss"}
    )
    assert np.sum(measured.details["confusion"]) == len(TEXTS)
    right = [sample.score for sample in measured.samples]
    assert np.mean(right) == pytest.approx(measured.metrics["accuracy"])
    shared = task_for(decoding={"baseline_weight": 0.5})
    shared.load_baseline(task.fit_baseline(lambda: iter(TEXTS)))
    mixed = shared.measure(model, TEXTS, quick=False)
    assert mixed.metrics == measured.together
    only = task_for(decoding={"baseline_weight": 1.0})
    only.load_baseline(task.fit_baseline(lambda: iter(TEXTS)))
    assert only.measure(model, TEXTS, quick=False).metrics == measured.baseline
    assert only.answer(model, ["so very bad"])[0].text == "bad"


def test_both_together_are_the_mean_of_their_log_probabilities():
    task = task_for()
    model = model_of(task)
    task.load_baseline(task.fit_baseline(lambda: iter(TEXTS)))
    rows = [task.rows(tokens) for tokens in task._tokens([one[:1] for one in TEXTS])]
    mine = task._logits(model, rows).log_softmax(dim=1)
    theirs = task.ensemble.join(mine, [one[:1] for one in TEXTS]).bag.log_softmax(dim=1)
    mean = ((mine + theirs) / 2).log_softmax(dim=1)
    true = torch.tensor([task.labels.numbers(one[1])[0] for one in TEXTS])
    expected = -float(mean.gather(1, true[:, None]).mean())
    assert task.measure(model, TEXTS, quick=False).together["loss"] == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.parametrize(
    ("examples", "data", "word"),
    [
        ([("a", "x"), ("b", "x")], {}, "at least two labels"),
        ([("a", f"label {n}") for n in range(211)], {}, "occur repeatedly"),
        ([("a", "1.5"), ("b", "1.5")], {"scores": True}, "must differ"),
    ],
)
def test_labels_that_teach_nothing_are_refused(examples, data, word):
    with pytest.raises(DataError, match=word):
        task_for(examples, data=data)


def test_single_texts_may_have_scores():
    examples = [(f"{'very ' * (n % 4)}good", str(n % 4)) for n in range(30)]
    task = task_for(examples, data={"scores": True})
    assert task.recipe.data.score_range == (0.0, 3.0) and task.metric == "spearman"
    task.load_baseline(task.fit_baseline(lambda: iter(examples)))
    measured = task.measure(model_of(task), examples, quick=False)
    assert measured.baseline["spearman"] > 0.95
    assert all(sample.score is None for sample in measured.samples)


def test_networks_that_answer_together_have_equal_shares():
    task, other = task_for(), task_for(text={"max_length": 7})
    model = model_of(task)
    second = model_of(other)
    for parameter in second.parameters():
        parameter.mul_(-0.5)
    texts = [("so good a film",), (LONG,)]
    own, theirs = task.read(model, texts), other.read(second, texts)
    task.answer_with(other, second)
    task.answer_with(other, second)
    joined = task.ensemble.join(own, texts)
    assert torch.allclose(joined.network, (own + 2 * theirs) / 3)
    assert torch.equal(joined.all, joined.network)


@pytest.mark.parametrize("labels", [["good", "bad"], ["bad", "fine"]], ids=["order", "names"])
def test_networks_that_tell_other_columns_do_not_answer_together(labels):
    task = task_for()
    other_name = "fine" if "fine" in labels else "good"
    examples = [(text, label.replace("good", other_name)) for text, label in TEXTS]
    other = task_for(examples, data={"labels": labels})
    with pytest.raises(UsageError, match="same labels"):
        task.answer_with(other, model_of(other))


def test_a_pair_and_a_text_do_not_answer_together():
    task = task_for()
    settings = {"task": "sentence-pair", "data": {"train": ["x"], "labels": ["bad", "good"]}}
    other = make_task(make(settings), task.tokenizer)
    with pytest.raises(UsageError, match="one task"):
        task.answer_with(other, model_of(other))


def test_what_to_expect_is_the_baselines_score_on_texts_it_did_not_learn_from():
    rng = np.random.default_rng(5)
    chance = [
        (f"a {rng.choice(WORDS)} film", rng.choice(["good", "bad"]).item()) for _ in range(997)
    ]
    said = task_for(chance).describe_expectation(chance)
    assert "learned from 797 texts, has accuracy" in said and "on 200 others" in said
    score, constant = (float(found) for found in re.findall(r"([\d.]+)%", said))
    assert 40 < score < 60 and 40 < constant < 60
    known = task_for().describe_expectation(TEXTS * 3)
    assert "has accuracy 100.0%" in known and "always answering 'bad'" in known
    assert "21 texts are too few" in task_for().describe_expectation(TEXTS)
    several = task_for(data={"label_separator": "|"}).describe_expectation(TEXTS * 3)
    assert "has micro_f1 100.0%" in several and "always" not in several
