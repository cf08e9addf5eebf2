"""Summarization: what is read, what is lost, what may be answered, and what was copied."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.errors import UsageError
from regard.models.copying import coverage_loss, mixture
from regard.recipe.load import make
from regard.tasks.kinds import KINDS, make_task, make_tokenizer
from regard.tasks.writing.copied import copied_shares
from regard.tasks.writing.pairs import shift
from regard.text import special

PAIRS = [
    ("Anna sold tea. It rained all day.\n\nNobody else came to buy.", "Anna sold tea"),
    ("Bert sold milk and bread. It was hot.", "Bert sold milk"),
    ("Cleo was ill.", "Cleo, ill, did not come to sell any fish or corn at all"),
]


def task_for(kind="summarization", **tables):
    recipe = make(
        {
            "task": kind,
            "data": {"train": ["x.jsonl"]},
            "text": {
                "vocabulary": 330,
                "max_length": 17,
                "overlong": "head",
                **tables.pop("text", {}),
            },
            "model": {
                "width": 12,
                "depth": 1,
                "decoder_depth": 1,
                "feed_forward": 13,
                "dropout": 0.0,
                "zero_init": False,
                "copying": True,
                "mixer": {"kind": "attention", "heads": 2},
                **tables.pop("model", {}),
            },
            "training": {"label_smoothing": 0.1, **tables.pop("training", {})},
            **tables,
        }
    )
    given = PAIRS if kind != "denoising" else [pair[:1] for pair in PAIRS]
    recipe = KINDS[kind].task.complete(recipe, lambda: iter(given))
    return make_task(recipe, make_tokenizer(recipe, lambda: iter(given)))


def model_of(task):
    torch.manual_seed(0)
    return task.build().double()


def test_white_space_is_folded_and_a_long_document_is_cut_at_its_end():
    task = task_for()
    (document, summary), *_ = task.encode(PAIRS)
    whole = task.tokenizer.encode(" ".join(PAIRS[0][0].split()))
    assert len(whole) > 16 and document == [*whole[:16], special.END]
    assert summary == [*task.tokenizer.encode("Anna sold tea"), special.END]
    both = task_for(text={"overlong": "head-tail"}).encode(PAIRS)[0][0]
    assert both == [*whole[:4], *whole[-12:], special.END]
    left = task_for(text={"overlong": "leave-out"}).encode(PAIRS)[0][0]
    assert left == [*whole, special.END]  # the store leaves it out and counts it


def test_what_is_asked_is_cut_as_in_training_or_refused():
    task = task_for(text={"overlong": "leave-out"})
    model = model_of(task)
    with pytest.raises(UsageError, match="document must fit"):
        task.answer(model, [PAIRS[0][0]])
    assert task.answer(model, [PAIRS[0][0]], truncate=True)[0].truncated > 0
    cuts = task_for()
    assert cuts.answer(model_of(cuts), [PAIRS[0][0]])[0].truncated > 0


@pytest.mark.parametrize("writes", ["all", "seen"])
@pytest.mark.parametrize("coverage", [0.0, 0.7])
def test_the_loss_is_that_of_the_mixture(writes, coverage):
    task = task_for(training={"coverage": coverage})
    model = model_of(task).train()
    if writes == "seen":
        model.head.restrict_vocabulary(
            torch.tensor([special.END, *task.tokenizer.encode("Anna sold milk")])
        )
    batch = task.pad(task.encode(PAIRS))
    target, pair = batch.fields[1], shift(batch)
    passed = model.compute_states(
        pair.source,
        pair.target_in,
        source_lengths=pair.source_lengths,
        target_lengths=pair.target_lengths,
    )
    pointed = model.point(passed)
    log_p = mixture(pointed, model.head(passed.states), source=pair.source)
    each = log_p.gather(-1, target.ids[..., None])[..., 0]
    real = torch.arange(target.ids.shape[1]) < target.lengths[:, None]
    counted = real & torch.isfinite(each)
    plain = -each[counted].sum()
    over = model.head.logits(passed.states).log_softmax(dim=-1).mean(dim=-1)
    expected = 0.9 * plain - 0.1 * over[counted].sum()
    expected = expected + coverage * coverage_loss(pointed.weights, real)
    lost = task.loss(model, batch)
    assert lost.plain == pytest.approx(plain.item())
    assert lost.tokens == int(counted.sum())
    assert (writes == "seen") == (lost.tokens < int(real.sum()))
    assert_close(lost.smoothed, expected)
    measured = task.loss(model.eval(), batch)
    assert measured.plain == pytest.approx(measured.smoothed.item())


def test_batches_do_not_change_what_is_lost():
    task = task_for()
    model = model_of(task).eval()
    rows = task.encode(PAIRS)
    together = task.loss(model, task.pad(rows)).plain
    assert together == pytest.approx(sum(task.loss(model, task.pad([row])).plain for row in rows))


def test_what_was_copied_is_the_pointers_share():
    task = task_for()
    model = model_of(task).eval()
    batch = task.pad(task.encode(PAIRS))
    shares = copied_shares(model, batch)
    source, target = batch.fields[0].ids, batch.fields[1].ids
    stands = (source[:, None] == target[..., None]).any(dim=-1)
    assert ((shares > 0.01) == stands)[target != special.PAD].all()
    assert (shares <= 1 + 1e-9).all()
    torch.nn.init.constant_(model.copying.gate_head.bias, -99.0)
    assert_close(copied_shares(model, batch)[stands], torch.ones(int(stands.sum())).double())


@pytest.mark.parametrize(
    ("decoding", "longest", "shortest"),
    [
        ({}, [16, 16], ()),
        ({"max_length": 9, "min_length": 3}, [9, 9], (3, 3)),
        ({"max_length_ratio": 0.5}, [5, 7], ()),
        ({"max_length_ratio": 0.5, "min_length_ratio": 0.4}, [5, 7], (4, 5)),
        ({"extra_length": 1, "min_length": 200}, [12, 15], (11, 14)),
    ],
)
def test_limits_are_tokens_or_shares_and_never_cross(decoding, longest, shortest):
    task = task_for(decoding=decoding)
    limits = task._limits([11, 14])
    assert limits.longest == longest and limits.shortest == shortest


def test_measuring_says_what_the_lead_gets_and_what_is_new():
    task = task_for(decoding={"beam": 2, "max_length": 7})
    model = model_of(task).float()
    measured = task.measure(model, PAIRS, quick=False)
    assert measured.baseline["rouge1"] > 0 and measured.examples == 3
    mean = np.mean([sample.score for sample in measured.samples])
    assert measured.metrics["rougel"] == pytest.approx(mean)
    assert len(measured.details["copied_words"]) == 3
    assert set(measured.details) == {"answers", "references", "lead_words", "copied_words"}
    assert task.measure(model, PAIRS, quick=True).details == {}
    plain = task_for(model={"copying": False}, decoding={"beam": 2, "max_length": 7})
    assert "copied_words" not in plain.measure(model_of(plain).float(), PAIRS, quick=False).details


def test_the_lead_may_be_said_or_is_chosen():
    assert task_for().recipe.decoding.lead == 2  # 19 words of summaries; leads of 11, 17 and 21
    assert task_for(decoding={"lead": 3}).baseline == "lead-3, the document's first 3 sentences"


def test_a_translator_may_copy_too():
    task = task_for("translation", text={"overlong": "leave-out", "max_length": 99})
    model = model_of(task).train()
    lost = task.loss(model, task.pad(task.encode(PAIRS)))
    lost.smoothed.backward()
    assert model.copying.to_query.weight.grad.abs().sum() > 0
    assert task.answer(model.float(), ["Emil sold tea."])[0].ids


# ── denoising ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("gaps", ["spans", "sentences"])
def test_documents_with_gaps_are_made_anew_for_every_key(gaps, tmp_path):
    from regard.data.store import Store

    task = task_for("denoising", denoising={"gaps": gaps, "share": 0.4}, text={"max_length": 30})
    documents = [pair[:1] for pair in PAIRS]
    store = Store.open_or_write(
        tmp_path, lambda: iter(documents), task.encode, key=task.encoding_key, longest=task.longest
    )
    numbers = np.array([0, 1, 2])
    same = [task.batch(store, numbers, (1, 2)) for _ in range(2)]
    assert torch.equal(same[0].fields[0].ids, same[1].fields[0].ids)
    shown = {str(task.batch(store, numbers, (1, n)).fields[0].ids.tolist()) for n in range(9)}
    assert len(shown) > 1
    source, target = same[0].fields
    assert (source.ids == special.MASK).any() and not (target.ids == special.MASK).any()
    ends = [row[n - 1] for row, n in zip(source.ids.tolist(), source.lengths, strict=True)]
    assert ends == [special.END] * 3


def test_sentences_are_kept_with_their_lengths_up_to_where_the_document_is_cut():
    task = task_for("denoising")
    for (lengths, ids), (document, _) in zip(
        task.encode([pair[:1] for pair in PAIRS]), PAIRS, strict=True
    ):
        whole = task.tokenizer.encode(" ".join(document.split()))
        assert ids == whole[:16] and sum(lengths) == len(ids) and all(lengths)


def test_measuring_denoising_asks_the_same_each_time():
    task = task_for("denoising", decoding={"max_length": 5})
    model = model_of(task).float()
    documents = [pair[:1] for pair in PAIRS]
    first, again = (task.measure(model, documents, quick=True).metrics for _ in range(2))
    assert first == again and first["loss"] > 0
    task.load_baseline(task.fit_baseline(lambda: iter(documents)))
    whole = task.measure(model, documents, quick=False)
    assert whole.baseline["loss"] > 0 and "[MASK]" in whole.samples[0].asked
    with pytest.raises(UsageError, match="MASK"):
        task.answer(model, ["Nothing is missing here."])
