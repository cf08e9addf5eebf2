"""States, vectors and logits are transformers' own, in float64."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.interop.take import import_folder
from regard.models.bert import attention_mask
from regard.text.special import MASK, SPECIAL

THEIR_SPELLING = {"<pad>": "[PAD]", "<unk>": "[UNK]"}
LENGTHS = torch.tensor([23, 7, 19, 2, 11])
SEGMENTS = (torch.arange(23) > LENGTHS[:, None] // 2).long()
TEXTS = ["The ship sails on the sea!", "Café, 漢字 ☃", "a", "the cat's sail - über " * 5]


def same(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


def their_ids(run, checkpoints):
    """For each of our ids, theirs, by its spelling; None where they have no such token."""
    ours = json.loads(run.tokenizer.canonical)["model"]["vocab"]
    theirs = checkpoints.tokenizer().get_vocab()
    return [theirs.get(THEIR_SPELLING.get(token, token)) for token in sorted(ours, key=ours.get)]


@pytest.fixture
def rows(checkpoints):
    """Return a function that draws rows of ids: ours, and the same tokens in theirs."""

    def draw(run):
        table = their_ids(run, checkpoints)
        known = torch.tensor([id for id, their in enumerate(table) if their is not None])
        torch.manual_seed(5)
        ids = known[torch.randint(0, len(known), (5, 23))]
        return ids, torch.tensor([table[id] for id in ids.flatten()]).view(5, 23)

    return draw


@pytest.mark.parametrize("act", ["gelu", "relu"])
def test_states_are_theirs_with_padding_and_segments(checkpoints, rows, tmp_path, act):
    theirs = checkpoints.save_sentences(tmp_path / "hf", hidden_act=act).double()
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    body = run.model.double().body
    ids, their = rows(run)
    seen = torch.arange(23) < LENGTHS[:, None]
    with torch.no_grad():
        states = body(ids, visible=attention_mask(LENGTHS, 23), segments=SEGMENTS)
        expected = theirs(their, attention_mask=seen.long(), token_type_ids=SEGMENTS)
        same(states[seen], expected.last_hidden_state[seen])


@pytest.mark.parametrize("pooling", ["mean", "first", "max"])
@pytest.mark.parametrize("changes", [{}, {"layer_norm_eps": 0.03}], ids=["usual", "epsilon"])
def test_vectors_of_texts_are_theirs(checkpoints, tmp_path, pooling, changes):
    theirs = checkpoints.save_sentences(tmp_path / "hf", pooling, longest=11, **changes).double()
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    run.model.double()
    cut = checkpoints.tokenizer()(
        TEXTS, padding=True, truncation=True, max_length=11, return_tensors="pt"
    )
    assert cut["input_ids"].shape[1] == 11, "one text is too long, so that its end is not read"
    with torch.no_grad():
        states = theirs(**cut).last_hidden_state
    mask = cut["attention_mask"][..., None].double()
    pooled = {
        "mean": (states * mask).sum(dim=1) / mask.sum(dim=1),
        "first": states[:, 0],
        "max": states.masked_fill(mask == 0, -torch.inf).amax(dim=1),
    }[pooling]
    expected = torch.nn.functional.normalize(pooled, dim=-1)
    asked = [run.task.states(run.model, run.task.encode_text(text))[0] for text in TEXTS]
    same(torch.stack(asked).detach(), expected)
    read = run.task.vectors(run.model, TEXTS).double()  # summed up in float32
    torch.testing.assert_close(read, expected, rtol=0, atol=1e-6)


def test_masked_words_and_pairs_are_guessed_as_theirs_are(checkpoints, rows, tmp_path):
    theirs = checkpoints.save(tmp_path / "hf").double()
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    assert (
        run.recipe.task == "masked-pretraining" and run.recipe.pretraining.pairs == "next-sentence"
    )
    model, (ids, their) = run.model.double(), rows(run)
    table = their_ids(run, checkpoints)
    known = [id for id, theirs in enumerate(table) if theirs is not None]
    seen = torch.arange(23) < LENGTHS[:, None]
    with torch.no_grad():
        expected = theirs(their, attention_mask=seen.long(), token_type_ids=SEGMENTS)
        states = model(ids, visible=attention_mask(LENGTHS, 23), segments=SEGMENTS)
        p = model.head(states[seen]).softmax(dim=-1)
        there = expected.prediction_logits[seen].softmax(dim=-1)
        same(p[:, known], there[:, [table[id] for id in known]])
        pairs = model.pair_head(states, visible=attention_mask(LENGTHS, 23))
        follows = expected.seq_relationship_logits[:, 0]  # transformers: 0 says that B follows A
        same(pairs[:, 1], follows)
        same(pairs[:, 0], expected.seq_relationship_logits[:, 1])


def test_a_mask_in_a_text_is_filled_with_their_likeliest_word(checkpoints, tmp_path):
    theirs = checkpoints.save(tmp_path / "hf", "BertForMaskedLM")
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    assert run.recipe.pretraining.pairs == "none"
    (answer,) = run.task.answer(run.model, ["The [MASK] sails on."])
    tokenizer = checkpoints.tokenizer()
    cut = tokenizer("The [MASK] sails on.", return_tensors="pt")
    with torch.no_grad():
        logits = theirs(**cut).logits[0, cut["input_ids"][0].tolist().index(7)]
    special = [tokenizer.get_vocab()[t] for t in ("[UNK]", "[MASK]", "[PAD]", "[CLS]", "[SEP]")]
    logits[special] = -torch.inf
    likeliest = tokenizer.convert_ids_to_tokens(int(logits.argmax()))
    assert next(iter(answer.probabilities)) == likeliest.removeprefix("##")
    assert next(iter(answer.probabilities.values())) == pytest.approx(
        float(logits.softmax(dim=-1).max()), rel=1e-4
    )


def test_a_head_that_is_not_tied_keeps_its_own_matrix(checkpoints, rows, tmp_path):
    theirs = checkpoints.save(
        tmp_path / "hf", "BertForMaskedLM", tie_word_embeddings=False
    ).double()
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    assert not run.recipe.model.tied
    model, (ids, their) = run.model.double(), rows(run)
    table = their_ids(run, checkpoints)
    known = [id for id, theirs in enumerate(table) if theirs is not None]
    with torch.no_grad():
        states = model(ids, visible=attention_mask(LENGTHS, 23))
        seen = torch.arange(23) < LENGTHS[:, None]
        there = theirs(their, attention_mask=seen.long()).logits
        same(model.head(states)[seen][:, known], there[seen][:, [table[id] for id in known]])


@pytest.mark.parametrize(
    "written", ["without bert.", "gamma and beta", "half precision", "more rows"]
)
def test_other_ways_to_write_the_same_model_are_read(checkpoints, tmp_path, written):
    checkpoints.save(tmp_path / "hf", "BertForMaskedLM")
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    file = tmp_path / "hf" / "model.safetensors"
    tensors = load_file(file)
    expected, rows = run.parameters, "bert.embeddings.word_embeddings.weight"
    if written == "without bert.":
        tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
        tensors["embeddings.position_ids"] = torch.arange(29)[None]
    elif written == "gamma and beta":
        old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
        for new, was in old.items():
            tensors = {name.replace(new, was): tensor for name, tensor in tensors.items()}
    elif written == "half precision":
        tensors = {name: tensor.half() for name, tensor in tensors.items()}
        expected = {
            name: t if name == "head.bias" else t.half().float() for name, t in expected.items()
        }
        tensors["cls.predictions.bias"] = load_file(file)["cls.predictions.bias"]
    else:
        tensors[rows] = torch.cat([tensors[rows], torch.ones(5, 21)])
    save_file(tensors, file)
    again = import_folder(tmp_path / "hf", tmp_path / "again")
    assert again.metrics["imported"]["rows_left_out"] == (5 if written == "more rows" else 0)
    for name, parameter in again.parameters.items():
        assert torch.equal(parameter, expected[name]), name


def test_tokens_that_they_do_not_have_are_never_guessed(checkpoints, tmp_path):
    checkpoints.save(tmp_path / "hf", "BertForMaskedLM")
    run = import_folder(tmp_path / "hf", tmp_path / "run")
    lacking = [id for id, theirs in enumerate(their_ids(run, checkpoints)) if theirs is None]
    assert [SPECIAL[id] for id in lacking] == ["<s>", "</s>"]
    states = run.model(torch.tensor([[4, MASK, 5]]), visible=attention_mask(torch.tensor([3]), 3))
    assert run.model.head(states).softmax(dim=-1)[..., lacking].max() < 1e-20
