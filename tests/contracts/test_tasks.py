"""A task is a task: one set of promises for every row of :data:`regard.tasks.kinds.KINDS`.

Batches are functions of their key; losses are finite and sum over rows in any order; answers come
one for each text; the account counts the parameters that are there; what was saved answers the
same; a training that was stopped goes on to the same bits. Sizes are primes, so that no swapped
axis passes.
"""

import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.account.facts import facts_of, load_of
from regard.account.observed import facts_of_model
from regard.account.parameters import parameters
from regard.account.plan import ledger_of
from regard.data.batch import Batch, Padded
from regard.errors import UsageError
from regard.explain.attributions.attribute import attribute, measure_faithfulness
from regard.explain.erasure import quote
from regard.ledger.entry import Seq
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.load import load
from regard.run import Run
from regard.run_files import CHECKPOINTS
from regard.tasks.kinds import KINDS, make_task, task_class
from regard.tasks.task import Task
from regard.training.step_timing import build_training
from regard.training.synthetic_data import TextShape, make_synthetic_data
from regard.training.train import train
from regard.training.watcher import SilentWatcher

NEEDS = {"document-vectors": ["model.depth=0", "training.optimizer={kind='sgd'}"]}
"""What a task does not take from the small recipe of all."""
ASKED = {"sentence-pair": "{}\t{}", "masked-pretraining": "[MASK] {}", "denoising": "[MASK] {}"}
BLANK = {"sentence-pair": " \t ", "language-modelling": ""}
"""What asks nothing; to a language model a space is a beginning like any other."""
IN_ORDER = {"document-vectors"}
"""Tasks whose batches have an order that the model relies on."""
COMPARED = {"retrieval", "masked-pretraining"}
"""Tasks whose loss is no sum over rows: competitors are in the batch, or a mean is taken over it."""
WORDS = [f"X{letter}" for letter in "abcdefghijklmnopqrstuvw"]

every_task = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def recipe(tmp_path):
    """Make a small recipe of a task, with changes; its file has some examples."""

    def made(kind, *sets):
        file = tmp_path / f"{kind}.toml"
        data = write_examples(kind, tmp_path)
        file.write_text(
            f'task = "{kind}"\ndata = {{ train = ["{data}"], valid = ["{data}"] }}\n'
            "[text]\nvocabulary = 293\nmax_length = 23\n"
            "[model]\nwidth = 24\ndepth = 2\nfeed_forward = 29\n"
            "[training]\nbatch_tokens = 97\n"
            + "[decoding]\nmax_length = 5\nbeam = 2\n"
            * KINDS[kind].task.writes
        )
        return load(file, [*NEEDS.get(kind, []), *sets])

    return made


def write_examples(kind, folder):
    """Write examples: texts and a label between tabs, or documents where one text is all."""
    rng, task = random.Random(7), KINDS[kind].task

    def text():
        return " ".join(rng.choices(WORDS, k=rng.randint(3, 11))) + "."

    if task.fields == 1:
        file = folder / f"{kind}.txt"
        file.write_text("\n\n".join(f"{text()} {text()} {text()}" for _ in range(31)) + "\n")
        return file
    if kind == "tagging":
        file = folder / "tagging.conll"
        tagged = (
            f"{word} {rng.choice(['O', 'B-a'])}\n" for _ in range(31) for word in text().split()
        )
        file.write_text(
            "".join(line + "\n" * (number % 7 == 6) for number, line in enumerate(tagged))
        )
        return file
    file = folder / f"{kind}.tsv"
    rows = [[text() for _ in range(task.texts)] for _ in range(31)]
    for number, row in enumerate(rows):
        row += ["no" if number % 3 else "yes"] * task.has_labels
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    return file


@pytest.fixture
def stage(recipe, tmp_path):
    """Make a task's model and batches; no parameter stays at zero, so that every one is felt."""

    def ready(kind, *sets):
        prepared = make_synthetic_data(recipe(kind, *sets), TextShape(293, 19), tmp_path)
        stepper, state = build_training(prepared.task.recipe, prepared)
        torch.manual_seed(11)
        with torch.no_grad():
            for parameter in state.model.parameters():
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
        return prepared, stepper, state

    return ready


@pytest.fixture
def answering(stage):
    """Make a task's model as it is when training is over, with texts to ask."""

    def ready(kind):
        prepared, _, state = stage(kind)
        task, examples = prepared.task, list(prepared.source())[:5]
        task.finish_model(state.model)
        task.load_baseline(task.fit_baseline(prepared.source))
        state.model.eval()
        texts = [ask(kind, example) for example in examples]
        return prepared, state.model, examples, texts

    return ready


def ask(kind, example):
    return ASKED.get(kind, "{}").format(*example)


def batches(prepared, *key):
    """Make every batch of an epoch."""
    task, store, stream = prepared.task, prepared.store, prepared.stream
    steps = range(min(5, stream.steps_per_epoch))
    return [task.batch(store, stream[step], (step, *key)) for step in steps]


def some_rows(batch, numbers):
    """Take rows out of a batch, each field as long as it must be; what is beyond them all stays."""
    rows = len(batch.fields[0].ids)

    def taken(field):
        rest = torch.arange(rows, len(field.ids))
        chosen = torch.cat([torch.as_tensor(numbers), rest])
        lengths = field.lengths[chosen]
        return Padded(field.ids[chosen, : int(lengths.max())], lengths)

    return Batch(tuple(map(taken, batch.fields)), batch.numbers[np.asarray(numbers)])


def close(found, wanted):
    assert found.tokens == wanted.tokens
    assert found.plain == pytest.approx(wanted.plain, rel=1e-5)
    assert_close(found.smoothed, wanted.smoothed, rtol=1e-5, atol=1e-4)


# ── examples and batches ─────────────────────────────────────────────────────────────────────────


@every_task
def test_examples_have_the_fields_that_the_task_says(kind, recipe, stage):
    task = KINDS[kind].task
    made = recipe(kind)
    for examples in (
        list(task.read_examples(made, made.data.train, "train")),
        list(stage(kind)[0].source()),
    ):
        assert len(examples) > 1
        assert {len(example) for example in examples} == {task.fields}
        assert 1 <= task.texts <= task.fields
        assert all("".join(example[: task.texts]).strip() for example in examples)


@every_task
def test_an_example_is_encoded_as_lists_of_ids(kind, stage):
    prepared, _, _ = stage(kind)
    examples = list(prepared.source())
    encoded = prepared.task.encode(examples)
    assert len(encoded) == len(examples)
    assert len({len(fields) for fields in encoded}) == 1
    for fields in encoded:
        assert isinstance(fields, tuple)
        assert all(type(id) is int and id >= 0 for field in fields for id in field)
    assert prepared.task.encode(examples[3:4]) == encoded[3:4]


@every_task
def test_a_batch_is_a_function_of_its_key(kind, stage):
    prepared, _, _ = stage(kind)
    first = batches(prepared, 1)
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(13)
    for found, wanted in zip(batches(prepared, 1), first, strict=True):
        assert found.numbers.tolist() == wanted.numbers.tolist()
        for field, same in zip(found.fields, wanted.fields, strict=True):
            assert torch.equal(field.ids, same.ids)
            assert torch.equal(field.lengths, same.lengths)


# ── losses ───────────────────────────────────────────────────────────────────────────────────────


@every_task
def test_a_loss_is_finite_and_teaches(kind, stage):
    prepared, _, state = stage(kind)
    state.model.train()
    for batch in batches(prepared):
        loss = prepared.task.loss(state.model, batch)
        assert loss.smoothed.shape == ()
        assert loss.tokens > 0
        assert math.isfinite(loss.plain)
        loss.smoothed.backward()
    gradients = [w.grad.to_dense() for w in state.model.parameters() if w.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in IN_ORDER])
def test_a_loss_does_not_feel_the_order_of_rows(kind, stage):
    prepared, _, state = stage(kind)
    state.model.eval()
    for batch in batches(prepared):
        order = torch.randperm(len(batch.fields[0].ids)).roll(1)
        close(
            prepared.task.loss(state.model, some_rows(batch, order)),
            prepared.task.loss(state.model, batch),
        )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in COMPARED])
def test_a_loss_is_the_sum_of_what_its_parts_lose_whatever_the_padding(kind, stage):
    prepared, _, state = stage(kind)
    state.model.eval()
    for batch in batches(prepared):
        rows = range(len(batch.fields[0].ids))
        parts = [some_rows(batch, part) for part in (rows[:1], rows[1:3], rows[3:]) if len(part)]
        lost = [prepared.task.loss(state.model, part) for part in parts]
        whole = prepared.task.loss(state.model, batch)
        assert sum(part.plain for part in lost) == pytest.approx(whole.plain, rel=1e-5)
        assert_close(sum(part.smoothed for part in lost), whole.smoothed, rtol=1e-5, atol=1e-4)


@every_task
def test_steps_learn(kind, stage):
    _, stepper, state = stage(kind, "training.optimizer.rate=0.01")
    before = {name: tensor.clone() for name, tensor in collect_parameters(state.model).items()}
    for step in range(3):
        assert stepper.take(state, step).finite
    after = collect_parameters(state.model)
    assert any(not torch.equal(after[name], before[name]) for name in before)


# ── answers and scores ───────────────────────────────────────────────────────────────────────────


@every_task
@pytest.mark.parametrize("quick", [True, False])
def test_scores_have_the_metric_and_a_baseline(kind, quick, answering):
    prepared, model, examples, _ = answering(kind)
    task = prepared.task
    measured = task.measure(model, examples, quick=quick)
    assert math.isfinite(measured.metrics[task.metric])
    assert task.metric in measured.signature
    assert task.baseline
    if not quick:
        assert math.isfinite(measured.baseline[task.metric])
    again = task.measure(model, examples, quick=quick)
    assert json.dumps(again.as_json()) == json.dumps(measured.as_json())


@every_task
def test_every_text_has_an_answer_of_its_own(kind, answering):
    prepared, model, _, texts = answering(kind)
    together = prepared.task.answer(model, texts, truncate=True)
    assert len(together) == len(texts)
    assert len({(one.text, one.log_probability, one.vector) for one in together}) > 1
    for text, found in zip(texts, together, strict=True):
        (alone,) = prepared.task.answer(model, [text], truncate=True)
        assert (alone.text, alone.truncated) == (found.text, found.truncated)
        assert alone.log_probability == pytest.approx(found.log_probability, rel=1e-4, abs=1e-5)
        assert alone.vector == pytest.approx(found.vector, abs=1e-5)
    assert prepared.task.answer(model, []) == []


@every_task
def test_what_asks_nothing_is_answered_by_nothing(kind, answering):
    prepared, model, _, texts = answering(kind)
    asked = [texts[0], BLANK.get(kind, "  "), texts[1]]
    first, blank, last = prepared.task.answer(model, asked, truncate=True)
    assert blank.text == ""
    assert not any(blank.vector)
    assert not blank.probabilities
    for answered in (first, last):
        assert answered.text or any(answered.vector)


# ── explanations ─────────────────────────────────────────────────────────────────────────────────


@every_task
def test_an_answer_is_explained_or_that_is_refused(kind, answering):
    prepared, model, examples, _ = answering(kind)
    task = prepared.task
    text = ask(kind, [" ".join(field.split()[:5]) for field in examples[0]])
    if type(task)._question is Task._question:
        with pytest.raises(UsageError, match="attribution"):
            task.question(model, text)
        return
    question = task.question(model, text)
    ids = list(question.ids)
    scores = question.evaluate([ids])
    assert scores.shape == (1, len(question.answers))
    assert np.isfinite(scores).all()
    assert 0 <= question.evaluate([ids], score=question.probability).item() <= 1
    assert [id for word in question.words for id in ids[word]] == ids
    assert question.erasable
    assert question.predicting.shape[0] == len(question.answers)
    assert question.predicting.sum(axis=1) == pytest.approx(1)


def decide_by(question, word):
    """Make a question whose answer depends on one word of the text alone; None for no word."""
    mark = None if word is None else question.ids[question.words[word].start]

    def probability(rows):
        return torch.tensor([0.9 if mark is None or mark in row else 0.1 for row in rows])

    def score(rows):
        return probability(rows).log()[:, None].expand(-1, len(question.answers))

    return replace(question, score=score, probability=probability, others=None)


@every_task
@pytest.mark.parametrize("decided", [True, False])
def test_the_sentence_on_an_answer_names_the_word_that_decides_it(kind, decided, answering):
    prepared, model, _, texts = answering(kind)
    if type(prepared.task)._question is Task._question:
        return
    question = prepared.task.question(model, texts[1])
    ids = list(question.ids)
    once = [n for n in question.erasable if ids.count(ids[question.words[n].start]) == 1]
    word = once[len(once) // 2]
    asked = decide_by(question, word if decided else None)
    found = measure_faithfulness(asked, attribute(asked, "occlusion"))
    sentence = found.describe("yes")
    assert found.faithful == decided
    if decided:
        assert f"on {quote(question.names[word])}" in sentence and "90% to 10%" in sentence
        assert "not depend" not in sentence and "None of" not in sentence
    else:
        assert "measurably" in sentence and "from 90% to 90%" in sentence


@every_task
def test_a_question_that_the_task_does_not_know_is_refused(kind, answering):
    prepared, model, _, texts = answering(kind)
    task = prepared.task
    with pytest.raises(UsageError):
        task.question(model, " ")
    wrong = [
        ({"target": texts[0]}, task.writes_target),
        ({"label": "a"}, task.has_labels),
        ({"continue_text": True}, task.continues_text),
    ]
    for named, known in wrong:
        if not known:
            with pytest.raises(UsageError, match=task.recipe.task):
                task.question(model, texts[0], **named)


# ── the account ──────────────────────────────────────────────────────────────────────────────────


@every_task
def test_a_load_has_the_shapes_of_its_batch(kind, stage):
    prepared, _, _ = stage(kind)
    following = int(prepared.task.continues_text)  # the last token of a window is only a target
    for batch in batches(prepared):
        shapes = {Seq(rows, n - following) for rows, n in (f.ids.shape for f in batch.fields)}
        found = prepared.task.load(batch)
        assert found.seq in shapes
        assert not found.target_length or Seq(found.rows, found.target_length) in shapes
        assert found.queries == Seq(0, 0) or found.queries in shapes
        assert found.targets <= found.rows * max(found.length, found.target_length)
        assert found.visible <= found.length


@every_task
def test_the_account_counts_the_models_parameters_or_refuses(kind, stage):
    prepared, _, state = stage(kind)
    task, model = prepared.task, state.model
    if task_class(task.recipe).ledger.__func__ is Task.ledger.__func__:
        with pytest.raises(UsageError, match=kind):
            ledger_of(task.recipe, facts_of(task.recipe), load_of(task.recipe))
        return
    facts = facts_of_model(model, task.tokenizer.size)
    total = sum(parameter.numel() for parameter in model.parameters())
    assert parameters(task.recipe, facts).total == total
    assert ledger_of(task.recipe, facts, task.load(batches(prepared)[0]))


# ── save, load and resume ────────────────────────────────────────────────────────────────────────


@every_task
def test_what_was_saved_answers_the_same(kind, answering):
    prepared, model, examples, texts = answering(kind)
    task = prepared.task
    other = make_task(task.recipe, task.tokenizer)
    other.load_baseline(task.fit_baseline(prepared.source))
    torch.manual_seed(17)
    fresh = other.build()
    load_parameters(fresh, collect_parameters(model))
    assert other.answer(fresh, texts, truncate=True) == task.answer(model, texts, truncate=True)
    found, wanted = (
        learned.measure(of, examples, quick=False).as_json()
        for learned, of in ((other, fresh), (task, model))
    )
    assert found == wanted


class Killed(Exception):
    pass


class KillAt(SilentWatcher):
    """Ends a training after a step, as a power cut would."""

    def __init__(self, step):
        self.after = step

    def step(self, progress):
        if progress.step == self.after:
            raise Killed


@every_task
def test_a_training_that_was_stopped_continues_to_the_same_bits(
    kind, recipe, tmp_path, monkeypatch
):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    sets = ["training.budget='6steps'", "training.threads=1", "training.checkpoints=3"]
    made = recipe(kind, *sets, "model.dropout=0.3")
    peace = train(made, tmp_path / "peace")
    with pytest.raises(Killed):
        train(made, tmp_path / "run", watcher=KillAt(5))
    assert list((tmp_path / "run" / CHECKPOINTS).glob("step-*"))
    train(made, tmp_path / "run", resume=True)
    resumed = Run(tmp_path / "run")
    assert resumed.parameters.keys() == peace.parameters.keys()
    for name, wanted in peace.parameters.items():
        assert torch.equal(resumed.parameters[name], wanted)
    assert resumed.metrics["valid"] == peace.metrics["valid"]
