"""The language model: causal, step by step the same, and the laboratory's to the parameter."""

import pytest
import torch
from torch.testing import assert_close

from regard.models.build.labels import classifier
from regard.models.build.writing import language_model
from regard.models.gpt import count_context, document_mask
from regard.recipe.load import load, make

TOKENS, END = 23, 3


@pytest.fixture
def model():
    torch.manual_seed(0)
    settings = make(
        {
            "task": "language-modelling",
            "data": {"train": ["x"]},
            "model": {
                "width": 12,
                "depth": 2,
                "feed_forward": 17,
                "dropout": 0.0,
                "zero_init": False,
                "mixer": {"kind": "attention", "heads": 3, "normed": True},
                "position": {"kind": "rotary"},
                "embedding": {"ngrams": 3, "ngram_rows": 101},
            },
        }
    ).model
    made = language_model(settings, TOKENS).double().eval()
    for table in made.body.reading.ngrams.tables:
        torch.nn.init.normal_(table)
    return made


def test_nothing_of_the_future_is_felt(model):
    ids = torch.tensor([[5, 7, 11, 2, 9, 13, 5]])
    states = model(ids)
    for place in range(7):
        changed = ids.clone()
        changed[0, place] = 19
        felt = (model(changed) != states).any(dim=-1)[0].tolist()
        assert felt == [False] * place + [True] * (7 - place)


def test_step_by_step_equals_all_at_once(model):
    ids = torch.tensor([[END, 7, 11, 2, 9], [END, 4, 4, 8, 1]])
    steps = model.steps(ids[:, 1:1], context=7)
    logits = [steps.advance(ids[:, place]) for place in range(5)]
    assert_close(torch.stack(logits, dim=1), model.head(model(ids)))


def test_rows_can_be_reordered_repeated_and_dropped(model):
    ids = torch.tensor([[7, 11, 2], [4, 4, 8]])
    steps = model.steps(ids, context=5)
    begin = torch.tensor([END, END])
    steps.advance(begin)
    steps.keep(torch.tensor([1, 1, 0]))
    for newest in ([5, 6, 7], [8, 9, 10], [11, 12, 13]):  # the window is passed on the way
        found = steps.advance(torch.tensor(newest))
    written = [[5, 8, 11], [6, 9, 12], [7, 10, 13]]
    for row, (asked, last) in enumerate(zip([1, 1, 0], written, strict=True)):
        alone = model.steps(torch.cat([ids[asked], torch.tensor(last)])[None], context=5)
        assert_close(found[row], alone.advance(begin[:1])[0])


@pytest.mark.parametrize(("length", "kept"), [(1, 1), (5, 5), (6, 2), (7, 3), (9, 5), (10, 2)])
def test_half_is_remembered_whenever_the_window_is_full(length, kept):
    assert count_context(length, 5) == kept


def test_documents_apart_begin_with_their_own_boundary():
    ids = torch.tensor([[7, 7, END, 7, END]])
    drawn = [
        "".join("■" if seen else "·" for seen in row)
        for row in document_mask(ids, END)[0, 0].tolist()
    ]
    assert drawn == ["■■···", "■■···", "··■■·", "··■■·", "····■"]


# ── the laboratory's model (D3) ──────────────────────────────────────────────────────────────────

WORDS, WIDTH, LAYERS, HEADS = 50_001, 200, 4, 2


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


def counted_by_the_document(labels):
    """Return tokens·n + L·(4·heads·n² + 2·n²) + (n + 1)·labels, as the document has it.

    Two errors: it multiplies attention's four matrices by the number of heads, though heads share
    them out (n²/heads each); and it forgets the layers' biases and norms, 10·n in each.
    """
    layers = LAYERS * (4 * HEADS * WIDTH**2 + 2 * WIDTH**2)
    return WORDS * WIDTH + layers + (WIDTH + 1) * labels


def counted_exactly(labels):
    return WORDS * WIDTH + LAYERS * (6 * WIDTH**2 + 10 * WIDTH) + (WIDTH + 1) * labels


def test_the_laboratorys_model_has_as_many_parameters_as_counted():
    settings = load("lab-language-model").model
    with torch.device("meta"):
        language, sentiment = language_model(settings, WORDS), classifier(settings, WORDS, 2)
    assert count(language) == counted_exactly(WORDS) == 21_018_401
    assert count(sentiment) == counted_exactly(2) == 10_968_602


def test_the_documents_formula_is_too_large_by_what_its_errors_say():
    assert counted_by_the_document(WORDS) == 21_650_401
    assert counted_by_the_document(2) == 11_600_602
    heads_counted_twice = LAYERS * 4 * (HEADS - 1) * WIDTH**2
    forgotten = LAYERS * 10 * WIDTH
    assert counted_by_the_document(2) - counted_exactly(2) == heads_counted_twice - forgotten
    assert heads_counted_twice - forgotten == 632_000
