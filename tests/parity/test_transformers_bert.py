"""BERT is transformers' BERT, from the same parameters, in float64."""

import pytest
import torch

from regard.models.bert import attention_mask
from regard.models.build.pretraining import bert
from regard.recipe.load import make

transformers = pytest.importorskip("transformers")

TOKENS, WIDTH, HEADS, DEPTH, INNER, POSITIONS = 101, 21, 3, 2, 37, 29


@pytest.fixture(scope="module")
def theirs():
    torch.manual_seed(11)
    config = transformers.BertConfig(
        vocab_size=TOKENS,
        hidden_size=WIDTH,
        num_hidden_layers=DEPTH,
        num_attention_heads=HEADS,
        intermediate_size=INNER,
        max_position_embeddings=POSITIONS,
        type_vocab_size=2,
        attn_implementation="eager",
    )
    model = transformers.BertForPreTraining(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # theirs begin with biases of zero: no test of them
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model


@pytest.fixture(scope="module")
def ours(theirs):
    recipe = make(
        {
            "task": "masked-pretraining",
            "data": {"train": ["text.txt"]},
            "text": {"max_length": POSITIONS},
            "model": {
                "width": WIDTH,
                "depth": DEPTH,
                "feed_forward": INNER,
                "norm": "layer",
                "norm_order": "post",
                "norm_epsilon": 1e-12,
                "biases": True,
                "activation": "gelu",
                "scaled_embedding": False,
                "mixer": {"kind": "attention", "heads": HEADS, "biases": True},
                "position": {"kind": "learned", "positions": POSITIONS},
                "embedding": {"segments": 2, "norm": True},
                "head": {"bias": True, "transform": True},
            },
            "pretraining": {"pairs": "next-sentence"},
        }
    )
    model = bert(recipe.model, TOKENS, pairs=True).double().eval()
    with torch.no_grad():
        own = dict(model.named_parameters())
        for name, parameter in copied(theirs).items():
            own.pop(name).copy_(parameter)
    assert not own, "every parameter has its counterpart"
    return model


def copied(theirs):
    """Their parameters by our names."""
    names = {
        "body.reading.table": "bert.embeddings.word_embeddings.weight",
        "body.reading.segments": "bert.embeddings.token_type_embeddings.weight",
        "body.reading.place.table.table": "bert.embeddings.position_embeddings.weight",
        "head.bias": "cls.predictions.bias",
    }
    both = {
        "body.reading.norm": "bert.embeddings.LayerNorm",
        "pair_head.pool.dense": "bert.pooler.dense",
        "pair_head.to_logits": "cls.seq_relationship",
        "head.transform.dense": "cls.predictions.transform.dense",
        "head.transform.norm": "cls.predictions.transform.LayerNorm",
    }
    for n in range(DEPTH):
        mine, other = f"body.stack.blocks.{n}", f"bert.encoder.layer.{n}"
        both |= {
            f"{mine}.mixer.part.to_query": f"{other}.attention.self.query",
            f"{mine}.mixer.part.to_key": f"{other}.attention.self.key",
            f"{mine}.mixer.part.to_value": f"{other}.attention.self.value",
            f"{mine}.mixer.part.to_output": f"{other}.attention.output.dense",
            f"{mine}.mixer.norm": f"{other}.attention.output.LayerNorm",
            f"{mine}.feed_forward.part.to_inner": f"{other}.intermediate.dense",
            f"{mine}.feed_forward.part.to_output": f"{other}.output.dense",
            f"{mine}.feed_forward.norm": f"{other}.output.LayerNorm",
        }
    for mine, other in both.items():
        names |= {f"{mine}.{kind}": f"{other}.{kind}" for kind in ("weight", "bias")}
    state = theirs.state_dict()
    return {mine: state[other] for mine, other in names.items()}


def test_states_logits_and_pairs_are_theirs_with_padding_and_segments(ours, theirs):
    ids = torch.randint(0, TOKENS, (5, 23))
    lengths = torch.tensor([23, 7, 19, 2, 11])
    segments = (torch.arange(23) > lengths[:, None] // 2).long()
    mask = (torch.arange(23) < lengths[:, None]).long()
    with torch.no_grad():
        expected = theirs(
            ids,
            attention_mask=mask,
            token_type_ids=segments,
            output_hidden_states=True,
        )
        visible = attention_mask(lengths, 23)
        states = ours(ids, visible=visible, segments=segments)
        real = mask.bool()
        torch.testing.assert_close(states[real], expected.hidden_states[-1][real])
        torch.testing.assert_close(ours.head(states[real]), expected.prediction_logits[real])
        pairs = ours.pair_head(states, visible=visible)
        torch.testing.assert_close(pairs, expected.seq_relationship_logits)
