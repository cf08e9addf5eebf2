import pytest
import torch
from torch.testing import assert_close

from regard.layers.tap import listen
from regard.models.build.labels import classifier
from regard.models.han import Separators, unfold
from regard.recipe.load import make

TOKENS, LABELS, CLS, SEP = 23, 3, 4, 5
SEPARATORS = Separators(CLS, SEP)
DOCUMENTS = [
    [[7, 8, 9], [10], [11, 12, 13, 14, 15], [16, 17]],
    [[18, 19]],
    [[20, 21, 22, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], [21]],
]
GRU = {"kind": "recurrent", "cell": "gru"}
LEVELS = {
    "bare": {"bare": True, "mixer": GRU, "position": {"kind": "none"}},
    "narrow": {"bare": True, "mixer": GRU, "states": 6, "position": {"kind": "none"}},
    "gru": {"mixer": GRU},
    "transformer": {"mixer": {"kind": "attention", "heads": 2}},
    "rotary": {"mixer": {"kind": "attention", "heads": 2}, "position": {"kind": "rotary"}},
    "mixed": {"mixer": GRU, "documents": {"mixer": "attention", "depth": 2}},
}
CONTEXTS = {
    "none": {},
    "earlier": {"context": "earlier"},
    "both": {"context": "both", "gather": "sum"},
    "gated": {"context": "earlier", "gated": True},
}


def han(level="bare", context="none", **more):
    settings = {
        "width": 8,
        "depth": 1,
        "feed_forward": 13,
        "dropout": 0.0,
        "zero_init": False,
        "head": {"pooling": "attention", "dropout": 0.0},
        **LEVELS[level],
        **more,
    }
    documents = settings.pop("documents", {})
    settings["documents"] = {"read": "sentences", **documents, **CONTEXTS[context]}
    recipe = {"task": "classification", "data": {"train": ["x.tsv"]}, "model": settings}
    torch.manual_seed(0)
    return classifier(make(recipe).model, TOKENS, LABELS).double().eval()


def rows(documents):
    flat = [[CLS, *(id for s in document for id in (*s, SEP))] for document in documents]
    longest = max(map(len, flat))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in flat])
    return ids, torch.tensor([len(row) for row in flat])


def logits(model, documents):
    ids, lengths = rows(documents)
    return model(ids, lengths=lengths)


def test_the_papers_size_has_the_papers_parameters():
    model = classifier(
        make(
            {
                "task": "classification",
                "data": {"train": ["x.tsv"]},
                "model": {
                    "width": 200,
                    "states": 100,
                    "depth": 1,
                    "bare": True,
                    "mixer": GRU,
                    "position": {"kind": "none"},
                    "head": {"pooling": "attention"},
                    "documents": {"read": "sentences"},
                },
            }
        ).model,
        101,
        5,
    )
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    assert sum(n for name, n in sizes.items() if "reading" not in name) == 142_105
    assert sizes["body.reading.table"] == 101 * 200


def test_rows_are_unfolded_into_sentences():
    found = unfold(*rows(DOCUMENTS), separators=SEPARATORS)
    sentences = [s for document in DOCUMENTS for s in document]
    assert [r[:n] for r, n in zip(found.ids.tolist(), found.lengths.tolist(), strict=True)] == (
        sentences
    )
    assert found.document.tolist() == [0, 0, 0, 0, 1, 2, 2]
    assert found.place.tolist() == [0, 1, 2, 3, 0, 0, 1]
    assert found.counts.tolist() == [4, 1, 2]


def test_a_sentence_without_words_is_none():
    ids = torch.tensor([[CLS, SEP, 7, SEP, SEP, 8, 9, SEP, 0], [CLS, SEP, 0, 0, 0, 0, 0, 0, 0]])
    found = unfold(ids, torch.tensor([8, 2]), separators=SEPARATORS)
    assert found.ids.tolist() == [[7, 0], [8, 9]]
    assert found.counts.tolist() == [2, 0]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("level", LEVELS)
def test_batching_and_padding_are_not_felt(level, context):
    model = han(level, context)
    together = logits(model, DOCUMENTS)
    for document, expected in zip(DOCUMENTS, together, strict=True):
        assert_close(logits(model, [document])[0], expected)


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_document_without_a_word_is_answered_by_the_biases(context):
    model = han(context=context)
    alone = model(torch.tensor([[CLS, SEP]]), lengths=torch.tensor([2]))
    assert_close(alone[0], model.head.to_logits.bias)
    ids, lengths = rows([[], DOCUMENTS[0]])
    assert_close(model(ids, lengths=lengths)[1], logits(model, [DOCUMENTS[0]])[0])


def felt(model):
    """Return which sentence's vector feels which sentence's words, by the Jacobian.

    No word occurs in two sentences, so a word's row of the table identifies its sentence; every
    sentence has two words or more, or there would be nothing for a context to decide.
    """
    document = [[7, 8, 9], [10, 18], [11, 12, 13, 14, 15], [16, 17]]
    unfolded = unfold(*rows([document]), separators=SEPARATORS)
    vectors, table = model.vectors(unfolded), model.body.reading.table
    found = torch.zeros(4, 4, dtype=torch.bool)
    for i in range(4):
        (gradient,) = torch.autograd.grad(vectors[i].sum(), table, retain_graph=True)
        for j, sentence in enumerate(document):
            found[i, j] = bool(gradient[sentence].abs().max() > 0)
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_a_sentence_of_han_feels_no_other(level):
    assert torch.equal(felt(han(level)), torch.eye(4, dtype=torch.bool))


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("gather", ["sum", "mean"])
@pytest.mark.parametrize("level", ["bare", "transformer"])
def test_with_context_it_feels_earlier_ones(level, gather, gated):
    model = han(level, documents={"context": "earlier", "gather": gather, "gated": gated})
    assert torch.equal(felt(model), torch.ones(4, 4).tril().bool())


def test_or_all_of_them():
    assert felt(han(context="both")).all()


@pytest.mark.parametrize("gather", ["sum", "mean"])
def test_it_is_the_papers_equations_sentence_by_sentence(gather):
    model = han("bare", documents={"context": "both", "gather": gather})
    found = logits(model, DOCUMENTS)
    for document, expected in zip(DOCUMENTS, found, strict=True):
        states = []
        for sentence in document:
            embedded = model.body.reading.table[torch.tensor(sentence)][None] * 8**0.5
            mixer = model.body.stack.blocks[0]
            onward = mixer.onward(embedded)[0]
            back = mixer.back(embedded.flip(1))[0].flip(1)
            states.append(torch.cat([onward, back], -1)[0])
        both = []
        for pool, order in ((model.pool, 1), (model.pool_back, -1)):
            before, vectors = torch.zeros(8, dtype=torch.float64), []
            for h in states[::order]:
                share = max(len(vectors), 1) if gather == "mean" else 1
                u = torch.tanh(pool.to_key(h) + pool.from_context(before / share))
                vectors.append((u @ pool.queries[0]).softmax(0) @ h)
                before = before + vectors[-1]
            both.append(torch.stack(vectors[::order]))
        s = (both[0] + both[1]) / 2
        upper = model.sentences.blocks[0]
        g = torch.cat([upper.onward(s[None])[0], upper.back(s[None].flip(1))[0].flip(1)], -1)[0]
        pool = model.head.pool
        b = (torch.tanh(pool.to_key(g)) @ pool.queries[0]).softmax(0)
        assert_close(model.head.to_logits(b @ g), expected)


@pytest.mark.parametrize("context", CONTEXTS)
def test_its_weights_can_be_recorded_in_the_order_of_the_text(context):
    model = han(context=context)
    with listen(model, "word_weights", "head.pool.weights") as recorded:
        logits(model, DOCUMENTS)
    lengths = [len(s) for document in DOCUMENTS for s in document]
    (words,), (sentences,) = recorded["word_weights"], recorded["head.pool.weights"]
    for row, n in zip(words, lengths, strict=True):
        assert row[:n].sum().item() == pytest.approx(1) and row[n:].eq(0).all()
    assert_close(sentences.sum(-1), torch.ones(3, 1, 1, dtype=torch.float64))
    assert sentences[1, 0, 0].tolist() == [1, 0, 0, 0]


def test_the_order_of_sentences_is_felt():
    for level in ("bare", "transformer", "rotary"):
        model = han(level)
        forward = logits(model, [DOCUMENTS[0]])
        turned = logits(model, [DOCUMENTS[0][::-1]])
        assert (forward - turned).abs().max() > 1e-6
