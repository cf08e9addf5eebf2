"""A language model is asked about every token once, sees no more than it may, and goes on."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.data.store import Store
from regard.errors import DataError, RecipeError, UsageError
from regard.recipe.load import make
from regard.tasks.examples import examples
from regard.tasks.kinds import make_task, make_tokenizer
from regard.tasks.language.ranking import rank_targets
from regard.text import special

TEXT = "the cat sat on the mat.\n\nthe dog sat on the log; and so on, and so on.\n" * 7
CONTEXT = 13


def recipe(tmp_path, **changes):
    (tmp_path / "text.txt").write_text(TEXT)
    tables = {
        "task": "language-modelling",
        "data": {
            "train": [str(tmp_path / "text.txt")],
            "format": "whole",
            "holdout": 0.2,
            "holdout_from": "end",
        },
        "text": {"tokenizer": "characters", "vocabulary": 300, "max_length": CONTEXT},
        "model": {
            "width": 12,
            "depth": 2,
            "feed_forward": 17,
            "dropout": 0.0,
            "zero_init": False,
            "mixer": {"kind": "attention", "heads": 3},
            "position": {"kind": "rotary"},
            "embedding": {"ngrams": 3, "ngram_rows": 101},
        },
        "training": {"batch_tokens": 5 * CONTEXT, "label_smoothing": 0.0},
        "decoding": {"method": "greedy", "max_length": 11},
    }
    for table, values in changes.items():
        tables[table] = {**tables[table], **values} if isinstance(values, dict) else values
    return make(tables)


@pytest.fixture
def ready(tmp_path):
    """Return a function that makes a task, its model in float64 and its store."""

    def made(**changes):
        settings = recipe(tmp_path, **changes)
        source = examples(settings, "train")
        task = make_task(settings, make_tokenizer(settings, source))
        store = Store.open_or_write(
            tmp_path / "cache", source, task.encode, key=("lm",), longest=task.longest
        )
        torch.manual_seed(0)
        model = task.build()
        for table in [] if model.body.reading.ngrams is None else model.body.reading.ngrams.tables:
            torch.nn.init.normal_(table, std=0.3)
        task.prepare_model(model, store)
        return task, model.double().eval(), store

    return made


def plain_log_p(model, ids, position, context):
    """Ask about one token alone: the reference."""
    joined = [special.END, *ids]
    window = torch.tensor([joined[: position + 1][-context:]])
    return model.head(model(window))[0, -1].log_softmax(-1)[ids[position]].item()


def test_a_batch_holds_windows_of_the_joined_text(ready):
    task, _, store = ready()
    ids = task.tokenizer.encode(TEXT[: int(0.8 * len(TEXT))])
    stream = task.stream(store)
    batch = task.batch(store, stream[3], key=(1,))
    assert batch.fields[0].ids.shape == (5, CONTEXT + 1)
    for row, begin in zip(batch.fields[0].ids.tolist(), stream[3].tolist(), strict=True):
        assert row == [special.END, *ids][begin : begin + CONTEXT + 1]


def test_the_loss_is_the_sum_over_every_position(ready):
    task, model, store = ready()
    batch = task.batch(store, np.array([0, 20]), key=(1,))
    expected = 0.0
    for row in batch.fields[0].ids:
        for place in range(CONTEXT):
            log_p = model.head(model(row[None, : place + 1]))[0, -1].log_softmax(-1)
            expected -= log_p[row[place + 1]]
    lost = task.loss(model, batch)
    assert lost.tokens == 2 * CONTEXT
    assert_close(lost.smoothed, expected)
    assert lost.plain == pytest.approx(expected.item())


@pytest.mark.parametrize("stride", [1, 4, 6, CONTEXT])
def test_measuring_asks_about_every_token_with_the_past_it_has(ready, stride):
    task, model, _ = ready()
    ids = np.array(
        task.tokenizer.encode("so on, and the dog sat on the cat; so on."), dtype=np.uint32
    )
    found = task.log_p(model, ids, context=CONTEXT, stride=stride)
    assert found.shape == ids.shape
    firsts = [plain_log_p(model, ids.tolist(), n, CONTEXT) for n in range(CONTEXT)]
    assert found[:CONTEXT] == pytest.approx(firsts)
    if stride == 1:
        every = [plain_log_p(model, ids.tolist(), n, CONTEXT) for n in range(len(ids))]
        assert found == pytest.approx(every)


def test_scores_follow_from_the_log_probabilities(ready):
    task, model, _ = ready()
    text = "the cät sat on the log."
    measured = task.measure(model, [(text,)], quick=False)
    ids = np.array(task.tokenizer.encode(text), dtype=np.uint32)
    total = -task.log_p(model, ids, context=CONTEXT, stride=CONTEXT // 2).sum()
    assert measured.metrics["loss"] == pytest.approx(total / len(ids))
    assert measured.metrics["perplexity"] == pytest.approx(math.exp(total / len(ids)))
    assert measured.metrics["bits_per_byte"] == pytest.approx(
        total / math.log(2) / len(text.encode())
    )
    assert measured.details == {"tokens": len(ids), "bytes": len(text.encode())}


def test_tokens_never_seen_share_what_is_left_for_them(ready):
    task, model, _ = ready()
    ids = np.array(task.tokenizer.encode("the cat"), dtype=np.uint32)
    every = [special.END, *range(len(special.SPECIAL), task.tokenizer.size)]
    rows = np.stack([np.append(ids, n) for n in every]).astype(np.uint32)
    p = [math.exp(task.log_p(model, row, context=13, stride=1)[-1]) for row in rows[::37]]
    states = model(torch.tensor([[special.END, *ids.tolist()]]))[0, -1].expand(len(every), -1)
    found = rank_targets(
        model.head, states, torch.tensor(every), vocabulary=task.tokenizer.size
    ).log_p.exp()
    assert found[::37].tolist() == pytest.approx(p)
    assert found.sum().item() == pytest.approx(1.0)
    unseen = [every.index(task.tokenizer.encode(letter)[0]) for letter in "ZQ"]
    assert found[unseen[0]] == found[unseen[1]] > 0


def test_all_tokens_have_logits_if_the_recipe_says_so(ready):
    task, model, _ = ready(model={"writes": "all", "embedding": {"ngrams": 1}})
    assert model.head.written is None
    assert len(model.head.matrix) == task.tokenizer.size
    assert math.isfinite(task.measure(model, [("Zebra",)], quick=True).metrics["loss"])


@pytest.mark.parametrize("apart", [True, False])
def test_documents_kept_apart_feel_nothing_of_each_other(ready, tmp_path, apart):
    task, model, _ = ready(data={"apart": apart, "format": "text"})
    rows = task.encode([("so on",), ("and so",)])
    joined = [special.END, *rows[0][0], *rows[1][0]]
    batch = task.pad([(joined[1:-1],)])
    ids = batch.fields[0].ids
    second = len(rows[0][0])  # the token of ending that the second document begins with
    assert ids[0, second] == special.END
    before = task.states(model, batch)[0, second:]
    changed = ids.clone()
    changed[0, 1:second] = torch.tensor(task.tokenizer.encode("a cat"))
    felt = (
        task.states(model, batch._replace(fields=(batch.fields[0]._replace(ids=changed),)))[
            0, second:
        ]
        - before
    ).abs()
    assert bool((felt > 0).any()) is not apart
    if apart:
        assert not felt.any()
        assert_close(before, task.states(model, task.pad([rows[1]]))[0, :-1])


def test_apart_no_derivative_reaches_across(ready):
    task, model, _ = ready(data={"apart": True, "format": "text"})
    batch = task.pad(
        [([*task.tokenizer.encode("so on"), special.END, *task.tokenizer.encode("and")],)]
    )
    entered = []
    hook = model.body.reading.register_forward_hook(lambda *given: entered.append(given[2]))
    model.body.reading.table.requires_grad_()
    states = task.states(model, batch)
    hook.remove()
    (gradient,) = torch.autograd.grad(states[0, 6:].square().sum(), entered)
    assert not gradient[0, :6].any() and gradient[0, 6:].any(dim=-1).all()


def prompted(task, model, prompt, tokens, context):
    """Write greedily without any memory: the reference."""
    ids = [special.END, *task.tokenizer.encode(prompt)]
    seen, written = ids[-context:] if len(ids) <= context else None, []
    assert seen is not None
    for _ in range(tokens):
        logits = model.head(model(torch.tensor([seen])))[0, -1]
        logits[list({0, 1, 2, 4, 5, 6})] = -torch.inf
        newest = int(logits.argmax())
        if newest == special.END:
            break
        written.append(newest)
        seen = [*seen, newest]
        if len(seen) > context:
            seen = [*ids, *written][-(context // 2) :]
    return task.tokenizer.decode(written)


@pytest.mark.parametrize("prompt", ["", "the cat", "so", "on the log; "])
def test_it_continues_a_prompt_and_forgets_the_oldest_when_the_window_is_full(ready, prompt):
    task, model, _ = ready(decoding={"max_length": 3 * CONTEXT})
    (answered,) = task.answer(model, [prompt])
    assert answered.text == prompted(task, model, prompt, 3 * CONTEXT, CONTEXT)
    assert answered.truncated == 0


def test_prompts_of_different_lengths_are_answered_as_if_alone(ready):
    task, model, _ = ready()
    prompts = ["the", "so on", "a", "dog", "", "and so on, and so on, and so on"]
    together = task.answer(model, prompts)
    alone = [task.answer(model, [prompt])[0] for prompt in prompts]
    assert [a.text for a in together] == [a.text for a in alone]
    assert_close([a.log_probability for a in together], [a.log_probability for a in alone])
    assert together[-1].truncated > 0 and not any(a.truncated for a in together[:-1])


def test_reading_a_long_prompt_at_once_is_reading_it_token_by_token(ready):
    task, model, _ = ready()
    ids = torch.tensor([task.tokenizer.encode("and so on; so")])
    for length in (1, 3, 4, 5, 6, 7, 12):
        at_once = model.steps(ids[:, :length], context=5)
        stepwise = model.steps(ids[:, :0], context=5)
        expected = stepwise.advance(torch.tensor([special.END]))
        for n in range(length):
            expected = stepwise.advance(ids[:, n])
        assert_close(at_once.advance(torch.tensor([special.END])), expected)
        assert at_once.memory.positions == stepwise.memory.positions <= 5


@pytest.mark.parametrize(
    "decoding",
    [
        {"method": "beam", "beam": 3},
        {"method": "sample", "temperature": 0.7, "top_k": 5, "top_p": 0.9},
    ],
)
def test_every_method_continues(ready, decoding):
    task, model, _ = ready(decoding=decoding)
    first, again = (task.answer(model, ["the cat", "the dog", "so"]) for _ in range(2))
    assert first == again
    assert all(math.isfinite(a.log_probability) and a.log_probability < 0 for a in first)


@pytest.mark.parametrize(("decoding", "length"), [({}, 0), ({"min_length": 5}, 5)])
def test_a_model_that_would_end_at_once_continues_as_far_as_it_must(ready, decoding, length):
    task, model, _ = ready(model={"head": {"bias": True}}, decoding=decoding)
    torch.nn.init.zeros_(model.head.bias)
    model.head.bias.data[special.END] = 100.0
    assert [len(one.ids) for one in task.answer(model, ["the cat", "so", "on"])] == [length] * 3


def test_a_beam_of_one_is_greedy(ready):
    task, model, _ = ready()
    narrow, _, _ = ready(decoding={"method": "beam", "beam": 1})
    assert narrow.answer(model, ["the", "so"]) == task.answer(model, ["the", "so"])


def test_learned_positions_go_on_beyond_their_table(ready):
    position = {"kind": "learned", "positions": CONTEXT}
    task, model, _ = ready(model={"position": position}, decoding={"max_length": 4 * CONTEXT})
    (answered,) = task.answer(model, ["the cat sat on the mat and so on"])
    assert len(answered.text) > CONTEXT or answered.log_probability < 0


def test_the_baseline_and_the_ensemble_are_scored_too(ready):
    task, model, _ = ready()
    learned = task.fit_baseline(lambda: iter([(TEXT[:400],)]))
    task.load_baseline(learned)
    measured = task.measure(model, [(TEXT[400:],)], quick=False)
    assert set(measured.baseline) == set(measured.metrics) == set(measured.together)
    assert measured.baseline["loss"] < 0.7 < measured.metrics["loss"]
    assert measured.together["loss"] < measured.metrics["loss"]
    assert not task.measure(model, [(TEXT[400:],)], quick=True).baseline
    assert "order 6" in task.baseline


def test_samples_show_what_was_asked_and_what_stood_there(ready):
    task, model, _ = ready()
    samples = task.measure(model, [(TEXT,)], quick=False).samples
    assert len(samples) == 4
    assert all(sample.asked + sample.expected in TEXT for sample in samples)
    assert samples[0].asked == TEXT[:CONTEXT]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model": {"causal": False}}, "causal"),
        ({"data": {"apart": True}, "model": {"mixer": {"kind": "recurrent"}, "position": {"kind": "none"}}}, "apart"),
    ],
)  # fmt: skip
def test_what_a_language_model_cannot_do_is_refused(tmp_path, changes, word):
    settings = recipe(tmp_path, **changes)
    source = examples(settings, "train")
    with pytest.raises(UsageError, match=word):
        type(make_task(settings, make_tokenizer(settings, source))).complete(settings, source)


def test_a_text_shorter_than_a_window_is_refused_with_the_numbers(ready):
    with pytest.raises(DataError, match=r"text\.max_length is 5,000"):
        task, _, store = ready(text={"max_length": 5000})
        task.stream(store)


def test_a_step_may_tell_its_own_tokens_apart_only(ready):
    task, model, store = ready(training={"softmax": "sampled"})
    batch = task.batch(store, task.stream(store)[0], (1,))
    ids = batch.fields[0].ids
    places = model.head.places(ids[:, 1:]).flatten()
    result, own = places.unique(return_inverse=True)
    assert len(result) < len(model.head.matrix)
    counts = np.bincount(store.flat(0), minlength=task.tokenizer.size)
    shares = torch.from_numpy(counts / counts.sum())[model.head.written][result]
    rarity = (1 - (1 - shares) ** len(places)).log()
    logits = model.head.logits(model(ids[:, :-1])).flatten(0, 1)
    model.train()
    step = task.loss(model, batch)
    wanted = (logits[:, result] - rarity).log_softmax(-1).gather(-1, own[:, None]).sum()
    assert step.plain == pytest.approx(-wanted.item())
    model.eval()
    measured = task.loss(model, batch)
    over_all = logits.log_softmax(-1).gather(-1, places[:, None]).sum()
    assert measured.plain == pytest.approx(-over_all.item())


def test_only_language_models_tell_a_steps_tokens_apart():
    with pytest.raises(RecipeError, match=r"only on .language-modelling."):
        make({"task": "translation", "data": {"train": ["x"]}, "training": {"softmax": "sampled"}})
